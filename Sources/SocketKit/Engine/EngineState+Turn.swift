import SocketCore

extension EngineState {
    /// One turn: mailbox, readiness, what that posted, due deadlines, coalesced writes, then user code, last. What its
    /// budget does not allow is left, in order, for the next turn. `due`: when it was wanted.
    func turn(_ batch: [Readiness], due: MonotonicTime) {
        mailbox.wake()
        beginTurn()
        let began = now
        beginBudget()
        endWatch()
        // What was posted before the kernel reported these comes before them.
        if !batch.isEmpty { settle() }
        dispatch(batch)
        settle()
        expireDeadlines()
        flushWrites()
        runCallbacks()
        beginWatch()
        armTimer()
        endBudget()
        meter.turned(due: due, began: began, ended: clock.now)
    }

    /// Runs callbacks, and what they and other threads asked for meanwhile, until nothing is left or the budget is spent.
    private func runCallbacks() {
        while true {
            let made = deliverOutbox(andFollowing: true)
            let jobs = settle()
            guard outbox.isEmpty else {
                if left.callbacks > 0 { continue }
                break
            }
            letGo()
            // What goes may have closed sockets that must be told.
            if outbox.isEmpty, isUpToDate, mailbox.sleep() {
                // The reactor repeats most of these, but not those of descriptors that it does not watch any more.
                if unseen.isEmpty { return }
                break
            }
            if made == 0, jobs == 0, outbox.isEmpty, left.jobs <= 0 || isSpent { break }
            if !outbox.isEmpty, left.callbacks <= 0 { break }
        }
        requestTurn()
    }

    /// Reads the clock and counts.
    func beginTurn() {
        now = clock.now
        counters.turns += 1
    }

    // MARK: Budget

    private func beginBudget() {
        isTurning = true
        left = budget
        tally = TurnTally()
        // Half of the bytes are for what is ready, or a thread that always writes would keep everybody from reading.
        bytesAtStart = bytesMoved
        byteLimit = bytesAtStart &+ UInt64(budget.bytes / 2)
        callbackLimit = .max
    }

    private func endBudget() {
        tally.bytes = Int(clamping: bytesMoved &- bytesAtStart)
        left = budget
        isTurning = false
        byteLimit = .max
        callbackLimit = .max
    }

    /// Leaves the bytes that moved while user code waited out of the turn's budget. `start` is `bytesAtStart` from before:
    /// a call within this one has left its own bytes out already.
    func leaveOut(bytesSince before: UInt64, atStart start: UInt64) {
        let moved = (bytesMoved &- before) &- (bytesAtStart &- start)
        guard isTurning, moved > 0 else { return }
        bytesAtStart &+= moved
        if byteLimit != .max { byteLimit &+= moved }
    }

    var bytesMoved: UInt64 { counters.received &+ counters.sent }

    /// Whether no call that moves bytes may begin any more in this turn.
    var isSpent: Bool { counters.received &+ counters.sent >= byteLimit }

    /// Whether so much was made of what is ready that the rest is left for the next turn.
    var mustLeaveOff: Bool { outbox.count >= callbackLimit || left.callbacks <= 0 || isSpent }

    // MARK: Readiness

    /// Deals with what is ready, save when callbacks are still left that earlier reports have led to. What the budget
    /// leaves over comes first the next time. New reports are dropped meanwhile, since the kernel repeats them.
    private func dispatch(_ batch: [Readiness]) {
        overdueCallbacks = min(overdueCallbacks, outbox.count)
        if overdueCallbacks > 0 { deliverOutbox() }
        guard overdueCallbacks == 0 else { return }
        byteLimit = bytesAtStart &+ UInt64(budget.bytes)
        callbackLimit = outbox.count + budget.callbacks
        let ready = unseen.isEmpty ? batch : unseen
        unseen = []
        counters.readinessEvents += UInt64(ready.count)
        var next = 0
        isDispatching = true
        while next < ready.count, next == 0 || !mustLeaveOff {
            dispatch(ready[next])
            next += 1
        }
        isDispatching = false
        callbackLimit = .max
        overdueCallbacks = outbox.count
        guard next < ready.count else { return }
        counters.readinessEvents -= UInt64(ready.count - next)
        unseen = Array(ready[next...]) + unseen
    }

    private func dispatch(_ readiness: Readiness) {
        // A session that closed earlier in this batch is simply not found.
        if let connection = connections[readiness.token.socket] {
            connection.isReady(readiness)
        } else if let acceptor = acceptors[readiness.token.socket] {
            acceptor.isReady()
        } else if let session = datagrams[readiness.token.socket] {
            session.isReady(readiness)
        }
    }

    /// Looks at a descriptor again in the next turn, though the reactor will not report it.
    func lookAgain(_ readiness: Readiness) {
        unseen.append(readiness)
        requestTurn()
    }

    // MARK: The end of a turn

    /// All callbacks are made, so handles that nobody else holds go.
    func letGo() {
        guard !holding.isEmpty || !retired.isEmpty else { return }
        // What a user keeps in a handle may act on other sockets as it dies. By then no connection may count on a
        // handle that this is about to release, so all of them give theirs up first.
        swap(&holding, &leaving)
        swap(&retired, &ended)
        for index in leaving.indices { leaving[index].giveUpHandle() }
        host {
            for index in leaving.indices { leaving[index].releaseHandle() }
            leaving.removeAll(keepingCapacity: true)
            ended.removeAll(keepingCapacity: true)
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
        let limit = byteLimit
        byteLimit = .max
        flushWrites()
        byteLimit = limit
    }

    private func expireDeadlines() {
        // One that is due again at once has to wait for the next turn, or nothing else would ever happen. What is left
        // over is due still, so the timer is set for at once.
        var most = min(deadlines.count, budget.jobs)
        while most > 0, let id = deadlines.popDue(now) {
            most -= 1
            connections[id]?.deadlineCame()
            acceptors[id]?.deadlineCame()
            datagrams[id]?.deadlineCame()
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
        host {
            while made < left.callbacks, made < waiting || goesOn && isUpToDate, let callback = outbox.popFirst() {
                callback.run(in: self)
                made += 1
            }
        }
        left.callbacks -= made
        tally.callbacks += made
        overdueCallbacks = max(0, overdueCallbacks - made)
        return made
    }

    /// Whether nothing waits to be carried out, written or told.
    var isAtRest: Bool { isUpToDate && outbox.isEmpty && unseen.isEmpty && retired.isEmpty }

    /// Whether nothing waits to be carried out or written.
    private var isUpToDate: Bool { !hasJobs && unflushed.isEmpty && unflushedDatagrams.isEmpty }

    /// Runs user code. What it asks for while it runs is carried out in order with all else; callbacks come later.
    func host<R>(_ userCode: () -> R) -> R {
        let (isDelivering, former) = (outbox.isDelivering, mailbox.beginHosting())
        outbox.isDelivering = true
        let result = userCode()
        mailbox.endHosting(former)
        outbox.isDelivering = isDelivering
        return result
    }

    // MARK: Lending

    /// Whether user code may run now, in the midst of a turn: only while readiness is dealt with, since whoever enters
    /// from there then finds the mailbox in its order; and never within other user code.
    var mayLend: Bool { isDispatching && !outbox.isDelivering && outbox.count < left.callbacks }

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
