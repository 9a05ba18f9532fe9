import SocketCore

/// Receives the outcome of an awaited operation: the bytes of a read, none for a write, or the failure.
typealias OperationAnswer = Answer<Result<[UInt8], FailedOperation>>

/// What tasks await of one socket.
struct AwaitedAnswers {
    /// A read or write that was queued by an `await`.
    struct Operation {
        /// The answer, or `nil` if the task was cancelled and answered while the rest of its write is still sent.
        var answer: OperationAnswer?
        let isRead: Bool
        /// Whether the task was cancelled.
        var isGivenUp = false
    }

    private(set) var operations: [OperationID: Operation] = [:]
    /// The operations that are reads.
    private(set) var reads: Set<OperationID> = []
    var connections = Waiters<SocketError?>()
    /// The tasks that wait for TLS.
    var securings = Waiters<SocketError?>()
    /// The tasks that wait for room in the write queue.
    var room = Waiters<SocketError?>()
    /// The tasks that wait for the end of the session.
    var endings = Waiters<SocketError?>()

    var isEmpty: Bool {
        operations.isEmpty && connections.isEmpty && securings.isEmpty && room.isEmpty && endings.isEmpty
    }

    mutating func add(_ operation: OperationID, isRead: Bool, _ answer: @escaping OperationAnswer) {
        operations[operation] = Operation(answer: answer, isRead: isRead)
        if isRead { reads.insert(operation) }
    }

    /// Records that the awaiting task was cancelled. Returns `false` if it already has its answer.
    mutating func giveUp(_ operation: OperationID) -> Bool {
        guard operations[operation]?.answer != nil else { return false }
        operations[operation]?.isGivenUp = true
        return true
    }

    /// Whether the awaiting task was cancelled and has no answer yet.
    func isGivenUp(_ operation: OperationID) -> Bool {
        operations[operation].map { $0.isGivenUp && $0.answer != nil } ?? false
    }

    /// Begins a session. Tasks that started waiting before it wait within it from now on.
    mutating func enter(_ session: SocketID) {
        connections.enter(session)
        securings.enter(session)
        room.enter(session)
        endings.enter(session)
    }

    /// Changes the identifiers of sessions that moved to another engine.
    mutating func rename(_ names: [SocketID: SocketID]) {
        connections.rename(names)
        securings.rename(names)
        room.rename(names)
        endings.rename(names)
    }

    /// Returns the answers that this notice gives, which are none if no task awaits it.
    mutating func absorb(_ notice: SocketNotice) -> [@Sendable () -> Void] {
        switch notice {
        case .read(let operation, _, let bytes, _): answer(operation, .success(bytes))
        case .wrote(let operation, _): answer(operation, .success([]))
        case .failed(let failed): answer(failed.operation, .failure(failed))
        case .givenUp(let failed): release(failed)
        case .readPartial(let operation, _, _), .wrotePartial(let operation, _, _):
            // Not the end of the operation, but not for the delegate either.
            operations[operation] == nil ? [] : [{}]
        case .connected(_, let session): connections.takeAll(of: session, answering: nil)
        case .secured(let session): securings.takeAll(of: session, answering: nil)
        case .writable(true, let session): room.takeAll(of: session, answering: nil)
        case .disconnected(let error, let session):
            room.takeAll(of: session, answering: error ?? Self.closed("write"))
                + connections.takeAll(of: session, answering: error ?? Self.closed("connect"))
                + securings.takeAll(of: session, answering: error ?? Self.closed("TLS"))
                + endings.takeAll(of: session, answering: nil)
        case .trust, .timedOut, .closedReadStream, .peerClosed, .writable(false, _), .disconnecting: []
        }
    }

    private static func closed(_ operation: String) -> SocketError {
        SocketError(.disconnected, operation: operation, detail: "closed by this side")
    }

    private mutating func answer(
        _ operation: OperationID, _ result: Result<[UInt8], FailedOperation>
    ) -> [@Sendable () -> Void] {
        guard !operations.isEmpty, let awaited = operations.removeValue(forKey: operation) else { return [] }
        if awaited.isRead { reads.remove(operation) }
        return [{ awaited.answer?(result) }]
    }

    /// Answers the cancelled task. The write is kept, so that its end isn't reported to the delegate, which doesn't
    /// know it.
    private mutating func release(_ failed: FailedOperation) -> [@Sendable () -> Void] {
        guard let answer = operations[failed.operation]?.answer.take() else { return [{}] }
        return [{ answer(.failure(failed)) }]
    }
}

extension SocketNotice {
    /// Whether this is about one operation, so that it goes either to the awaiting task or to the delegate.
    var isCompletion: Bool {
        switch self {
        case .read, .readPartial, .wrote, .wrotePartial, .failed, .givenUp: true
        case .connected, .secured, .trust, .timedOut, .closedReadStream, .peerClosed, .writable, .disconnecting,
            .disconnected:
            false
        }
    }
}
