/// One item of a WebSocket's traffic: a message with its frames, or a control frame.
public struct WebSocketTraffic: Equatable, Sendable {
    /// The kind of message or frame.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A text message.
        case text
        /// A binary message.
        case binary
        /// A ping.
        case ping
        /// A pong.
        case pong
        /// A Close frame. The item's bytes are its code and its reason.
        case close
        /// On an observed WebSocket, bytes that are not frames, after an error or after its Close.
        case undecoded

        /// Whether it is a control frame.
        public var isControl: Bool {
            switch self {
            case .text, .binary, .undecoded: false
            case .ping, .pong, .close: true
            }
        }
    }

    /// The kind of message or frame.
    public var kind: Kind
    /// Whether it is one part of a message whose other parts are separate items.
    public var isPart = false
    /// Why its bytes are missing, or what is wrong with it, as a sentence, or `nil` if there is no problem.
    public var problem: String?
    /// For a received pong, the time since its ping, or `nil` if it is unsolicited.
    public var roundTrip: Duration?
    /// Its first frames, at most 16.
    public var frames: [WebSocketFrameRecord] = []
    /// The number of its frames, including those not kept.
    public var frameCount = 0
    /// The number of bytes in their payloads, as on the wire.
    public var payloadBytes = 0

    /// The most frames that are kept of one message.
    package static let frameLimit = 16

    /// Creates an item without frames.
    public init(_ kind: Kind) {
        self.kind = kind
    }

    /// Whether its message was sent compressed (RFC 7692, 6: RSV1 of the first frame).
    public var isCompressed: Bool { frames.first.map { $0.reserved & 4 != 0 } ?? false }

    /// Adds one of its frames.
    package mutating func add(_ frame: WebSocketFrameRecord) {
        frameCount += 1
        payloadBytes += frame.length
        if frames.count < Self.frameLimit { frames.append(frame) }
    }
}

extension WebSocketTraffic.Kind {
    /// Returns `nil` for a continuation frame.
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

    /// Creates the kind for a message type.
    package init(_ type: WebSocketMessageType) {
        switch type {
        case .text: self = .text
        case .binary: self = .binary
        }
    }
}
