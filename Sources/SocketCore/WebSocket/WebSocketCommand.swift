/// A command to a WebSocket, from its handle or from the user at the screen. A command posted before the WebSocket is
/// open waits until it is. One that can't be queued fails with a reason.
public enum WebSocketCommand: Hashable, Sendable {
    /// Queue a message, which goes out as one frame.
    case message(WebSocketMessage)
    /// Queue a message made of these fragments, one frame each. There must be at least one.
    case fragments(WebSocketMessageType, [[UInt8]])
    /// Begin a message whose parts follow. This operation's identifier identifies it.
    case begin(WebSocketMessageType)
    /// Add a part, as one frame, to the message that this operation began. `isLast` ends the message.
    case append(OperationID, [UInt8], isLast: Bool)
    /// Send a ping of at most 125 bytes between two frames.
    case ping([UInt8])
    /// Send an unsolicited pong of at most 125 bytes between two frames.
    case pong([UInt8])
    /// Send a Close after everything queued. If the WebSocket is not open yet, end the connection at once.
    case close(WebSocketCloseCode?, reason: String)
}

extension WebSocketCommand {
    /// Whether the command carries bytes of a message rather than a control frame.
    package var isPartOfMessage: Bool {
        switch self {
        case .message, .fragments, .append: true
        case .begin, .ping, .pong, .close: false
        }
    }
}

/// A message that was received or is to be sent.
public struct WebSocketMessage: Hashable, Sendable {
    /// Text or binary.
    public var type: WebSocketMessageType
    /// The message's bytes. Text must be UTF-8.
    public var bytes: [UInt8]

    /// Creates a message. Text that is not UTF-8 is rejected when it is sent.
    public init(_ type: WebSocketMessageType, _ bytes: [UInt8]) {
        self.type = type
        self.bytes = bytes
    }

    /// Creates a text message.
    public static func text(_ text: String) -> WebSocketMessage { WebSocketMessage(.text, Array(text.utf8)) }

    /// Creates a binary message.
    public static func binary(_ bytes: [UInt8]) -> WebSocketMessage { WebSocketMessage(.binary, bytes) }

    /// The bytes decoded as UTF-8. Invalid sequences, which a binary message can contain, are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
