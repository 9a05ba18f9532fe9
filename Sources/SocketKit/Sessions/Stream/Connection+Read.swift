import Glibc
import SocketCore

/// Interprets the read queue.
extension Connection {
    /// Receives at a time before other sockets get their share of the turn. Where frames are looked at it is one: a
    /// megabyte can hold hundreds of thousands of them.
    var receiveBudget: Int { seesFrames ? 1 : 16 }

    /// Queues a read, and tries it at once where bytes are known to wait.
    func queue(_ request: ReadRequest, as operation: OperationID) {
        record(.readQueued, tag: request.tag, Int(operation.number))
        // Bytes that are here change nothing else; in these states, a read does.
        if layers.isWirePlain, !interest.isReadingOff, !interest.isHungUp,
            let bytes = machine.completeAtOnce(request, from: &engine.shorts)
        {
            completed(request, as: operation, with: bytes)
            return machine.mayAct ? finishStep() : noteChange()
        }
        if !machine.queue(request, as: operation, now: engine.now),
            let failed = machine.add(request, as: operation, now: engine.now)
        {
            fail(failed)
        }
        if machine.hasReportedEndOfStream { failAwaitedReads() }
        if machine.reading.hasBytes || interest.isReadingOff || interest.isHungUp || !layers.isWirePlain {
            readingChanged()
        }
        // A read that another thread queues comes late: by then the reactor knows how much there is. And one receive for short
        // reads completes more of them than a turn has callbacks.
        if hasUnreceived, engine.outbox.isDelivering, machine.reading.wantedDirectly > 0 {
            hasUnreceived = false
            engine.unreceived.append(self)
        }
        finishQueueing()
    }

    /// Takes what the kernel has, and notes whether it may have more for the reads that the callbacks queue.
    func receive() { hasUnreceived = receiveAvailable() }

    /// Receives again after those callbacks, without another report of the reactor.
    func receiveRest() {
        guard machine.isOpen, !interest.isReadingOff, wanted > 0 else { return }
        receive()
        finishStep()
    }

    /// A read completed that never was in hand.
    private func completed(_ request: ReadRequest, as operation: OperationID, with bytes: [UInt8]) {
        record(.readDone, tag: request.tag, bytes.count)
        if isTapped {
            keep(
                ReadDelivery(
                    operation: operation, tag: request.tag, kind: request.kind, bytes: bytes, started: engine.now,
                    isStanding: false))
        }
        notify(.read(operation, tag: request.tag, bytes: bytes, lends: false))
    }

    /// Behind the peer's end of stream a read can only time out. A delegate may want that; whoever awaits it does not.
    func failAwaitedReads() {
        guard let handle = keptHandle else { return }
        for operation in handle.awaitedReads {
            let failed = machine.reading.cancel(
                operation, error: ConnectionMachine.endOfStream, givesBack: false, now: engine.now)
            if let failed { fail(failed) }
        }
    }

    /// Something other than bytes changed what the read queue can do.
    func readingChanged() {
        guard machine.isOpen else { return }
        performReads()
        if isWireEncrypted { decryptMore() }
        guard interest.isReadingOff || interest.isHungUp else { return }
        if isWireEncrypted ? wantsRecords : wanted > 0 {
            if interest.isReadingOff {
                interest.resumeReading()
                record(.readInterestOn)
            }
            receiveAvailable()
        } else if interest.knowsPeerClosed || interest.isHungUp, !machine.hasEndOfStream {
            // The end came while nothing was to be taken (paused, or asking), and is not reported again.
            if interest.isHungUp, hangUpEnds() { return }
            handleUnwantedInput()
        }
    }

    /// The most bytes to take from the kernel now.
    private var wanted: Int { isHeld || waitsForDelivery ? 0 : machine.reading.wanted }

    /// Whether bytes from the kernel have no use now.
    var takesNothing: Bool { !waitsForDelivery && (isWireEncrypted ? !wantsRecords : wanted == 0) }

    var isHeld: Bool { isHeldBack || isHeldByLink }

