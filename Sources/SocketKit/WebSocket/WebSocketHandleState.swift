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
    /// What notices on their way to the user cost, and messages that wait in the inbox.
    var undelivered = 0
    /// Whether the connection holds back until the user has caught up.
    var isHeldBack = false
    /// What was agreed on; nil: not open yet.
    var agreement: WebSocketAgreement?
    /// How it ended.
    var report: WebSocketCloseReport?

    /// What may be undelivered before no more is taken from the kernel.
    static let undeliveredLimit = 128 << 10
}

/// Messages for a task that reads them.
struct WebSocketInbox {
    typealias Answer = @Sendable (Result<Item?, SocketError>) -> Void

    /// What a task is given.
    enum Item: Sendable {
        case message(WebSocketMessage)
        case chunk(WebSocketChunk)
    }

    /// Whether a task has begun to read: from then on messages do not go to the delegate.
    var isRead = false
    private var items = OperationDeque<(item: Item, cost: Int)>()
    /// The task that waits.
    var answer: Answer?
    /// Whether input is over, and nobody has come to see that yet.
    var hasUnseenEnd = false
    /// How it ended; nil: it has not.
    var ending: Result<Item?, SocketError>?

    var isEmpty: Bool { items.isEmpty }

    mutating func append(_ item: Item, cost: Int) { items.append((item, cost)) }

    mutating func popFirst() -> (item: Item, cost: Int)? { items.popFirst() }
}

/// Who awaits what of one WebSocket.
struct WebSocketAnswers {
    typealias Answer = @Sendable (SocketError?) -> Void

    /// Those who wait until it is open.
    var openings: [Answer] = []
    /// Those who wait until something is sent.
    var operations: [OperationID: Answer] = [:]
    /// Those who wait for room, and for the end, by names taken from the engine.
    var room: [OperationID: Answer] = [:]
    var ends: [OperationID: Answer] = [:]
    /// Those who wait for the pong to these bytes, in the order of their pings.
    var pings: [(operation: OperationID, payload: [UInt8], answer: @Sendable (Result<Duration, SocketError>) -> Void)] =
        []

    /// Who hears of a pong: whoever waits for these bytes, and all before them, since pongs may answer several pings.
    mutating func takePings(_ payload: [UInt8]) -> [@Sendable (Result<Duration, SocketError>) -> Void] {
        guard let index = pings.lastIndex(where: { $0.payload == payload }) else { return [] }
        defer { pings.removeFirst(index + 1) }
        return pings[...index].map(\.answer)
    }
}
