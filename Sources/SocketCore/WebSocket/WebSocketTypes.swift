/// The two sides of a WebSocket. They differ in which one masks its frames (RFC 6455, 5.1) and which ends TCP first
/// (7.1.1).
public enum WebSocketRole: String, Hashable, Sendable, CaseIterable {
    /// The side that requested the upgrade. It masks its frames.
    case client
    /// The side that accepted the upgrade.
    case server
}

/// The type of a message's bytes (RFC 6455, 5.6).
public enum WebSocketMessageType: String, Hashable, Sendable, CaseIterable {
    /// UTF-8, checked on both sides.
    case text
    /// Any bytes.
    case binary
}

/// The six kinds of frame (RFC 6455, 11.8).
public enum WebSocketOpcode: UInt8, Hashable, Sendable, CaseIterable {
    /// Continues the message that a text or binary frame began.
    case continuation = 0x0
    /// Begins a text message.
    case text = 0x1
    /// Begins a binary message.
    case binary = 0x2
    /// Starts or answers the closing handshake.
    case close = 0x8
    /// Requests a pong.
    case ping = 0x9
    /// Answers a ping, or is an unsolicited sign of life.
    case pong = 0xA

    /// Whether it is a Close, a ping or a pong: never fragmented, at most 125 bytes, allowed between fragments (5.5).
    public var isControl: Bool { rawValue >= 0x8 }
}

/// The state of a WebSocket after its opening handshake.
public enum WebSocketState: String, Hashable, Sendable {
    /// Messages can be sent in both directions.
    case open
    /// One side has sent a Close, or the peer broke the protocol. The other side's Close or the end of TCP is still
    /// awaited.
    case closing
    /// The transport has ended or must be ended now. No further events occur.
    case closed
}

/// The identifier of a message within its connection and direction: 1, 2, 3...
public struct WebSocketMessageID: Hashable, Sendable, Comparable {
    /// The number, counted from 1 in the order in which messages began.
    public let number: UInt64

    /// Creates the identifier with this number.
    public init(_ number: UInt64) {
        self.number = number
    }

    /// Orders messages by when they began.
    public static func < (left: WebSocketMessageID, right: WebSocketMessageID) -> Bool { left.number < right.number }
}
