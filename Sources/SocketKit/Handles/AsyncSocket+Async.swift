import SocketCore

/// Awaiting instead of callbacks.
///
/// An awaited operation completes in the awaiting task, never in the delegate. All other calls still go to the
/// delegate. You can use both on one socket: operations of both kinds share its queues, in the order they were
/// requested. While no task awaits a read, nothing is read from the kernel, or for `chunks` at most `readAhead` bytes, so
/// a slow consumer slows the peer down.
///
/// A cancelled task gets its answer as soon as the engine's queue is free, whatever the peer does, and no byte is lost
/// or repeated. The bytes of a cancelled read return to the stream, for the next read. A cancelled write is withdrawn
/// whole if none of its bytes were sent. Otherwise it continues to its end without a timeout, because half a write
/// would corrupt the stream; close the socket to stop it. Either answer is `cancelled`, or success if that came first.
///
/// An error says in `SocketError.transferred` how many bytes of the operation were transferred. If a read times out
/// without a delegate, `SocketConfiguration.timeoutVerdict` decides. With `failOperation`, its bytes return to the
/// stream. With `close`, the default, the connection ends and the bytes are in `SocketError.received`, as they are
/// whenever a connection ends during a read.
extension AsyncSocket {
    /// Connects and waits until the connection is open. Throws what `connect(to:timeout:)` throws, why the connect
    /// failed, or `cancelled` if the task was cancelled, which leaves nothing of the attempt.
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

    /// Queues a read and waits for its bytes. `await` selects this method; a function that isn't async gets the one for
    /// the delegate. Throws why the read failed. A standing read can't be awaited and is rejected. After `cancelled`,
    /// and after `readTimeout` with the verdict `failOperation`, the bytes are back in the stream. After any other
    /// error they are in `SocketError.received`.
    public func read(_ request: ReadRequest) async throws(SocketError) -> [UInt8] {
        do throws(FailedOperation) {
            return try await outcome(request).get().bytes
        } catch {
            throw error.thrown
        }
    }

    /// Queues a write and waits until the kernel has accepted all of it. Throws why it failed, with the number of bytes
    /// sent by then in `SocketError.transferred`. If that is 0, none will be sent. If it is more, the rest follows
    /// after `cancelled`, but not after `writeTimeout` with the verdict `failOperation`: the peer sees the next write
    /// in its place.
    public func send(_ bytes: [UInt8], timeout: Duration? = nil, tag: Int = 0) async throws(SocketError) {
        let request = WriteRequest(bytes, timeout: timeout, tag: tag)
        do throws(FailedOperation) {
            _ = try await outcome(.write(request), as: engine.names.nextOperation()).get()
        } catch {
            throw error.thrown
        }
    }

    /// Returns what the peer sends, in pieces of at most `limit` bytes, until its FIN. A step queues one read, and
    /// throws `readTimeout` if nothing arrives within `timeout` (`nil` for no limit).
    /// `SocketConfiguration.timeoutVerdict` decides whether that ends the connection or the next step continues.
    ///
    /// After each such read, up to `readAhead` bytes are received while the task does something else, and the next steps
    /// take them without a read. What wasn't fetched goes back to the stream, in order, when anything else is requested
    /// of it. With 0, the default, nothing is received while no task awaits it. On a connection with TLS, which reads at
    /// most 16 KiB ahead in any case to notice close_notify, it has no effect. It saves system calls, and pays where the
    /// peer sends while the task computes.
    public func chunks(limit: Int = 65_536, timeout: Duration? = nil, readAhead: Int = 0) -> SocketChunks {
        SocketChunks(
            socket: self, request: ReadRequest(.available(limit: limit), timeout: timeout), readAhead: readAhead)
    }

    /// Returns what the peer sends, cut after each `delimiter`, which stays at the end of its piece. The last piece may
    /// lack it. Throws `readMaxedOut` if a piece with its delimiter is longer than `limit`; the connection has then
    /// ended, and nothing more can be sent to the peer.
    ///
    /// A step queues one read, and throws `readTimeout` if its piece isn't complete within `timeout`, as `chunks` does.
    /// The whole pieces that arrived with it, up to 64 KiB of them, then take no read. Nothing more is received for
    /// them, and what wasn't fetched goes back to the stream, in order, when anything else is requested of it.
    public func lines(
        delimiter: [UInt8] = [13, 10], limit: Int = 65_536, timeout: Duration? = nil
    ) -> SocketChunks {
        SocketChunks(socket: self, request: ReadRequest(.delimiter(delimiter, limit: limit), timeout: timeout))
    }

