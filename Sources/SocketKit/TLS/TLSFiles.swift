import Glibc
import SocketCore

/// The files that TLS settings name.
enum TLSFiles {
    /// The largest accepted file size in bytes. A whole system's authorities take a quarter of a megabyte.
    private static let limit = 16 << 20

    /// Returns why a file must not be read, or `nil` if it can be, or can't be opened at all. A pipe could block the
    /// reader forever, and a device could be endless.
    static func problem(_ path: String) -> String? {
        let file = path.withNative { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return "is not a regular file" }
        return status.st_size > limit ? "is larger than \(limit >> 20) MiB" : nil
    }
}

extension TLSSettings {
    /// Reads the files that the settings name, so that a later call with the same settings uses them from memory. For
    /// callers that make that call where they must not block. Throws what that call would throw.
    package func readFiles() throws(SocketError) {
        _ = try TLSContexts.context(for: self)
    }
}
