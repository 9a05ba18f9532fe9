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

    /// Notes where in the engine's mailbox a request for bytes of the stream was posted.
    mutating func noteRequest(at place: Int) {
        if !rare.isEmpty { rare.changePresent { $0.lastRequest = place } }
    }

    /// Keeps pieces that were handed to a task, to close them. Returns `false` if a request for bytes of the stream was
    /// posted that is not among the first `carriedOut` jobs, and so comes first.
    mutating func keep(_ pieces: PiecesAhead, asOf carriedOut: Int) -> Bool {
        guard !rare.isEmpty, rare.existing.lastRequest <= carriedOut else { return false }
        rare.changePresent { $0.pieces = pieces }
        return true
    }

    /// The next of the chunks that were received ahead for such a read, or `nil` if there is none.
    func takeAhead(of request: ReadRequest) -> [UInt8]? {
        guard case .available(let limit?) = request.kind, !rare.isEmpty, let pieces = rare.existing.pieces,
            pieces.limit == limit
        else { return nil }
        return pieces.next()
    }

    mutating func changeAwaited<R>(_ body: (inout AwaitedAnswers) -> R) -> R {
        rare.change(RareHandleState()) { body(&$0.awaited) }
    }
}

/// State that most handles never need.
private struct RareHandleState {
    var awaited = AwaitedAnswers()
    /// Pieces that a task fetches without the engine.
    var pieces: PiecesAhead?
    /// Where the last request for bytes of the stream was posted.
    var lastRequest = 0
}
