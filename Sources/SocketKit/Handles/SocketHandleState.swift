import SocketCore

/// The state of a stream socket's handle, accessible from any thread.
struct SocketHandleState: HandleStorage, ~Copyable {
    var engine: SocketEngine
    var core: HandleCore<any AsyncSocketDelegate, Shared<SocketConfiguration>>
    /// Whether the delegate is called for completed writes.
    var hearsOfWrites = true
    private var rare = Rare<RareHandleState>()

    init(
        engine: SocketEngine, session: SocketID? = nil, delegate: (any AsyncSocketDelegate)? = nil,
        pump: DelegatePump?, configuration: Shared<SocketConfiguration>
    ) {
        self.engine = engine
        core = HandleCore(session: session, delegate: delegate, pump: pump, configuration: configuration)
    }

    var isAwaited: Bool { !rare.isEmpty && !rare.existing.awaited.isEmpty }

    var awaited: AwaitedAnswers { rare.present?.awaited ?? AwaitedAnswers() }

    /// Closes the pieces that a task fetches without the engine, because something else is requested of the stream.
    mutating func closePieces() {
        if !rare.isEmpty { rare.changePresent { $0.pieces.take()?.close() } }
    }

    /// Keeps pieces that were handed to a task, to close them.
    mutating func keep(_ pieces: PiecesAhead) { rare.changePresent { $0.pieces = pieces } }

    mutating func changeAwaited<R>(_ body: (inout AwaitedAnswers) -> R) -> R {
        rare.change(RareHandleState()) { body(&$0.awaited) }
    }
}

/// State that most handles never need.
private struct RareHandleState {
    var awaited = AwaitedAnswers()
    /// Pieces that a task fetches without the engine.
    var pieces: PiecesAhead?
}
