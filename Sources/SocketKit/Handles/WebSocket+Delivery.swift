import SocketCore

/// The engine's interface to the handle.
extension WebSocket: DeliveringHandle {
    var backPressure: BackPressure { _read { yield sharedPressure.pressure } }

    /// Starts another connection of a client to its proxy. Returns `false` if it couldn't be started.
    func reconnect(_ layer: WebSocketLayer, to endpoint: Endpoint, in engineState: EngineState) -> Bool {
        // The caller aborted while the former connection was closing.
        if state.withLock({ $0.isAborted }) { return false }
        do throws(SocketError) {
            try engineState.connect(socket, to: endpoint, timeout: nil)
            guard let connection = socket.session.flatMap({ engineState.connection($0) }) else { return false }
            connection.begin(layer)
            return true
        } catch {
            return false
        }
    }

    // MARK: Delivery

    /// Answers the awaiting task, or calls the delegate on its queue.
    func deliver(_ notice: WebSocketNotice, of session: SocketID) {
        // The delegate leaves the lock before it is released, because this may be its last reference.
        let (pump, (answers, course), delegate) = state.withLock { state in
            let delegate = state.delegate
            return (state.pump, state.absorb(notice, of: session, hasDelegate: delegate != nil), delegate)
        }
        withExtendedLifetime(delegate) {}
        for answer in answers { answer() }
        switch course {
        case .kept: settleInbox()
        case .over: wasDelivered(notice.weight)
        case .delegate: deliverWeighed(WebSocketCall(notice: notice, session: session), by: pump)
        }
    }

    /// Calls the current delegate, and acknowledges the end of input once the delegate has returned from it.
    func call(_ call: WebSocketCall) {
        if let delegate { tell(delegate, call.notice) }
        if case .inputEnded = call.notice { acknowledgeEnd(of: call.session) }
    }

    /// Acknowledges the end of that session's input, once everything before it is delivered.
    private func acknowledgeEnd(of name: SocketID) {
        guard name == state.withLock({ $0.session }), let session else { return }
        engine.post(.acknowledgeEnd(session))
    }

    private func tell(_ delegate: any WebSocketDelegate, _ notice: WebSocketNotice) {
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

    /// Hands the next items, or the end, to the waiting tasks.
    private func settleInbox() {
        let (settled, cost, endSeen) = state.withLock { $0.settle() }
        wasDelivered(cost)
        if let endSeen { acknowledgeEnd(of: endSeen) }
        for (answer, result) in settled { answer(result) }
    }

    /// Delivers the messages that arrived without a delegate to the current one. It runs from the outbox, which later
    /// messages pass too, so that they stay in order.
    func deliverInbox() {
        while let call = takeForDelegate() { deliverWeighed(call, by: state.pump) }
    }

    private func takeForDelegate() -> WebSocketCall? {
        guard let delegate else { return nil }
        return withExtendedLifetime(delegate) {
            state.withLock { state in
                state.takeForDelegate().map { WebSocketCall(notice: $0, session: state.session ?? Self.noSession) }
            }
        }
    }
}

/// A reading task's interface to the handle.
extension WebSocket: ElementSource {
    func withFetchers<R: Sendable>(_ body: (inout Waiters<Fetched<WebSocketInbox.Item>>) -> R) -> R? {
        state.withLock { body(&$0.inbox.backlog.waiters) }
    }

    /// Removes the next item, or returns `nil` if none has arrived or the first one is of the other kind.
    func takeReady(_ delivery: WebSocketSettings.Delivery) -> WebSocketInbox.Item? {
        guard let first = state.withLock({ $0.inbox.takeReady(delivery) }) else { return nil }
        wasDelivered(first.weight)
        return first.element
    }

    func fetch(as waiter: OperationID, _ answer: @escaping Answer<Fetched<WebSocketInbox.Item>>) {
        state.withLock { state in
            state.inbox.isRead = true
            state.inbox.backlog.waiters.add(waiter, of: state.session, answer)
        }
        settleInbox()
    }

    func stopFetching(_ waiter: OperationID) {
        guard let answer = withFetchers({ $0.remove(waiter) }) ?? nil else { return }
        close(.goingAway)
        answer(.failure(.cancelled("receive")))
    }
}

extension WebSocketHandleState {
    /// Begins a session, drops what the former one left, and returns its weight. Waiting tasks keep waiting.
    mutating func begin(_ session: SocketID) -> Int {
        let cost = inbox.backlog.weight
        // Once the end of the former session is delivered, none of its messages are in transit.
        hadReader = self.session != nil && inbox.isRead
        core.present.begin(session)
        inbox.begin(session)
        awaited.enter(session)
        isAborted = false
        (agreement, report) = (nil, nil)
        return cost
    }

    /// What happens to a notice once it has answered the tasks.
    enum Course {
        /// It goes to the delegate.
        case delegate
        /// It waits in the inbox.
        case kept
        /// It goes no further.
        case over
    }

