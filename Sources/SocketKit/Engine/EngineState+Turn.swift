import SocketCore

extension EngineState {
    /// Rounds of callbacks and what they asked for before the reactor is looked at again, so that a delegate which
    /// always has more to write cannot keep the engine from reading.
    private static let roundLimit = 64
    /// Where rounds are of few callbacks, as many of them as it takes for these: a change of threads for each 64 lines of
    /// one socket would cost more than the lines.
    private static let callbackLimit = 1_024

    /// One turn: mailbox, readiness, what that posted, due deadlines, coalesced writes, then user code, last. `due`: when it was wanted.
    func turn(_ batch: [Readiness], due: MonotonicTime) {
        mailbox.wake()
        beginTurn()
        let began = now
        endWatch()
        counters.readinessEvents += UInt64(batch.count)
        // What was posted before the kernel reported these comes before them.
        if !batch.isEmpty { settle() }
        isDispatching = true
        for readiness in batch { dispatch(readiness) }
        isDispatching = false
        settle()
        expireDeadlines()
        flushWrites()
        runCallbacks()
        beginWatch()
        armTimer()
        meter.turned(due: due, began: began, ended: clock.now)
    }

    /// Runs callbacks, and what they and other threads asked for meanwhile, until nothing is left or it is the
    /// reactor's turn again.
    private func runCallbacks() {
        var (rounds, callbacks) = (0, 0)
        while rounds < Self.roundLimit || callbacks < Self.callbackLimit {
            rounds += 1
            callbacks += max(1, deliverOutbox(following: Self.callbackLimit - callbacks))
            settle()
            guard outbox.isEmpty else { continue }
            letGo()
            if mailbox.sleep() { return }
        }
        requestTurn()
    }

    /// Reads the clock and counts.
    func beginTurn() {
        now = clock.now
        counters.turns += 1
    }

    /// Carries out what was posted and tries every write that came of it: after this, state is up to date.
    func settle() {
        let letters = mailbox.take()
        if !letters.isEmpty { meter.found(letters.count, now: now) }
        for letter in letters { perform(letter) }
        flushWrites()
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

    /// All callbacks are made, so handles that nobody else holds go.
    func letGo() {
        // What a user keeps in a handle may ask for something as it goes: those that are held for that have callbacks to
        // come.
        let count = holding.count
        for index in 0..<count { holding[index].letGo() }
        holding.removeFirst(count)
    }

    func flushWrites() {
        while !unflushed.isEmpty {
            swap(&unflushed, &flushing)
            for index in flushing.indices { flushing[index].flush() }
            flushing.removeAll(keepingCapacity: true)
        }
        while !unflushedDatagrams.isEmpty {
            let sessions = unflushedDatagrams
            unflushedDatagrams.removeAll(keepingCapacity: true)
            for session in sessions { session.flush() }
        }
    }

    private func expireDeadlines() {
        while let id = deadlines.popDue(now) {
            connections[id]?.deadlineCame()
            acceptors[id]?.deadlineCame()
            datagrams[id]?.deadlineCame()
        }
    }

    /// Makes the callbacks that wait, and so many at most that come of them, as long as nobody asks for anything else;
    /// how many that were.
    @discardableResult
    func deliverOutbox(following most: Int = 0) -> Int {
        // A callback that runs in here may enter the engine again and add to the outbox; it never delivers.
        guard !outbox.isDelivering, !outbox.isEmpty else { return 0 }
        let waiting = outbox.count
        var made = 0
        host {
            while made < waiting || made < most && isUpToDate, let callback = outbox.popFirst() {
                callback.run(in: self)
                made += 1
            }
        }
        return made
    }

    /// Whether nothing waits to be carried out or written.
    private var isUpToDate: Bool { mailbox.isEmpty && unflushed.isEmpty && unflushedDatagrams.isEmpty }

    /// Runs user code.
    func host(_ userCode: () -> Void) {
        outbox.isDelivering = true
        mailbox.hosts(true)
        userCode()
        mailbox.hosts(false)
        outbox.isDelivering = false
    }

    // MARK: Lending

    /// Whether user code may run now, in the midst of a turn: only while readiness is dealt with, since whoever enters
    /// from there then finds the mailbox in its order; and never within other user code.
    var mayLend: Bool { isDispatching && !outbox.isDelivering }

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
        if let armed = armedDeadline, armed <= now { armedDeadline = nil }
        guard let earliest = earliestDeadline, armedDeadline.map({ earliest < $0 }) ?? true else { return }
        armedDeadline = earliest
        reactor.wake(at: earliest)
    }

    // MARK: Letters

