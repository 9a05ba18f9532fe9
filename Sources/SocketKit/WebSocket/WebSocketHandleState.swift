import SocketCore

/// What a WebSocket's handle holds, from whatever thread it is asked.
struct WebSocketHandleState {
    weak var delegate: (any WebSocketDelegate)?
    /// nil: callbacks come on the engine's queue.
    var pump: DelegatePump?
    var configuration: WebSocketConfiguration
    var userData: (any Sendable)?
    /// Messages that nobody has taken yet; with a delegate only while a task reads.
    var inbox = WebSocketInbox()
    var awaited = WebSocketAnswers()
    /// What was agreed on; nil: not open yet.
    var agreement: WebSocketAgreement?
    /// How it ended.
    var report: WebSocketCloseReport?
    /// Whether it is to end without a Close, so that nothing begins anew for it.
    var isAborted = false
}

/// Messages for a task that reads them.
struct WebSocketInbox {
    /// What a task is given.
    enum Item: Sendable {
        case message(WebSocketMessage)
        case chunk(WebSocketChunk)
    }

    /// Whether a task has begun to read: from then on messages do not go to the delegate.
    var isRead = false
    private var items = OperationDeque<(item: Item, cost: Int)>()
    /// What all of them cost.
    fileprivate(set) var cost = 0
    /// Tasks that wait for an item.
    var waiters = Waiters<Result<Item?, SocketError>>()
    /// Whether input is over, and nobody has come to see that yet.
    var hasUnseenEnd = false
    /// How it ended; nil: it has not.
    var ending: Result<Item?, SocketError>?

    var isEmpty: Bool { items.isEmpty }

    mutating func append(_ item: Item, cost: Int) {
        items.append((item, cost))
        self.cost += cost
    }

    mutating func popFirst() -> (item: Item, cost: Int)? {
        let first = items.popFirst()
        cost -= first?.cost ?? 0
        return first
    }
}

/// Who awaits what of one WebSocket.
struct WebSocketAnswers {
    /// Those who wait until it is open.
    var openings = Waiters<SocketError?>()
    /// Those who wait until something is sent. `nil`: the task was cancelled and has its answer, and the message still
    /// goes out.
    var operations: [OperationID: Answer<SocketError?>?] = [:]
    /// Those who wait for room, and for the end.
    var room = Waiters<SocketError?>()
    var ends = Waiters<SocketError?>()
    /// Those who wait for the pong to these bytes, in the order of their pings.
    var pings: [(operation: OperationID, payload: [UInt8], answer: Answer<Result<Duration, SocketError>>)] = []

    /// The task that awaits this message was cancelled; `nil` if it has its answer.
    mutating func giveUp(_ operation: OperationID) -> Answer<SocketError?>? {
        guard let answer = operations[operation] ?? nil else { return nil }
        operations[operation] = .some(nil)
        return answer
    }

    /// Takes out the one that awaits the pong to this ping; `nil` if it has its answer.
    mutating func takePing(_ operation: OperationID) -> Answer<Result<Duration, SocketError>>? {
        pings.firstIndex { $0.operation == operation }.map { pings.remove(at: $0).answer }
    }

    /// Who hears of a pong: whoever waits for these bytes, and all before them, since pongs may answer several pings.
    mutating func takePings(_ payload: [UInt8]) -> [Answer<Result<Duration, SocketError>>] {
        guard let index = pings.lastIndex(where: { $0.payload == payload }) else { return [] }
        defer { pings.removeFirst(index + 1) }
        return pings[...index].map(\.answer)
    }
}
