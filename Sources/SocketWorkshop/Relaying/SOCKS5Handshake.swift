import SocketCore

/// The server's side of SOCKS 5 (RFC 1928) without authentication.
struct SOCKS5Handshake: Equatable, Sendable {
    private enum State: Equatable {
        /// Waits for the methods that the client offers (RFC 1928, 3).
        case methods
        /// Waits for the request (RFC 1928, 4).
        case request
        case over
    }

    private var state = State.methods
    /// The unprocessed bytes: at most one message of 262 bytes, and the rest of one read.
    private var gathered: [UInt8] = []

    mutating func receive(_ bytes: [UInt8]) -> ProxyHandshake.Step {
        gathered += bytes
        switch state {
        case .methods: return methods()
        case .request: return request()
        case .over: return .wait
        }
    }

    private mutating func methods() -> ProxyHandshake.Step {
        guard let version = gathered.first else { return .wait }
        guard version == 5 else {
            state = .over
            // SOCKS 4 has its own rejection (0x5B). Clients of other protocols would understand none.
            let answer: [UInt8] = version == 4 ? [0, 0x5B, 0, 0, 0, 0, 0, 0] : []
            return .refuse(answer)
        }
        guard gathered.count >= 2, gathered.count >= 2 + Int(gathered[1]) else { return .wait }
        let offered = gathered[2..<(2 + Int(gathered[1]))]
        guard offered.contains(0) else {
            state = .over
            return .refuse([5, 0xFF])
        }
        gathered.removeFirst(2 + offered.count)
        state = .request
        return .reply([5, 0])
    }

    private mutating func request() -> ProxyHandshake.Step {
        guard gathered.count >= 5 else { return .wait }
        guard gathered[0] == 5 else { return refuse(1) }
        let name: Int
        switch gathered[3] {
        case 1: name = 4
        case 3: name = 1 + Int(gathered[4])
        case 4: name = 16
        default: return refuse(8)
        }
        let end = 4 + name + 2
        guard gathered.count >= end else { return .wait }
        guard gathered[1] == 1 else { return refuse(7) }
        let host = Self.host(kind: gathered[3], Array(gathered[4..<(4 + name)]))
        let port = UInt16(gathered[end - 2]) << 8 | UInt16(gathered[end - 1])
        guard let host, !host.isEmpty, port != 0 else { return refuse(1) }
        state = .over
        let early = Array(gathered[end...])
        gathered = []
        return .open(.host(host, port: port), early: early)
    }

    /// Rejects with a code of RFC 1928, 6: 1 general, 7 command not supported, 8 address type not supported.
    private mutating func refuse(_ code: UInt8) -> ProxyHandshake.Step {
        state = .over
        return .refuse(Self.reply(code))
    }

    /// Returns the target's host as text, or `nil` for a name with invalid bytes.
    private static func host(kind: UInt8, _ bytes: [UInt8]) -> String? {
        switch kind {
        case 1: bytes.withUnsafeBytes { IPAddress.v4($0.loadUnaligned(as: UInt32.self)).description }
        case 4:
            bytes.withUnsafeBytes { bytes in
                let low = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
                return IPAddress.v6(bytes.loadUnaligned(as: UInt64.self), low).description
            }
        default: PrintableText.visibleASCII(bytes.dropFirst())
        }
    }

    /// Returns a reply (RFC 1928, 6) with that code. Its address is zero, since a client of CONNECT doesn't use it.
    static func reply(_ code: UInt8) -> [UInt8] { [5, code, 0, 1, 0, 0, 0, 0, 0, 0] }
}
