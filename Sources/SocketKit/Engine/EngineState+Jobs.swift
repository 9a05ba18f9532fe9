import SocketCore

/// Carrying out what was posted.
extension EngineState {
    /// Whether something was posted that is not carried out.
    var hasJobs: Bool { mailbox.posted != carriedOut }

    /// Carries out what was posted, as far as the budget allows, and tries the writes that came of it. How many jobs that
    /// were.
    @discardableResult
    func settle() -> Int {
        let count = carryOut(upTo: mailbox.posted, most: account.jobsLeft)
        account.carriedOut(jobs: count)
        flushWrites()
        return count
    }

    /// Carries out what was posted up to this place, then `body`, which finds state up to date; callbacks are left to a
    /// turn. At most `most` jobs: nil when some are left.
    func enter<R>(upTo place: Int, most: Int, _ body: (EngineState) -> R) -> R? {
        beginTurn()
        let (before, start) = (bytesMoved, account.movedAtStart)
        lender?.keepUnlent()
        carryOut(upTo: place, most: most)
        flushAllWrites()
        let result = carriedOut >= place ? body(self) : nil
        flushAllWrites()
        account.leaveOut(moved: bytesMoved, since: before, atStart: start)
        guard !account.isOpen else {
            // The turn goes on.
            armTimer()
            return result
        }
        // Nobody has to be called, and no caller's caller is in the midst of a step: what was retired has served its time.
        if outbox.isEmpty, !outbox.isDelivering, !hasTaken {
            forgetUnreceived()
            releaseRetired()
            // What went may have asked for something.
            flushAllWrites()
        }
        armTimer()
        tellObservers()
        if hasTaken || !outbox.isEmpty || !holding.isEmpty || !retired.isEmpty { requestTurn() }
        return result
    }

    /// Whether jobs were taken out of the mailbox that are not carried out: nobody else knows of them.
    private var hasTaken: Bool { !jobs.isEmpty }

    /// Carries out jobs in the order in which they were posted. User code that runs in the midst of one may come here
    /// again; it goes on with the next.
    @discardableResult
    private func carryOut(upTo place: Int, most: Int) -> Int {
        guard carriedOut < place else { return 0 }
        var count = 0
        while carriedOut < place, count < most {
            if jobs.isEmpty {
                mailbox.take(into: &jobs)
                meter.found(jobs.count, now: now)
            }
            guard let job = jobs.popFirst() else { break }
            carriedOut += 1
            count += 1
            perform(job)
            doneJobs.append(job)
        }
        dropJobs()
        return count
    }

    /// Lets go of the jobs that are carried out. With them handles may go, and what users keep there.
    private func dropJobs() {
        guard !doneJobs.isEmpty else { return }
        var done = MoveQueue<EngineJob>()
        swap(&done, &doneJobs)
        runUserCode { while let job = done.popFirst() { _ = consume job } }
        if doneJobs.isEmpty { swap(&done, &doneJobs) }
    }

    /// Takes back what a handle has asked for and what is not carried out, in its order. Under the handle's lock.
    func withdraw(_ handle: AsyncSocket) -> [(SocketCommand, OperationID)] {
        jobs.withdraw(handle) + mailbox.withdraw(handle)
    }

    // MARK: Jobs

    private func perform(_ job: borrowing EngineJob) {
        switch job {
        case .command(let command): perform(command)
        case .ask(let handle, let command, let operation): perform(command, of: handle, as: operation)
        case .stopPublishing: stopPublishing()
        case .viewer(let command, let answer): answer(perform(ofViewer: command))
        case .nothing: return
        case .work(let work): outbox.append(.other(work))
        case .leg(let id, let command): perform(command, onLeg: id)
        case .holdAccepts(let id, let hold): acceptor(id)?.holdBack(hold)
        case .caughtUp(let id): sessions[id]?.handleDelegateCaughtUp()
        case .webSocket(let handle, let id, let command, let operation):
            perform(command, of: handle, id, as: operation)
        case .acknowledgeEnd(let id): acknowledgeEnd(of: id)
        case .deliverInbox(let handle): outbox.append(.webSocketInbox(handle))
        case .datagram(let job): perform(job)
        case .begin(let id, let addresses): connection(id)?.begin(with: addresses)
        case .resolved(let id, let result): connection(id)?.nameResolved(result)
        case .take(let moved, let handle): take(moved.value, for: handle)
        case .released(let id): sessions[id]?.handleRelease()
        case .snapshot(let request, let answer):
            let snapshot = snapshot(request)
            if request.changes != nil { answer(snapshot) } else { outbox.append(.other { answer(snapshot) }) }
        }
    }

    /// Queues a read for user code that runs within a turn; false where others posted something before it, or where this
    /// is no plain stream: then it goes the way of all commands.
    func queueAtOnce(_ request: ReadRequest, of session: SocketID, as operation: OperationID) -> Bool {
        atOnce(session, isKeeping: true) { $0.queue(request, as: operation) }
    }

    /// Queues a write, likewise.
    func queueAtOnce(_ request: WriteRequest, of session: SocketID, as operation: OperationID) -> Bool {
        atOnce(session, isKeeping: false) { $0.queue(request, as: operation) }
    }

