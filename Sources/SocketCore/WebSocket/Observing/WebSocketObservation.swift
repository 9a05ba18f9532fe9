/// Additional state of a WebSocket between other parties that is only observed, such as a relayed one.
public struct WebSocketObservation: Equatable, Sendable {
    /// The incomplete message being sent.
    public var sending: WebSocketMessageProgress?
    /// The violation in the received frames. Nothing received after it is parsed.
    public var receivedFailure: WebSocketFailure?
    /// The violation in the sent frames. Nothing sent after it is parsed.
    public var sentFailure: WebSocketFailure?
    /// The received compressed messages that were not inflated.
    public var receivedSkipped: UInt64 = 0
    /// The sent compressed messages that were not inflated.
    public var sentSkipped: UInt64 = 0

    /// Creates an observation without any findings.
    public init() {}
}

/// An observed message or control frame, or bytes that are not frames.
package struct ObservedItem: Equatable {
    /// Whether the local side sent the item.
    package var isSent: Bool
    /// The type and frames of the item.
    package var traffic: WebSocketTraffic
    /// The item's length, including bytes that were not kept.
    package var length: Int
    /// The first bytes of the item.
    package var bytes: [UInt8]
}
