import SocketCore

/// What other threads ask of the engine, in the order in which they asked.
enum Letter: Sendable {
    case command(SocketCommand)
    /// A command by a handle, which hears of it when the session is over already; and the name of what it queues.
    case ask(AsyncSocket, SocketCommand, OperationID)
    /// A connect to addresses that are known begins, so that it never fails before the caller knows its session.
    case begin(SocketID, [SocketAddress])
    /// A name was resolved, or could not be.
    case resolved(SocketID, Result<[SocketAddress], SocketError>)
    /// The delegate queue of this session has caught up.
    case caughtUp(SocketID)
    /// A connection comes from another engine.
    case take(MovedConnection, AsyncSocket)
    /// Something for a WebSocket by its handle, which hears of it when the session is over already.
    case webSocket(WebSocket, SocketID?, WebSocketCommand, OperationID)
    /// The user of this WebSocket has taken all that came before the end of its input.
    case acknowledgeEnd(SocketID)
    /// What waits in this handle goes to its delegate, which it has now.
    case deliverInbox(WebSocket)
    /// Something for a datagram socket.
    case datagram(DatagramLetter)
    /// The handle of this session is gone: close it without telling anybody.
    case released(SocketID)
    /// Two connections belong together: what comes by one goes out by the other.
    case link(SocketID, SocketID)
    /// Take nothing from the kernel, since what this one is linked to cannot take it (true), or take it again (false).
    case holdBack(SocketID, Bool)
    /// Publish what changed; the answer is called at once, on the queue, and is no user code.
    case publish(PublicationRequest, @Sendable (Publication) -> Void)
    case stopPublishing
    case snapshot(SnapshotRequest, @Sendable (EngineSnapshot) -> Void)
}

/// Holds letters until the engine's next turn. Posting costs one lock, and at most one wake-up for all letters that
/// are posted before the engine gets to them.
final class Mailbox: Sendable {
    private struct State {
        var letters: [Letter] = []
        /// A turn is under way or was asked for; it empties the box before it ends, so nobody has to wake it.
        var isAwake = false
    }

    private let state = Lock(State())

    /// Adds a letter; true when the caller has to ask for a turn.
    func post(_ letter: Letter) -> Bool {
        state.withLock { state in
            state.letters.append(letter)
            defer { state.isAwake = true }
            return !state.isAwake
        }
    }

    /// Marks that a turn is under way.
    func wake() {
        state.withLock { $0.isAwake = true }
    }

    /// Takes all letters.
    func take() -> [Letter] {
        state.withLock { state in
            guard !state.letters.isEmpty else { return [] }
            defer { state.letters = [] }
            return state.letters
        }
    }

    /// Marks the end of a turn; false when letters came meanwhile, so that the turn must go on.
    func sleep() -> Bool {
        state.withLock { state in
            state.isAwake = !state.letters.isEmpty
            return state.letters.isEmpty
        }
    }
}