    /// What this connection is linked to takes no more for now, or takes it again.
    func holdBack(_ hold: Bool) {
        guard isHeldByLink != hold else { return }
        isHeldByLink = hold
        readingChanged()
        finishStep()
    }

    /// The delegate's queue has caught up.
    func handleDelegateCaughtUp() {
        // It may have fallen behind again since.
        guard isHeldBack, keptHandle?.backPressure.isHolding != true, webSocket?.mayReceive(on: self) != false else {
            return
        }
        isHeldBack = false
        readingChanged()
        finishStep()
    }

    /// Takes what the kernel has, as far as reads want it; true where something else comes first and there may be more.
    @discardableResult
    func receiveAvailable() -> Bool {
        guard !machine.isLingering else {
            discardAvailable()
            return false
        }
        guard machine.isOpen, !machine.hasEndOfStream, !isEndTaken else { return false }
        guard !isWireEncrypted else { return receiveRecords() }
        // A hung-up descriptor leaves the reactor's set, so nobody would come back for the rest.
        for pass in 0..<(interest.isHungUp ? Int.max : receiveBudget) {
            let wanted = wanted
            guard wanted > 0 else {
                // Behind a receive that filled a read, callbacks come first: mostly they queue another one, and what is
                // left is reported again.
                if pass == 0 || interest.isHungUp { handleUnwantedInput() }
                return pass > 0 || waitsForDelivery
            }
            guard receiveOnce(atMost: wanted) else { return false }
            if engine.mustLeaveOff {
                leaveOff()
                return true
            }
        }
        return true
    }

    /// Others come first. What is left is reported again, save where the reactor no longer watches.
    func leaveOff() {
        if interest.isHungUp { engine.lookAgain(Readiness(token, readable: true, hungUp: true)) }
    }

    /// One receive; false when there is nothing more to take now.
    private func receiveOnce(atMost wanted: Int) -> Bool {
        guard let descriptor = socket?.descriptor else { return false }
        let direct = layers.isTakenByHandle && intake == nil ? machine.reading.wantedDirectly : 0
        guard direct == 0 else { return receiveDirectly(descriptor, direct) }
        if let tapes = engine.tapes { return receiveTaped(descriptor, tapes, atMost: wanted) }
        let room = UnsafeMutableRawBufferPointer(rebasing: engine.scratch[..<min(wanted, engine.scratch.count)])
        let result = engine.kernel.receive(descriptor, into: room, peek: false)
        return took(result, of: room.count) { accept(UnsafeRawBufferPointer(rebasing: room[..<$0])) }
    }

    /// The same where somebody records, and keeps the memory of a long read.
    private func receiveTaped(_ descriptor: Int32, _ tapes: EngineTapes, atMost wanted: Int) -> Bool {
        let kernel = engine.kernel
        let (result, room) = tapes.receive(atMost: wanted) { kernel.receive(descriptor, into: $0, peek: false) }
        defer { tapes.endReceiving() }
        return took(result, of: room) { tapeReceived($0, tapes) { accept($0) } }
    }

    /// Receives into the array that the read in hand will give away: bytes of a long read are not copied.
    private func receiveDirectly(_ descriptor: Int32, _ room: Int) -> Bool {
        var result = IOResult.wouldBlock
        var spare = machine.reading.isUntouched ? SpareReads.shared.take(room) : []
        defer { if !spare.isEmpty { SpareReads.shared.keep(spare) } }
        machine.reading.receiveDirectly(reusing: &spare, now: engine.now) {
            result = engine.kernel.receive(descriptor, into: $0, peek: false)
            guard case .bytes(let count) = result else { return 0 }
            tape(UnsafeRawBufferPointer(rebasing: $0[..<count]), isSent: false)
            return count
        }
        return took(result, of: room) { _ in performReads() }
    }

