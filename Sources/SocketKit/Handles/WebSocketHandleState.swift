import SocketCore

/// The state of a WebSocket's handle, used by any thread under the handle's lock.
struct WebSocketHandleState: HandleStorage, ~Copyable {
    /// Its session is the one that is open or being opened, until its end is delivered. Tasks await within it, and only its
    /// notices change anything here: notices of a former session may be delivered after it began.
    var core: HandleCore<any WebSocketDelegate, WebSocketConfiguration>
    /// Messages that nobody has taken yet; with a delegate only while a task reads.
    var inbox = WebSocketInbox()
    var awaited = WebSocketAnswers()
    /// What was agreed on; nil: not open yet.
    var agreement: WebSocketAgreement?
    /// How it ended.
    var report: WebSocketCloseReport?
    /// Whether it is to end without a Close, so that nothing begins anew for it.
    var isAborted = false
    /// Whether a task had read the messages of the former session, so that those still on their way are nobody else's.
    var hadReader = false
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
    /// A task may wait while items do too, until they are settled.
    var backlog = Backlog<Item>()
    /// Whether input is over, and nobody has come to see that yet.
    var hasUnseenEnd = false
    /// How it ended; nil: it has not.
    var ending: Fetched<Item>?
}

/// Who awaits what of one WebSocket.
struct WebSocketAnswers {
    /// Those who wait until it is open.
    var openings = Waiters<SocketError?>()
    /// Those who wait until something is sent.
    var operations: [OperationID: Sending] = [:]
    /// Those who wait for room, and for the end.
    var room = Waiters<SocketError?>()
    var ends = Waiters<WebSocketCloseReport?>()
    /// Those who wait for the pong to their bytes, in the order of their pings.
    var pings: [Pinging] = []

    /// Who waits until something is sent.
    struct Sending {
        var session: SocketID?
        /// `nil`: the task was cancelled and has its answer, and the message still goes out.
        var answer: Answer<SocketError?>?
    }

    /// Who waits for a pong.
    struct Pinging {
        var session: SocketID?
        let operation: OperationID
        let payload: [UInt8]
        let answer: Answer<Result<Duration, SocketError>>
    }

    /// A session begins: those who came before it wait within it.
    mutating func enter(_ session: SocketID) {
        openings.enter(session)
        room.enter(session)
        ends.enter(session)
        for index in pings.indices where pings[index].session == nil { pings[index].session = session }
        for (operation, sending) in operations where sending.session == nil { operations[operation]?.session = session }
    }

    /// The answers that the end of a session gives to all that wait within it.
    mutating func takeAll(
        of session: SocketID, answering lost: SocketError, _ report: WebSocketCloseReport?
    ) -> [@Sendable () -> Void] {
        let pinging = pings.filter { $0.session == session }
        pings.removeAll { $0.session == session }
        let sending = operations.filter { $0.value.session == session }
        for operation in sending.keys { operations[operation] = nil }
        return pinging.map { ping in { ping.answer(.failure(lost)) } }
            // In the order in which they were asked for.
            + sending.sorted { $0.key < $1.key }.map { sending in { sending.value.answer?(lost) } }
            + openings.takeAll(of: session, answering: lost) + room.takeAll(of: session, answering: lost)
            + ends.takeAll(of: session).map { answer in { answer(report) } }
    }

    /// The task that awaits this message was cancelled; `nil` if it has its answer.
    mutating func giveUp(_ operation: OperationID) -> Answer<SocketError?>? {
        operations[operation]?.answer.take()
    }

    /// Takes out the one that awaits the pong to this ping; `nil` if it has its answer.
    mutating func takePing(_ operation: OperationID) -> Answer<Result<Duration, SocketError>>? {
        pings.firstIndex { $0.operation == operation }.map { pings.remove(at: $0).answer }
    }

    /// Who hears of a pong: whoever waits for these bytes, and all before them, since pongs may answer several pings.
    mutating func takePings(
        _ payload: [UInt8], of session: SocketID
    ) -> [Answer<Result<Duration, SocketError>>] {
        guard let index = pings.lastIndex(where: { $0.payload == payload && $0.session == session }) else { return [] }
        let answered = pings[...index].filter { $0.session == session }.map(\.answer)
        pings = pings[...index].filter { $0.session != session } + pings[(index + 1)...]
        return answered
    }
}
