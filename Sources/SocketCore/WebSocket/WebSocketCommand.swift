/// Everything that can be asked of a WebSocket, be it by its handle or by a person at a screen. What comes before it is
/// open waits for that; what cannot be queued fails with a reason.
public enum WebSocketCommand: Hashable, Sendable {
    /// Queue a message, which goes out as one frame.
    case message(WebSocketMessage)
    /// Queue a message made of these fragments by hand, one frame each; at least one.
    case fragments(WebSocketMessageType, [[UInt8]])
    /// Begin a message of which the parts follow; it is known by the name of this operation.
    case begin(WebSocketMessageType)
    /// Add a part to the message that this operation began, as one frame; `isLast`: it ends with it.
    case append(OperationID, [UInt8], isLast: Bool)
    /// Send a ping, between two frames; at most 125 bytes.
    case ping([UInt8])
    /// Send a pong that nobody asked for, likewise.
    case pong([UInt8])
    /// Say Close behind all that is queued; before it is open, end the connection at once.
    case close(WebSocketCloseCode?, reason: String)
}

extension WebSocketCommand {
    /// Whether it brings bytes of a message, rather than a control frame.
    package var isPartOfMessage: Bool {
        switch self {
        case .message, .fragments, .append: true
        case .begin, .ping, .pong, .close: false
        }
    }
}

/// One message, as it is sent or was received.
public struct WebSocketMessage: Hashable, Sendable {
    /// Text or binary.
    public var type: WebSocketMessageType
    /// Its bytes; of text, UTF-8.
    public var bytes: [UInt8]

    /// A message of these bytes; those of a text must be UTF-8, or it is refused when it is to be sent.
    public init(_ type: WebSocketMessageType, _ bytes: [UInt8]) {
        self.type = type
        self.bytes = bytes
    }

    /// A message of text.
    public static func text(_ text: String) -> WebSocketMessage { WebSocketMessage(.text, Array(text.utf8)) }

    /// A message of bytes.
    public static func binary(_ bytes: [UInt8]) -> WebSocketMessage { WebSocketMessage(.binary, bytes) }

    /// Its bytes as text; what is no UTF-8, as a binary message may be, is replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
