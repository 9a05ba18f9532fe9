import Glibc
import SocketCore
import SocketRecords

/// The output of a recording: a file that is started over at half its limit, or standard output. Used by one thread.
package struct RecordingFile: Sendable {
    private let path: String?
    private let limit: Int?
    private let isRegular: Bool
    private var descriptor: Int32
    private(set) var written = 0
    /// The size of the largest write to this file.
    private var largest = 0
    /// The number of bytes written to all files.
    private(set) var total: UInt64 = 0

    private static let pipeBuffer = 4_096
    /// The most parts of one system call. Each takes a stack frame.
    private static let gatherLimit = 64

    /// Opens the file with mode 0600. An existing file is kept unless `replaces`, and no symbolic link is followed.
    package init(_ path: String, limit: Int?, replaces: Bool) throws(SocketError) {
        self.limit = limit
        guard path != "-" else {
            (self.path, isRegular, descriptor) = (nil, false, dup(1))
            guard descriptor >= 0 else { throw Self.refused("standard output", SocketError.words(errno)) }
            return
        }
        (self.path, isRegular) = (path, true)
        descriptor = try Self.open(path, replaces: replaces)
    }

    package func close() { Glibc.close(descriptor) }

    private static func refused(_ path: String, _ why: String) -> SocketError {
        SocketError(.badParameter, operation: "record", detail: "\(path): \(why)")
    }

    private static func open(_ path: String, replaces: Bool) throws(SocketError) -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK | (replaces ? 0 : O_EXCL)
        let descriptor = path.withNative { Glibc.open($0, flags, 0o600) }
        guard descriptor >= 0 else {
            switch errno {
            case EEXIST: throw refused(path, "it exists; --force replaces it")
            case ELOOP: throw refused(path, "must not be a symbolic link")
            default: throw refused(path, SocketError.words(errno))
            }
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_nlink == 1, fchmod(descriptor, 0o600) == 0, ftruncate(descriptor, 0) == 0
        else {
            Glibc.close(descriptor)
            throw refused(path, "must be a regular file that you own; - is standard output")
        }
        return descriptor
    }

    /// Throws if the file was removed or replaced, so that what was written is lost.
    func checkPlace() throws(SocketError) {
        var status = stat()
        guard let path, fstat(descriptor, &status) == 0, status.st_nlink == 0 else { return }
        throw Self.refused(path, "the file was removed while it was written")
    }

    /// Whether to start the next file, because the next write may have no room in this one.
    var isFull: Bool { limit.map { written + largest > $0 / 2 } ?? false }

    /// Renames the file to FILE.1, replacing the previous one, and starts again.
    mutating func rotate() throws(SocketError) {
        guard let path else { return }
        guard path.withNative(and: path + ".1", { rename($0, $1) }) == 0 else {
            throw Self.refused(path, SocketError.words(errno))
        }
        let next = try Self.open(path, replaces: false)
        close()
        (descriptor, written, largest) = (next, 0, 0)
    }

    /// Writes whole blocks.
    package mutating func write(_ bytes: [UInt8], isOver: () -> Bool) throws(SocketError) {
        try write([bytes[...]], isOver: isOver)
    }

    /// Writes whole blocks, which are given in parts. Gives up once `isOver` says so and the reader takes nothing. If a
    /// file has no more room, it is cut back to whole blocks.
    mutating func write(_ parts: [ArraySlice<UInt8>], isOver: () -> Bool) throws(SocketError) {
        var (rest, done) = (parts[...], 0)
        largest = max(largest, parts.reduce(0) { $0 + $1.count })
        while let first = rest.first {
            guard !first.isEmpty else {
                rest.removeFirst()
                continue
            }
            if !isRegular, !waitForReader() {
                if isOver() { throw Self.refused("standard output", "no process reads it") }
                continue
            }
            let count = writeOnce(rest)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else {
                let why = SocketError.words(errno)
                let whole = written - done + CaptureBlock.whole(Array(parts.joined()), upTo: done)
                if isRegular { _ = ftruncate(descriptor, off_t(whole)) }
                throw Self.refused(path ?? "standard output", why)
            }
            done += count
            written += count
            total += UInt64(count)
            Self.drop(count, from: &rest)
        }
    }

    /// Returns whether the reader takes bytes soon.
    private func waitForReader() -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&polled, 1, 100) > 0
    }

    /// Makes one system call and returns its result.
    private func writeOnce(_ parts: ArraySlice<ArraySlice<UInt8>>) -> Int {
        guard isRegular else {
            // A pipe that has any room has room for this much.
            return (parts.first ?? []).prefix(Self.pipeBuffer).withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
        }
        return withUnsafeTemporaryAllocation(of: iovec.self, capacity: min(parts.count, Self.gatherLimit)) {
            gather(parts, $0, filled: 0)
        }
    }

    /// Pins the first part while it continues with the next.
    private func gather(
        _ parts: ArraySlice<ArraySlice<UInt8>>, _ list: UnsafeMutableBufferPointer<iovec>, filled: Int
    ) -> Int {
        guard filled < list.count, let first = parts.first else {
            return pwritev(descriptor, list.baseAddress, Int32(filled), off_t(written))
        }
        return first.withUnsafeBytes {
            let start = UnsafeMutableRawPointer(mutating: $0.baseAddress)
            list.initializeElement(at: filled, to: iovec(iov_base: start, iov_len: $0.count))
            return gather(parts.dropFirst(), list, filled: filled + 1)
        }
    }

    private static func drop(_ count: Int, from parts: inout ArraySlice<ArraySlice<UInt8>>) {
        var left = count
        while let first = parts.popFirst() {
            guard first.count > left else {
                left -= first.count
                continue
            }
            parts = [first.dropFirst(left)] + parts
            return
        }
    }
}
