import Glibc
import SocketCore

/// Interprets timeouts and the ways to close.
extension Connection {
    /// The peer to name in an error.
    var errorSubject: SocketError.Subject { peer.map { .address($0) } ?? .name(target) }

    /// The most unread bytes handed over at the end. The last receive may exceed it.
    private static let unreadLimit = 1 << 20

    // MARK: Timeouts

    /// Requests verdicts on the operations that timed out.
    func expireOperations() {
        performReads()
        // The read is complete and only held back for a delegate that can't keep up. It must not keep timing out.
        if machine.isOpen, machine.reading.isDueAndComplete(engine.now) { performRead() }
        guard machine.isOpen else { return }
        expireHandshake()
        guard machine.isOpen else { return }
        if let operation = machine.reading.expire(now: engine.now) {
            record(.readTimedOut, tag: operation.tag, operation.done, operation.elapsed.wholeMilliseconds)
            ask(operation)
        }
        if machine.isOpen, let operation = machine.writing.expire(now: engine.now) {
            record(.writeTimedOut, tag: operation.tag, operation.done, operation.elapsed.wholeMilliseconds)
            ask(operation)
        }
    }

    private func ask(_ operation: TimedOutOperation) {
        if keptHandle == nil { answer(.close, to: operation.operation) } else { notify(.timedOut(operation)) }
    }

    /// Carries out a verdict, unless the operation is no longer waiting for one.
    func answer(_ verdict: TimeoutVerdict, to operation: OperationID) {
        // While lingering, the session is already closing as requested.
        guard machine.isOpen else { return }
        switch verdict {
        case .later:
            return
        case .extend(let time) where time > .zero:
            let tag: Int?
            if machine.reading.answer(operation, extendBy: time, now: engine.now) {
                tag = machine.reading.currentTag
            } else if machine.writing.answer(operation, extendBy: time, now: engine.now) {
                tag = machine.writing.currentTag
            } else {
                return
            }
            record(.timeoutExtended, tag: tag ?? 0, time.wholeMilliseconds)
        case .failOperation:
            guard failAsking(operation, by: verdict) != nil else { return }
        case .extend, .close:
            guard let error = failAsking(operation, by: verdict) else { return }
            close(error: error)
        }
        readingChanged()
        askForFlush()
        finishStep()
    }

    func setTimeout(_ timeout: Duration?, of operation: OperationID) {
        guard !machine.isClosed, let tag = machine.setTimeout(timeout, of: operation) else { return }
        record(.timeoutChanged, tag: tag, timeout?.wholeMilliseconds ?? -1)
        finishStep()
    }

    private func failAsking(_ operation: OperationID, by verdict: TimeoutVerdict) -> SocketError? {
        let read = SocketError(.readTimeout, operation: "read", detail: "timed out")
        let write = SocketError(.writeTimeout, operation: "write", detail: "timed out")
        // An awaiting task has no other way to get the bytes that its read had.
        let isAwaited = keptHandle?.awaits(operation) ?? false
        let givesBack = isAwaited && verdict == .failOperation
        guard
            let failed = machine.reading.failAsking(operation, error: read, givesBack: givesBack, now: engine.now)
                ?? machine.writing.failAsking(operation, error: write, now: engine.now)
        else { return nil }
        fail(failed)
        return failed.error
    }

    /// Reports an operation that failed or was cancelled.
    func fail(_ failed: consuming FailedOperation) {
        switch failed.kind {
        case .read: record(.readFailed, tag: failed.tag, failed.done, failed.total ?? 0)
        case .write:
            record(.writeFailed, tag: failed.tag, failed.done, failed.total ?? 0)
            if hasOwners { releaseOwner(of: failed.operation) }
        }
        if keepsTraffic { log(failed) }
        notify(.failed(failed))
    }

    private func log(_ failed: FailedOperation) {
        let direction: TrafficItem.Direction
        switch failed.kind {
        case .read: direction = .received
        case .write: direction = .sent
        }
        // An operation that never moved a byte leaves no trace in the traffic.
        let areBytes = direction == .received ? layers.keepsBytes : layers.keepsBytes(of: failed.operation)
        guard areBytes, !seesFrames else { return }
        guard failed.done > 0 || traffic?.isOpen(failed.operation, direction) == true else { return }
        traffic?.record(
            failed.operation, direction: direction, tag: failed.tag, kind: failed.kind, done: failed.done,
            total: failed.total, state: .failed(failed.error.detail), now: engine.now
        ) { failed.bytes.part($0) }
    }

    // MARK: Closing

    /// Closes as `mode` says, at once or when the named queues are empty.
    func askToClose(_ mode: CloseMode) {
        guard !machine.isClosed else { return }
        // FIN is out and input is discarded, so it is too late to wait for reads, and the close record must not claim
        // it.
        if machine.isLingering, mode != .now, mode != .reset { return }
        recallPieces()
        record(.closeRequested, CloseMode.allCases.firstIndex(of: mode) ?? 0)
        closeMode = mode
        switch mode {
        case .now: return close(error: nil)
        case .reset:
            if let descriptor = socket?.descriptor { _ = engine.kernel.set(.resetOnClose, on: descriptor) }
            return close(error: nil)
        case .afterReading: machine.closeAfter(.reads)
        case .afterWriting: machine.closeAfter(.writes)
        case .afterBoth: machine.closeAfter([.reads, .writes])
        }
        finishStep()
    }