    /// Returns the answers that a notice gives, and what happens to it. `session` is the one it is about.
    mutating func absorb(
        _ notice: WebSocketNotice, of session: SocketID, hasDelegate: Bool
    ) -> (answers: [@Sendable () -> Void], course: Course) {
        switch notice {
        case .message(let message):
            return ([], keep(hasDelegate, of: session) { $0.backlog.append(.message(message), weight: notice.weight) })
        case .chunk(let chunk):
            return ([], keep(hasDelegate, of: session) { $0.backlog.append(.chunk(chunk), weight: notice.weight) })
        // An end that waits behind messages isn't reported to the delegate, which then has nothing to acknowledge.
        case .inputEnded: return ([], keep(hasDelegate, of: session) { $0.hasUnseenEnd = true })
        case .opened(let agreement):
            if session == self.session { self.agreement = agreement }
            return (awaited.openings.takeAll(of: session, answering: nil), .delegate)
        case .sent(let operation): return answer(operation, nil)
        case .failed(let operation, let error): return answer(operation, error)
        case .pong(let payload, let time):
            let answers = awaited.takePings(payload, of: session)
            return (answers.map { answer in { answer(.success(time ?? .zero)) } }, .delegate)
        case .writable: return (awaited.room.takeAll(of: session, answering: nil), .delegate)
        case .closed(let report, let error): return (close(session, report, error), .delegate)
        case .ping, .trust: return ([], .delegate)
        }
    }

    /// Keeps input for a task, or leaves it to the delegate. Input of a former session belongs to the delegate unless a
    /// task was reading then; otherwise it is dropped.
    private mutating func keep(
        _ hasDelegate: Bool, of session: SocketID, _ append: (inout WebSocketInbox) -> Void
    ) -> Course {
        guard session == self.session else { return hasDelegate && !hadReader ? .delegate : .over }
        guard mustKeep(hasDelegate) else { return .delegate }
        append(&inbox)
        return .kept
    }

    /// Whether input must wait: there is no delegate, a task is reading, or earlier input is waiting.
    private func mustKeep(_ hasDelegate: Bool) -> Bool { !hasDelegate || inbox.isRead || !inbox.backlog.isEmpty }

    /// Removes the next item for the delegate, or returns `nil` if none waits or a task is reading.
    mutating func takeForDelegate() -> WebSocketNotice? {
        guard !inbox.isRead else { return nil }
        switch inbox.backlog.popFirst()?.element {
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
    ) -> (answers: [@Sendable () -> Void], course: Course) {
        guard !awaited.operations.isEmpty || !awaited.pings.isEmpty else { return ([], .delegate) }
        if let sending = awaited.operations.removeValue(forKey: operation) {
            return ([{ sending.answer?(error) }], .over)
        }
        guard let error, let answer = awaited.takePing(operation) else { return ([], .delegate) }
        return ([{ answer(.failure(error)) }], .over)
    }

    /// Answers everything that waits within a session that has ended.
    private mutating func close(
        _ session: SocketID, _ report: WebSocketCloseReport?, _ error: SocketError?
    ) -> [@Sendable () -> Void] {
        let lost = error ?? SocketError(.disconnected, operation: "WebSocket", detail: "closed locally")
        let ending = WebSocketInbox.ending(report, error)
        if session == self.session {
            core.present.end(session, as: nil)
            self.report = report
            inbox.ending = ending
            inbox.hasUnseenEnd = false
        }
        // No task waits while there are items.
        let readers = inbox.backlog.waiters.takeAll(of: session).map { reader -> @Sendable () -> Void in
            { reader(ending) }
        }
        return readers + awaited.takeAll(of: session, answering: lost, report)
    }

    /// Returns the answers for the waiting tasks, the weight of their items, and the session whose end of input a task
    /// has reached.
    mutating func settle() -> (
        settled: [(Answer<Fetched<WebSocketInbox.Item>>, Fetched<WebSocketInbox.Item>)], cost: Int, endSeen: SocketID?
    ) {
        var settled: [(Answer<Fetched<WebSocketInbox.Item>>, Fetched<WebSocketInbox.Item>)] = []
        var cost = 0
        while !inbox.backlog.isEmpty, let answer = inbox.backlog.waiters.popFirst(),
            let next = inbox.backlog.popFirst()
        {
            settled.append((answer, .success(next.element)))
            cost += next.weight
        }
        guard inbox.backlog.isEmpty else { return (settled, cost, nil) }
        let isAwaited = !inbox.backlog.waiters.isEmpty
        // If no task ever reads, there is none to wait for.
        let isEndSeen = inbox.hasUnseenEnd && (isAwaited || !inbox.isRead)
        if isEndSeen { inbox.hasUnseenEnd = false }
        if let ending = inbox.ending { settled += inbox.backlog.waiters.takeAll().map { ($0, ending) } }
        return (settled, cost, isEndSeen ? session : nil)
    }
}

extension WebSocketInbox {
    /// Begins a session, drops the former one's input, and lets tasks keep waiting.
    mutating func begin(_ session: SocketID) {
        var waiting = backlog.waiters
        waiting.enter(session)
        self = WebSocketInbox()
        (backlog.waiters, isRead) = (waiting, waiting.isAwaited(in: session))
    }

    /// Removes the first item for a task that reads. The first `next()` still waits for what came before it, and a task
    /// that waits comes first.
    mutating func takeReady(_ delivery: WebSocketSettings.Delivery) -> (element: Item, weight: Int)? {
        guard isRead, backlog.waiters.isEmpty, backlog.first?.delivery == delivery else { return nil }
        return backlog.popFirst()
    }

    /// How the end appears to a reader. Codes 1000 and 1001, no code, and a local close end its messages in order.
    static func ending(_ report: WebSocketCloseReport?, _ error: SocketError?) -> Fetched<Item> {
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
