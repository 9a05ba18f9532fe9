/// A WebSocket's state at one instant, the frames in progress first.
public struct WebSocketSnapshot: Equatable, Sendable {
    /// The side of the WebSocket.
    public var role: WebSocketRole
    /// The stage of its life.
    public var state: WebSocketState
    /// What the parser is waiting for.
    public var awaiting: WebSocketParserState
    /// The message being received, or `nil` if there is none.
    public var receiving: WebSocketMessageProgress?
    /// The first frame given to the transport that the kernel has not accepted completely, or `nil` if there is none.
    public var sending: WebSocketSendProgress?
    /// The received traffic.
    public var received: WebSocketCounters
    /// The traffic given to the transport.
    public var sent: WebSocketCounters
    /// The queued messages of which no byte has been given to the transport.
    public var queuedMessages: Int
    /// The message bytes that the kernel has not accepted yet: `bufferedAmount`.
    public var bufferedBytes: Int
    /// The received bytes held until the events from earlier bytes are delivered.
    public var heldBytes: Int
    /// The bytes received after the WebSocket stopped accepting input.
    public var discardedBytes: Int
    /// The sent pings whose pong has not arrived.
    public var pendingPings: Int
    /// The last round-trip time, or `nil` if none was measured.
    public var roundTrip: Duration?
    /// The pings left unanswered because a newer one arrived first (RFC 6455, 5.5.3).
    public var supersededPings: UInt64
    /// The local Close, queued or sent, or `nil` if there is none.
    public var closeSent: WebSocketCloseFrame?
    /// The Close received from the peer, or `nil` if none arrived.
    public var closeReceived: WebSocketCloseFrame?
    /// The side that started closing, or `nil` if neither did.
    public var closeOrigin: WebSocketCloseReport.Origin?
    /// Why the WebSocket failed, or `nil` if it did not.
    public var failure: WebSocketFailure?
    /// The agreed permessage-deflate parameters, or `nil` if it was not agreed on.
    public var deflate: PerMessageDeflateParameters?

    /// Creates a snapshot. The defaults describe an open WebSocket without traffic.
    public init(
        role: WebSocketRole, state: WebSocketState = .open, awaiting: WebSocketParserState = .header(done: 0),
        receiving: WebSocketMessageProgress? = nil, sending: WebSocketSendProgress? = nil,
        received: WebSocketCounters = WebSocketCounters(), sent: WebSocketCounters = WebSocketCounters(),
        queuedMessages: Int = 0, bufferedBytes: Int = 0, heldBytes: Int = 0, discardedBytes: Int = 0,
        pendingPings: Int = 0, roundTrip: Duration? = nil, supersededPings: UInt64 = 0,
        closeSent: WebSocketCloseFrame? = nil, closeReceived: WebSocketCloseFrame? = nil,
        closeOrigin: WebSocketCloseReport.Origin? = nil, failure: WebSocketFailure? = nil,
        deflate: PerMessageDeflateParameters? = nil
    ) {
        self.role = role
        self.state = state
        self.awaiting = awaiting
        self.receiving = receiving
        self.sending = sending
        self.received = received
        self.sent = sent
        self.queuedMessages = queuedMessages
        self.bufferedBytes = bufferedBytes
        self.heldBytes = heldBytes
        self.discardedBytes = discardedBytes
        self.pendingPings = pendingPings
        self.roundTrip = roundTrip
        self.supersededPings = supersededPings
        self.closeSent = closeSent
        self.closeReceived = closeReceived
        self.closeOrigin = closeOrigin
        self.failure = failure
        self.deflate = deflate
    }
}

/// What a frame parser is waiting for (RFC 6455, 5.2).
public enum WebSocketParserState: Equatable, Sendable {
    /// The first 2 bytes of a frame.
    case header(done: Int)
    /// The extended length after them: 2 or 8 bytes.
    case extendedLength(done: Int, total: Int)
    /// The 4 bytes of the masking key.
    case mask(done: Int)
    /// The frame's payload.
    case payload(WebSocketOpcode, done: Int, total: Int)
    /// Nothing. Input is discarded.
    case nothing
}

/// The progress of an incomplete message that is being received.
public struct WebSocketMessageProgress: Equatable, Sendable {
    /// The message's identifier among received messages.
    public var id: WebSocketMessageID
    /// The message's type.
    public var type: WebSocketMessageType
    /// Whether the message is compressed.
    public var isCompressed: Bool
    /// The frames received so far, including a partial one.
    public var fragments: Int
    /// The bytes received so far, after inflation.
    public var bytes: Int
    /// The bytes received so far, as on the wire.
    public var wireBytes: Int

    /// Creates a message's progress.
    public init(
        id: WebSocketMessageID, type: WebSocketMessageType, isCompressed: Bool, fragments: Int, bytes: Int,
        wireBytes: Int
    ) {
        self.id = id
        self.type = type
        self.isCompressed = isCompressed
        self.fragments = fragments
        self.bytes = bytes
        self.wireBytes = wireBytes
    }
}

/// The progress of a frame that is being sent.
public struct WebSocketSendProgress: Equatable, Sendable {
    /// The frame's opcode.
    public var opcode: WebSocketOpcode
    /// The frame's message, or `nil` for a control frame.
    public var message: WebSocketMessageID?
    /// The bytes that the kernel has accepted, header included.
    public var done: Int
    /// The length of the frame, header included.
    public var total: Int

    /// Creates a frame's progress.
    public init(opcode: WebSocketOpcode, message: WebSocketMessageID? = nil, done: Int, total: Int) {
        self.opcode = opcode
        self.message = message
        self.done = done
        self.total = total
    }
}

/// The traffic in one direction.
public struct WebSocketCounters: Equatable, Sendable {
    /// The number of frames of every kind.
    public var frames: UInt64 = 0
    /// The number of messages.
    public var messages: UInt64 = 0
    /// The number of compressed messages.
    public var compressedMessages: UInt64 = 0
    /// The bytes of messages, uncompressed.
    public var messageBytes: UInt64 = 0
    /// The payload bytes of data frames, as on the wire.
    public var payloadBytes: UInt64 = 0
    /// All bytes on the wire, including headers and control frames.
    public var wireBytes: UInt64 = 0
    /// The number of pings.
    public var pings: UInt64 = 0
    /// The number of pongs.
    public var pongs: UInt64 = 0

    /// Creates counters at zero.
    public init() {}
}
