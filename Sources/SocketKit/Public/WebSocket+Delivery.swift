import SocketCore

/// What the engine does with a handle.
extension WebSocket {
    /// A client asks its proxy again over a new connection; false when that could not be begun.
    func reconnect(_ layer: WebSocketLayer, to endpoint: Endpoint, in engineState: EngineState) -> Bool {
        do throws(SocketError) {
            try engineState.connect(socket, to: endpoint, timeout: nil)
            guard let connection = socket.session.flatMap({ engineState.connections[$0] }) else { return false }
            connection.begin(layer)
            return true
        } catch {
            return false
        }
    }

    /// A notice of that cost is on its way; true when so much is that no more shall be taken from the kernel.
    func willDeliver(_ cost: Int) -> Bool {
        guard cost > 0 else { return false }
        return state.withLock { state in
            state.undelivered += cost
            guard state.undelivered > WebSocketHandleState.undeliveredLimit else { return false }
            state.isHeldBack = true
            return true
        }
    }

    /// Whether so much is undelivered; `caughtUp` is posted when that is over.
    func mustHoldBack() -> Bool { state.withLock { $0.isHeldBack } }

    /// Costs of what the user has not taken.
    var undeliveredBytes: Int { state.withLock { $0.undelivered } }

    private func delivered(_ cost: Int) {
        guard cost > 0 else { return }
        let isCaughtUp = state.withLock { state in
            state.undelivered -= cost
            guard state.isHeldBack, state.undelivered <= WebSocketHandleState.undeliveredLimit / 2 else { return false }
            state.isHeldBack = false
            return true
        }
        if isCaughtUp, let session { engine.post(.caughtUp(session)) }
    }

    // MARK: Delivery

    /// Answers whoever awaits this, or calls the delegate, on the queue where it wants to be called.
    func deliver(_ notice: WebSocketNotice) {
        let (pump, answers, isTaken) = state.withLock { state in
            let (answers, isTaken) = state.take(notice)
            return (state.pump, answers, isTaken)
        }
        for answer in answers { answer() }
        guard !isTaken else { return notice.isInput ? settleInbox() : () }
        guard let pump else { return finish(notice) }
        pump.append { [self] in finish(notice) }
    }

    /// Calls the delegate, and does what follows from its having returned.
    private func finish(_ notice: WebSocketNotice) {
        call(notice)
        delivered(notice.cost)
        if case .inputEnded = notice { acknowledgeEnd() }
    }

    private func acknowledgeEnd() {
        if let session { engine.post(.acknowledgeEnd(session)) }
    }

    /// Calls whoever is the delegate now.
    private func call(_ notice: WebSocketNotice) {
        guard let delegate else { return }
        switch notice {
        case .opened(let agreement): delegate.webSocket(self, didOpen: agreement)
        case .message(let message): delegate.webSocket(self, didReceive: message)
        case .chunk(let chunk): delegate.webSocket(self, didReceive: chunk)
        case .ping(let payload): delegate.webSocket(self, didReceivePing: payload)
        case .pong(let payload, let time): delegate.webSocket(self, didReceivePong: payload, roundTrip: time)
        case .sent(let operation): delegate.webSocket(self, didSend: operation)
        case .failed(let operation, let error): delegate.webSocket(self, didFail: operation, error: error)
        case .writable: delegate.webSocketDidBecomeWritable(self)
        case .inputEnded(let frame?): delegate.webSocket(self, didReceiveClose: frame)
        case .inputEnded(nil): break
        case .trust(let trust):
            let verdict = delegate.webSocket(self, didReceive: trust)
            if verdict != .later { answerTrust(of: trust.question, verdict) }
        case .closed(let report, let error): delegate.webSocket(self, didClose: report, error: error)
        }
    }

    // MARK: For a task that reads

    /// Hands the next item to the task that waits, or tells it the end.
    private func settleInbox() {
        let (answer, result, cost, isEndSeen) = state.withLock { $0.settle() }
        delivered(cost)
        if isEndSeen { acknowledgeEnd() }
        if let answer, let result { answer(result) }
    }

    /// Asks for the next item; `answer` is called once.
    func fetch(_ answer: @escaping WebSocketInbox.Answer) {
        state.withLock { state in
            state.inbox.isRead = true
            state.inbox.answer = answer
        }
        settleInbox()
    }

    /// The task that waits is cancelled.
    func giveUpFetching() {
        let answer = state.withLock { $0.inbox.answer.take() }
        guard let answer else { return }
        close(.goingAway)
        answer(.failure(SocketError(.cancelled, operation: "receive", detail: "cancelled")))
    }

    /// What came while there was no delegate goes to the one that there is now; from the outbox, where all that comes
    /// behind it passes too.
    func deliverInbox() {
        while let notice = state.withLock({ $0.takeForDelegate() }) {
            guard let pump = state.withLock({ $0.pump }) else {
                finish(notice)
                continue
            }
            pump.append { [self] in finish(notice) }
        }
    }
}

extension WebSocketNotice {
    /// Whether it is for whoever reads.
    fileprivate var isInput: Bool {
        switch self {
        case .message, .chunk, .inputEnded: true
        case .opened, .ping, .pong, .sent, .failed, .writable, .trust, .closed: false
        }
    }
}

extension WebSocketHandleState {
    /// A session begins.
    mutating func begin() {
        inbox = WebSocketInbox()
        (undelivered, isHeldBack) = (0, false)
        (agreement, report) = (nil, nil)
    }

