import Glibc

/// Small text files, read and written whole.
package enum TextFile {
    /// The reason why a file that the user named was not read.
    package enum Problem: Error, Equatable {
        case system(Int32)
        case notRegular
        case tooLong(Int)
        case notText

        package var sentence: String {
            switch self {
            case .system(let number): String(cString: strerror(number))
            case .notRegular: "is not a regular file"
            case .tooLong(let limit): "is longer than \(limit >> 10) KiB"
            case .notText: "contains NUL bytes, so it is not text"
            }
        }
    }

    /// What some editors write in front of UTF-8.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Reads all of a file that the user named, without a byte order mark, and replaces ill-formed bytes. /dev/null counts as an empty file. With
    /// `allowingPipes`, waits for the first writer of a pipe and reads until the last one closes it, and `-` means
    /// standard input. Otherwise only a regular file is read, and nothing ever blocks on it.
    package static func contents(
        of path: String, limit: Int = 1 << 20, allowingPipes: Bool = false
    ) throws(Problem) -> String {
        let isInput = allowingPipes && path == "-"
        // Waiting is allowed for a pipe only.
        let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        let file = isInput ? dup(STDIN_FILENO) : path.withNative { open($0, flags) }
        guard file >= 0 else { throw .system(errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .system(errno) }
        let kind = status.st_mode & S_IFMT
        if kind == S_IFCHR, status.st_rdev == nullDevice { return "" }
        let isPipe = allowingPipes && (kind == S_IFIFO || kind == S_IFSOCK)
        guard isInput || isPipe || kind == S_IFREG else { throw .notRegular }
        if isPipe, !isInput {
            waitForWriter(file)
            _ = fcntl(file, F_SETFL, 0)
        }
        let bytes = try bytes(of: file, limit: limit + 1)
        if bytes.count > limit { throw .tooLong(limit) }
        if bytes.contains(0) { throw .notText }
        let hasMark = bytes.starts(with: byteOrderMark)
        return String(decoding: hasMark ? bytes.dropFirst(byteOrderMark.count) : bytes[...], as: UTF8.self)
    }

    /// The device number of /dev/null, from the kernel's list of devices.
    private static let nullDevice: dev_t = 1 << 8 | 3

    /// Waits for a writer. A FIFO that has never been opened for writing reads as if it were at its end.
    private static func waitForWriter(_ pipe: Int32) {
        var polled = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
        while poll(&polled, 1, -1) < 0, errno == EINTR {}
    }

    /// Reads up to `limit` bytes of a regular file and replaces ill-formed bytes. Returns `nil` if it can't be read.
    package static func read(_ path: String, limit: Int = 4 << 20) -> String? {
        let file = path.withNative { open($0, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let bytes = try? bytes(of: file, limit: limit)
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func bytes(of file: Int32, limit: Int) throws(Problem) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: min(limit, 64 << 10))
        while bytes.count < limit {
            let count = Glibc.read(file, &buffer, min(buffer.count, limit - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(errno) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// Replaces a file atomically, so that a reader sees either the old one or the new one. Only its owner can access
    /// it.
    @discardableResult
    package static func replace(_ path: String, with text: String) -> Bool { replace(path, with: Array(text.utf8)) }

    /// Replaces a file atomically with these bytes. Only its owner can access it.
    @discardableResult
    package static func replace(_ path: String, with bytes: [UInt8]) -> Bool {
        let fresh = "\(path).\(getpid())"
        let file = fresh.withNative { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o600) }
        guard file >= 0 else { return false }
        let isWritten = FileOutput.write(bytes, to: file)
        close(file)
        guard isWritten, fresh.withNative(and: path, { rename($0, $1) }) == 0 else {
            fresh.withNative { unlink($0) }
            return false
        }
        return true
    }
}
