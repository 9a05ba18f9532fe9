import Glibc
import SocketCore

/// Interprets the write queue.
extension Connection {
    /// The most sends before other sockets get their share of the turn.
    private static let sendBudget = 16
    /// The most writes in one system call.
    static let gatherLimit = 16

    /// Queues a write. It is tried at the end of the turn, together with the turn's other writes.
    func queue(_ request: WriteRequest, as operation: OperationID) {
        if tap?.isInjecting == true {
            queueAroundInjected(request, as: operation)
        } else {
            enqueue(request, as: operation)
        }
        askForFlush()
        finishQueueing()
    }

    /// Queues a write and returns true, or fails it and returns false.
    @discardableResult
    func enqueue(_ request: WriteRequest, as operation: OperationID) -> Bool {
        record(.writeQueued, tag: request.tag, request.contents.count)
        if let owned = request.contents.owned { madeRare.owners[operation] = owned }
        guard !machine.queue(request, as: operation, now: engine.now) else { return true }
        guard let failed = machine.add(request, as: operation, now: engine.now) else { return true }
        fail(failed)
        return false
    }

    func askForFlush() {
        guard machine.isOpen, machine.writing.wantsToSend, !interest.isWriteBlocked, !isQueuedForFlush else { return }
        guard !isWireEncrypted || machine.upgrade.isSecure else { return }
        isQueuedForFlush = true
        engine.unflushed.append(self)
    }

    /// Called at the end of the turn.
    func flush() {
        isQueuedForFlush = false
        webSocket?.pump(on: self)
        sendPending()
        webSocket?.performEvents(on: self)
        finishStep()
    }

    /// Called when the reactor reports room, or can report nothing more.
    func handleWritable() {
        if interest.isWriteBlocked {
            interest.isWriteBlocked = false
            record(.writeUnblocked)
        }
        interest.isSendBudgetSpent = false
        sendPending()
        webSocket?.performEvents(on: self)
    }

    func sendPending() {
        guard !isWireEncrypted else { return sendRecords() }
        for _ in 0..<Self.sendBudget {
            guard machine.isOpen, machine.writing.wantsToSend, !interest.isWriteBlocked else { return }
            sendOnce()
            if engine.isSpent { break }
        }
        // The budget is used up. Write interest makes the reactor return here after all other sockets.
        if machine.isOpen, machine.writing.wantsToSend { interest.isSendBudgetSpent = true }
    }

    private func sendOnce() {
        guard let descriptor = socket?.descriptor else { return }
        var offered = 0
        var result = IOResult.wouldBlock
        machine.writing.withUnsent(buffers: gatherLimit) { buffers in
            for buffer in buffers { offered += buffer.count }
            result = engine.kernel.send(descriptor, buffers)
            if let tap, case .bytes(let count) = result {
                tap.sent(buffers, count, of: machine.writing, in: engine)
            }
        }
        switch result {
        case .bytes(let count):
            sent += UInt64(count)
            lastActivity = engine.now
            engine.counters.sent += UInt64(count)
            if engine.tapes != nil { tapeSent(count) }
            machine.writing.wrote(count, now: engine.now)
            performWrites()
            if count < offered { markWriteBlocked() }
        case .wouldBlock:
            markWriteBlocked()
        case .failed(let errno):
            close(error: .system(errno, operation: "write", subject: errorSubject))
        }
    }

    func markWriteBlocked() {
        guard machine.isOpen || machine.isLingering else { return }
        interest.isWriteBlocked = true
        record(.writeBlocked, machine.writing.pendingBytes)
    }

    /// Performs what the write queue requests, until it requests nothing more.
    func performWrites() {
        defer { tap?.show(on: self) }
        while machine.isOpen, machine.writing.hasCurrent {
            switch machine.writing.advance(now: engine.now) {
            case .none:
                return
            case .complete(let completion):
                record(.writeDone, tag: completion.tag, completion.contents.count)
                if isTapped { log(completion) }
                notify(.wrote(completion.operation, tag: completion.tag))
                giveBack(consume completion)
            case .partial(let operation, let tag, let increment, let done):
                record(.writePartial, tag: tag, increment, done)
                if keepsTraffic { logPartialWrite(operation) }
                notify(.wrotePartial(operation, tag: tag, increment: increment))
            }
        }
    }

