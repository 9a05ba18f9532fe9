import SocketCore

extension EngineState {
    /// Runs one turn: mailbox, readiness, the jobs it led to, due deadlines, coalesced writes, and user code last. What
    /// exceeds the budget is left, in order, for the next turn. `due` is when the turn was requested.
    func turn(_ batch: [Readiness], due: MonotonicTime) {
        mailbox.wake()
        beginTurn()
        let began = now
        account.open(moved: bytesMoved)
        endWatch()
        // Jobs posted before the kernel reported this batch come before it.
        if !batch.isEmpty { settle() }
        dispatch(batch)
        settle()
        expireDeadlines()
        flushWrites()
        runCallbacks()
        forgetUnreceived()
        beginWatch()
        armTimer()
        tellObservers()
        account.close(moved: bytesMoved)
        meter.turned(due: due, began: began, ended: clock.now)
    }

    /// Runs callbacks, and jobs posted meanwhile, until nothing is left or the budget is spent.
    private func runCallbacks() {
        while true {
            let made = deliverOutbox(andFollowing: true)
            let jobs = settle()
            receiveRest()
            guard outbox.isEmpty else {
                if account.callbacksLeft > 0 { continue }
                break
            }
            releaseRetired()
            // This may have closed sockets that must be notified, or looked up others, which are retained now.
            if outbox.isEmpty, retainedHandles.isEmpty, retired.isEmpty, isUpToDate, mailbox.sleep() {
                // The reactor reports most of these again, but not those of descriptors that are no longer registered.
                if unseen.isEmpty { return }
                break
            }
            if made == 0, jobs == 0, outbox.isEmpty, account.jobsLeft <= 0 || isSpent { break }
            if !outbox.isEmpty, account.callbacksLeft <= 0 { break }
        }
        requestTurn()
    }

    /// Gives recorded events to observers, and answers tasks that wait for the last session to end.
    func tellObservers() {
        if !observers.isEmpty { for observer in observers { observer.read(ring) } }
        if !waitersForEmpty.isEmpty { answerIfEmpty() }
    }

    /// Reads the clock and counts the turn.
    func beginTurn() {
        now = clock.now
        counters.turns += 1
    }

    /// The number of bytes received and sent since the engine started.
    var bytesMoved: UInt64 { counters.received &+ counters.sent }

    /// Whether no further call that moves bytes may start in this turn.
    var isSpent: Bool { account.isSpent(moved: bytesMoved) }

    /// Whether enough readiness was handled that the rest is left for the next turn.
    var mustLeaveOff: Bool { account.mustLeaveOff(waiting: outbox.count, moved: bytesMoved) }

    // MARK: Readiness

    /// Handles readiness, unless callbacks from earlier reports are still waiting. What exceeds the budget comes first
    /// in the next turn.
    private func dispatch(_ batch: [Readiness]) {
        if !account.mayDispatch(waiting: outbox.count) { deliverOutbox() }
        // The kernel reports again what is dropped here.
        guard account.mayDispatch(waiting: outbox.count) else { return }
        account.beginReadiness(waiting: outbox.count)
        isDispatching = true
        if unseen.isEmpty { dispatchAll(batch) } else { dispatchUnseen(and: batch) }
        isDispatching = false
        account.endReadiness(waiting: outbox.count)
    }

    /// Handles readiness in order, and leaves over what exceeds the budget.
    private func dispatchAll(_ ready: [Readiness]) {
        var next = 0
        while next < ready.count, next == 0 || !mustLeaveOff {
            dispatch(ready[next])
            next += 1
        }
        counters.readinessEvents += UInt64(next)
        if next < ready.count { unseen = ready[next...] + unseen }
    }

    /// Handles what was left over before the new batch, or the end of every batch would never get its turn. For the
    /// same descriptor, the newer report counts, because readiness lasts until it is used.
    private func dispatchUnseen(and batch: [Readiness]) {
        var fresh = Dictionary(batch.map { ($0.token, $0) }) { _, last in last }
        let former = unseen.map { fresh.removeValue(forKey: $0.token) ?? $0 }
        unseen = []
        dispatchAll(former + batch.filter { fresh[$0.token] != nil })
    }

    private func dispatch(_ readiness: Readiness) {
        // A session that closed earlier in this batch is not found.
        if let connection = sessions.borrow(readiness.token.socket) {
            connection { $0.handle(readiness) }
        } else {
            sessions[readiness.token.socket]?.handle(readiness)
        }
    }

    /// Receives, within the budget, for reads that were queued where a receive had stopped. The kernel reports the rest
    /// again.
    private func receiveRest() {
        guard !unreceived.isEmpty else { return }
        swap(&unreceived, &receiving)
        for index in receiving.indices where !isSpent { receiving[index].receiveRest() }
        receiving.removeAll(keepingCapacity: true)
        // Deliver the resulting callbacks before more readiness is handled, or a socket would seem to have no read.
        account.endReadiness(waiting: outbox.count)
    }

    /// Drops pending receives, which the reactor reports again. Called before ended connections are released, or this
    /// would release them.
    func forgetUnreceived() { if !unreceived.isEmpty { unreceived.removeAll(keepingCapacity: true) } }

    /// Handles a descriptor again in the next turn, although the reactor will not report it.
    func lookAgain(_ readiness: Readiness) {
        unseen.append(readiness)
        requestTurn()
    }

