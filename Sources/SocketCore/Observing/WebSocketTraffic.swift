/// What one item of a WebSocket's traffic is: a message with its frames, or a control frame.
public struct WebSocketTraffic: Hashable, Sendable, Codable {
    /// What was sent, or came.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// A message of text.
        case text
        /// A message of bytes.
        case binary
        /// A ping.
        case ping
        /// A pong.
        case pong
        /// A Close; the item's bytes are its code and its reason.
        case close
        /// Of a WebSocket that is only looked at: bytes that are no frames, behind what is wrong or behind its Close.
        case undecoded

        /// Whether it is no message.
        public var isControl: Bool {
            switch self {
            case .text, .binary, .undecoded: false
            case .ping, .pong, .close: true
            }
        }
    }

    /// What it is.
    public var kind: Kind
    /// Whether it is a part of a message, of which other parts are other items.
    public var isPart = false
    /// Why there are no bytes of it, or what is wrong with it, as a sentence; nil: nothing.
    public var problem: String?
    /// Of a pong that came: how long after its ping; nil: nobody asked for it.
    public var roundTrip: Duration?
    /// Its first frames, at most 16.
    public var frames: [WebSocketFrameRecord] = []
    /// How many it has, those not kept included.
    public var frameCount = 0
    /// Bytes of their payloads, as on the wire.
    public var payloadBytes = 0

    /// Frames that are kept of one message.
    static let frameLimit = 16

    /// One of which no frame is known yet.
    public init(_ kind: Kind) {
        self.kind = kind
    }

    /// Whether its message went compressed (RFC 7692, 6: RSV1 of the first frame).
    public var isCompressed: Bool { frames.first.map { $0.reserved & 4 != 0 } ?? false }

    /// Notes one more frame of it.
    package mutating func add(_ frame: WebSocketFrameRecord) {
        frameCount += 1
        payloadBytes += frame.length
        if frames.count < Self.frameLimit { frames.append(frame) }
    }
}

extension WebSocketTraffic.Kind {
    /// nil: a frame that goes on with a message.
    package init?(_ opcode: WebSocketOpcode) {
        switch opcode {
        case .continuation: return nil
        case .text: self = .text
        case .binary: self = .binary
        case .ping: self = .ping
        case .pong: self = .pong
        case .close: self = .close
        }
    }

    /// A message of this type.
    package init(_ type: WebSocketMessageType) {
        switch type {
        case .text: self = .text
        case .binary: self = .binary
        }
    }
}
