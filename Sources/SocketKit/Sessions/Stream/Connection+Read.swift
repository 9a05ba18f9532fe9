import Glibc
import SocketCore

/// Interprets the read queue.
extension Connection {
    /// The most receives before other sockets get their share of the turn. It is 1 where WebSocket frames are tapped,
    /// because a megabyte can hold hundreds of thousands of them.
    var receiveBudget: Int { seesFrames ? 1 : 16 }

    /// Queues a read, and tries it at once if bytes are known to be waiting.
    func queue(_ request: ReadRequest, as operation: OperationID) {
        recallPieces()
        record(.readQueued, tag: request.tag, Int(operation.number))
        // Only where completing a read from the prebuffer changes nothing else.
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
        // Only for reads that callbacks queue: by the time another thread's read arrives, the reactor knows how much
        // there is. Not for short reads, because one receive completes more of them than a turn has callbacks.
        if hasUnreceived, engine.outbox.isDelivering, machine.reading.wantedDirectly > 0 {
            hasUnreceived = false
            engine.unreceived.append(self)
        }
        finishQueueing()
    }

    /// Receives what the kernel has, and notes whether there may be more for the reads that the callbacks queue.
    func receive() {
        hasUnreceived = receiveAvailable()
        if readsAhead { offerAhead() }
    }

    /// Receives again after the callbacks, without another report from the reactor.
    func receiveRest() {
        guard machine.isOpen, !interest.isReadingOff, wanted > 0 else { return }
        receive()
        finishStep()
    }

    /// Reports a read that never became the current read.
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

    /// Fails the awaited reads. After the peer's FIN a read can only time out, which a delegate may want but an
    /// awaiting task doesn't.
    func failAwaitedReads() {
        guard let handle = keptHandle else { return }
        for operation in handle.awaitedReads {
            let failed = machine.reading.cancel(
                operation, error: ConnectionMachine.endOfStream, givesBack: false, now: engine.now)
            if let failed { fail(failed) }
        }
    }