    /// Queues a read and waits until it ends. The result has the pieces after it that are wanted and have arrived.
    func outcome(
        _ request: ReadRequest, wanting wanted: PiecesWanted? = nil, isolation: isolated (any Actor)? = #isolation
    ) async -> Result<Received, FailedOperation> {
        guard !request.isStanding else {
            let error = SocketError(
                .badParameter, operation: "read",
                detail: "a standing read completes repeatedly, so it needs a delegate")
            return .failure(
                FailedOperation(
                    operation: engine.names.nextOperation(), kind: .read(request.kind), tag: request.tag, done: 0,
                    total: request.total, bytes: [], isStanding: true, error: error))
        }
        return await outcome(.read(request), as: engine.names.nextOperation(), wanting: wanted)
    }

    /// Requests an operation and waits until it ends.
    func outcome(
        _ action: SocketCommand.Action, as operation: OperationID, wanting wanted: PiecesWanted? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async -> Result<Received, FailedOperation> {
        await waitForAnswer(orIfCancelled: .failure(unbegun(operation, action))) {
            ask(action, as: operation, wanting: wanted, answer: $0)
        } onCancel: { [self] in
            giveUp(operation)
        }
    }

    /// Returns the failure of an operation that a cancelled task didn't start.
    private func unbegun(_ operation: OperationID, _ action: SocketCommand.Action) -> FailedOperation {
        guard var failed = action.failure(as: operation) else {
            preconditionFailure("only reads and writes can be awaited")
        }
        failed.error = .cancelled(failed.error.operation)
        return failed
    }
}

/// The pieces of a stream. See `AsyncSocket.chunks` and `AsyncSocket.lines`. Only one task at a time can iterate it.
public struct SocketChunks: AsyncSequence, Sendable {
    let socket: AsyncSocket
    let request: ReadRequest
    var readAhead = 0

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(socket: socket, request: request, readAhead: readAhead)
    }

    /// Reads one piece after another. A piece that has already been received is returned without the engine.
    public struct Iterator: AsyncIteratorProtocol {
        let socket: AsyncSocket
        let request: ReadRequest
        @usableFromInline var pieces: PiecesAhead?
        private var wanted: PiecesWanted
        private var isOver = false

        init(socket: AsyncSocket, request: ReadRequest, readAhead: Int) {
            self.socket = socket
            self.request = request
            wanted = PiecesWanted(request.kind, ahead: readAhead)
        }

        /// Returns the next piece, or `nil` after the peer's FIN. Otherwise throws why the read failed.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SocketError) -> [UInt8]? {
            if let pieces, !Task.isCancelled, let piece = pieces.next() { return piece }
            return try await read(isolation: actor)
        }

        /// Returns the next piece, for callers without an actor.
        @inlinable
        public mutating func next() async throws(SocketError) -> [UInt8]? {
            try await next(isolation: nil)
        }

        /// Takes what was received ahead, or else queues a read and keeps the pieces that arrived with it.
        @usableFromInline
        mutating func read(isolation actor: isolated (any Actor)?) async throws(SocketError) -> [UInt8]? {
            guard !isOver else { return nil }
            if wanted.ahead > 0, !Task.isCancelled, let chunk = socket.takeAhead(of: request) { return chunk }
            wanted.adapt(to: pieces)
            switch await socket.outcome(request, wanting: wanted) {
            case .success(let received):
                pieces = received.pieces
                return received.bytes
            case .failure(let failed):
                // The next read can continue after a cancelled one, whose bytes are back in the stream, and after a
                // timeout that left the connection open.
                let isOpen = failed.error.reason == .readTimeout && socket.session != nil
                isOver = failed.error.reason != .cancelled && !isOpen
                // The session may have ended between two reads. Its error tells an end of stream from a failure.
                let error = failed.error.reason == .notConnected ? socket.lastError : failed.thrown
                if let error, error.reason != .closedByPeer { throw error }
                return failed.bytes.isEmpty ? nil : failed.bytes
            }
        }
    }
}
