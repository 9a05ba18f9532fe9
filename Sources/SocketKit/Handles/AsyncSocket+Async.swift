import SocketCore

/// Awaiting instead of being called back.
///
/// The completion of an awaited operation goes to the one who awaits it, never to the delegate; everything else still
/// goes to the delegate. Both may be used on one socket: operations of both kinds share its queues, in the order in
/// which they were asked for. Nothing is taken from the kernel while nobody awaits a read, so a slow consumer is felt by
/// the peer.
///
/// A cancelled task gets its answer as soon as the engine's queue is free, whatever the peer does, and no byte is lost or
/// repeated. What a cancelled read had goes back to the stream, for the next read. A cancelled write of which no byte has
/// left is taken back whole; one of which bytes have left goes on to its end without a timeout, since half a write would
/// tear the stream: close the socket to stop it. Either answer is `cancelled`, or success where that came first.
///
/// An error says in `SocketError.transferred` how many bytes of the operation had passed. When a read times out,
/// `SocketConfiguration.timeoutVerdict` decides unless there is a delegate: by `failOperation` its bytes go back to the
/// stream, by `close`, the default, the connection ends and they are in `SocketError.received`, as they are whenever a
/// connection ends within a read.
extension AsyncSocket {
    /// Connects and waits until bytes can pass. Throws what `connect(to:timeout:)` throws, or why the connect failed;
    /// `cancelled` when the task was cancelled, and then nothing is left of the attempt.
    public static func connect(
        to endpoint: Endpoint, on engine: SocketEngine, timeout: Duration? = nil,
        configuration: SocketConfiguration = SocketConfiguration()
    ) async throws(SocketError) -> AsyncSocket {
        let socket = AsyncSocket(engine: engine, configuration: configuration)
        try await socket.wait(in: \.connections, "connect") { () throws(SocketError) in
            try socket.connect(to: endpoint, timeout: timeout)
        }
        return socket
    }

    /// Queues a read and waits for its bytes: `await` chooses this one of the two; one for the delegate is queued from a
    /// function that is not async. Throws why it failed; a standing read cannot be awaited and is refused. After
    /// `cancelled`, and after `readTimeout` by the verdict `failOperation`, its bytes are in the stream again; after any
    /// other error they are in `SocketError.received`.
    public func read(_ request: ReadRequest) async throws(SocketError) -> [UInt8] {
        do throws(FailedOperation) {
            return try await outcome(request).get()
        } catch {
            throw error.thrown
        }
    }

    /// Queues a write and waits until the kernel has all of it. Throws why it failed; `SocketError.transferred` is how many
    /// of its bytes went out by then. If it is 0, none does. After `cancelled` with more than 0 the others follow; after
    /// `writeTimeout` by the verdict `failOperation` they do not, and the peer sees the next write in their place.
    public func send(_ bytes: [UInt8], timeout: Duration? = nil, tag: Int = 0) async throws(SocketError) {
        let request = WriteRequest(bytes, timeout: timeout, tag: tag)
        do throws(FailedOperation) {
            _ = try await outcome(.write(request), as: engine.names.nextOperation()).get()
        } catch {
            throw error.thrown
        }
    }

    /// What the peer sends, in pieces of at most `limit` bytes, until its FIN. Each step queues one read, and throws
    /// `readTimeout` if nothing came within `timeout` (`nil`: no limit): `SocketConfiguration.timeoutVerdict` says whether the
    /// connection ends by that, or the next step goes on.
    public func chunks(limit: Int = 65_536, timeout: Duration? = nil) -> SocketChunks {
        SocketChunks(socket: self, request: ReadRequest(.available(limit: limit), timeout: timeout))
    }

    /// What the peer sends, cut behind each `delimiter`, which stays at the end of each piece; the last piece may lack
    /// it. Throws `readMaxedOut` when a piece is longer than `limit`, its delimiter included; the connection has ended then, and
    /// nothing can be sent to the peer any more. Each step queues one read, and throws `readTimeout` if
    /// its piece is not whole within `timeout`, as `chunks` does.
    public func lines(
        delimiter: [UInt8] = [13, 10], limit: Int = 65_536, timeout: Duration? = nil
    ) -> SocketChunks {
        SocketChunks(socket: self, request: ReadRequest(.delimiter(delimiter, limit: limit), timeout: timeout))
    }

    func outcome(_ request: ReadRequest) async -> Result<[UInt8], FailedOperation> {
        guard !request.isStanding else {
            let error = SocketError(
                .badParameter, operation: "read",
                detail: "a standing read completes again and again: give it a delegate")
            return .failure(
                FailedOperation(
                    operation: engine.names.nextOperation(), kind: .read(request.kind), tag: request.tag, done: 0,
                    total: request.total, bytes: [], isStanding: true, error: error))
        }
        return await outcome(.read(request), as: engine.names.nextOperation())
    }

    /// Asks for an operation and waits until it ends.
    func outcome(
        _ action: SocketCommand.Action, as operation: OperationID
    ) async -> Result<[UInt8], FailedOperation> {
        await waitForAnswer(orIfCancelled: .failure(unbegun(operation, action))) {
            ask(action, as: operation, answer: $0)
        } onCancel: { [self] in
            giveUp(operation)
        }
    }

    /// The failure of an operation that a cancelled task did not begin.
    private func unbegun(_ operation: OperationID, _ action: SocketCommand.Action) -> FailedOperation {
        guard var failed = action.failure(as: operation) else {
            preconditionFailure("only reads and writes are awaited")
        }
        failed.error = .cancelled(failed.error.operation)
        return failed
    }
}

/// The pieces of a stream; see `AsyncSocket.chunks` and `AsyncSocket.lines`. One task iterates it at a time.
public struct SocketChunks: AsyncSequence, Sendable {
    let socket: AsyncSocket
    let request: ReadRequest

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator {
        Iterator(socket: socket, request: request)
    }

    /// Reads piece after piece.
    public struct Iterator: AsyncIteratorProtocol {
        let socket: AsyncSocket
        let request: ReadRequest
        private var isOver = false

        init(socket: AsyncSocket, request: ReadRequest) {
            self.socket = socket
            self.request = request
        }

        /// The next piece; nil behind the peer's FIN. Throws why the read failed otherwise.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SocketError) -> [UInt8]? {
            guard !isOver else { return nil }
            switch await socket.outcome(request) {
            case .success(let bytes): return bytes
            case .failure(let failed):
                // What a cancelled read had is in the stream again, so that the next one goes on with it; so it is where a
                // timeout left the connection.
                let isOpen = failed.error.reason == .readTimeout && socket.session != nil
                isOver = failed.error.reason != .cancelled && !isOpen
                // Between two reads the session may have ended; how it did tells an end from a loss.
                let error = failed.error.reason == .notConnected ? socket.lastError : failed.thrown
                if let error, error.reason != .closedByPeer { throw error }
                return failed.bytes.isEmpty ? nil : failed.bytes
            }
        }

        /// The next piece, for callers on no actor.
        public mutating func next() async throws(SocketError) -> [UInt8]? {
            try await next(isolation: nil)
        }
    }
}
