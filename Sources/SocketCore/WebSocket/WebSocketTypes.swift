/// The two ends of a WebSocket; they differ in who masks its frames (RFC 6455, 5.1) and who ends TCP first (7.1.1).
public enum WebSocketRole: String, Hashable, Sendable, Codable, CaseIterable {
    /// The end that asked for the upgrade. It masks what it sends.
    case client
    /// The end that granted the upgrade.
    case server
}

/// What a message carries (RFC 6455, 5.6).
public enum WebSocketMessageType: String, Hashable, Sendable, Codable, CaseIterable {
    /// UTF-8, checked on both sides.
    case text
    /// Any bytes.
    case binary
}

/// The six kinds of frame (RFC 6455, 11.8).
public enum WebSocketOpcode: UInt8, Hashable, Sendable, Codable, CaseIterable {
    /// Goes on with the message that a text or binary frame began.
    case continuation = 0x0
    /// Begins a text message.
    case text = 0x1
    /// Begins a binary message.
    case binary = 0x2
    /// Begins, or answers, the closing handshake.
    case close = 0x8
    /// Asks for a pong.
    case ping = 0x9
    /// Answers a ping, or is a sign of life.
    case pong = 0xA

    /// Whether it is a close, a ping or a pong: never fragmented, at most 125 bytes, allowed between fragments (5.5).
    public var isControl: Bool { rawValue >= 0x8 }
}

/// How far a WebSocket is in its life, once its opening handshake is over.
public enum WebSocketState: String, Hashable, Sendable, Codable {
    /// Messages go both ways.
    case open
    /// One side has said Close, or the peer broke the protocol; the other side, or the end of TCP, is still to come.
    case closing
    /// The transport has ended, or is to be ended now. Nothing follows.
    case closed
}

/// The name of one message, within its connection and its direction: 1, 2, 3...
public struct WebSocketMessageID: Hashable, Sendable, Codable, Comparable {
    /// The number, counted from 1 in the order in which messages began.
    public let number: UInt64

    /// Names the message with this number.
    public init(_ number: UInt64) {
        self.number = number
    }

    /// Reads the bare number.
    public init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(UInt64.self)
    }

    /// Writes the bare number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }

    /// Messages that began earlier come first.
    public static func < (left: WebSocketMessageID, right: WebSocketMessageID) -> Bool { left.number < right.number }
}
