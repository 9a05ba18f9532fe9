import Glibc

/// Whole writes to files.
package enum FileOutput {
    /// Writes all bytes. Returns `false` with `errno` set if that fails.
    @discardableResult
    package static func write(_ text: String, to descriptor: Int32) -> Bool { write(Array(text.utf8), to: descriptor) }

    /// Writes the whole text. Returns `false` with `errno` set if that fails.
    @discardableResult
    package static func write(_ all: [UInt8], to descriptor: Int32) -> Bool {
        var bytes = all[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }
}
