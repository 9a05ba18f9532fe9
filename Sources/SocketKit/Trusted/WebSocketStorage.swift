import SocketCore

/// What a WebSocket reaches for each frame. It is looked at as `ConnectionStorage` is, for the same reasons.
///
/// Proof: as there. A WebSocket lives on the queue of its connection's engine, and its events wait until the machine is left.
class WebSocketStorage {
    #if DEBUG
    /// `nil` until the handshake is over.
    final var machine: WebSocketMachine?
    /// What the machine said and is not performed yet.
    final var events: [WebSocketEvent] = []
    /// Messages handed to the machine whose senders want to hear that the kernel has them, in their order.
    final var unsent = OperationDeque<(message: WebSocketMessageID, operation: OperationID)>()
    #else
    @exclusivity(unchecked) final var machine: WebSocketMachine?
    @exclusivity(unchecked) final var events: [WebSocketEvent] = []
    @exclusivity(unchecked) final var unsent = OperationDeque<(message: WebSocketMessageID, operation: OperationID)>()
    #endif
}
