import SocketCore

/// Awaiting instead of callbacks. An awaited send completes in the awaiting task. All other calls go to the delegate.
extension DatagramSocket: ElementSource {
    /// Queues a datagram and waits until the kernel has accepted it. Throws why it wasn't sent, or `cancelled` if the
    /// task was cancelled before the kernel accepted it.
    public func send(
        _ bytes: [UInt8], to destination: Endpoint? = nil, timeout: Duration? = nil
    ) async throws(SocketError) {
        let operation = engine.names.nextOperation()
        let request = DatagramRequest(bytes, to: destination, timeout: timeout)
        let error: SocketError? = await waitForAnswer(orIfCancelled: .cancelled("send")) { answer in
            state.withLock { $0.awaitedSends[operation] = answer }
            engine.post(.datagram(.send(self, request, operation)))
        } onCancel: { [self] in
            cancel(operation)
        }
        if let error { throw error }
    }

    /// Returns the datagrams that arrive, for a task to iterate. From this call on they don't go to the delegate, and
    /// are received continuously. Up to `limit` unfetched datagrams are kept, of at most `byteLimit` bytes in all,
    /// counting 64 more for each. Further datagrams are dropped and counted in `DatagramCounters.unfetched`. The
    /// sequence ends when the socket closes. Another call changes the limits and keeps the datagrams. Throws as
    /// `beginReceiving()` does. If it throws, nothing has changed.
    public func datagrams(limit: Int = 1_024, byteLimit: Int = 4 << 20) throws(SocketError) -> Datagrams {
        try receive(.continuous) {
            state.withLock { state in
                if state.kept == nil { state.kept = KeptDatagrams() }
                state.kept?.limit = max(1, limit)
                state.kept?.byteLimit = max(1, byteLimit)
            }
        }
        return Datagrams(socket: self)
    }

    // MARK: For the engine

    /// Keeps a batch for the iterating task. Returns how many datagrams didn't fit, or `nil` if no task iterates.
    func keep(_ batch: DatagramBatch) -> Int? {
        let kept = state.withLock { $0.kept?.add(batch) }
        for (answer, datagram) in zip(kept?.answers ?? [], batch) { answer(.success(datagram)) }
        return kept?.dropped
    }

    // MARK: For the iterating task

    /// The number of tasks that wait for a datagram.
    package var waiters: Int { fetcherCount }

    func withFetchers<R: Sendable>(_ body: (inout Waiters<Fetched<Datagram>>) -> R) -> R? {
        state.withLock { state -> R? in
            guard state.kept != nil else { return nil }
            return body(&state.kept!.waiters)
        }
    }

    /// Removes the next datagram, or returns `nil` if none has arrived.
    func takeReady() -> Datagram? {
        // The receive filter's contexts are the user's objects, and leave the lock before they are released.
        let first = state.withLock { $0.kept?.popFirst() }
        return first?.0
    }

    func fetch(as waiter: OperationID, _ answer: @escaping Answer<Fetched<Datagram>>) {
        let (result, emptied) = state.withLock { $0.fetch(as: waiter, answer) }
        // The receive filter's contexts are the user's objects, and leave the lock before they are released.
        withExtendedLifetime(emptied) {}
        if let result { answer(result) }
    }
}

/// The datagrams that a socket receives, one after the other. See `DatagramSocket.datagrams(limit:byteLimit:)`. Only
/// one task at a time can iterate it.
public struct Datagrams: AsyncSequence, Sendable {
    let socket: DatagramSocket

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(socket: socket)
    }

    /// Takes one datagram after another. It waits only if none has arrived.
    public struct Iterator: AsyncIteratorProtocol {
        let socket: DatagramSocket

        /// Returns the next datagram, or `nil` if the socket was closed or the task cancelled. Otherwise throws why the
        /// socket closed.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SocketError) -> Datagram? {
            if !Task.isCancelled, let datagram = socket.takeReady() { return datagram }
            return try await socket.next().get()
        }

        /// Returns the next datagram, for callers without an actor.
        public mutating func next() async throws(SocketError) -> Datagram? {
            try await next(isolation: nil)
        }
    }
}

extension DatagramHandleState {
    /// Returns the next datagram or how the session ended, or `nil` if `answer` waits for that. Also returns the batch
    /// if the datagram was its last.
    fileprivate mutating func fetch(
        as waiter: OperationID, _ answer: @escaping Answer<Fetched<Datagram>>
    ) -> (result: Fetched<Datagram>?, emptied: DatagramBatch?) {
        if let (first, emptied) = kept?.popFirst() { return (.success(first), emptied) }
        let present = present
        return (kept?.waiters.add(waiter, within: present, answer), nil)
    }
}

/// Received datagrams that no task has fetched yet, and the tasks that wait for one.
struct KeptDatagrams {
    /// The most datagrams that are kept, and the most that they weigh in all.
    var limit = 1
    var byteLimit = 1
    /// Batches in the order received, and how many datagrams of the first were fetched.
    private var batches = OperationDeque<DatagramBatch>()
    private var fetched = 0
    private var count = 0
    /// The weight of the datagrams that weren't fetched yet.
    private var weight = 0
    var waiters = Waiters<Fetched<Datagram>>()

    /// Adds a batch. Returns the answers of tasks that wait for its first datagrams, one each, and how many of the
    /// others didn't fit.
    mutating func add(
        _ batch: DatagramBatch
    ) -> (answers: [Answer<Fetched<Datagram>>], dropped: Int) {
        var answers: [Answer<Fetched<Datagram>>] = []
        while answers.count < batch.count, let waiting = waiters.popFirst() { answers.append(waiting) }
        let skipped = answers.count
        var end = skipped
        while end < batch.count, hasRoom(for: batch.weight(at: end)) {
            weight += batch.weight(at: end)
            count += 1
            end += 1
        }
        if end > skipped {
            batches.append(end - skipped == batch.count ? batch : batch.keeping { $0 >= skipped && $0 < end })
        }
        return (answers, batch.count - end)
    }

    /// Whether another datagram fits. One always does, however long it is.
    private func hasRoom(for more: Int) -> Bool {
        count == 0 || count < limit && weight + more <= byteLimit
    }

    /// Removes the first datagram, or returns `nil` if there is none. Also returns its batch if that was the last of
    /// it, so that the caller releases the memory.
    mutating func popFirst() -> (Datagram, emptied: DatagramBatch?)? {
        guard batches.count > 0 else { return nil }
        let batch = batches[0]
        let datagram = batch[fetched]
        count -= 1
        weight -= batch.weight(at: fetched)
        fetched += 1
        guard fetched == batch.count else { return (datagram, nil) }
        fetched = 0
        return (datagram, batches.popFirst())
    }
}