    /// What a receive came to; false when there is nothing more to take now.
    private func took(_ result: IOResult, of room: Int, _ use: (Int) -> Void) -> Bool {
        switch result {
        case .bytes(0):
            endOfStream()
            return false
        case .bytes(let count):
            received += UInt64(count)
            lastActivity = engine.now
            engine.counters.received += UInt64(count)
            use(count)
            // A short read emptied the socket, save where FIN or an error lies behind the bytes.
            return machine.isOpen && (count == room || interest.knowsPeerClosed || interest.isHungUp)
        case .wouldBlock:
            return false
        case .failed(let errno):
            close(error: .system(errno, operation: "read", subject: errorSubject))
            return false
        }
    }

    /// Adds bytes behind those that are here, and gives reads what they complete.
    func gather(_ bytes: UnsafeRawBufferPointer) {
        if !bytes.isEmpty { machine.reading.receive(bytes, now: engine.now, from: &engine.shorts) }
        performReads()
    }

    /// Shows bytes where they are, item by item, and says which are left: they have to be gathered, since no read lends
    /// them, or user code cannot run here and now.
    func lend(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        if let webSocket { return lend(bytes, to: webSocket) }
        // The handle is kept because user code may release it meanwhile.
        guard machine.reading.lendsBytes, engine.mayLend, let handle = keptHandle, handle.deliversInline else {
            return bytes
        }
        unlent = bytes
        // The end of an item that came in pieces, so that those behind it need not be gathered too.
        if let missing = machine.reading.bytesCompletingItem(in: bytes) {
            unlent = UnsafeRawBufferPointer(rebasing: bytes[missing...])
            gather(UnsafeRawBufferPointer(rebasing: bytes[..<missing]))
        }
        engine.lend(from: self) {
            handle.withDelegate(in: engine) { delegate, isSame in
                while isSame() {
                    guard lendOne(to: delegate, of: handle) else { return false }
                }
                return true
            }
        }
        defer { unlent = UnsafeRawBufferPointer(start: nil, count: 0) }
        return unlent
    }

    /// Shows the next item; false when there is none.
    private func lendOne(to delegate: (any AsyncSocketDelegate)?, of handle: AsyncSocket) -> Bool {
        guard !unlent.isEmpty, let loan = machine.reading.lend(unlent, now: engine.now) else { return false }
        let item = UnsafeRawBufferPointer(rebasing: unlent[..<loan.count])
        unlent = UnsafeRawBufferPointer(rebasing: unlent[loan.count...])
        record(.readDone, tag: loan.tag, loan.count)
        if keepsTraffic { log(loan, item) }
        engine.runBorrower { delegate?.socket(handle, didBorrow: item.bytes, tag: loan.tag) }
        engine.account.lentOne()
        if !engine.outbox.isEmpty { engine.deliverOutbox() }
        return true
    }

