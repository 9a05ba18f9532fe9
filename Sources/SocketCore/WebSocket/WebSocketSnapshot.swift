/// A WebSocket as it is at one moment, what is half done first.
public struct WebSocketSnapshot: Hashable, Sendable, Codable {
    /// Which end it is.
    public var role: WebSocketRole
    /// How far it is in its life.
    public var state: WebSocketState
    /// What the parser waits for now.
    public var awaiting: WebSocketParserState
    /// The message that comes in; nil: none is half done.
    public var receiving: WebSocketMessageProgress?
    /// The first frame that is handed on and not wholly with the kernel; nil: there is none.
    public var sending: WebSocketSendProgress?
    /// What came.
    public var received: WebSocketCounters
    /// What was handed on.
    public var sent: WebSocketCounters
    /// Messages queued of which nothing is handed on.
    public var queuedMessages: Int
    /// Bytes of messages that are not with the kernel yet: `bufferedAmount`.
    public var bufferedBytes: Int
    /// Bytes that came and wait until what was made of those before them is delivered.
    public var heldBytes: Int
    /// Bytes that came when nothing was to be read any more.
    public var discardedBytes: Int
    /// Pings sent whose pong has not come.
    public var pendingPings: Int
    /// The last round-trip time; nil: none was measured.
    public var roundTrip: Duration?
    /// Pings that were not answered since a newer one came first (RFC 6455, 5.5.3).
    public var supersededPings: UInt64
    /// What this end's Close says, queued or sent.
    public var closeSent: WebSocketCloseFrame?
    /// What the peer's Close said.
    public var closeReceived: WebSocketCloseFrame?
    /// Who began to close; nil: nobody did.
    public var closeOrigin: WebSocketCloseReport.Origin?
    /// Why it fails.
    public var failure: WebSocketFailure?
    /// permessage-deflate as agreed on; nil: it was not.
    public var deflate: PerMessageDeflateParameters?

    /// Describes a WebSocket; one of which nothing more is said is open and has done nothing.
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

/// What a frame parser waits for now (RFC 6455, 5.2).
public enum WebSocketParserState: Hashable, Sendable, Codable {
    /// The 2 bytes that every frame begins with.
    case header(done: Int)
    /// The length behind them: 2 or 8 bytes.
    case extendedLength(done: Int, total: Int)
    /// The 4 bytes of the mask.
    case mask(done: Int)
    /// The payload of this frame.
    case payload(WebSocketOpcode, done: Int, total: Int)
    /// Nothing: what comes is discarded.
    case nothing
}

/// A message that comes in and is not over.
public struct WebSocketMessageProgress: Hashable, Sendable, Codable {
    /// Its name among those received.
    public var id: WebSocketMessageID
    /// What it is.
    public var type: WebSocketMessageType
    /// Whether it is compressed.
    public var isCompressed: Bool
    /// Frames of it that came, whole or in part.
    public var fragments: Int
    /// Bytes of it that came, inflated.
    public var bytes: Int
    /// Bytes of it that came, as on the wire.
    public var wireBytes: Int

    /// Describes a message.
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

/// A frame that is on its way to the kernel.
public struct WebSocketSendProgress: Hashable, Sendable, Codable {
    /// Its kind.
    public var opcode: WebSocketOpcode
    /// The message it belongs to; nil: a control frame.
    public var message: WebSocketMessageID?
    /// Bytes of it with the kernel, header included.
    public var done: Int
    /// Its bytes, header included.
    public var total: Int

    /// Describes a frame.
    public init(opcode: WebSocketOpcode, message: WebSocketMessageID? = nil, done: Int, total: Int) {
        self.opcode = opcode
        self.message = message
        self.done = done
        self.total = total
    }
}

/// What passed in one direction.
public struct WebSocketCounters: Hashable, Sendable, Codable {
    /// Frames of every kind.
    public var frames: UInt64 = 0
    /// Messages.
    public var messages: UInt64 = 0
    /// Those of them that were compressed.
    public var compressedMessages: UInt64 = 0
    /// Bytes of messages, uncompressed.
    public var messageBytes: UInt64 = 0
    /// Bytes of the payloads of data frames, as on the wire.
    public var payloadBytes: UInt64 = 0
    /// All bytes, headers and control frames too.
    public var wireBytes: UInt64 = 0
    /// Pings.
    public var pings: UInt64 = 0
    /// Pongs.
    public var pongs: UInt64 = 0

    /// Nothing yet.
    public init() {}
}
