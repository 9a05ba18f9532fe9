import SocketCore

/// Awaiting instead of being called back. The completion of an awaited datagram goes to the one who awaits it; everything
/// else still goes to the delegate.
extension DatagramSocket {
    /// Queues a datagram and waits until the kernel has it. Throws why it was not sent; `cancelled` when the task was
    /// cancelled before the kernel took it.
    public func send(
        _ bytes: [UInt8], to destination: DatagramEndpoint? = nil, timeout: Duration? = nil
    ) async throws(SocketError) {
        let operation = engine.names.nextOperation()
        let request = DatagramRequest(bytes, to: destination, timeout: timeout)
        let error = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.awaitedSends[operation] = { continuation.resume(returning: $0) } }
                engine.post(.datagram(.send(self, request, operation)))
                // Cancelled before it was asked for: the handler below found nothing to cancel then.
                if Task.isCancelled { cancel(operation) }
            }
        } onCancel: {
            cancel(operation)
        }
        if let error { throw error }
    }

    /// The datagrams that arrive, for a task to iterate; from this call on they do not go to the delegate, and are
    /// received continuously. While nobody fetches them, `limit` are kept; those that come then are dropped, and counted
    /// in `DatagramCounters.unfetched`. Ends when the socket closes. Throws as `beginReceiving`.
    public func datagrams(limit: Int = 1_024) throws(SocketError) -> Datagrams {
        state.withLock { $0.kept = KeptDatagrams(limit: max(1, limit)) }
        try receive(.continuous)
        return Datagrams(socket: self)
    }

    // MARK: For the engine

    /// Keeps a batch for the one who iterates; how many found no room. nil: nobody iterates.
    func keep(_ batch: DatagramBatch) -> Int? {
        let (answer, first, dropped): (KeptDatagrams.Answer?, Datagram?, Int?) = state.withLock { state in
            guard state.kept != nil else { return (nil, nil, nil) }
            return state.kept?.add(batch) ?? (nil, nil, nil)
        }
        if let first { answer?(.success(first)) }
        return dropped
    }

    func endKept(_ error: SocketError?) {
        let ending: Result<Datagram?, SocketError> = error.map { .failure($0) } ?? .success(nil)
        let answer = state.withLock { state in
            state.kept?.ending = ending
            return state.kept?.answer.take()
        }
        answer?(ending)
    }

    // MARK: For the one who iterates

    func nextDatagram() async -> Result<Datagram?, SocketError> {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                fetch { continuation.resume(returning: $0) }
                if Task.isCancelled { giveUpFetching() }
            }
        } onCancel: {
            giveUpFetching()
        }
    }

    private func fetch(_ answer: @escaping KeptDatagrams.Answer) {
        let result: Result<Datagram?, SocketError>? = state.withLock { state in
            if let first = state.kept?.popFirst() { return .success(first) }
            if state.session == nil || state.kept?.ending != nil { return state.kept?.ending ?? .success(nil) }
            state.kept?.answer = answer
            return nil
        }
        if let result { answer(result) }
    }

    private func giveUpFetching() {
        let answer = state.withLock { $0.kept?.answer.take() }
        answer?(.success(nil))
    }
}

/// The datagrams that a socket receives, one after the other; see `DatagramSocket.datagrams(limit:)`. One task iterates
/// it at a time.
public struct Datagrams: AsyncSequence, Sendable {
    let socket: DatagramSocket

    /// Begins to wait.
    public func makeAsyncIterator() -> Iterator {
        Iterator(socket: socket)
    }

    /// Waits for datagram after datagram.
    public struct Iterator: AsyncIteratorProtocol {
        let socket: DatagramSocket

        /// The next datagram; nil when the socket was closed or the task cancelled. Throws why the socket closed
        /// otherwise.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SocketError) -> Datagram? {
            try await socket.nextDatagram().get()
        }

        /// The next datagram, for callers on no actor.
        public mutating func next() async throws(SocketError) -> Datagram? {
            try await next(isolation: nil)
        }
    }
}

/// Datagrams that were received and that nobody has fetched yet, and who waits for one.
struct KeptDatagrams {
    typealias Answer = @Sendable (Result<Datagram?, SocketError>) -> Void

    private let limit: Int
    /// Batches as they came, with how many of each were fetched.
    private var batches = OperationDeque<DatagramBatch>()
    private var fetched = 0
    private var count = 0
    var answer: Answer?
    /// How the session ended.
    var ending: Result<Datagram?, SocketError>?

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes a batch in: the first datagram for the one who waits, and how many found no room.
    mutating func add(_ batch: DatagramBatch) -> (answer: Answer?, first: Datagram?, dropped: Int) {
        let waiting = answer.take()
        let skipped = waiting == nil ? 0 : 1
        let room = limit - count
        let kept = Swift.min(room, batch.count - skipped)
        if kept > 0 {
            batches.append(kept == batch.count ? batch : batch.keeping { $0 >= skipped && $0 < skipped + kept })
            count += kept
        }
        return (waiting, waiting == nil ? nil : batch[0], batch.count - skipped - kept)
    }

    mutating func popFirst() -> Datagram? {
        guard batches.count > 0 else { return nil }
        let batch = batches[0]
        let datagram = batch[fetched]
        fetched += 1
        count -= 1
        if fetched == batch.count {
            _ = batches.popFirst()
            fetched = 0
        }
        return datagram
    }
}
