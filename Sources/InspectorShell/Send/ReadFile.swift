import Glibc
import InspectorCore

/// A regular file that is read from beginning to end, piece by piece.
package final class ReadFile {
    /// The file's size in bytes when it was opened.
    package let size: Int
    private let path: String
    private let descriptor: Int32

    /// Opens a file. A leading `~/` is the user's home folder.
    /// - Throws: the reason why it can't be read.
    package init(_ path: String) throws(MessageText.Unsendable) {
        self.path = path
        if let refusal = Elevation.refusal { throw Self.failure(path, refusal) }
        // A FIFO without a writer must not block.
        descriptor = Self.expanded(path).withNative { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { throw Self.failure(path, String(cString: strerror(errno))) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Self.failure(path, "is not a regular file")
        }
        size = Int(facts.st_size)
    }

    deinit { close(descriptor) }

    /// Returns at most `most` of the following bytes, or `nil` at the end.
    package func next(_ most: Int) throws(MessageText.Unsendable) -> [UInt8]? {
        while true {
            var got = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
                got = read(descriptor, buffer.baseAddress, most)
                count = max(0, got)
            }
            if got > 0 { return bytes }
            if got == 0 { return nil }
            guard errno == EINTR else { throw Self.failure(path, String(cString: strerror(errno))) }
        }
    }

    /// Returns what a composer shows about a path.
    package static func facts(_ path: String) -> FileFacts {
        do throws(MessageText.Unsendable) {
            return FileFacts(path: path, size: try ReadFile(path).size)
        } catch {
            return FileFacts(path: path, size: nil, problem: error.sentence)
        }
    }

    package static func expanded(_ path: String) -> String {
        guard path.hasPrefix("~/"), let home = EnvironmentVariables.value(of: "HOME") else { return path }
        return home + path.dropFirst()
    }

    private static func failure(_ path: String, _ problem: String) -> MessageText.Unsendable {
        MessageText.Unsendable("\(path): \(problem)")
    }
}

extension MessageValues {
    /// Returns the current values.
    package static func now(sequence: Int) -> MessageValues {
        MessageValues(
            sequence: sequence, time: { Array(timestamp().utf8) },
            random: { count in (0..<count).map { _ in UInt8.random(in: .min ... .max) } },
            file: { (path) throws(MessageText.Unsendable) in try whole(path) })
    }

    private static func timestamp() -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var parts = tm()
        gmtime_r(&now.tv_sec, &parts)
        var text = [CChar](repeating: 0, count: 32)
        strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S", &parts)
        let millis = String(now.tv_nsec / 1_000_000)
        let digits = String(repeating: "0", count: 3 - millis.count) + millis
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) + ".\(digits)Z"
    }

    private static func whole(_ path: String) throws(MessageText.Unsendable) -> [UInt8] {
        let file = try ReadFile(path)
        guard file.size <= MessagePiece.fileLimit else {
            throw MessageText.Unsendable(
                "\(path): \(file.size) bytes; a file in a message can have at most 1 MiB; file mode sends larger ones")
        }
        var bytes: [UInt8] = []
        while bytes.count <= MessagePiece.fileLimit, let piece = try file.next(64 << 10) { bytes += piece }
        return bytes
    }
}