    /// User code that is shown one item does more than write: what lies behind that item takes its place in the read
    /// queue first, so that nothing overtakes or misses it.
    func keepUnlent() {
        guard !unlent.isEmpty else { return }
        machine.reading.receive(unlent, now: engine.now, from: &engine.shorts)
        unlent = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    private func endOfStream() {
        guard !isWireEncrypted else { return wireEnded() }
        recordPeerClosed(0)
        tapeEnd(isLocal: false)
        interest.notePeerClosed(engine.now)
        acceptEnd()
    }

    /// Bytes, FIN or an error wait and no read is in hand. FIN without bytes before it is noticed all the same; for
    /// the rest, interest goes off, so that the kernel's buffer fills and the peer feels it.
    func handleUnwantedInput() {
        // Reading continues as soon as the pending callbacks are made.
        guard !waitsForDelivery, !isEndTaken, let descriptor = socket?.descriptor else { return }
        if !machine.reading.isPausedByHand, !machine.reading.isAsking, !isHeld, !layers.hasWireEnded {
            let first = UnsafeMutableRawBufferPointer(rebasing: engine.scratch[..<1])
            switch engine.kernel.receive(descriptor, into: first, peek: true) {
            case .bytes(0): return endOfStream()
            case .bytes: break
            case .wouldBlock: return
            case .failed(let errno):
                return close(error: .system(errno, operation: "read", subject: errorSubject))
            }
        }
        guard !interest.isReadingOff else { return }
        interest.stopReading(engine.now)
        record(.readInterestOff)
        tellPeerClosed()
    }

    /// The peer sent FIN. Unread bytes may lie before it, so it ends nothing yet; but a person can be told.
    func markPeerClosed() {
        interest.notePeerClosed(engine.now)
        tellPeerClosed()
    }

    /// Tells of it once, as soon as bytes before it wait for a read; they may have come in one report with it.
    private func tellPeerClosed() {
        guard interest.isReadingOff, interest.knowsPeerClosed, !hasToldPeerClosed.user else { return }
        hasToldPeerClosed.user = true
        recordPeerClosed(interest.isHungUp ? 2 : 1)
        notify(.peerClosed)
    }

    /// Performs what the read queue asks for, until it asks for nothing, or the user has not kept up.
    func performReads() {
        while machine.isOpen, machine.reading.hasCurrent, !isHeldBack, !waitsForDelivery, performRead() {}
    }

    /// Carries out what the bytes that are here make of the current read. Returns false if that is nothing.
    @discardableResult
    func performRead() -> Bool {
        switch machine.reading.advance(now: engine.now, from: &engine.shorts) {
        case .none:
            return false
        case .deliver(let delivery):
            record(.readDone, tag: delivery.tag, delivery.bytes.count)
            if isTapped { keep(delivery) }
            notify(
                .read(delivery.operation, tag: delivery.tag, bytes: delivery.bytes, lends: delivery.lendsBytes))
            weigh(delivery.bytes.count)
        case .partial(let operation, let tag, let increment, let done):
            record(.readPartial, tag: tag, increment, done)
            if keepsTraffic { logPartialRead(operation) }
            notify(.readPartial(operation, tag: tag, increment: increment))
            weigh(0)
        case .exceeded(let failed):
            fail(failed)
            close(error: failed.error)
        }
        return true
    }

    /// Counts what a read gave. One receive may hold tens of thousands of items, and whoever is behind must not get them
    /// all at once.
    private func weigh(_ count: Int) {
        completedWeight += count + BackPressure.noticeWeight
        guard completedWeight > BackPressure.limit || faultMeter != nil, !waitsForDelivery else { return }
        waitsForDelivery = true
        engine.outbox.append(.delivered(self))
    }

    /// All that had completed is delivered, or waits for the delegate's queue.
    @inline(never)
    func wasDelivered() {
        (completedWeight, waitsForDelivery) = (0, false)
        guard !machine.isClosed else { return }
        readingChanged()
        finishStep()
    }

    /// Ends what was asked to end.
    func cancel(_ target: SocketCommand.CancelTarget) {
        while let failed = machine.cancelNext(target, now: engine.now) {
            fail(failed)
            // There was one of that name.
            if case .operation = target { break }
        }
        if case .operation(let operation) = target { releaseAwaiting(operation) }
        readingChanged()
        askForFlush()
        finishStep()
    }

    /// A task that awaits a write was cancelled when bytes of it had left: it goes on, since half of it would tear the
    /// stream, without a timeout, since nobody is left to judge that. The task is answered now.
    private func releaseAwaiting(_ operation: OperationID) {
        guard let write = machine.writing.handedOn(of: operation), keptHandle?.hasGivenUp(operation) == true else {
            return
        }
        machine.writing.goOn(operation, now: engine.now)
        notify(
            .givenUp(
                FailedOperation(
                    operation: operation, kind: .write, tag: write.tag, done: write.done, total: write.total, bytes: [],
                    error: SocketError(
                        .cancelled, operation: "write",
                        detail: "cancelled behind \(write.done) of \(write.total) bytes; the rest still goes out"))))
    }

    /// Takes no more bytes from the kernel, or takes them again.
    func pauseReading(_ pause: Bool) {
        guard machine.reading.isPausedByHand != pause, !machine.isClosed else { return }
        machine.reading.isPausedByHand = pause
        record(pause ? .readingPaused : .readingResumed)
        readingChanged()
        finishStep()
    }
}
