/// The limits of one WebSocket. Each has its counter in `WebSocketSnapshot`.
public struct WebSocketLimits: Hashable, Sendable {
    /// The longest frame, in payload bytes on the wire. Unlimited by default, so only the message limit applies.
    public var frameBytes: Int
    /// The longest message that is delivered whole, in bytes after inflation. Defaults to 64 MiB, and a message of
    /// exactly the limit is accepted. A few bytes on the wire can inflate to the full limit, so a public server should
    /// set what its messages need. `EngineConfiguration.unfinishedMessageBytes` limits the sum over all WebSockets of
    /// an engine.
    public var messageBytes: Int
    /// The longest message that is delivered in chunks, in bytes after inflation. Unlimited by default, because such a
    /// message uses no memory.
    public var streamedMessageBytes: Int
    /// The number of empty fragments that one message can have. Defaults to 1024.
    public var emptyFragments: Int
    /// The message bytes that can be queued and not yet given to the transport. Defaults to 64 MiB. Anything that would
    /// exceed the limit is rejected.
    public var sendQueueBytes: Int
    /// The caller's pings and pongs that can be queued and not yet given to the transport. Defaults to 64. The same
    /// limit applies separately to pongs that answer pings; beyond it, answers to older pings are dropped.
    public var queuedControls: Int
    /// The unanswered pings that are remembered to measure the round-trip time. Defaults to 64. Beyond the limit, the
    /// oldest is forgotten.
    public var pendingPings: Int

    /// Sets the limits. Negative values count as 0.
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

/// A WebSocket's settings after the opening handshake.
public struct WebSocketSettings: Hashable, Sendable {
    /// How messages are delivered.
    public enum Delivery: String, Hashable, Sendable {
        /// Each message as one array, once it is complete.
        case whole
        /// In chunks as they arrive, so that a message of any length uses no memory.
        case chunks
    }

    /// The WebSocket's limits.
    public var limits: WebSocketLimits
    /// How messages are delivered.
    public var delivery: Delivery
    /// Whether pings are answered. Turn it off only to test how the peer reacts.
    public var answersPings: Bool
    /// The interval between automatic pings, or `nil` to send none.
    public var pingInterval: Duration?
    /// The timeout for the pong to an automatic ping, counted from when the ping was sent. When it expires, the
    /// WebSocket fails with code 1011. Bytes of an unfinished frame extend it, because no pong can arrive between them.
    public var pongTimeout: Duration
    /// The timeout for each step of closing: sending queued bytes without any progress, the peer's Close, and the end
    /// of TCP.
    public var closeTimeout: Duration
    /// The length in bytes below which messages are sent uncompressed even if permessage-deflate was agreed on.
    public var compressionThreshold: Int
    /// The timeout for a message that is delivered whole, counted from its first frame, plus one second for each 16 KiB
    /// received. When it expires, the WebSocket fails with code 1008. Time during which the local side leaves the bytes
    /// in the kernel does not count. Defaults to 60 seconds. With `nil` there is no timeout, and a peer that never ends
    /// its message can hold memory forever.
    public var messageTimeout: Duration?
    /// zlib's compression level from 1 (fast) to 9 (small). Defaults to 6.
    public var compressionLevel: Int
    /// The thresholds of queued bytes for a `writable` event.
    public var watermarks: Watermarks

    /// Creates settings.
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
