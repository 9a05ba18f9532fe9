import SocketCore

/// What an awaited operation ended with: the bytes of a read, none of a write, and for an iterator the pieces after
/// them that have arrived too.
struct Received: Sendable {
    var bytes: [UInt8]
    var pieces: PiecesAhead?
}

/// Receives the outcome of an awaited operation.
typealias OperationAnswer = Answer<Result<Received, FailedOperation>>

/// What tasks await of one socket.
struct AwaitedAnswers {
    /// A read or write that was queued by an `await`.
    struct Operation {
        /// The answer, or `nil` if the task was cancelled and answered while the rest of its write is still sent.
        var answer: OperationAnswer?
        let isRead: Bool
        /// What the read takes along if an iterator awaits it.
        let wanted: PiecesWanted?
        /// Whether the task was cancelled.
        var isGivenUp = false
    }

    /// The reads and writes that are awaited. Nearly always there is at most one.
    private var operations = OneOrMore<Operation>()
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

    mutating func add(
        _ operation: OperationID, isRead: Bool, wanting wanted: PiecesWanted?, _ answer: @escaping OperationAnswer
    ) {
        operations.add(Operation(answer: answer, isRead: isRead, wanted: wanted), as: operation)
    }

    func awaits(_ operation: OperationID) -> Bool { operations[operation] != nil }

    /// The operations that are reads, in the order in which they were queued.
    var reads: [OperationID] { operations.names { $0.isRead } }

    /// Records that the awaiting task was cancelled. Returns `false` if it already has its answer.
    mutating func giveUp(_ operation: OperationID) -> Bool {
        operations.change(operation) { awaited in
            awaited.isGivenUp = awaited.answer != nil
            return awaited.isGivenUp
        } ?? false
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

    /// Removes what this notice answers, and returns it.
    mutating func absorb(_ notice: SocketNotice) -> AwaitedNotice {
        switch notice {
        case .read(let operation, _, let bytes, _): answer(operation, .success(bytes))
        case .wrote(let operation, _): answer(operation, .success([]))
        case .failed(let failed): answer(failed.operation, .failure(failed))
        case .givenUp(let failed): release(failed)
        case .readPartial(let operation, _, _), .wrotePartial(let operation, _, _):
            // Not the end of the operation, but not for the delegate either.
            awaits(operation) ? .answersNobody : .isNotAwaited
        case .connected(_, let session): .answers(connections.takeAll(of: session, answering: nil))
        case .secured(let session): .answers(securings.takeAll(of: session, answering: nil))
        case .writable(true, let session): .answers(room.takeAll(of: session, answering: nil))
        case .disconnected(let error, let session):
            .answers(
                room.takeAll(of: session, answering: error ?? Self.closed("write"))
                    + connections.takeAll(of: session, answering: error ?? Self.closed("connect"))
                    + securings.takeAll(of: session, answering: error ?? Self.closed("TLS"))
                    + endings.takeAll(of: session, answering: nil))
        case .trust, .timedOut, .closedReadStream, .peerClosed, .writable(false, _), .disconnecting: .isNotAwaited
        }
    }

    private static func closed(_ operation: String) -> SocketError {
        SocketError(.disconnected, operation: operation, detail: "closed locally")
    }

    private mutating func answer(
        _ operation: OperationID, _ result: Result<[UInt8], FailedOperation>
    ) -> AwaitedNotice {
        guard let awaited = operations.remove(operation) else { return .isNotAwaited }
        return awaited.answer.map { .answer($0, result, awaited.wanted) } ?? .answersNobody
    }

    /// Answers the cancelled task. The write is kept, so that its end isn't reported to the delegate, which doesn't
    /// know it.
    private mutating func release(_ failed: FailedOperation) -> AwaitedNotice {
        let answer = operations.change(failed.operation) { $0.answer.take() } ?? nil
        return answer.map { .answer($0, .failure(failed), nil) } ?? .answersNobody
    }
}

/// What a notice means to the tasks that await something of a socket.
enum AwaitedNotice {
    /// No task awaits it.
    case isNotAwaited
    /// It is about an awaited operation, so not for the delegate, but answers no task.
    case answersNobody
    /// It ends an awaited operation. An iterator's read takes these pieces along.
    case answer(OperationAnswer, Result<[UInt8], FailedOperation>, PiecesWanted?)
    /// It answers these tasks, and is for the delegate as well. There may be none.
    case answers([@Sendable () -> Void])
}

/// Values by the operations that they belong to. The first takes no memory of its own.
private struct OneOrMore<Value> {
    private var first: (name: OperationID, value: Value)?
    private var others: [OperationID: Value] = [:]

    var isEmpty: Bool { first == nil && others.isEmpty }

    subscript(name: OperationID) -> Value? { first?.name == name ? first?.value : others[name] }

    mutating func add(_ value: Value, as name: OperationID) {
        if first == nil { first = (name, value) } else { others[name] = value }
    }

    mutating func remove(_ name: OperationID) -> Value? {
        guard first?.name == name else { return others.isEmpty ? nil : others.removeValue(forKey: name) }
        return first.take()?.value
    }

    /// Changes a value, or returns `nil` if there is none.
    mutating func change<R>(_ name: OperationID, _ body: (inout Value) -> R) -> R? {
        if first?.name == name { return body(&first!.value) }
        guard let index = others.index(forKey: name) else { return nil }
        return body(&others.values[index])
    }

    func names(where isWanted: (Value) -> Bool) -> [OperationID] {
        let one = first.map { isWanted($0.value) ? [$0.name] : [] } ?? []
        return others.isEmpty ? one : (one + others.filter { isWanted($0.value) }.keys).sorted()
    }
}
