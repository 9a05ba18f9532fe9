import SocketCore

/// The connections that a listener accepts, one after the other. See `SocketListener.connections`. Only one task at a
/// time can iterate it.
public struct SocketConnections: AsyncSequence, Sendable {
    let listener: SocketListener

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(listener: listener)
    }

    /// Takes one connection after another. It waits only if none has arrived.
    public struct Iterator: AsyncIteratorProtocol {
        let listener: SocketListener

        /// Returns the next connection, or `nil` if the listener was stopped or the task cancelled. Otherwise throws
        /// why the listener ended.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SocketError) -> AsyncSocket? {
            if !Task.isCancelled, let connection = listener.takeReady() { return connection }
            return try await listener.next().get()
        }

        /// Returns the next connection, for callers without an actor.
        public mutating func next() async throws(SocketError) -> AsyncSocket? {
            try await next(isolation: nil)
        }
    }
}

extension SocketListener {
    /// The connections that arrive, for a task to iterate. From this call on they don't go to the delegate. Up to 16
    /// unfetched connections are held here; the rest wait in the kernel's backlog.
    public var connections: SocketConnections {
        state.withLock { if $0.backlog == nil { $0.backlog = Backlog() } }
        return SocketConnections(listener: self)
    }

    /// The number of tasks that wait for a connection.
    package var waiters: Int { fetcherCount }
}
