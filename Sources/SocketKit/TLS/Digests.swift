import CSocketKitOpenSSL
import SocketCore

/// What the opening handshake and masking need of cryptography.
package enum Digests {
    /// The SHA-1 digest of some bytes (RFC 3174). RFC 6455 uses it to show that a server read the key, not to hide anything.
    static func sha1(_ bytes: [UInt8]) -> [UInt8] {
        precondition(OpenSSL.isReady, "OpenSSL cannot be used")
        return [UInt8](unsafeUninitializedCapacity: 20) { digest, count in
            _ = SHA1(bytes, bytes.count, digest.baseAddress)
            count = 20
        }
    }

    /// Bytes that nobody can guess.
    static func random(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { bytes, done in
            precondition(
                OpenSSL.isReady && RAND_bytes(bytes.baseAddress, CInt(count)) == 1, "OpenSSL has no randomness")
            done = count
        }
    }

    /// What a server makes of a client's key (RFC 6455, 4.2.2, step 5.4).
    package static func webSocketAccept(for key: String) -> String {
        Base64.text(sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }
}

/// Keys for masking, each of which nobody can guess from those before it (RFC 6455, 10.3). They are made many at a time.
struct MaskKeys {
    private var pool: [UInt8] = []
    private var used = 0

    /// The next one.
    mutating func next() -> UInt32 {
        if used == pool.count {
            pool = Digests.random(1_024)
            used = 0
        }
        defer { used += 4 }
        return pool.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: used, as: UInt32.self) }
    }
}
