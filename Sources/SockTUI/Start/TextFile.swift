import Glibc

/// Small text files, read and written whole.
enum TextFile {
    /// The file's text, ill-formed bytes replaced; nil when it cannot be read (`errno` says why). At most `limit` bytes.
    static func read(_ path: String, limit: Int = 4 << 20) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while text.count < limit {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Puts a file in the place of another, so that a reader sees the old one or the new one; for its owner only.
    @discardableResult
    static func replace(_ path: String, with text: String) -> Bool { replace(path, with: Array(text.utf8)) }

    /// Likewise with bytes.
    @discardableResult
    static func replace(_ path: String, with bytes: [UInt8]) -> Bool {
        let fresh = "\(path).\(getpid())"
        let file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        let isWritten = FileOutput.write(bytes, to: file)
        close(file)
        guard isWritten, rename(fresh, path) == 0 else {
            unlink(fresh)
            return false
        }
        return true
    }
}
