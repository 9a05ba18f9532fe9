import SocketCore

/// Carrying out posted jobs.
extension EngineState {
    /// Whether any posted job has not been carried out yet.
    var hasJobs: Bool { mailbox.posted != carriedOut }

    /// Carries out posted jobs, within the budget, and tries the resulting writes. Returns the number of jobs carried
    /// out.
    @discardableResult
    func settle() -> Int {
        let count = carryOut(upTo: mailbox.posted, most: account.jobsLeft)
        account.carriedOut(jobs: count)
        flushWrites()
        return count
    }

    /// Carries out the jobs posted up to `place`, then `body`, which finds the state up to date. Callbacks are left to
    /// a turn. Carries out at most `most` jobs, and returns `nil` without calling `body` if some are left.
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
            // The turn continues.
            armTimer()
            return result
        }
        // No callback is pending, and no caller on the stack is in the middle of a step, so retired objects can be
        // released.
        if outbox.isEmpty, !outbox.isDelivering, !hasTaken {
            forgetUnreceived()
            releaseRetired()
            // Releasing them may have queued writes.
            flushAllWrites()
        }
        armTimer()
        tellObservers()
        if hasTaken || !outbox.isEmpty || !retainedHandles.isEmpty || !retired.isEmpty { requestTurn() }
        return result
    }

    /// Whether jobs that were taken out of the mailbox have not been carried out. The mailbox no longer counts them.
    private var hasTaken: Bool { !jobs.isEmpty }

    /// Carries out jobs in the order of posting. User code that runs during one may call this again, which continues
    /// with the next.
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

    /// Releases the jobs that were carried out. This may release handles and the objects that users keep in them.
    private func dropJobs() {
        guard !doneJobs.isEmpty else { return }
        var done = MoveQueue<EngineJob>()
        swap(&done, &doneJobs)
        runUserCode { while let job = done.popFirst() { _ = consume job } }
        if doneJobs.isEmpty { swap(&done, &doneJobs) }
    }

    /// Withdraws the commands of a handle that have not been carried out, in their order. Called under the handle's
    /// lock.
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
        case .task(let job, let executor): outbox.append(.task(job, executor))
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
        case .absorb(let moved, let handle): absorb(moved.value, for: handle)
        case .released(let id): sessions[id]?.handleRelease()
        case .snapshot(let request, let answer):
            let snapshot = snapshot(request)
            if request.changes != nil { answer(snapshot) } else { outbox.append(.other { answer(snapshot) }) }
        }
    }

    /// Queues a read for user code that runs within a turn. Returns `false` if other jobs come first, or if this is not
    /// a plain stream. The read is then posted like any command.
    func queueAtOnce(_ request: ReadRequest, of session: SocketID, as operation: OperationID) -> Bool {
        atOnce(session, isKeeping: true) { $0.queue(request, as: operation) }
    }

    /// Queues a write for user code that runs within a turn. Returns `false` if other jobs come first, or if this is
    /// not a plain stream. The write is then posted like any command.
    func queueAtOnce(_ request: WriteRequest, of session: SocketID, as operation: OperationID) -> Bool {
        atOnce(session, isKeeping: false) { $0.queue(request, as: operation) }
    }

    /// Calls `queue` at once if no job is pending. With `isKeeping`, the bytes after an item on loan go to the read
    /// queue first. A write needs that only if the lender is about to close.
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

    /// Carries out a command of user code that runs within a turn. Returns `false` if other jobs come first.
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
            handle.failMissed(command.action, as: operation, in: self)
        }
    }

    /// Queues a read or a write of a plain stream, which nearly every job is. Returns `false` for anything else.
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

    /// Carries out one command. `operation` is the identifier for what it queues, if the caller chose one. Has no
    /// effect if the session has ended, because its handle has already been notified.
    func perform(_ command: SocketCommand, as operation: OperationID? = nil) {
        switch sessions[command.socket] {
        case .stream(let connection)?:
            // The relay writes through its handles, so a command that reaches one of its legs this way was injected.
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

    /// Marks the operation as a user's, on a connection that belongs to others. Returns its identifier, or `nil` if the
    /// command sends nothing.
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

    /// Carries out a command of a viewer, which owns no connection of this program.
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