    private func perform(_ letter: Letter) {
        switch letter {
        case .command(let command): perform(command)
        case .ask(let handle, let command, let operation): perform(command, of: handle, as: operation)
        case .publish(let request, let answer): answer(publish(request))
        case .stopPublishing: stopPublishing()
        case .leg(let id, let command): perform(command, onLeg: id)
        case .holdAccepts(let id, let hold): acceptors[id]?.holdBack(hold)
        case .caughtUp(let id):
            connections[id]?.delegateCaughtUp()
            acceptors[id]?.delegateCaughtUp()
            datagrams[id]?.delegateCaughtUp()
        case .webSocket(let handle, let id, let command, let operation):
            perform(command, of: handle, id, as: operation)
        case .acknowledgeEnd(let id): acknowledgeEnd(of: id)
        case .deliverInbox(let handle): outbox.append(.webSocketInbox(handle))
        case .datagram(let letter): perform(letter)
        case .begin(let id, let addresses): connections[id]?.begin(with: addresses)
        case .resolved(let id, let result): connections[id]?.nameResolved(result)
        case .take(let moved, let handle): take(moved, for: handle)
        case .released(let id):
            connections[id]?.wasReleased()
            acceptors[id]?.close(error: nil, mode: .now, isReleased: true)
            datagrams[id]?.wasReleased()
        case .snapshot(let request, let answer):
            let snapshot = snapshot(request)
            outbox.append(.other { answer(snapshot) })
        }
    }

    /// Queues a read for user code that runs within a turn; false where others posted something before it, or where this
    /// is no plain stream: then it goes the way of all commands.
    func queueAtOnce(_ request: ReadRequest, of session: SocketID, as operation: OperationID) -> Bool {
        guard mailbox.isEmpty, let connection = connections[session], connection.webSocket == nil else { return false }
        lender?.keepUnlent()
        counters.commands += 1
        connection.queue(request, as: operation)
        return true
    }

    /// Queues a write, likewise.
    func queueAtOnce(_ request: WriteRequest, of session: SocketID, as operation: OperationID) -> Bool {
        guard mailbox.isEmpty, let connection = connections[session], connection.webSocket == nil else { return false }
        if let lender, !lender.machine.drain.isEmpty { lender.keepUnlent() }
        counters.commands += 1
        connection.queue(request, as: operation)
        return true
    }

    /// Carries out a command of user code that runs within a turn; false where others were posted before it.
    func performAtOnce(_ command: SocketCommand, of handle: AsyncSocket, as operation: OperationID) -> Bool {
        guard mailbox.isEmpty else { return false }
        if let lender {
            switch command {
            case .write where lender.machine.drain.isEmpty: break
            default: lender.keepUnlent()
            }
        }
        perform(command, of: handle, as: operation)
        return true
    }

    private func perform(_ command: SocketCommand, of handle: AsyncSocket, as operation: OperationID) {
        if let connection = connections[command.socket] {
            perform(command, on: connection, as: operation)
        } else {
            handle.missed(command, as: operation, in: self)
        }
    }

    /// Carries out one command; `operation` names what it queues, where its caller chose the name. For a session that is
    /// over it does nothing: its handle knows that already.
    func perform(_ command: SocketCommand, as operation: OperationID? = nil) {
        if let connection = connections[command.socket] {
            return perform(command, on: connection, as: operation)
        }
        counters.commands += 1
        if let acceptor = acceptors[command.socket] { return acceptor.perform(command) }
        datagrams[command.socket]?.perform(command, as: operation ?? names.nextOperation())
    }

    private func perform(_ command: SocketCommand, on connection: Connection, as operation: OperationID?) {
        counters.commands += 1
        switch command {
        case .send: return
        case .webSocket(_, let command):
            connection.webSocket?.perform(command, as: operation ?? names.nextOperation(), on: connection)
            connection.finishStep()
        case .read where connection.webSocket != nil, .write where connection.webSocket != nil:
            connection.refuseByWebSocket(command, as: operation ?? names.nextOperation())
        case .read(_, let request): connection.queue(request, as: operation ?? names.nextOperation())
        case .write(_, let request): connection.queue(request, as: operation ?? names.nextOperation())
        case .close(_, let mode): connection.askToClose(mode)
        case .halfClose: connection.halfClose()
        case .pauseReading(_, let pause): connection.pauseReading(pause)
        case .answerTimeout(_, let operation, let verdict): connection.answer(verdict, to: operation)
        case .cancel(_, let target): connection.cancel(target)
        case .answerTrust(_, let question, .nobody): connection.nobodyJudges(question)
        case .answerTrust(_, let question, let verdict): connection.answer(verdict, toTrust: question)
        case .setTimeout(_, let operation, let timeout): connection.setTimeout(timeout, of: operation)
        case .setWatermarks(_, let marks): connection.setWatermarks(marks)
        case .answerConnection: return
        }
    }
}
