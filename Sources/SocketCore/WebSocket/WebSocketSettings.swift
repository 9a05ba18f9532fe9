/// What one WebSocket may take up at most. Each has its counter in `WebSocketSnapshot`.
public struct WebSocketLimits: Hashable, Sendable, Codable {
    /// The longest frame, payload bytes on the wire. No limit of its own unless set: a message's holds.
    public var frameBytes: Int
    /// The longest message that is delivered whole, in bytes as delivered, that is inflated; 64 MiB. The exact limit
    /// passes. A few bytes on the wire may inflate to all of it, so a server for strangers should set what its messages
    /// need; `EngineConfiguration.unfinishedMessageBytes` limits the sum over all WebSockets of an engine.
    public var messageBytes: Int
    /// The longest message that is delivered in chunks, in bytes as delivered. No limit unless set, since it takes up no
    /// memory.
    public var streamedMessageBytes: Int
    /// Fragments without a byte that one message may have; 1024.
    public var emptyFragments: Int
    /// Bytes of messages that are queued and not yet with the transport; 64 MiB. What would go over it is refused.
    public var sendQueueBytes: Int
    /// Pings and pongs of the caller that are queued and not yet handed on; 64. As many pongs
    /// that answer pings wait at most beside them; what is owed for older pings is dropped.
    public var queuedControls: Int
    /// Pings sent of which the answer is awaited, to tell its round-trip time; 64, the oldest is forgotten.
    public var pendingPings: Int

    /// Sets the limits; those below 0 count as 0.
    public init(
        frameBytes: Int = .max, messageBytes: Int = 64 << 20, streamedMessageBytes: Int = .max,
        emptyFragments: Int = 1024, sendQueueBytes: Int = 64 << 20, queuedControls: Int = 64, pendingPings: Int = 64
    ) {
        self.frameBytes = max(0, frameBytes)
        self.messageBytes = max(0, messageBytes)
        self.streamedMessageBytes = max(0, streamedMessageBytes)
        self.emptyFragments = max(0, emptyFragments)
        self.sendQueueBytes = max(0, sendQueueBytes)
        self.queuedControls = max(0, queuedControls)
        self.pendingPings = max(0, pendingPings)
    }
}

/// How a WebSocket behaves once its opening handshake is over.
public struct WebSocketSettings: Hashable, Sendable, Codable {
    /// How messages are delivered.
    public enum Delivery: String, Hashable, Sendable, Codable {
        /// Each as one array, once its last byte is there.
        case whole
        /// In pieces as they come, so that a message of any length takes up no memory.
        case chunks
    }

    /// What it may take up.
    public var limits: WebSocketLimits
    /// How messages are delivered.
    public var delivery: Delivery
    /// Whether pings are answered; switched off only to see what the peer makes of it.
    public var answersPings: Bool
    /// How often a ping is sent by itself; nil: never.
    public var pingInterval: Duration?
    /// How long the pong to such a ping may take, from when the ping left; then the WebSocket fails with code 1011.
    /// Bytes that come within an unfinished frame put it off, for no pong can come between them.
    public var pongTimeout: Duration
    /// How long each step of the closing may take: sending what is queued without any progress, the peer's Close, the
    /// end of TCP.
    public var closeTimeout: Duration
    /// Messages shorter than this go uncompressed though permessage-deflate was agreed on, in bytes.
    public var compressionThreshold: Int
    /// How long a message that is delivered whole may take from its first frame on: this, and a second more for each
    /// 16 KiB of it that came. Then the WebSocket fails with code 1008. Time in which this side leaves the bytes in the
    /// kernel does not count. 60 seconds; `nil`: for ever, which lets a peer that never ends its message hold memory for
    /// ever.
    public var messageTimeout: Duration?
    /// zlib's level from 1 (fast) to 9 (small); the default is 6.
    public var compressionLevel: Int
    /// When the bytes queued for sending make a `writable` event.
    public var watermarks: Watermarks

    /// Sets all of it.
    public init(
        limits: WebSocketLimits = WebSocketLimits(), delivery: Delivery = .whole, answersPings: Bool = true,
        pingInterval: Duration? = nil, pongTimeout: Duration = .seconds(20), closeTimeout: Duration = .seconds(10),
        compressionThreshold: Int = 64, compressionLevel: Int = 6,
        watermarks: Watermarks = Watermarks(low: 64 << 10, high: 1 << 20), messageTimeout: Duration? = .seconds(60)
    ) {
        self.limits = limits
        self.delivery = delivery
        self.answersPings = answersPings
        self.pingInterval = pingInterval
        self.pongTimeout = pongTimeout
        self.closeTimeout = closeTimeout
        self.compressionThreshold = compressionThreshold
        self.compressionLevel = min(9, max(1, compressionLevel))
        self.watermarks = watermarks
        self.messageTimeout = messageTimeout
    }
}