    /// Who hears of a notice, and whether the delegate does not.
    mutating func take(_ notice: WebSocketNotice) -> (answers: [@Sendable () -> Void], isTaken: Bool) {
        switch notice {
        case .message(let message): return ([], keep(.message(message), cost: notice.cost))
        case .chunk(let chunk): return ([], keep(.chunk(chunk), cost: notice.cost))
        case .opened(let agreement):
            self.agreement = agreement
            defer { awaited.openings = [] }
            return (Self.calls(awaited.openings, nil), false)
        case .sent(let operation): return answer(operation, nil)
        case .failed(let operation, let error): return answer(operation, error)
        case .pong(let payload, let time):
            return (awaited.takePings(payload).map { answer in { answer(.success(time ?? .zero)) } }, false)
        case .writable:
            defer { awaited.room = [:] }
            return (Self.calls(Array(awaited.room.values), nil), false)
        case .inputEnded:
            guard mustKeep else { return ([], false) }
            inbox.hasUnseenEnd = true
            // The delegate hears of it all the same, but has nothing to acknowledge.
            return ([], true)
        case .closed(let report, let error): return (close(report, error), false)
        case .ping, .trust: return ([], false)
        }
    }

    /// Keeps an item for a task; false when the delegate gets it.
    private mutating func keep(_ item: WebSocketInbox.Item, cost: Int) -> Bool {
        guard mustKeep else { return false }
        inbox.append(item, cost: cost)
        return true
    }

    /// Whether input waits: nobody is there to be called, a task reads, or what came before it waits too.
    private var mustKeep: Bool { delegate == nil || inbox.isRead || !inbox.isEmpty }

    /// The next that waits and that the delegate is to get.
    mutating func takeForDelegate() -> WebSocketNotice? {
        guard delegate != nil, !inbox.isRead else { return nil }
        switch inbox.popFirst()?.item {
        case .message(let message): return .message(message)
        case .chunk(let chunk): return .chunk(chunk)
        case nil:
            guard inbox.hasUnseenEnd else { return nil }
            inbox.hasUnseenEnd = false
            return .inputEnded(nil)
        }
    }

    private mutating func answer(
        _ operation: OperationID, _ error: SocketError?
    ) -> (answers: [@Sendable () -> Void], isTaken: Bool) {
        guard !awaited.operations.isEmpty || !awaited.pings.isEmpty else { return ([], false) }
        if let answer = awaited.operations.removeValue(forKey: operation) { return ([{ answer(error) }], true) }
        guard let error, let index = awaited.pings.firstIndex(where: { $0.operation == operation }) else {
            return ([], false)
        }
        let answer = awaited.pings.remove(at: index).answer
        return ([{ answer(.failure(error)) }], true)
    }

    private static func calls(
        _ answers: [WebSocketAnswers.Answer], _ error: SocketError?
    ) -> [@Sendable () -> Void] {
        answers.map { answer in { answer(error) } }
    }

    /// Everybody hears that it is over.
    private mutating func close(_ report: WebSocketCloseReport?, _ error: SocketError?) -> [@Sendable () -> Void] {
        self.report = report
        let lost = error ?? SocketError(.disconnected, operation: "WebSocket", detail: "closed by this side")
        inbox.ending = WebSocketInbox.ending(report, error)
        inbox.hasUnseenEnd = false
        let reader = inbox.isEmpty ? inbox.answer.take() : nil
        let ending = inbox.ending ?? .success(nil)
        let asked = awaited
        awaited = WebSocketAnswers()
        let pings = asked.pings.map { ping -> @Sendable () -> Void in { ping.answer(.failure(lost)) } }
        let others = asked.openings + asked.operations.values + asked.room.values
        return (reader.map { reader in [{ reader(ending) }] } ?? []) + pings + Self.calls(others, lost)
            + Self.calls(Array(asked.ends.values), nil)
    }

    /// What the task that waits is given now, what that cost, and whether it has come to the end of input.
    mutating func settle() -> (WebSocketInbox.Answer?, Result<WebSocketInbox.Item?, SocketError>?, Int, Bool) {
        if !inbox.isEmpty {
            guard let answer = inbox.answer.take(), let next = inbox.popFirst() else { return (nil, nil, 0, false) }
            return (answer, .success(next.item), next.cost, false)
        }
        // Who never reads need not be waited for.
        let isEndSeen = inbox.hasUnseenEnd && (inbox.answer != nil || !inbox.isRead)
        if isEndSeen { inbox.hasUnseenEnd = false }
        guard let ending = inbox.ending else { return (nil, nil, 0, isEndSeen) }
        return (inbox.answer.take(), ending, 0, isEndSeen)
    }
}

extension WebSocketInbox {
    /// How a reader hears of the end: 1000 and 1001 end its messages in order, as does this side's own wish.
    static func ending(_ report: WebSocketCloseReport?, _ error: SocketError?) -> Result<Item?, SocketError> {
        if let error { return .failure(error) }
        guard let report else { return .success(nil) }
        if report.origin == .local || [.normal, .goingAway, .noStatus].contains(report.code) { return .success(nil) }
        let reason = report.received?.reason ?? ""
        return .failure(
            SocketError(
                .webSocket(.closed(report.code)), operation: "receive",
                detail: "closed with \(report.code)" + (reason.isEmpty ? "" : ": \(reason)")))
    }
}
