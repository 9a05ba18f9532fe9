/// What more is known of a WebSocket that others speak, and that is only looked at: as one that passes through a relay.
public struct WebSocketObservation: Hashable, Sendable, Codable {
    /// The message that goes out and is not over.
    public var sending: WebSocketMessageProgress?
    /// What is wrong with the frames that came; behind that nothing more is made of what comes.
    public var receivedFailure: WebSocketFailure?
    /// What is wrong with the frames that went out, likewise.
    public var sentFailure: WebSocketFailure?
    /// Compressed messages that came and were not inflated.
    public var receivedSkipped: UInt64 = 0
    /// Compressed messages that went out and were not inflated.
    public var sentSkipped: UInt64 = 0

    /// Nothing more is known.
    public init() {}
}

/// A message or a control frame that passed, or bytes that are no frames.
package struct ObservedItem: Equatable {
    /// Whether it went out.
    package var isSent: Bool
    /// What it is.
    package var traffic: WebSocketTraffic
    /// Its bytes, those not kept included.
    package var length: Int
    /// The first of them.
    package var bytes: [UInt8]
}
