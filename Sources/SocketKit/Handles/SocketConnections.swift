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
            try await listener.next().get()
        }

        /// The next connection, for callers on no actor.
        public mutating func next() async throws(SocketError) -> AsyncSocket? {
            try await next(isolation: nil)
        }
    }
}

extension SocketListener {
    /// The connections that come in, for a task to iterate. From this call on they do not go to the delegate. While
    /// nobody fetches them, 16 are held here, and the rest wait in the kernel's backlog.
    public var connections: SocketConnections {
        state.withLock { if $0.backlog == nil { $0.backlog = Backlog() } }
        return SocketConnections(listener: self)
    }

    /// How many tasks wait for a connection.
    package var waiters: Int { fetcherCount }
}
