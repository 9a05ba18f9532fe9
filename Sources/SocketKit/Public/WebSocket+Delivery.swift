import SocketCore

/// What the engine does with a handle.
extension WebSocket {
    /// A client asks its proxy again over a new connection; false when that could not be begun.
    func reconnect(_ layer: WebSocketLayer, to endpoint: Endpoint, in engineState: EngineState) -> Bool {
        // The user gave up while the former connection closed.
        if state.withLock({ $0.isAborted }) { return false }
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
        cost > 0 && backPressure.add(cost)
    }

    /// Whether so much is undelivered; `caughtUp` is posted when that is over.
    func mustHoldBack() -> Bool { backPressure.isHolding }

    /// Costs of what the user has not taken.
    var undeliveredBytes: Int { backPressure.weight }

    func delivered(_ cost: Int) {
        if cost > 0, backPressure.remove(cost), let session { engine.post(.caughtUp(session)) }
    }

    // MARK: Delivery

    /// Answers whoever awaits this, or calls the delegate, on the queue where it wants to be called.
    func deliver(_ notice: WebSocketNotice) {
        // The delegate leaves the lock before it is released: this may be its last reference.
        let (pump, answers, isTaken, delegate) = state.withLock { state in
            let delegate = state.delegate
            let (answers, isTaken) = state.take(notice, hasDelegate: delegate != nil)
            return (state.pump, answers, isTaken, delegate)
        }
        withExtendedLifetime(delegate) {}
        for answer in answers { answer() }
        guard !isTaken else { return notice.isInput ? settleInbox() : delivered(notice.cost) }
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

    /// Hands the next items to the tasks that wait, or tells them the end.
    private func settleInbox() {
        let (settled, cost, isEndSeen) = state.withLock { $0.settle() }
        delivered(cost)
        if isEndSeen { acknowledgeEnd() }
        for (answer, result) in settled { answer(result) }
    }

    /// Asks for the next item; `answer` is called once.
    func fetch(as waiter: OperationID, _ answer: @escaping Answer<Result<WebSocketInbox.Item?, SocketError>>) {
        state.withLock { state in
            state.inbox.isRead = true
            state.inbox.waiters.add(waiter, answer)
        }
        settleInbox()
    }

    /// A task that waits is cancelled.
    func giveUpFetching(_ waiter: OperationID) {
        guard let answer = state.withLock({ $0.inbox.waiters.remove(waiter) }) else { return }
        close(.goingAway)
        answer(.failure(.cancelled("receive")))
    }

    /// What came while there was no delegate goes to the one that there is now; from the outbox, where all that comes
    /// behind it passes too.
    func deliverInbox() {
        while let notice = takeForDelegate() {
            guard let pump = state.withLock({ $0.pump }) else {
                finish(notice)
                continue
            }
            pump.append { [self] in finish(notice) }
        }
    }

    private func takeForDelegate() -> WebSocketNotice? {
        guard let delegate else { return nil }
        return withExtendedLifetime(delegate) { state.withLock { $0.takeForDelegate() } }
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
    /// A session begins: what the former one left is dropped, and the answer is what that cost. Tasks that wait go on to
    /// wait.
    mutating func begin() -> Int {
        let cost = inbox.cost
        inbox.begin()
        isAborted = false
        (agreement, report) = (nil, nil)
        return cost
    }

    /// Who hears of a notice, and whether the delegate does not.
    mutating func take(
        _ notice: WebSocketNotice, hasDelegate: Bool
    ) -> (answers: [@Sendable () -> Void], isTaken: Bool) {
        switch notice {
        case .message(let message): return ([], keep(.message(message), notice.cost, hasDelegate))
        case .chunk(let chunk): return ([], keep(.chunk(chunk), notice.cost, hasDelegate))
        case .opened(let agreement):
            self.agreement = agreement
            return (awaited.openings.takeAll(answering: nil), false)
        case .sent(let operation): return answer(operation, nil)
        case .failed(let operation, let error): return answer(operation, error)
        case .pong(let payload, let time):
            return (awaited.takePings(payload).map { answer in { answer(.success(time ?? .zero)) } }, false)
        case .writable: return (awaited.room.takeAll(answering: nil), false)
        case .inputEnded:
            guard mustKeep(hasDelegate) else { return ([], false) }
            inbox.hasUnseenEnd = true
            // The delegate hears of it all the same, but has nothing to acknowledge.
            return ([], true)
        case .closed(let report, let error): return (close(report, error), false)
        case .ping, .trust: return ([], false)
        }
    }

    /// Keeps an item for a task; false when the delegate gets it.
    private mutating func keep(_ item: WebSocketInbox.Item, _ cost: Int, _ hasDelegate: Bool) -> Bool {
        guard mustKeep(hasDelegate) else { return false }
        inbox.append(item, cost: cost)
        return true
    }

    /// Whether input waits: nobody is there to be called, a task reads, or what came before it waits too.
    private func mustKeep(_ hasDelegate: Bool) -> Bool { !hasDelegate || inbox.isRead || !inbox.isEmpty }

    /// The next that waits and that the delegate, if there is one, is to get.
    mutating func takeForDelegate() -> WebSocketNotice? {
        guard !inbox.isRead else { return nil }
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
        if let answer = awaited.operations.removeValue(forKey: operation) { return ([{ answer?(error) }], true) }
        guard let error, let answer = awaited.takePing(operation) else { return ([], false) }
        return ([{ answer(.failure(error)) }], true)
    }

    /// Everybody hears that it is over.
    private mutating func close(_ report: WebSocketCloseReport?, _ error: SocketError?) -> [@Sendable () -> Void] {
        self.report = report
        let lost = error ?? SocketError(.disconnected, operation: "WebSocket", detail: "closed by this side")
        inbox.ending = WebSocketInbox.ending(report, error)
        inbox.hasUnseenEnd = false
        let ending = inbox.ending ?? .success(nil)
        // While items wait, no task does.
        let readers = inbox.waiters.takeAll().map { reader -> @Sendable () -> Void in { reader(ending) } }
        var asked = awaited
        awaited = WebSocketAnswers()
        let pings = asked.pings.map { ping -> @Sendable () -> Void in { ping.answer(.failure(lost)) } }
        let sends = asked.operations.values.map { answer -> @Sendable () -> Void in { answer?(lost) } }
        return readers + pings + sends + asked.openings.takeAll(answering: lost) + asked.room.takeAll(answering: lost)
            + asked.ends.takeAll(answering: nil)
    }

    /// What the tasks that wait are given now, what that cost, and whether one has come to the end of input.
    mutating func settle() -> (
        settled: [(Answer<Result<WebSocketInbox.Item?, SocketError>>, Result<WebSocketInbox.Item?, SocketError>)],
        cost: Int, isEndSeen: Bool
    ) {
        var settled: [(Answer<Result<WebSocketInbox.Item?, SocketError>>, Result<WebSocketInbox.Item?, SocketError>)] =
            []
        var cost = 0
        while !inbox.isEmpty, let answer = inbox.waiters.popFirst(), let next = inbox.popFirst() {
            settled.append((answer, .success(next.item)))
            cost += next.cost
        }
        guard inbox.isEmpty else { return (settled, cost, false) }
        // Who never reads need not be waited for.
        let isEndSeen = inbox.hasUnseenEnd && (!inbox.waiters.isEmpty || !inbox.isRead)
        if isEndSeen { inbox.hasUnseenEnd = false }
        if let ending = inbox.ending { settled += inbox.waiters.takeAll().map { ($0, ending) } }
        return (settled, cost, isEndSeen)
    }
}

extension WebSocketInbox {
    /// A session begins: what came in the one before goes, and who waits goes on waiting.
    mutating func begin() {
        let waiting = waiters
        self = WebSocketInbox()
        (waiters, isRead) = (waiting, !waiting.isEmpty)
    }

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
