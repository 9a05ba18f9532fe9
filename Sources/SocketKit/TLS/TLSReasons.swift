import CSocketKitOpenSSL
import Glibc
import SocketCore

/// The text of OpenSSL's errors. The error queue belongs to the thread, so it is cleared before each call.
enum TLSReasons {
    /// Returns the text of the first queued error, and clears the queue.
    static func take() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        return text(code)
    }

    private static func text(_ code: UInt) -> String {
        if code == 0 { return "no reason given" }
        if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
        return "error \(String(code, radix: 16))"
    }

    /// Returns why a PEM file could not be used.
    static func file(_ path: String, holding what: String, of certificate: String? = nil) -> String {
        var reasons: [String] = []
        while case let code = ERR_get_error(), code != 0 { reasons.append(text(code)) }
        if path.withNative({ access($0, R_OK) }) != 0 { return SocketError.words(errno) }
        if let certificate, reasons.contains("key values mismatch") || reasons.contains("key type mismatch") {
            return "is not the key of certificate \(certificate)"
        }
        if reasons.contains(where: { $0.contains("password") || $0.contains("bad decrypt") }) {
            return "is encrypted; write it without a password (openssl pkey -in FILE -out PLAIN)"
        }
        if reasons.contains(where: { $0.contains("no start line") || $0.contains("unsupported") }) {
            return "holds no \(what) in PEM form"
        }
        return reasons.last ?? "holds no \(what) in PEM form"
    }
}

/// A file of TLS secrets in Wireshark's format (SSLKEYLOGFILE).
package final class KeyLogFile: Sendable {
    private let path: String
    private let descriptor: Int32
    /// Whether the file ends within a line, because the disk filled up.
    private let isTorn = Lock(false)
    /// What could not be written, by file: the number of lines, and why the first of them was lost.
    private static let missing = Lock<[String: (count: Int, why: Int32)]>([:])

    /// The lines that files of this process lack, a sentence for each file.
    package static var losses: [String] {
        missing.withLock { $0 }.sorted { $0.key < $1.key }.map { path, lost in
            "key log \(path): \(lost.count) lines are missing: \(SocketError.words(lost.why))"
        }
    }

    /// Opens the file to append lines. A new one has mode 0600. Throws `badParameter` if that fails, or if the file is a
    /// symbolic link, belongs to another user or has a second name. The owner of such a file could read the secrets, or
    /// have them written to one of the caller's files.
    init(_ path: String) throws(SocketError) {
        self.path = path
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW
        descriptor = path.withNative { open($0, flags, 0o600) }
        guard descriptor >= 0 else {
            let why = errno == ELOOP ? "must not be a symbolic link" : SocketError.words(errno)
            throw TLSContext.refused("key log \(path): \(why)")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_nlink == 1
        else { throw TLSContext.refused("key log \(path): must be a regular file that you own") }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Writes a line. A handshake does not fail because of a full disk, so a line that is lost is counted.
    func add(_ line: String) {
        // The next line must not be joined to the part of one.
        let (count, length, why) = isTorn.withLock { isTorn in
            let bytes = Array(((isTorn ? "\n" : "") + line + "\n").utf8)
            let count = write(descriptor, bytes, bytes.count)
            let why = count < 0 ? errno : ENOSPC
            if count > 0 { isTorn = count < bytes.count }
            return (count, bytes.count, why)
        }
        guard count < length else { return }
        Self.missing.withLock { $0[path, default: (0, why)].count += 1 }
    }
}