    /// Called when something other than bytes changed what the queue can do.
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
            // It was not reported while reading was off.
            if interest.takesUrgentInLine { noteUrgent() }
            receiveAvailable()
        } else if interest.knowsPeerClosed || interest.isHungUp, !machine.hasEndOfStream {
            // The stream ended while reads were paused or waiting for a verdict, and the end is not reported again.
            if interest.isHungUp, hangUpEnds() { return }
            handleUnwantedInput()
        }
    }

    /// The most bytes to receive from the kernel now.
    private var wanted: Int {
        guard !isHeld, !waitsForDelivery else { return 0 }
        let wanted = machine.reading.wanted
        return wanted == 0 && readsAhead ? wantedAhead : wanted
    }

    /// Whether bytes from the kernel are of no use now.
    var takesNothing: Bool { !waitsForDelivery && (isWireEncrypted ? !wantsRecords : wanted == 0) }

    var isHeld: Bool { isHeldBack || isHeldByLink }

    /// Holds reads back while the other leg can't keep up, or resumes them.
    func holdBack(_ hold: Bool) {
        guard isHeldByLink != hold else { return }
        isHeldByLink = hold
        readingChanged()
        finishStep()
    }

    func handleDelegateCaughtUp() {
        // It may have fallen behind again.
        guard isHeldBack, keptHandle?.backPressure.isHolding != true, webSocket?.mayReceive(on: self) != false else {
            return
        }
        isHeldBack = false
        readingChanged()
        finishStep()
    }

    /// Receives while reads want bytes. Returns true if something else comes first and there may be more.
    @discardableResult
    func receiveAvailable() -> Bool {
        guard !machine.isLingering else {
            discardAvailable()
            return false
        }
        guard machine.isOpen, !machine.hasEndOfStream, !isEndTaken else { return false }
        guard !isWireEncrypted else { return receiveRecords() }
        // A hung-up descriptor is not in the reactor's set, so nothing would report the rest.
        for pass in 0..<(interest.isHungUp ? Int.max : receiveBudget) {
            let wanted = wanted
            guard wanted > 0 else {
                // After a receive that completed a read, run its callback first: it usually queues the next read. epoll
                // reports the remaining bytes again.
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

    /// Leaves the rest to the reactor, or to the next turn for a hung-up descriptor, which isn't reported again.
    func leaveOff() {
        if interest.isHungUp { engine.lookAgain(Readiness(token, readable: true, hungUp: true)) }
    }

    /// Receives once. Returns false if there is nothing more to receive now.
    private func receiveOnce(atMost wanted: Int) -> Bool {
        guard let descriptor = socket?.descriptor else { return false }
        let direct = layers.isTakenByHandle && intake == nil ? machine.reading.wantedDirectly : 0
        guard direct == 0 else { return receiveDirectly(descriptor, direct) }
        if let tapes = engine.tapes { return receiveTaped(descriptor, tapes, atMost: wanted) }
        let room = UnsafeMutableRawBufferPointer(rebasing: engine.scratch[..<min(wanted, engine.scratch.count)])
        let result = engine.kernel.receive(descriptor, into: room, peek: false)
        return took(result, of: room.count) { accept(UnsafeRawBufferPointer(rebasing: room[..<$0])) }
    }

    /// Receives once while a recording is on, and keeps the memory of a long read for it.
    private func receiveTaped(_ descriptor: Int32, _ tapes: EngineTapes, atMost wanted: Int) -> Bool {
        let kernel = engine.kernel
        let (result, room) = tapes.receive(atMost: wanted) { kernel.receive(descriptor, into: $0, peek: false) }
        defer { tapes.endReceiving() }
        return took(result, of: room) { tapeReceived($0, tapes) { accept($0) } }
    }

    /// Receives into the array that the current read will deliver, so that the bytes of a long read aren't copied.
    private func receiveDirectly(_ descriptor: Int32, _ room: Int) -> Bool {
        var result = IOResult.wouldBlock
        var spare = machine.reading.isUntouched ? ReturnedArrays.shared.take(room) : []
        defer { if !spare.isEmpty { ReturnedArrays.shared.keep(spare) } }
        machine.reading.receiveDirectly(reusing: &spare, now: engine.now) {
            result = engine.kernel.receive(descriptor, into: $0, peek: false)
            guard case .bytes(let count) = result else { return 0 }
            tape(UnsafeRawBufferPointer(rebasing: $0[..<count]), isSent: false)
            return count
        }
        return took(result, of: room) { _ in performReads() }
    }

    /// Handles the result of a receive. Returns false if there is nothing more to receive now.
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
            // A short read emptied the socket, unless a FIN or an error follows the bytes.
            return machine.isOpen && (count == room || interest.knowsPeerClosed || interest.isHungUp)
        case .wouldBlock:
            return false
        case .failed(let errno):
            cutOff(by: errno)
            return false
        }
    }

    /// Appends bytes to the prebuffer and performs the reads they complete.
    func gather(_ bytes: UnsafeRawBufferPointer) {
        if !bytes.isEmpty { machine.reading.receive(bytes, now: engine.now, from: &engine.shorts) }
        performReads()
    }

    /// Lends bytes in place, item by item, and returns the rest. The rest must be gathered, because no read lends its
    /// bytes or user code can't run now.
    func lend(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        if let webSocket { return lend(bytes, to: webSocket) }
        // Keep the handle, because user code may release it meanwhile.
        guard machine.reading.lendsBytes, engine.mayLend, let handle = keptHandle, handle.deliversInline else {
            return bytes
        }
        unlent = bytes
        // Complete an item that arrived in pieces, so that those after it need not be gathered too.
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

    /// Lends the next item. Returns false if there is none.
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

    /// Moves the bytes after the item on loan to the read queue. Called before user code does anything but write, so
    /// that nothing overtakes or misses them.
    func keepUnlent() {
        guard !unlent.isEmpty else { return }
        machine.reading.receive(unlent, now: engine.now, from: &engine.shorts)
        unlent = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    private func endOfStream() {
        guard !isWireEncrypted else { return wireEnded() }
        // From now on each chunk takes a read, which shows when the last byte is taken.
        if readsAhead { recallPieces() }
        recordPeerClosed(0)
        tapeEnd(isLocal: false)
        interest.notePeerClosed(engine.now)
        acceptEnd()
    }

    /// Handles input that no read wants. A FIN with no bytes before it still ends the stream, and an error closes the
    /// connection. If there are bytes, read interest is turned off so that the kernel's buffer fills and the peer slows
    /// down.
    func handleUnwantedInput() {
        // Reading continues once the pending callbacks have run.
        guard !waitsForDelivery, !isEndTaken, let descriptor = socket?.descriptor else { return }
        if !machine.reading.isPausedByHand, !machine.reading.isAsking, !isHeld, !layers.hasWireEnded {
            let first = UnsafeMutableRawBufferPointer(rebasing: engine.scratch[..<1])
            switch engine.kernel.receive(descriptor, into: first, peek: true) {
            case .bytes(0): return endOfStream()
            case .bytes: break
            case .wouldBlock: return
            case .failed(let errno):
                return cutOff(by: errno)
            }
        }
        guard !interest.isReadingOff else { return }
        interest.stopReading(engine.now)
        record(.readInterestOff)
        tellPeerClosed()
    }

    /// Notes that the peer sent FIN. Unread bytes may precede it, so nothing ends yet, but the delegate can be
    /// notified.
    func markPeerClosed() {
        interest.notePeerClosed(engine.now)
        tellPeerClosed()
    }

    /// Reports the FIN once, as soon as bytes before it are waiting for a read. They may have arrived in the same
    /// report.
    private func tellPeerClosed() {
        guard interest.isReadingOff, interest.knowsPeerClosed, !hasToldPeerClosed.user else { return }
        hasToldPeerClosed.user = true
        recordPeerClosed(interest.isHungUp ? 2 : 1)
        notify(.peerClosed)
    }

    /// Performs reads until the queue requests nothing more or reads are held back.
    func performReads() {
        while machine.isOpen, machine.reading.hasCurrent, !isHeldBack, !waitsForDelivery, performRead() {}
    }

    /// Performs what the buffered bytes make of the current read. Returns false if that is nothing.
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

    /// Adds the weight of a completed read. One receive may hold tens of thousands of items, too many for a delegate
    /// that can't keep up.
    private func weigh(_ count: Int) {
        completedWeight += count + BackPressure.noticeWeight
        guard completedWeight > BackPressure.limit || faultMeter != nil, !waitsForDelivery else { return }
        waitsForDelivery = true
        engine.outbox.append(.delivered(self))
    }

    /// Called once the completed reads are delivered or sent to the delegate's queue.
    @inline(never)
    func wasDelivered() {
        (completedWeight, waitsForDelivery) = (0, false)
        guard !machine.isClosed else { return }
        readingChanged()
        finishStep()
    }

    func cancel(_ target: SocketCommand.CancelTarget) {
        while let failed = machine.cancelNext(target, now: engine.now) {
            fail(failed)
            // Identifiers are unique.
            if case .operation = target { break }
        }
        if case .operation(let operation) = target { releaseAwaiting(operation) }
        readingChanged()
        askForFlush()
        finishStep()
    }

    /// Answers a task that was cancelled after some bytes of its awaited write had left. The write continues without a
    /// timeout: half of it would corrupt the stream, and no caller is left to give a verdict.
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
                        detail: "cancelled after \(write.done) of \(write.total) bytes; the rest is still sent"))))
    }

    func pauseReading(_ pause: Bool) {
        guard machine.reading.isPausedByHand != pause, !machine.isClosed else { return }
        machine.reading.isPausedByHand = pause
        record(pause ? .readingPaused : .readingResumed)
        readingChanged()
        finishStep()
    }
}