    /// Keeps the memory of a completed write if it is ours. Another owner is released later.
    @inline(__always)
    private func giveBack(_ completion: consuming WriteCompletion) {
        if hasOwners { releaseOwner(of: completion.operation) }
        var bytes = (consume completion).contents.takeBytes()
        if !layers.isTakenByHandle { engine.spares.keep(&bytes) }
        engine.shorts.keep(bytes)
    }

    /// Retires the owner of a write's bytes, which may only be destroyed where user code may run.
    func releaseOwner(of operation: OperationID) {
        if let owner = rare?.owners.removeValue(forKey: operation) { engine.retire(owner) }
    }

    func setWatermarks(_ marks: Watermarks?) {
        watermarks = marks
        if marks == nil, isAboveHighMark {
            // Without watermarks there is always room.
            isAboveHighMark = false
            record(.belowLowMark, machine.pendingWriteBytes)
            notify(.writable(true, of: id))
        }
        finishStep()
    }

    /// The bytes that a queued piece counts for, in addition to its own.
    private static let pieceCost = 256

    /// Reports when the queue crosses a watermark, but not before the connection is established.
    func updateWatermark() {
        guard let marks = watermarks, !machine.isConnecting else { return }
        let pending = machine.pendingWriteBytes
        // If each piece is a write of its own, its overhead counts, too.
        let apart = rare?.onPurpose.gatherLimit == 1 ? machine.writing.waitingCount * Self.pieceCost : 0
        if !isAboveHighMark, pending + apart > marks.high {
            isAboveHighMark = true
            record(.aboveHighMark, pending)
            notify(.writable(false, of: id))
        } else if isAboveHighMark, pending + apart <= marks.low {
            isAboveHighMark = false
            record(.belowLowMark, pending)
            notify(.writable(true, of: id))
        }
    }

    // MARK: Half-close

    /// Sends FIN after the queued writes.
    func halfClose() {
        guard machine.isOpen || machine.isConnecting, machine.shutWriteWhenDrained() else { return }
        finishStep()
    }

    func sendFIN() {
        // close_notify comes before FIN, and the kernel may not accept it yet.
        guard sendCloseNotify() else { return }
        guard let descriptor = socket?.descriptor else { return }
        let failure = engine.kernel.shutdownWrite(descriptor)
        tapeEnd(isLocal: true)
        tap?.ended(by: machine.hasEndOfStream ? .peer : .local)
        record(.halfClosed, machine.isLingering ? 1 : 0)
        // ENOTCONN: the peer reset the connection, which the next receive reports.
        if failure != 0, failure != ENOTCONN {
            close(error: .system(failure, operation: "shutdown", subject: errorSubject))
        }
    }

    // MARK: Keeping traffic

    private func log(_ completion: WriteCompletion) {
        let count = tap?.plainBytes(of: completion.operation, completion.contents.count) ?? completion.contents.count
        guard count > 0, keepsTraffic, layers.keepsBytes(of: completion.operation) else { return }
        traffic?.record(
            completion.operation, direction: .sent, tag: completion.tag, kind: .write, done: count, total: count,
            state: .complete(after: engine.now - completion.started), now: engine.now
        ) { completion.contents.part($0.clamped(to: 0..<count)) }
    }

    private func logPartialWrite(_ operation: OperationID) {
        guard keepsTraffic, layers.keepsBytes(of: operation), !seesFrames,
            let current = machine.writing.currentOperation, current.operation == operation
        else { return }
        traffic?.record(
            operation, direction: .sent, tag: current.tag, kind: .write, done: current.done, total: current.total,
            state: .inProgress, now: engine.now
        ) { machine.writing.currentBytes($0) }
    }
}
