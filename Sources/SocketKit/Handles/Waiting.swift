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
///
/// Each waits within a session. The end of a session may be delivered after the next one began on the same handle; then
/// it answers those of its own session only.
struct Waiters<Value: Sendable>: Sendable {
    /// `session` is nil before there is one: that waiter belongs to the next one.
    private var list: [(name: OperationID, session: SocketID?, answer: Answer<Value>)] = []

    var isEmpty: Bool { list.isEmpty }
    var count: Int { list.count }

    mutating func add(_ name: OperationID, of session: SocketID?, _ answer: @escaping Answer<Value>) {
        list.append((name, session, answer))
    }

    /// A session begins: those who came before it wait within it.
    mutating func enter(_ session: SocketID) {
        for index in list.indices where list[index].session == nil { list[index].session = session }
    }

    /// Sessions go on under other names.
    mutating func rename(_ names: [SocketID: SocketID]) {
        for index in list.indices {
            if let session = list[index].session, let name = names[session] { list[index].session = name }
        }
    }

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

    /// Whether anybody waits within this session.
    func isAwaited(in session: SocketID) -> Bool { list.contains { $0.session == session } }

    /// Takes out all of one session.
    mutating func takeAll(of session: SocketID) -> [Answer<Value>] {
        guard !list.isEmpty else { return [] }
        defer { list.removeAll { $0.session == session } }
        return list.filter { $0.session == session }.map(\.answer)
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
    /// The answers that this error, or success (`nil`), gives to all of one session.
    mutating func takeAll(of session: SocketID, answering error: SocketError?) -> [@Sendable () -> Void] {
        takeAll(of: session).map { answer in { answer(error) } }
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
