import CSocketKitSystem
import Glibc

/// Has room found for a long file ahead of its end, and its bytes written to the disk behind it, but for the last of them
/// forgotten by the page cache. So it pushes nothing of other programs out of there, its pages are used again, and finding
/// room does not hold up a write.
struct WriteBehind {
    /// Bytes that are handed to the disk at a time.
    private static let step = 1 << 20
    /// Bytes that room is found for at a time, once a file is as long.
    private static let reserve = 64 << 20
    /// Bytes at the end of the file that stay in memory, for who opens it next.
    private static let kept = 64 << 20
    /// A disk that holds up the writer for so long is left to the kernel: its memory has more room than the recorder's.
    private static let patience = Duration.milliseconds(20)

    private var reserved = Self.reserve
    private var handed = 0
    private var forgotten = 0
    private var isOff = false

    /// The file ends at `end` now.
    mutating func advance(_ descriptor: Int32, to end: Int) {
        guard !isOff, end - handed >= Self.step else { return }
        let began = ContinuousClock.now
        if reserved - end < Self.step { findRoom(descriptor) }
        _ = csystem_start_writing(descriptor, Int64(handed), Int64(end - handed))
        handed = end
        // Whole blocks only; what is not on the disk yet stays.
        let last = (end - Self.kept) & ~0xFFFF
        if last > forgotten {
            _ = posix_fadvise(descriptor, off_t(forgotten), off_t(last - forgotten), POSIX_FADV_DONTNEED)
            forgotten = last
        }
        isOff = .now - began > Self.patience
    }

    /// A file system that cannot, or that has no more, says so when it is written.
    private mutating func findRoom(_ descriptor: Int32) {
        let isFound = csystem_reserve(descriptor, Int64(reserved), Int64(Self.reserve)) == 0
        reserved = isFound ? reserved + Self.reserve : .max
    }

    /// Gives back the room behind the end of a file that is complete.
    func finish(_ descriptor: Int32, at end: Int) {
        if reserved > Self.reserve { _ = ftruncate(descriptor, off_t(end)) }
    }
}