    /// Lets `queue` queue at once. `isKeeping`: what lies behind an item that is lent takes its place in the read queue
    /// first; a write needs that only where the lender is about to close.
    @inline(__always)
    private func atOnce(_ session: SocketID, isKeeping: Bool, _ queue: (Connection) -> Void) -> Bool {
        guard !hasJobs, let connection = sessions.borrow(session) else { return false }
        return connection { connection in
            guard connection.layers.isTakenByHandle else { return false }
            if let lender, isKeeping || !lender.machine.drain.isEmpty { lender.keepUnlent() }
            counters.commands += 1
            queue(connection)
            return true
        }
    }

    /// Carries out a command of user code that runs within a turn; false where others were posted before it.
    func performAtOnce(_ command: SocketCommand, of handle: AsyncSocket, as operation: OperationID) -> Bool {
        guard !hasJobs else { return false }
        if let lender {
            switch command.action {
            case .write where lender.machine.drain.isEmpty: break
            default: lender.keepUnlent()
            }
        }
        perform(command, of: handle, as: operation)
        return true
    }

    private func perform(_ command: SocketCommand, of handle: AsyncSocket, as operation: OperationID) {
        if queuePlain(command, as: operation) { return }
        if let connection = connection(command.socket) {
            perform(command.action, on: connection, as: operation)
        } else {
            injecting.remove(operation)
            handle.forwardOrFail(command.action, as: operation, in: self)
        }
    }

    /// Queues what nearly every job is: a read or a write of a plain stream. False: it is something else.
    private func queuePlain(_ command: SocketCommand, as operation: OperationID) -> Bool {
        guard !isInjecting, let connection = sessions.borrow(command.socket) else { return false }
        return connection { connection in
            guard connection.webSocket == nil else { return false }
            switch command.action {
            case .read(let request): connection.queue(request, as: operation)
            case .write(let request): connection.queue(request, as: operation)
            default: return false
            }
            counters.commands += 1
            return true
        }
    }

    /// Carries out one command; `operation` names what it queues, where its caller chose the name. For a session that is
    /// over it does nothing: its handle knows that already.
    func perform(_ command: SocketCommand, as operation: OperationID? = nil) {
        switch sessions[command.socket] {
        case .stream(let connection)?:
            // The relay writes by its handles, so what comes this way to one of its legs is somebody else's.
            let isInjected = connection.linked != nil && operation == nil
            perform(command.action, on: connection, as: isInjected ? markInjected(command.action) : operation)
        case .listener(let acceptor)?:
            counters.commands += 1
            acceptor.perform(command.action)
        case .datagrams(let session)?:
            counters.commands += 1
            session.perform(command.action, as: operation ?? names.nextOperation())
        case nil: counters.commands += 1
        }
    }

    /// Notes that what is queued is a user's, on a connection that belongs to others. Returns its name, or `nil` for what
    /// sends nothing.
    private func markInjected(_ action: SocketCommand.Action) -> OperationID? {
        switch action {
        case .write, .webSocket:
            let operation = names.nextOperation()
            injecting.insert(operation)
            return operation
        case .read, .send, .close, .halfClose, .pauseReading, .answerTimeout, .cancel, .answerTrust, .setTimeout,
            .setWatermarks, .answerConnection:
            return nil
        }
    }

    /// Carries out a command of a viewer, to whom no connection of this program belongs.
    func performByViewer(_ command: SocketCommand) {
        guard let connection = connection(command.socket) else { return perform(command) }
        perform(command.action, on: connection, as: markInjected(command.action))
    }

    private func perform(_ action: SocketCommand.Action, on connection: Connection, as operation: OperationID?) {
        counters.commands += 1
        let isInjected = isInjecting && operation.map { injecting.remove($0) != nil } ?? false
        switch action {
        case .send: return
        case .webSocket(let command) where isInjected:
            connection.inject(command, as: operation ?? names.nextOperation())
            connection.finishStep()
        case .webSocket(let command):
            connection.webSocket?.perform(command, as: operation ?? names.nextOperation(), on: connection)
            connection.finishStep()
        case .read where !connection.layers.isTakenByHandle, .write where !connection.layers.isTakenByHandle:
            connection.refuseByWebSocket(action, as: operation ?? names.nextOperation())
        case .read(let request): connection.queue(request, as: operation ?? names.nextOperation())
        case .write(let request) where isInjected:
            connection.inject(request, as: operation ?? names.nextOperation())
        case .write(let request): connection.queue(request, as: operation ?? names.nextOperation())
        case .close(let mode): connection.askToClose(mode)
        case .halfClose: connection.halfClose()
        case .pauseReading(let pause): connection.pauseReading(pause)
        case .answerTimeout(let operation, let verdict): connection.answer(verdict, to: operation)
        case .cancel(let target): connection.cancel(target)
        case .answerTrust(let question, .unhandled): connection.nobodyJudges(question)
        case .answerTrust(let question, let verdict): connection.answer(verdict, toTrust: question)
        case .setTimeout(let operation, let timeout): connection.setTimeout(timeout, of: operation)
        case .setWatermarks(let marks): connection.setWatermarks(marks)
        case .answerConnection: return
        }
    }
}
