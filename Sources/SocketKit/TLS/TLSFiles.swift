import Glibc
import SocketCore

/// Files that settings of TLS name.
enum TLSFiles {
    /// The most bytes of one; the authorities of a whole system are a quarter of a megabyte.
    private static let limit = 16 << 20

    /// Returns why a file is not read, or `nil` if it may be, or cannot be opened at all. A pipe could keep the reader
    /// waiting for ever, a device could have no end.
    static func problem(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return "is not a regular file" }
        return status.st_size > limit ? "is larger than \(limit >> 20) MiB" : nil
    }
}

extension TLSSettings {
    /// Reads the files that the settings name, so that a call with the same settings finds them read: for callers that
    /// make that call where nothing may block. Throws what that call would throw.
    package func readFiles() throws(SocketError) {
        _ = try TLSContexts.context(for: self)
    }
}