    // MARK: The end of a turn

    /// Releases handles, ended sessions and users' objects that were retained, once all callbacks have run.
    func releaseRetired() {
        // The lists are cleared while user code runs, and must not be cleared again by what it asks for.
        assert(!outbox.isDelivering)
        guard !retainedHandles.isEmpty || !retired.isEmpty else { return }
        // An object that a user keeps in a handle may act on other sockets in its deinit. By then no connection may
        // rely on a handle that is about to be released here, so all of them give theirs up first.
        swap(&retainedHandles, &leaving)
        swap(&retired, &ended)
        for index in leaving.indices { leaving[index].connection { $0.releaseHandle() } }
        runUserCode {
            leaving.removeAll(keepingCapacity: true)
            // A snapshot of many sessions retires many handles once.
            if !ended.isEmpty { ended.removeAll(keepingCapacity: ended.count <= 1_024) }
        }
    }

    /// Sends queued bytes, within the budget.
    func flushWrites() {
        while !unflushed.isEmpty, !isSpent {
            swap(&unflushed, &flushing)
            for index in flushing.indices {
                guard index == 0 || !isSpent else {
                    unflushed = Array(flushing[index...]) + unflushed
                    break
                }
                flushing[index].flush()
            }
            flushing.removeAll(keepingCapacity: true)
        }
        while !unflushedDatagrams.isEmpty, !isSpent {
            let sessions = unflushedDatagrams
            unflushedDatagrams.removeAll(keepingCapacity: true)
            for session in sessions { session.flush() }
        }
    }

    /// Sends queued bytes whatever the budget, for a call that promises to.
    func flushAllWrites() {
        let limit = account.lift()
        flushWrites()
        account.limit(limit)
    }

    private func expireDeadlines() {
        // A deadline that is due again at once must wait for the next turn, or nothing else would ever run. What is
        // left over is still due, so the timer is set to fire at once.
        guard let earliest = deadlines.earliest, earliest <= now else { return }
        var most = min(deadlines.count, account.deadlineLimit)
        while most > 0, let id = deadlines.popDue(now) {
            most -= 1
            sessions[id]?.handleDeadline()
        }
    }

    /// Runs every waiting callback, then with `andFollowing` the ones they trigger until other work is pending, all
    /// within the budget. Returns the number run.
    @discardableResult
    func deliverOutbox(andFollowing goesOn: Bool = false) -> Int {
        // A callback that runs here may enter the engine again and add to the outbox, but never delivers.
        guard !outbox.isDelivering, !outbox.isEmpty else { return 0 }
        let waiting = outbox.count
        var made = 0
        runUserCode {
            while made < account.callbacksLeft, made < waiting || goesOn && isUpToDate, let callback = outbox.popFirst()
            {
                callback.run(in: self)
                made += 1
            }
        }
        account.made(callbacks: made)
        return made
    }

    /// Whether nothing is waiting to be carried out, written or delivered.
    var isAtRest: Bool { isUpToDate && unseen.isEmpty && !hasWork }

    /// Whether nothing is waiting to be carried out or written.
    private var isUpToDate: Bool { !hasJobs && unflushed.isEmpty && unflushedDatagrams.isEmpty }

    /// Runs user code. Its requests are carried out in order with all others. Callbacks run later.
    func runUserCode<R>(_ userCode: () -> R) -> R {
        let (isDelivering, former) = (outbox.isDelivering, mailbox.beginHosting())
        outbox.isDelivering = true
        let result = userCode()
        mailbox.endHosting(former)
        outbox.isDelivering = isDelivering
        return result
    }

    // MARK: Lending

    /// Runs user code as `runUserCode` does, where no user code runs yet. It is cheaper, because an item costs little
    /// more than this.
    @inline(__always)
    func runBorrower(_ userCode: () -> Void) {
        outbox.isDelivering = true
        mailbox.setRunsUserCode(true)
        userCode()
        mailbox.setRunsUserCode(false)
        outbox.isDelivering = false
    }

    /// Whether user code may run in the middle of a turn. It may while readiness events are dispatched, when a
    /// reentrant call still sees jobs in posting order, but never inside other user code.
    var mayLend: Bool { isDispatching && !outbox.isDelivering && outbox.count < account.callbacksLeft }

    /// Runs `body`, which lends bytes of the scratch buffers to user code, after the callbacks decided before it. If
    /// user code enters the engine, bytes received or decrypted meanwhile go to other buffers.
    func lend(from connection: Connection, _ body: () -> Void) {
        let (lent, spare) = (buffers, spareBuffers ?? ScratchBuffers())
        (buffers, spareBuffers) = (spare, nil)
        lender = connection
        deliverOutbox()
        body()
        lender = nil
        (buffers, spareBuffers) = (lent, spare)
    }

    /// Sets the timer to the earliest deadline, if that is earlier than its current setting.
    func armTimer() {
        // The timer's mark counts, and not only the clock: with a clock that lags, the deadline would be lost.
        if reactor.takeTimerMark() { armedDeadline = nil }
        if let armed = armedDeadline, armed <= now { armedDeadline = nil }
        guard let earliest = earliestDeadline, armedDeadline.map({ earliest < $0 }) ?? true else { return }
        armedDeadline = earliest
        reactor.wake(at: earliest)
    }
}
