import SocketCore

/// Awaiting instead of being called back.
///
/// The completion of an awaited operation goes to the one who awaits it, never to the delegate; everything else still
/// goes to the delegate. Both may be used on one socket: operations of both kinds share its queues, in the order in
/// which they were asked for. A cancelled task leaves no operation behind: its read or write is cancelled, and what a
/// read had gathered goes back to the stream. Nothing is taken from the kernel while nobody awaits a read, so a slow
/// consumer is felt by the peer.
extension AsyncSocket {
    /// Connects and waits until bytes can pass. Throws what `connect(to:timeout:)` throws, or why the connect failed;
    /// `cancelled` when the task was cancelled, and then nothing is left of the attempt.
    public static func connect(
        to endpoint: Endpoint, on engine: SocketEngine, timeout: Duration? = nil,
        configuration: SocketConfiguration = SocketConfiguration()
    ) async throws(SocketError) -> AsyncSocket {
        let socket = AsyncSocket(engine: engine, configuration: configuration)
        let error = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                socket.connect(to: endpoint, timeout: timeout) { continuation.resume(returning: $0) }
                // Cancelled before it began: the handler below found nothing to close then.
                if Task.isCancelled { socket.disconnect(.now) }
            }
        } onCancel: {
            socket.disconnect(.now)
        }
        if Task.isCancelled {
            socket.disconnect(.now)
            throw SocketError(.cancelled, operation: "connect", detail: "cancelled")
        }
        if let error { throw error }
        return socket
    }

    /// Queues a read and waits for its bytes. Throws why it failed; a standing read cannot be awaited and is refused.
    public func bytes(_ request: ReadRequest) async throws(SocketError) -> [UInt8] {
        do throws(FailedOperation) {
            return try await outcome(request).get()
        } catch {
            throw error.error
        }
    }

    /// Queues a write and waits until the kernel has all of it. Throws why it failed.
    public func send(_ bytes: [UInt8], timeout: Duration? = nil, tag: Int = 0) async throws(SocketError) {
        let request = WriteRequest(bytes, timeout: timeout, tag: tag)
        do throws(FailedOperation) {
            _ = try await outcome { .write($0, request) }.get()
        } catch {
            throw error.error
        }
    }

    /// What the peer sends, in pieces of at most `limit` bytes, until its FIN. Each step queues one read.
    public func chunks(limit: Int = 65_536) -> SocketReads {
        SocketReads(socket: self, request: ReadRequest(.available(limit: limit)))
    }

    /// What the peer sends, cut behind each `delimiter`, which stays at the end of each piece; the last piece may lack
    /// it. Throws `readMaxedOut` when a piece is longer than `limit`. Each step queues one read.
    public func lines(delimiter: [UInt8] = [13, 10], limit: Int = 65_536) -> SocketReads {
        SocketReads(socket: self, request: ReadRequest(.delimiter(delimiter, limit: limit)))
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
        return await outcome { .read($0, request) }
    }

    private func outcome(
        _ command: @escaping @Sendable (SocketID) -> SocketCommand
    ) async -> Result<[UInt8], FailedOperation> {
        let operation = engine.names.nextOperation()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ask(command, as: operation) { continuation.resume(returning: $0) }
                // Cancelled before it was asked for: the handler below found nothing to cancel then.
                if Task.isCancelled { cancel(.operation(operation)) }
            }
        } onCancel: {
            cancel(.operation(operation))
        }
    }
}

/// The pieces of a stream; see `AsyncSocket.chunks` and `AsyncSocket.lines`. One task iterates it at a time.
public struct SocketReads: AsyncSequence, Sendable {
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
                isOver = true
                // Between two reads the session may have ended; how it did tells an end from a loss.
                let error = failed.error.reason == .notConnected ? socket.lastError : failed.error
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