    /// Handles EPOLLERR without a hang-up: a pending error, or messages in the error queue. The messages come from
    /// options that user code has set, and end nothing. Returns false if the connection has ended.
    func handleError() -> Bool {
        // Bytes before the error go to the reads first. While the error is pending, it is reported again.
        if receiveAvailable() { return true }
        guard !machine.isClosed, let descriptor = socket?.descriptor else { return false }
        let errno = engine.kernel.pendingError(descriptor)
        if errno != 0 {
            cutOff(by: errno)
            return false
        }
        engine.kernel.drainErrorQueue(descriptor)
        return true
    }

    /// Ends the session with an error of the kernel. Without read-ahead, bytes before it would still be in the kernel, so
    /// those that were received ahead of any read are delivered first.
    func cutOff(by errno: Int32) {
        let error = SocketError.system(errno, operation: "read", subject: errorSubject)
        guard readsAhead, !machine.reading.hasCurrent else { return close(error: error) }
        recallPieces()
        machine.reading.hasBytes ? machine.didReachEndOfStream(error) : close(error: error)
    }

    /// After the peer's FIN nothing is received, so a reset would go unnoticed.
    func endIfBothSidesAreGone() {
        guard interest.isHungUp, machine.isOpen, machine.hasReportedEndOfStream, let descriptor = socket?.descriptor
        else { return }
        let errno = engine.kernel.pendingError(descriptor)
        close(
            error: errno == 0
                ? ConnectionMachine.endOfStream
                : .system(errno, operation: "read", subject: errorSubject))
    }

    /// Sends FIN after the last write and waits for the peer's FIN, so that unread input can't turn the close into a
    /// reset.
    func beginLinger() {
        sendFIN()
        guard !machine.isClosed else { return }
        guard !machine.hasEndOfStream else { return close(error: nil) }
        madeRare.lingerDeadline = engine.now + configuration.lingerTime
        interest.resumeReading()
        discardAvailable()
    }

    /// Receives and discards input while lingering.
    func discardAvailable() {
        guard let descriptor = socket?.descriptor else { return }
        // A hung-up descriptor is not in the reactor's set, so nothing would report the rest.
        for _ in 0..<(interest.isHungUp ? Int.max : 16) {
            switch engine.kernel.receive(descriptor, into: engine.scratch, peek: false) {
            case .bytes(0), .failed: return close(error: nil)
            case .bytes(let count):
                received += UInt64(count)
                engine.counters.received += UInt64(count)
                let bytes = UnsafeRawBufferPointer(rebasing: engine.scratch[..<count])
                if isWireEncrypted { tapeWire(LentBytes(bytes), isSent: false) } else { tape(bytes, isSent: false) }
            case .wouldBlock: return
            }
        }
    }

    /// Ends the session. Every operation ends, then the descriptor is closed, and only then is the handle notified.
    func close(error: SocketError?) {
        guard !machine.isClosed else { return }
        let handle = keptHandle
        recallPieces()
        sayGoodbye(error)
        machine.didClose()
        webSocket?.transportCloses(error, in: engine)
        tap?.closes(error, on: self)
        endConnect()
        let kept = ending(error: error)
        if let error { notify(.disconnecting(error, unread: takeUnread())) }
        // The session must be over everywhere, including this object's own stack frames, before user code is notified.
        noteChange()
        tapeClose(error)
        leaveReactor()
        socket = nil
        engine.retire(self)
        engine.sessions[id] = nil
        tellOtherLeg()
        engine.counters.closed += 1
        record(.closed)
        engine.closed.append(kept, traffic: takeTraffic())
        notify(.disconnected(error, of: id))
        handle?.sessionEnded(id, as: kept)
        detachHandle()
    }

    private static let closedHere = SocketError(.disconnected, operation: "close", detail: "closed locally")

    /// Fails the queued operations and returns the record of the session.
    private func ending(error: SocketError?) -> EndedSession {
        let cause = error ?? Self.closedHere
        var readsLost = 0
        var writesLost = 0
        while let failed = machine.failNext(error: cause) {
            switch failed.kind {
            case .read: readsLost += failed.isStanding ? 0 : 1
            case .write: writesLost += 1
            }
            fail(failed)
        }
        let record = CloseRecord(
            time: engine.now, error: error, mode: error == nil ? closeMode ?? .now : closeMode,
            readsLost: readsLost, writesLost: writesLost, unreadBytes: machine.reading.prebuffered)
        if isPlain { return .plain(PlainEnding(outline, record)) }
        var snapshot = snapshot(withKernel: false, isEnding: true)
        snapshot.phase = .closed
        snapshot.descriptor = nil
        snapshot.flags = []
        snapshot.receiveRate = nil
        snapshot.sendRate = nil
        snapshot.prebuffered = 0
        snapshot.callbacks = nil
        snapshot.closed = record
        return .whole(snapshot)
    }

    /// Returns the bytes that arrived but reached no read: those read ahead and those still in the kernel.
    private func takeUnread() -> [UInt8] {
        keepUnlent()
        var unread = machine.reading.takeUnread()
        if isWireEncrypted { return unread + takeUnreadRecords() }
        // Input is discarded while lingering, so later bytes would not continue what was read.
        guard let descriptor = socket?.descriptor, !machine.hasEndOfStream, lingerDeadline == nil else { return unread }
        while unread.count < Self.unreadLimit {
            guard case .bytes(let count) = engine.kernel.receive(descriptor, into: engine.scratch, peek: false),
                count > 0
            else { break }
            tape(UnsafeRawBufferPointer(rebasing: engine.scratch[..<count]), isSent: false)
            unread += engine.scratch[..<count]
        }
        return unread
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var wholeMilliseconds: Int { Int(wholeNanoseconds / 1_000_000) }
}
