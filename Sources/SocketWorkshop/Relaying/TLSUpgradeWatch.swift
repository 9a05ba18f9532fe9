import SocketCore

/// Notices when a client begins TLS inside another protocol: PostgreSQL's SSLRequest, MySQL's CLIENT_SSL, and STARTTLS,
/// STLS or AUTH TLS of those that speak in lines. What a client asks for is an upgrade only if its next bytes are a
/// ClientHello, so no answer is read. It stores a line at most.
package struct TLSUpgradeWatch: Equatable, Sendable {
    package struct Upgrade: Equatable, Sendable {
        package var inside: UpgradedProtocol
        /// The number of bytes that the client sent before its ClientHello.
        package var offset: Int

        package init(inside: UpgradedProtocol, offset: Int) { (self.inside, self.offset) = (inside, offset) }
    }

    private enum State: Equatable {
        /// Nobody has sent anything.
        case start
        /// The client sends messages of PostgreSQL, and nothing else yet.
        case postgresql
        /// The server has begun a handshake of MySQL.
        case mysql
        /// The server has sent another greeting.
        case lines
        /// The client has asked for TLS, in whose place its next bytes may be.
        case asked(UpgradedProtocol)
        case over
    }

    private var state = State.start
    /// The client's bytes that are no whole message or line yet.
    private var pending: [UInt8] = []
    /// The bytes that the client sent before `pending`.
    private var offset = 0

    /// The bytes of a client in which its request is looked for. Programs ask for TLS first.
    private static let reach = 4_096
    private static let longestLine = 512

    package init() {}

    /// Whether there is nothing more to notice.
    package var isOver: Bool { state == .over }

    /// Absorbs what the server sent.
    package mutating func receiveFromServer(_ bytes: [UInt8]) {
        guard state == .start, !bytes.isEmpty else { return }
        // The packet's number is 0, and the protocol's version is 10. Its length is below 64 KiB.
        state = bytes.count >= 5 && bytes[2] == 0 && bytes[3] == 0 && bytes[4] == 10 ? .mysql : .lines
    }

    /// Absorbs what the client sent. Returns the upgrade once, when the client has begun it.
    package mutating func receiveFromClient(_ bytes: [UInt8]) -> Upgrade? {
        guard state != .over else { return nil }
        pending += bytes.prefix(Self.reach + 8)
        while !pending.isEmpty {
            let before = (state, pending.count)
            if let upgrade = step() { return upgrade }
            if state == .over { break }
            if before == (state, pending.count) { break }
        }
        let isLong = offset > Self.reach || pending.count > Self.longestLine
        if isLong { state = .over }
        if state == .over { pending = [] }
        return nil
    }

    private mutating func step() -> Upgrade? {
        switch state {
        case .start, .postgresql: stepPostgreSQL()
        case .mysql: stepMySQL()
        case .lines: stepLine()
        case .asked(let inside): return answer(inside)
        case .over: break
        }
        return nil
    }

    private mutating func consume(_ count: Int) {
        pending.removeFirst(count)
        offset += count
    }

    /// A client that speaks first is one of PostgreSQL, or is not looked at. It may ask for GSSAPI before TLS.
    private mutating func stepPostgreSQL() {
        let code: [UInt8] = [0, 0, 0, 8, 0x04, 0xD2, 0x16]
        guard pending.prefix(7).elementsEqual(code.prefix(pending.count)) else { return state = .over }
        guard pending.count >= 8 else { return }
        switch pending[7] {
        case 0x2F: state = .asked(.postgresql)
        case 0x30: state = .postgresql
        default: return state = .over
        }
        consume(8)
    }

    /// The first packet is 32 bytes long if the client asks for TLS, and has CLIENT_SSL among its capabilities.
    private mutating func stepMySQL() {
        guard pending.count >= 36 else { return }
        guard pending.starts(with: [32, 0, 0, 1]), pending[5] & 0x08 != 0 else { return state = .over }
        state = .asked(.mysql)
        consume(36)
    }

    private mutating func stepLine() {
        guard let end = pending.firstIndex(of: 0x0A) else { return }
        let words = String(decoding: pending[..<end], as: UTF8.self).uppercased()
            .split { $0 == " " || $0 == "\r" || $0 == "\r\n" }
        switch words.map(String.init) {
        case ["STARTTLS"]: state = .asked(.smtp)
        case ["STLS"]: state = .asked(.pop3)
        case ["AUTH", "TLS"], ["AUTH", "SSL"], ["AUTH", "TLS-C"]: state = .asked(.ftp)
        case let words where words.count == 2 && words[1] == "STARTTLS": state = .asked(.imap)
        default: break
        }
        consume(end + 1)
    }

    /// A record of TLS begins with its type, 22 for a handshake, and its version (RFC 8446, 5.1).
    private mutating func answer(_ inside: UpgradedProtocol) -> Upgrade? {
        guard pending[0] == 22, pending.count < 2 || pending[1] == 3 else {
            // It was refused, and the client goes on without.
            state = inside == .postgresql || inside == .mysql ? .over : .lines
            return nil
        }
        guard pending.count >= 2 else { return nil }
        (state, pending) = (.over, [])
        return Upgrade(inside: inside, offset: offset)
    }
}
