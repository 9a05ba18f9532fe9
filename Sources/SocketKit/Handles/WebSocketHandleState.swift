import SocketCore

/// The state of a WebSocket's handle, used by any thread under the handle's lock.
struct WebSocketHandleState: HandleStorage, ~Copyable {
    /// Its session is the one that is open or being opened, until its end is delivered. Tasks await within it, and only its
    /// notices change anything here: notices of a former session may be delivered after it began.
    var core: HandleCore<any WebSocketDelegate, WebSocketConfiguration>
    /// Messages no task has read yet. With a delegate, messages come here only while a task reads.
    var inbox = WebSocketInbox()
    var awaited = WebSocketAnswers()
    /// What the handshake agreed on, or `nil` if the WebSocket is not open yet.
    var agreement: WebSocketAgreement?
    /// How the WebSocket ended.
    var report: WebSocketCloseReport?
    /// Whether it must end without a Close frame, so that no new session begins.
    var isAborted = false
    /// Whether a task had read messages of the former session, so that those still in transit don't go to the delegate.
    var hadReader = false
}

/// Messages for the task that reads them.
struct WebSocketInbox {
    /// What a task receives.
    enum Item: Sendable {
        case message(WebSocketMessage)
        case chunk(WebSocketChunk)

        /// The delivery that it comes from.
        var delivery: WebSocketSettings.Delivery {
            switch self {
            case .message: .whole
            case .chunk: .chunks
            }
        }
    }

    /// Whether a task has begun to read. From then on, messages do not go to the delegate.
    var isRead = false
    /// The items and the tasks that await them. Both can be waiting until they are settled.
    var backlog = Backlog<Item>()
    /// Whether input has ended and no task has seen that yet.
    var hasUnseenEnd = false
    /// How input ended, or `nil` if it has not.
    var ending: Fetched<Item>?
}

/// The tasks that await something of one WebSocket.
struct WebSocketAnswers {
    /// Tasks that await the opening.
    var openings = Waiters<SocketError?>()
    /// Tasks that await a send.
    var operations: [OperationID: Sending] = [:]
    /// Tasks that await room, and the end.
    var room = Waiters<SocketError?>()
    var ends = Waiters<WebSocketCloseReport?>()
    /// Tasks that await the pong to their bytes, in the order of their pings.
    var pings: [Pinging] = []

    /// A task that awaits a send.
    struct Sending {
        var session: SocketID?
        /// The task's continuation, or `nil` if the task was cancelled. The message is still sent then.
        var answer: Answer<SocketError?>?
    }

    /// A task that awaits a pong.
    struct Pinging {
        var session: SocketID?
        let operation: OperationID
        let payload: [UInt8]
        let answer: Answer<Result<Duration, SocketError>>
    }

    /// Moves tasks that came before any session into the session that begins.
    mutating func enter(_ session: SocketID) {
        openings.enter(session)
        room.enter(session)
        ends.enter(session)
        for index in pings.indices where pings[index].session == nil { pings[index].session = session }
        for (operation, sending) in operations where sending.session == nil { operations[operation]?.session = session }
    }

    /// Takes the answers to all tasks that await within a session, for its end.
    mutating func takeAll(
        of session: SocketID, answering lost: SocketError, _ report: WebSocketCloseReport?
    ) -> [@Sendable () -> Void] {
        let pinging = pings.filter { $0.session == session }
        pings.removeAll { $0.session == session }
        let sending = operations.filter { $0.value.session == session }
        for operation in sending.keys { operations[operation] = nil }
        return pinging.map { ping in { ping.answer(.failure(lost)) } }
            // In the order of the requests.
            + sending.sorted { $0.key < $1.key }.map { sending in { sending.value.answer?(lost) } }
            + openings.takeAll(of: session, answering: lost) + room.takeAll(of: session, answering: lost)
            + ends.takeAll(of: session).map { answer in { answer(report) } }
    }

    /// Takes the answer for a cancelled task that awaits this message, or returns `nil` if it has been answered.
    mutating func giveUp(_ operation: OperationID) -> Answer<SocketError?>? {
        operations[operation]?.answer.take()
    }

    /// Takes the answer for the task that awaits the pong to this ping, or returns `nil` if it has been answered.
    mutating func takePing(_ operation: OperationID) -> Answer<Result<Duration, SocketError>>? {
        pings.firstIndex { $0.operation == operation }.map { pings.remove(at: $0).answer }
    }

    /// Takes the answers to a pong: for the task that awaits these bytes and all tasks before it, since one pong may
    /// answer several pings.
    mutating func takePings(
        _ payload: [UInt8], of session: SocketID
    ) -> [Answer<Result<Duration, SocketError>>] {
        guard let index = pings.lastIndex(where: { $0.payload == payload && $0.session == session }) else { return [] }
        let answered = pings[...index].filter { $0.session == session }.map(\.answer)
        pings = pings[...index].filter { $0.session != session } + pings[(index + 1)...]
        return answered
    }
}
