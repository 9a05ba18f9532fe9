import SocketCore

/// Hears one answer, once.
typealias Answer<Value> = @Sendable (Value) -> Void

/// Waits for one answer; everything that can be awaited waits here.
///
/// `begin` registers the answer and asks for what it is about. `giveUp` runs when the task is cancelled, perhaps before
/// `begin` and perhaps twice: it takes the answer out and gives it, or makes the engine give it, whatever the peer does.
/// A registered answer is taken out under the lock of its handle, and only who takes it out gives it. A task that is
/// cancelled before this is called begins nothing and gets `cancelled`.
func waitForAnswer<Value: Sendable>(
    orIfCancelled cancelled: @autoclosure () -> Value, isolation: isolated (any Actor)? = #isolation,
    _ begin: (@escaping Answer<Value>) -> Void, onCancel giveUp: @escaping @Sendable () -> Void
) async -> Value {
    if Task.isCancelled { return cancelled() }
    return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            begin { continuation.resume(returning: $0) }
            // Cancelled before anybody was registered: the handler below found nobody then.
            if Task.isCancelled { giveUp() }
        }
    } onCancel: {
        giveUp()
    }
}

/// Those who wait for one thing, in the order in which they came.
struct Waiters<Value: Sendable>: Sendable {
    private var list: [(name: OperationID, answer: Answer<Value>)] = []

    var isEmpty: Bool { list.isEmpty }
    var count: Int { list.count }

    mutating func add(_ name: OperationID, _ answer: @escaping Answer<Value>) { list.append((name, answer)) }

    /// Takes one out; `nil` if it was answered already.
    mutating func remove(_ name: OperationID) -> Answer<Value>? {
        list.firstIndex { $0.name == name }.map { list.remove(at: $0).answer }
    }

    /// Takes out the one that has waited longest.
    mutating func popFirst() -> Answer<Value>? { list.isEmpty ? nil : list.removeFirst().answer }

    /// Takes all out.
    mutating func takeAll() -> [Answer<Value>] {
        guard !list.isEmpty else { return [] }
        defer { list = [] }
        return list.map(\.answer)
    }

    /// Lets one wait on, and answers it with this whatever comes; `false` if it was answered already.
    mutating func settle(_ name: OperationID, on value: Value) -> Bool {
        guard let index = list.firstIndex(where: { $0.name == name }) else { return false }
        let answer = list[index].answer
        list[index].answer = { _ in answer(value) }
        return true
    }
}

extension Waiters<SocketError?> {
    /// The answers that this error, or success (`nil`), gives to all of them.
    mutating func takeAll(answering error: SocketError?) -> [@Sendable () -> Void] {
        takeAll().map { answer in { answer(error) } }
    }
}

extension SocketError {
    /// Its task was cancelled.
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
