import CSocketKitOpenSSL
import SocketCore

/// Cryptographic functions for the opening handshake and masking.
package enum Digests {
    /// Returns the SHA-1 digest of some bytes (RFC 3174). RFC 6455 uses it to show that a server read the key, not to
    /// hide anything.
    static func sha1(_ bytes: [UInt8]) -> [UInt8] {
        precondition(OpenSSL.isReady, "OpenSSL cannot be used")
        return [UInt8](unsafeUninitializedCapacity: 20) { digest, count in
            _ = SHA1(bytes, bytes.count, digest.baseAddress)
            count = 20
        }
    }

    /// Returns cryptographically secure random bytes.
    static func random(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { bytes, done in
            precondition(
                OpenSSL.isReady && RAND_bytes(bytes.baseAddress, CInt(count)) == 1,
                "OpenSSL cannot generate random bytes")
            done = count
        }
    }

    /// Returns the accept value that a server derives from a client's key (RFC 6455, 4.2.2, step 5.4).
    package static func webSocketAccept(for key: String) -> String {
        Base64.text(sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }
}

/// Keys for masking, none of which can be predicted from earlier ones (RFC 6455, 10.3). They are generated in batches.
struct MaskKeys {
    private var pool: [UInt8] = []
    private var used = 0

    mutating func next() -> UInt32 {
        if used == pool.count {
            pool = Digests.random(1_024)
            used = 0
        }
        defer { used += 4 }
        return pool.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: used, as: UInt32.self) }
    }
}
