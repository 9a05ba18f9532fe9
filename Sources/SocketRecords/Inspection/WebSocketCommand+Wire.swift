import SocketCore

// Commands for a WebSocket, on the wire.

/// A `WebSocketCommand` as fields.
struct WireWebSocketCommand: WireMessage {
    private var word = ""
    private var type: WebSocketMessageType?
    private var parts: [[UInt8]] = []
    private var operation: OperationID?
    private var isLast = false
    private var code: Int?
    private var reason = ""

    private init() {}
    static var blank: WireWebSocketCommand { WireWebSocketCommand() }

    init(_ command: WebSocketCommand) {
        switch command {
        case .message(let message): (word, type, parts) = ("message", message.type, [message.bytes])
        case .fragments(let type, let parts): (word, self.type, self.parts) = ("fragments", type, parts)
        case .begin(let type): (word, self.type) = ("begin", type)
        case .append(let operation, let bytes, let isLast):
            (word, self.operation, parts, self.isLast) = ("append", operation, [bytes], isLast)
        case .ping(let payload): (word, parts) = ("ping", [payload])
        case .pong(let payload): (word, parts) = ("pong", [payload])
        case .close(let code, let reason):
            (word, self.code, self.reason) = ("close", code.map { Int($0.rawValue) }, reason)
        }
    }

    mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &word)
        try coder.field(2, &type)
        try coder.field(3, &parts)
        try coder.field(4, &operation)
        try coder.field(5, &isLast)
        try coder.field(6, &code)
        try coder.field(7, &reason)
    }

    func command() throws(WireError) -> WebSocketCommand {
        let bytes = parts.first ?? []
        switch word {
        case "message": return .message(WebSocketMessage(try known(), bytes))
        case "fragments": return .fragments(try known(), parts)
        case "begin": return .begin(try known())
        case "append": return .append(operation ?? OperationID(0), bytes, isLast: isLast)
        case "ping": return .ping(bytes)
        case "pong": return .pong(bytes)
        case "close":
            return .close(code.map { WebSocketCloseCode(rawValue: UInt16(clamping: $0)) }, reason: reason)
        default: throw .unknown
        }
    }

    private func known() throws(WireError) -> WebSocketMessageType {
        guard let type else { throw .unknown }
        return type
    }
}

extension WebSocketMessageType: WireWord {}

extension WebSocketProblem {
    /// What a viewer needs to distinguish problems. The error's detail says the rest.
    var written: WireVariant {
        switch self {
        case .refused(let refusal): WireVariant("webSocket.refused", number: refusal.status)
        case .proxyRefused(let refusal): WireVariant("webSocket.proxyRefused", number: refusal.status)
        case .badHandshake: WireVariant("webSocket.badHandshake")
        case .handshakeTimeout: WireVariant("webSocket.handshakeTimeout")
        case .failed(let failure): WireVariant("webSocket.failed", number: Int(failure.closeCode.rawValue))
        case .closed(let code): WireVariant("webSocket.closed", number: Int(code.rawValue))
        case .notSent: WireVariant("webSocket.notSent")
        }
    }

    /// Returns `nil` for a problem whose details are not sent.
    init?(written: WireVariant) {
        let refusal = HandshakeRefusal(status: written.count, head: HTTPHead(startLine: ""))
        switch written.word {
        case "webSocket.refused": self = .refused(refusal)
        case "webSocket.proxyRefused": self = .proxyRefused(refusal)
        case "webSocket.badHandshake": self = .badHandshake
        case "webSocket.handshakeTimeout": self = .handshakeTimeout
        case "webSocket.closed": self = .closed(WebSocketCloseCode(rawValue: UInt16(clamping: written.number)))
        default: return nil
        }
    }
}
