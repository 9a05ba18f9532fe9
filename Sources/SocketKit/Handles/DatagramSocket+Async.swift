import SocketCore

/// Awaiting instead of being called back. The completion of an awaited datagram goes to the one who awaits it; everything
/// else still goes to the delegate.
extension DatagramSocket: ElementSource {
    /// Queues a datagram and waits until the kernel has it. Throws why it was not sent; `cancelled` when the task was
    /// cancelled before the kernel took it.
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

    /// The datagrams that arrive, for a task to iterate; from this call on they do not go to the delegate, and are
    /// received continuously. While nobody fetches them, `limit` are kept, of at most `byteLimit` bytes together, 64 added
    /// for each; those that come then are dropped, and counted in `DatagramCounters.unfetched`. Ends when the socket
    /// closes. Called again, it changes the limits, and what is kept stays. Throws as `beginReceiving`; then nothing has
    /// changed.
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

    /// Keeps a batch for the one who iterates; how many found no room. nil: nobody iterates.
    func keep(_ batch: DatagramBatch) -> Int? {
        let kept = state.withLock { $0.kept?.add(batch) }
        for (answer, datagram) in zip(kept?.answers ?? [], batch) { answer(.success(datagram)) }
        return kept?.dropped
    }

    // MARK: For the one who iterates

    /// How many tasks wait for a datagram.
    package var waiters: Int { fetcherCount }

    func withFetchers<R: Sendable>(_ body: (inout Waiters<Fetched<Datagram>>) -> R) -> R? {
        state.withLock { state -> R? in
            guard state.kept != nil else { return nil }
            return body(&state.kept!.waiters)
        }
    }

    func fetch(as waiter: OperationID, _ answer: @escaping Answer<Fetched<Datagram>>) {
        let (result, emptied) = state.withLock { $0.fetch(as: waiter, answer) }
        // Contexts of the receive filter, which are the user's, leave the lock before they are released.
        withExtendedLifetime(emptied) {}
        if let result { answer(result) }
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
            try await socket.next().get()
        }

        /// The next datagram, for callers on no actor.
        public mutating func next() async throws(SocketError) -> Datagram? {
            try await next(isolation: nil)
        }
    }
}

extension DatagramHandleState {
    /// The next datagram, or how the session ended; nil: `answer` waits for that. And the batch of which it was the last.
    fileprivate mutating func fetch(
        as waiter: OperationID, _ answer: @escaping Answer<Fetched<Datagram>>
    ) -> (result: Fetched<Datagram>?, emptied: DatagramBatch?) {
        if let (first, emptied) = kept?.popFirst() { return (.success(first), emptied) }
        let present = present
        return (kept?.waiters.add(waiter, within: present, answer), nil)
    }
}

/// Datagrams that were received and that nobody has fetched yet, and who waits for one.
struct KeptDatagrams {
    /// Datagrams that are kept at most, and what they weigh together.
    var limit = 1
    var byteLimit = 1
    /// Batches as they came, with how many of each were fetched.
    private var batches = OperationDeque<DatagramBatch>()
    private var fetched = 0
    private var count = 0
    /// What those weigh that were not fetched yet.
    private var weight = 0
    var waiters = Waiters<Fetched<Datagram>>()

    /// Takes a batch in: who waits for its first datagrams, one each, and how many of the others found no room.
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

    /// One datagram has room, however long it is.
    private func hasRoom(for more: Int) -> Bool {
        count == 0 || count < limit && weight + more <= byteLimit
    }

    /// Takes the first datagram out, and its batch if that was the last of it, whose memory the caller releases. nil:
    /// there is none.
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
