import SocketCore

/// The connections that a listener takes, one after the other; see `SocketListener.connections`. One task iterates it
/// at a time.
public struct SocketConnections: AsyncSequence, Sendable {
    let listener: SocketListener

    /// Begins to wait.
    public func makeAsyncIterator() -> Iterator {
        Iterator(listener: listener)
    }

    /// Waits for connection after connection.
    public struct Iterator: AsyncIteratorProtocol {
        let listener: SocketListener

        /// The next connection; nil when the listener was stopped or the task cancelled. Throws why the listener ended
        /// otherwise.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SocketError) -> AsyncSocket? {
            try await listener.nextConnection().get()
        }

        /// The next connection, for callers on no actor.
        public mutating func next() async throws(SocketError) -> AsyncSocket? {
            try await next(isolation: nil)
        }
    }
}

/// Connections that were taken and that nobody has fetched yet, and who waits for one.
struct ConnectionBacklog<Socket: Sendable> {
    /// Connections held before the listener leaves the rest to the kernel's own backlog.
    static var limit: Int { 16 }

    var sockets: [Socket] = []
    var waiters = Waiters<Result<Socket?, SocketError>>()
    /// The session that was asked to hold back; nil: none, or it may go on.
    private var holding: SocketID?

    /// Adds a connection while this is the listener's session: who waits for it, and which session must hold back.
    mutating func add(
        _ socket: Socket, while session: SocketID?
    ) -> (answer: Answer<Result<Socket?, SocketError>>?, mustHold: SocketID?) {
        if let waiting = waiters.popFirst() { return (waiting, nil) }
        sockets.append(socket)
        guard sockets.count >= Self.limit, let session, holding != session else { return (nil, nil) }
        holding = session
        return (nil, session)
    }

    /// Removes the oldest; true if the listener may go on.
    mutating func popFirst() -> (socket: Socket, mayGoOn: Bool)? {
        guard !sockets.isEmpty else { return nil }
        let socket = sockets.removeFirst()
        let mayGoOn = holding != nil && sockets.count <= Self.limit / 2
        if mayGoOn { holding = nil }
        return (socket, mayGoOn)
    }

    /// The next connection, or how the listener ended; nil: `answer` waits for that. And whether the listener may go on.
    mutating func fetch(
        as waiter: OperationID, _ present: PresentSession, _ answer: @escaping Answer<Result<Socket?, SocketError>>
    ) -> (result: Result<Socket?, SocketError>?, mayGoOn: Bool) {
        if let first = popFirst() { return (.success(first.socket), first.mayGoOn) }
        guard let session = present.awaited else {
            return (present.error.map { .failure($0) } ?? .success(nil), false)
        }
        waiters.add(waiter, of: session, answer)
        return (nil, false)
    }
}

extension SocketListener {
    /// The connections that come in, for a task to iterate. From this call on they do not go to the delegate. While
    /// nobody fetches them, 16 are held here, and the rest wait in the kernel's backlog.
    public var connections: SocketConnections {
        beginBacklog()
        return SocketConnections(listener: self)
    }

    /// How many tasks wait for a connection.
    package var waiters: Int { state.withLock { $0.backlog?.waiters.count ?? 0 } }
}
