import SocketCore

extension EngineState {
    /// One turn: mailbox, readiness, what that posted, due deadlines, coalesced writes, then user code, last. What its
    /// budget does not allow is left, in order, for the next turn. `due`: when it was wanted.
    func turn(_ batch: [Readiness], due: MonotonicTime) {
        mailbox.wake()
        beginTurn()
        let began = now
        account.open(moved: bytesMoved)
        endWatch()
        // What was posted before the kernel reported these comes before them.
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

    /// Runs callbacks, and what they and other threads asked for meanwhile, until nothing is left or the budget is spent.
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
            // What goes may have closed sockets that must be told, or looked at others, which are kept since.
            if outbox.isEmpty, holding.isEmpty, retired.isEmpty, isUpToDate, mailbox.sleep() {
                // The reactor repeats most of these, but not those of descriptors that it does not watch any more.
                if unseen.isEmpty { return }
                break
            }
            if made == 0, jobs == 0, outbox.isEmpty, account.jobsLeft <= 0 || isSpent { break }
            if !outbox.isEmpty, account.callbacksLeft <= 0 { break }
        }
        requestTurn()
    }

    /// Gives what was recorded to those who observe, and answers those who wait for the last session to end.
    func tellObservers() {
        if !observers.isEmpty { for observer in observers { observer.take(from: ring) } }
        if !waitersForEmpty.isEmpty { answerIfEmpty() }
    }

    /// Reads the clock and counts.
    func beginTurn() {
        now = clock.now
        counters.turns += 1
    }

    /// Bytes received and sent in the engine's life.
    var bytesMoved: UInt64 { counters.received &+ counters.sent }

    /// Whether no call that moves bytes may begin any more in this turn.
    var isSpent: Bool { account.isSpent(moved: bytesMoved) }

    /// Whether so much was made of what is ready that the rest is left for the next turn.
    var mustLeaveOff: Bool { account.mustLeaveOff(waiting: outbox.count, moved: bytesMoved) }

    // MARK: Readiness

    /// Deals with what is ready, save when callbacks are still left that earlier reports have led to. What the budget
    /// leaves over comes first the next time.
    private func dispatch(_ batch: [Readiness]) {
        if !account.mayDispatch(waiting: outbox.count) { deliverOutbox() }
        // The kernel repeats what is dropped here.
        guard account.mayDispatch(waiting: outbox.count) else { return }
        account.beginReadiness(waiting: outbox.count)
        isDispatching = true
        if unseen.isEmpty { dispatchAll(batch) } else { dispatchUnseen(and: batch) }
        isDispatching = false
        account.endReadiness(waiting: outbox.count)
    }

    /// Deals with these in their order, and leaves over what the budget does not allow.
    private func dispatchAll(_ ready: [Readiness]) {
        var next = 0
        while next < ready.count, next == 0 || !mustLeaveOff {
            dispatch(ready[next])
            next += 1
        }
        counters.readinessEvents += UInt64(next)
        if next < ready.count { unseen = ready[next...] + unseen }
    }

    /// What was left over comes before what came since, or those at the end of every batch would never get their turn. Of
    /// the same descriptor the newer report counts: readiness stays until it is used.
    private func dispatchUnseen(and batch: [Readiness]) {
        var fresh = Dictionary(batch.map { ($0.token, $0) }) { _, last in last }
        let former = unseen.map { fresh.removeValue(forKey: $0.token) ?? $0 }
        unseen = []
        dispatchAll(former + batch.filter { fresh[$0.token] != nil })
    }

    private func dispatch(_ readiness: Readiness) {
        // A session that closed earlier in this batch is simply not found.
        if let connection = sessions.borrow(readiness.token.socket) {
            connection { $0.handle(readiness) }
        } else {
            sessions[readiness.token.socket]?.handle(readiness)
        }
    }

    /// Receives for reads that were queued where a receive had stopped, as far as the budget allows. The kernel reports the
    /// rest again.
    private func receiveRest() {
        guard !unreceived.isEmpty else { return }
        swap(&unreceived, &receiving)
        for index in receiving.indices where !isSpent { receiving[index].receiveRest() }
        receiving.removeAll(keepingCapacity: true)
        // What this has led to is told before readiness is dealt with again: a socket would seem to have no read.
        account.endReadiness(waiting: outbox.count)
    }

    /// The reactor reports what is left there. Before connections that are over are released, or this would release them.
    func forgetUnreceived() { if !unreceived.isEmpty { unreceived.removeAll(keepingCapacity: true) } }

    /// Looks at a descriptor again in the next turn, though the reactor will not report it.
    func lookAgain(_ readiness: Readiness) {
        unseen.append(readiness)
        requestTurn()
    }

    // MARK: The end of a turn

    /// Releases handles and retired objects, after all callbacks.
    func releaseRetired() {
        // The lists are cleared while user code runs, and must not be cleared again by what it asks for.
        assert(!outbox.isDelivering)
        guard !holding.isEmpty || !retired.isEmpty else { return }
        // What a user keeps in a handle may act on other sockets as it dies. By then no connection may count on a
        // handle that this is about to release, so all of them give theirs up first.
        swap(&holding, &leaving)
        swap(&retired, &ended)
        for index in leaving.indices { leaving[index].connection { $0.releaseHandle() } }
        runUserCode {
            leaving.removeAll(keepingCapacity: true)
            // A snapshot of many sessions retires many handles, once.
            if !ended.isEmpty { ended.removeAll(keepingCapacity: ended.count <= 1_024) }
        }
    }

    /// Sends what was queued, as far as the budget allows.
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

    /// Sends what was queued, whatever the budget: for a call that promises that.
    func flushAllWrites() {
        let limit = account.lift()
        flushWrites()
        account.limit(limit)
    }

    private func expireDeadlines() {
        // One that is due again at once has to wait for the next turn, or nothing else would ever happen. What is left
        // over is due still, so the timer is set for at once.
        guard let earliest = deadlines.earliest, earliest <= now else { return }
        var most = min(deadlines.count, account.deadlineLimit)
        while most > 0, let id = deadlines.popDue(now) {
            most -= 1
            sessions[id]?.handleDeadline()
        }
    }

    /// Makes the callbacks that wait, and with `andFollowing` those that come of them, as long as nobody asks for anything
    /// else; never more than the budget has left. How many that were.
    @discardableResult
    func deliverOutbox(andFollowing goesOn: Bool = false) -> Int {
        // A callback that runs in here may enter the engine again and add to the outbox; it never delivers.
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

    /// Whether nothing waits to be carried out, written or told.
    var isAtRest: Bool { isUpToDate && unseen.isEmpty && !hasWork }

    /// Whether nothing waits to be carried out or written.
    private var isUpToDate: Bool { !hasJobs && unflushed.isEmpty && unflushedDatagrams.isEmpty }

    /// Runs user code. What it asks for while it runs is carried out in order with all else; callbacks come later.
    func runUserCode<R>(_ userCode: () -> R) -> R {
        let (isDelivering, former) = (outbox.isDelivering, mailbox.beginHosting())
        outbox.isDelivering = true
        let result = userCode()
        mailbox.endHosting(former)
        outbox.isDelivering = isDelivering
        return result
    }

    // MARK: Lending

    /// Runs user code as `host` does, where none runs: an item costs little more than this.
    @inline(__always)
    func runBorrower(_ userCode: () -> Void) {
        outbox.isDelivering = true
        mailbox.setRunsUserCode(true)
        userCode()
        mailbox.setRunsUserCode(false)
        outbox.isDelivering = false
    }

    /// Whether user code may run now, in the midst of a turn: only while readiness is dealt with, since whoever enters
    /// from there then finds the mailbox in its order; and never within other user code.
    var mayLend: Bool { isDispatching && !outbox.isDelivering && outbox.count < account.callbacksLeft }

    /// Runs `body`, which shows bytes of the scratch buffers to user code, behind the callbacks that were decided before
    /// it. Should user code enter the engine, what is received or decrypted meanwhile goes to other buffers.
    func lend(from connection: Connection, _ body: () -> Void) {
        let (lent, spare) = (buffers, spareBuffers ?? ScratchBuffers())
        (buffers, spareBuffers) = (spare, nil)
        lender = connection
        deliverOutbox()
        body()
        lender = nil
        (buffers, spareBuffers) = (lent, spare)
    }

    /// Sets the timer to the earliest deadline, if that has moved closer than what it is set to.
    func armTimer() {
        // That the timer came counts, and not only what the clock says: one that lags would lose it.
        if reactor.takeTimerMark() { armedDeadline = nil }
        if let armed = armedDeadline, armed <= now { armedDeadline = nil }
        guard let earliest = earliestDeadline, armedDeadline.map({ earliest < $0 }) ?? true else { return }
        armedDeadline = earliest
        reactor.wake(at: earliest)
    }
}
