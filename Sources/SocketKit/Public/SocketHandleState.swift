import SocketCore

/// What a handle holds, from whatever thread it is asked.
struct SocketHandleState {
    var engine: SocketEngine
    var session: SocketID?
    weak var delegate: (any AsyncSocketDelegate)?
    /// nil: callbacks come on the engine's queue.
    var pump: DelegatePump?
    var configuration: SocketConfiguration
    var userData: (any Sendable)?
    var awaited = AwaitedAnswers()
    /// How the last session ended; nil: this side asked for it, or none has ended yet.
    var lastError: SocketError?
    /// Bytes of completed reads that wait in the pump.
    var undelivered = 0
    /// Whether the connection holds back until the delegate has caught up.
    var isHeldBack = false

    /// Bytes that may wait in the pump before no more are taken from the kernel.
    static let undeliveredLimit = 1 << 20
}
