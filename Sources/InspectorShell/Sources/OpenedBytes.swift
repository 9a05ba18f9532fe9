import Glibc
import InspectorCore
import SocketKit

/// The bytes of what `open` shows, by their offset: a file, or standard input, which is kept in a file without a name
/// as it comes, so that earlier instants can be shown again. One thread reads on; any thread reads what was read.
package final class OpenedBytes: Sendable {
    /// The most that is kept of standard input.
    package static let mostKept: UInt64 = 1 << 30

    private struct Kept {
        /// Where standard input is kept, or -1 once it isn't.
        var file: Int32
        /// Why it isn't kept any longer.
        var loss: String?
    }

    private let descriptor: Int32
    /// The size of the file, or `nil` of a stream that has none.
    let size: UInt64?
    private let limit: UInt64
    private let kept: Lock<Kept>

    /// Opens a file, or `input` for `-`. Of the latter, at most `limit` bytes are kept.
    /// - Throws: a sentence that says why it can't be opened.
    init(path: String, input: Int32, limit: UInt64) throws(AttachError) {
        let isInput = path == Effect.standardInput
        let file =
            isInput
            ? fcntl(input, F_DUPFD_CLOEXEC, 3)
            : path.withNative { open($0, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
        guard file >= 0 else { throw AttachError(sentence: SocketError.words(errno)) }
        let opened = Self.Opened(file)
        guard opened.isRegular || isInput && opened.isStream else {
            Glibc.close(file)
            throw AttachError(
                sentence: isInput
                    ? "standard input is not a recording; write socktui capture --record - | socktui open -"
                    : "is not a regular file; name a recording or a capture")
        }
        (descriptor, self.limit) = (file, limit)
        size = opened.isRegular ? opened.size : nil
        kept = Lock(Kept(file: -1))
        if !opened.isRegular { kept.withLock { Self.beginKeeping(&$0) } }
    }

    deinit {
        Glibc.close(descriptor)
        kept.withLock { if $0.file >= 0 { Glibc.close($0.file) } }
    }

    private struct Opened {
        var isRegular = false
        var isStream = false
        var size: UInt64 = 0

        init(_ file: Int32) {
            var status = stat()
            guard fstat(file, &status) == 0 else { return }
            isRegular = status.st_mode & S_IFMT == S_IFREG
            isStream = [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
            size = UInt64(max(0, status.st_size))
        }
    }

    // MARK: Reading on

    /// Whether the bytes come from a pipe or a socket, of which nobody knows how much will come.
    var isStream: Bool { size == nil }

    /// Whether reading on would wait.
    var isDry: Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return isStream && poll(&polled, 1, 0) == 0
    }

    /// Reads the bytes from `offset`, where the last call ended, and keeps those of a stream. Waits for a stream.
    /// Returns 0 at the end, and -1 for an error, which `errno` has.
    func readOn(_ buffer: inout [UInt8], from offset: UInt64) -> Int {
        guard isStream else { return Self.retrying { pread(descriptor, &buffer, buffer.count, off_t(offset)) } }
        let count = Self.retrying { read(descriptor, &buffer, buffer.count) }
        if count > 0 { keep(buffer[..<count], at: offset) }
        return count
    }

    // MARK: Reading again

    /// Whether what was read can be read again.
    var isKept: Bool { !isStream || kept.withLock { $0.file >= 0 } }
    /// Why standard input is not kept any longer, or `nil`.
    var loss: String? { kept.withLock { $0.loss } }

    /// Reads what was read before. Returns 0 at the end, and -1 if it can't be read.
    func readAgain(_ buffer: inout [UInt8], most: Int, from offset: UInt64) -> Int {
        guard isStream else { return Self.retrying { pread(descriptor, &buffer, most, off_t(offset)) } }
        return kept.withLock { kept in
            kept.file < 0 ? -1 : Self.retrying { pread(kept.file, &buffer, most, off_t(offset)) }
        }
    }

    private static func beginKeeping(_ kept: inout Kept) {
        if let refusal = Elevation.refusal { return kept.loss = refusal }
        let folder = EnvironmentVariables.value(of: "TMPDIR") ?? "/tmp"
        var name = "\(folder)/socktui-XXXXXX".nativeBytes.map(CChar.init(bitPattern:)) + [0]
        kept.file = mkstemp(&name)
        guard kept.file >= 0 else { return kept.loss = "\(folder): \(SocketError.words(errno))" }
        _ = fcntl(kept.file, F_SETFD, FD_CLOEXEC)
        String(native: name).withNative { unlink($0) }
    }

    private func keep(_ bytes: ArraySlice<UInt8>, at offset: UInt64) {
        kept.withLock { kept in
            guard kept.file >= 0 else { return }
            if offset + UInt64(bytes.count) > limit {
                kept.loss = "more than \(Format.size(limit)) arrived; the rest is not kept"
            } else if !FileOutput.write(Array(bytes), to: kept.file) {
                kept.loss = SocketError.words(errno)
            }
            guard kept.loss != nil else { return }
            Glibc.close(kept.file)
            kept.file = -1
        }
    }

    private static func retrying(_ call: () -> Int) -> Int {
        while true {
            let count = call()
            if count >= 0 || errno != EINTR { return count }
        }
    }
}
