import SocketCore

/// Receives one answer, once.
typealias Answer<Value> = @Sendable (Value) -> Void

/// Waits for one answer. Everything that can be awaited waits here.
///
/// `begin` registers the answer and makes the request, or calls the answer at once. `giveUp` runs when the task is
/// cancelled, perhaps before `begin` and perhaps twice. It removes the answer and calls it, or makes the engine call it,
/// whatever the peer does. A registered answer is removed under the lock of its handle, and only the code that removes
/// it calls it; `AnswerContinuation` relies on that. If the task is cancelled before this is called, `begin` doesn't run
/// and the result is `cancelled`.
func waitForAnswer<Value: Sendable>(
    orIfCancelled cancelled: @autoclosure () -> Value, isolation: isolated (any Actor)? = #isolation,
    _ begin: (@escaping Answer<Value>) -> Void, onCancel giveUp: @Sendable () -> Void
) async -> Value {
    if Task.isCancelled { return cancelled() }
    return await withTaskCancellationHandler {
        await withAnswerContinuation { (continuation: AnswerContinuation<Value>) in
            begin { continuation.resume(returning: $0) }
            // Cancelled before the answer was registered, so the handler below may have found none.
            if Task.isCancelled { giveUp() }
        }
    } onCancel: {
        giveUp()
    }
}

/// Tasks that wait for one thing, in the order of arrival.
///
/// Each waits within a session. The end of a session may be delivered after the next one began on the same handle, and
/// answers only the tasks of its own session.
struct Waiters<Value: Sendable>: Sendable {
    /// `session` is `nil` before there is one. That waiter belongs to the next session.
    private var list: [(name: OperationID, session: SocketID?, answer: Answer<Value>)] = []

    var isEmpty: Bool { list.isEmpty }
    var count: Int { list.count }

    mutating func add(_ name: OperationID, of session: SocketID?, _ answer: @escaping Answer<Value>) {
        list.append((name, session, answer))
    }

    /// Begins a session. Tasks that started waiting before it wait within it from now on.
    mutating func enter(_ session: SocketID) {
        for index in list.indices where list[index].session == nil { list[index].session = session }
    }

    mutating func rename(_ names: [SocketID: SocketID]) {
        for index in list.indices {
            if let session = list[index].session, let name = names[session] { list[index].session = name }
        }
    }

    /// Removes one waiter and returns its answer, or `nil` if it was already answered.
    mutating func remove(_ name: OperationID) -> Answer<Value>? {
        list.firstIndex { $0.name == name }.map { list.remove(at: $0).answer }
    }

    mutating func popFirst() -> Answer<Value>? { list.isEmpty ? nil : list.removeFirst().answer }

    mutating func takeAll() -> [Answer<Value>] {
        guard !list.isEmpty else { return [] }
        defer { list = [] }
        return list.map(\.answer)
    }

    func isAwaited(in session: SocketID) -> Bool { list.contains { $0.session == session } }

    mutating func takeAll(of session: SocketID) -> [Answer<Value>] {
        guard !list.isEmpty else { return [] }
        defer { list.removeAll { $0.session == session } }
        return list.filter { $0.session == session }.map(\.answer)
    }

    /// Keeps a waiter waiting but fixes its answer, whatever comes. Returns `false` if it was already answered.
    mutating func settle(_ name: OperationID, on value: Value) -> Bool {
        guard let index = list.firstIndex(where: { $0.name == name }) else { return false }
        let answer = list[index].answer
        list[index].answer = { _ in answer(value) }
        return true
    }
}

extension Waiters<SocketError?> {
    /// Removes all waiters of one session and returns their answers, bound to this error or success (`nil`).
    mutating func takeAll(of session: SocketID, answering error: SocketError?) -> [@Sendable () -> Void] {
        takeAll(of: session).map { answer in { answer(error) } }
    }
}

extension SocketError {
    static func cancelled(_ operation: String) -> SocketError {
        SocketError(.cancelled, operation: operation, detail: "cancelled")
    }
}

extension FailedOperation {
    /// The failure as it is thrown to the task that awaited the operation.
    var thrown: SocketError {
        var error = error
        error.transferred = done
        if !bytes.isEmpty { error.received = bytes }
        return error
    }
}
