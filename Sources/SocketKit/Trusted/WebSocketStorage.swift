import SocketCore

/// The fields that a WebSocket uses for every frame, checked in debug builds only, as those of `ConnectionStorage` are.
///
/// Proof: as there. A WebSocket lives on the queue of its connection's engine. Events are performed after the machine has
/// returned.
class WebSocketStorage {
    #if DEBUG
    /// The frame machine, or `nil` until the handshake is over.
    final var machine: WebSocketMachine?
    /// Events of the machine that are not performed yet.
    final var events: [WebSocketEvent] = []
    /// Messages passed to the machine whose senders are notified once the kernel has taken them, in order.
    final var unsent = OperationDeque<(message: WebSocketMessageID, operation: OperationID)>()
    #else
    @exclusivity(unchecked) final var machine: WebSocketMachine?
    @exclusivity(unchecked) final var events: [WebSocketEvent] = []
    @exclusivity(unchecked) final var unsent = OperationDeque<(message: WebSocketMessageID, operation: OperationID)>()
    #endif
}
