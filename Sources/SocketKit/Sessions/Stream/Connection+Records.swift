import Glibc
import SocketCore

/// Moves bytes through TLS: received bytes are decrypted for the reads, written bytes are encrypted for the kernel.
extension Connection {
    /// The most sends before other sockets get their share of the turn.
    private static let sendBudget = 16
    /// The most records in one system call.
    private static let recordsAtOnce = 4
    /// Plaintext read ahead while no read is queued, so that close_notify is noticed.
    private static let readAheadLimit = 16_384

    // MARK: In

    /// The room for plaintext now: what reads want, or the read-ahead if there are no reads.
    private var plaintextWanted: Int {
        if isHeld || waitsForDelivery { return 0 }
        let wanted = machine.reading.wanted
        if wanted > 0 { return wanted }
        let isPaused = machine.reading.isPausedByHand
        let mayReadAhead = !machine.reading.hasCurrent && !isPaused && machine.reading.prebuffered == 0
        return mayReadAhead ? Self.readAheadLimit : 0
    }

    /// Whether bytes from the kernel are of use now.
    var wantsRecords: Bool {
        guard let tls, !tls.hasWireEnded, !machine.hasEndOfStream else { return false }
        if !machine.upgrade.isSecure { return machine.upgrade.hasBegun && !machine.upgrade.isAsking }
        return !tls.hasMore && plaintextWanted > 0
    }

    /// Receives what the kernel has while it is of use. Returns true if something else comes first.
    func receiveRecords() -> Bool {
        guard let tls, machine.isOpen else { return false }
        decryptMore()
        for _ in 0..<(interest.isHungUp ? Int.max : receiveBudget) {
            guard machine.isOpen, !tls.hasWireEnded, !machine.hasEndOfStream else { return false }
            guard wantsRecords else {
                handleUnwantedInput()
                return waitsForDelivery
            }
            guard receiveRecordsOnce(tls) else { return false }
            if engine.mustLeaveOff {
                leaveOff()
                return true
            }
        }
        return true
    }

    private func receiveRecordsOnce(_ tls: TLSLayer) -> Bool {
        guard let descriptor = socket?.descriptor else { return false }
        switch engine.kernel.receive(descriptor, into: engine.scratch, peek: false) {
        case .bytes(0):
            wireEnded()
            return false
        case .bytes(let count):
            received += UInt64(count)
            lastActivity = engine.now
            engine.counters.received += UInt64(count)
            let bytes = LentBytes(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(engine.scratch)[..<count]))
            if machine.upgrade.isSecure {
                tapeWire(bytes, isSent: false)
                decrypt(bytes, tls)
            } else {
                handshake(with: bytes, isReceived: true)
            }
            return machine.isOpen && (count == engine.scratch.count || interest.knowsPeerClosed || interest.isHungUp)
        case .wouldBlock:
            return false
        case .failed(let errno):
            close(error: .system(errno, operation: "read", subject: errorSubject))
            return false
        }
    }

    /// Decrypts what the TLS session still holds, up to the room for it.
    func decryptMore() {
        guard let tls, machine.upgrade.isSecure, tls.hasMore, !machine.hasEndOfStream else { return }
        decrypt(.none, tls)
    }

    private func decrypt(_ bytes: LentBytes, _ tls: TLSLayer) {
        guard let session = tls.session else { return }
        var bytes = bytes
        tls.hasMore = true
        while machine.isOpen, !machine.hasEndOfStream, !isEndTaken {
            let room = min(plaintextWanted, engine.plainScratch.count)
            let lent = UnsafeMutableRawBufferPointer(rebasing: engine.plainScratch[..<room])
            let (count, outcome) = session.decrypt(bytes, into: LentBytes(lent))
            bytes = .none
            recordAlerts(session)
            if count > 0 { absorb(UnsafeRawBufferPointer(rebasing: lent[..<count]), tls) }
            guard outcome != .done || room == 0 else { continue }
            guard end(of: outcome, tls, session) else { return }
        }
    }

    /// Handles a decryption that could not fill its room. Returns false if nothing more can be done now.
    private func end(of outcome: TLSSession.Outcome, _ tls: TLSLayer, _ session: TLSSession) -> Bool {
        switch outcome {
        case .done, .asks: return false
        case .wantsBytes:
            tls.hasMore = false
            // This sends the answer to a key update.
            _ = flushRecords(session)
            if tls.hasWireEnded { truncated() }
        case .closed:
            tls.hasMore = false
            tapeEnd(isLocal: false, isPlain: true)
            acceptEnd()
        case .failed(let failure):
            tls.hasMore = false
            failTLS(failure, failure.sentence)
        }
        return false
    }

    private func absorb(_ bytes: UnsafeRawBufferPointer, _ tls: TLSLayer) {
        tls.plaintextReceived += UInt64(bytes.count)
        tape(bytes, isSent: false, isPlain: true)
        accept(bytes)
    }

    /// Handles FIN from the kernel. The TLS session may hold earlier bytes.
    func wireEnded() {
        guard let tls, !tls.hasWireEnded else { return }
        recordPeerClosed(0)
        tapeEnd(isLocal: false)
        interest.notePeerClosed(engine.now)
        tls.hasWireEnded = true
        guard machine.upgrade.isSecure else { return machine.didReachEndOfStream() }
        tls.hasMore = true
        decryptMore()
    }

    /// Records the peer's FIN once. It can be known before the bytes ahead of it are read, and is received after them.
    func recordPeerClosed(_ how: Int) {
        guard !hasToldPeerClosed.events else { return }
        hasToldPeerClosed.events = true
        record(.peerClosed, how)
    }

    /// Handles FIN without close_notify: the stream may be truncated. Our own close_notify ended our side only, and
    /// does not excuse the peer from its own (RFC 8446, 6.1).
    private func truncated() {
        let subject = peer?.description ?? target
        machine.didReachEndOfStream(
            SocketError(
                .tls(.closedAbort), operation: "TLS", detail: "\(subject): \(TLSFailure.closedAbort.sentence)"))
    }

    // MARK: Out

    /// Encrypts and sends pending bytes until the kernel accepts no more.
    func sendRecords() {
        guard let session = tls?.session else { return }
        for _ in 0..<Self.sendBudget {
            guard flushRecords(session) else { return }
            payFIN()
            guard machine.isOpen, machine.upgrade.isSecure, machine.writing.wantsToSend else { return }
            let scratch = LentBytes(engine.plainScratch)
            var encrypted = (count: 0, outcome: TLSSession.Outcome.done)
            machine.writing.withUnsent(buffers: gatherLimit) {
                encrypted = session.encrypt($0, scratch: scratch, records: Self.recordsAtOnce)
                tape($0, encrypted.count, isSent: true, isPlain: true)
                tap?.sent($0, encrypted.count, of: machine.writing, in: engine)
            }
            machine.writing.commit(encrypted.count)
            if case .failed(let failure) = encrypted.outcome { return failTLS(failure, failure.sentence) }
            guard encrypted.count > 0 else { return }
            if engine.isSpent { break }
        }
        guard flushRecords(session), machine.isOpen, machine.writing.wantsToSend else { return }
        interest.isSendBudgetSpent = true
    }

    /// Sends what the kernel accepts at once, and ignores failures because the connection is closing anyway.
    func flushLastRecords(_ session: TLSSession) {
        let waiting = session.outgoing
        guard waiting.count > 0, !interest.isWriteBlocked, let descriptor = socket?.descriptor else { return }
        let result = withUnsafePointer(to: waiting.bytes) {
            engine.kernel.send(descriptor, UnsafeBufferPointer(start: $0, count: 1))
        }
        if case .bytes(let count) = result {
            tapeWire(waiting, count, isSent: true)
            sentRecords(count, session)
        }
    }

    /// Sends encrypted bytes. Returns true if none are left.
    func flushRecords(_ session: TLSSession) -> Bool {
        guard let descriptor = socket?.descriptor else { return false }
        while !interest.isWriteBlocked {
            let waiting = session.outgoing
            guard waiting.count > 0 else {
                if !machine.writing.wantsToSend { session.releaseOutgoing() }
                return true
            }
            let result = withUnsafePointer(to: waiting.bytes) {
                engine.kernel.send(descriptor, UnsafeBufferPointer(start: $0, count: 1))
            }
            switch result {
            case .bytes(let count):
                tapeWire(waiting, count, isSent: true)
                sentRecords(count, session)
                if count < waiting.count { markWriteBlocked() }
            case .wouldBlock:
                markWriteBlocked()
            case .failed(let errno):
                close(error: .system(errno, operation: "write", subject: errorSubject))
                return false
            }
        }
        return session.outgoing.count == 0
    }

    private func sentRecords(_ count: Int, _ session: TLSSession) {
        sent += UInt64(count)
        lastActivity = engine.now
        engine.counters.sent += UInt64(count)
        let plain = session.sent(count)
        guard plain > 0 else { return }
        tls?.plaintextSent += UInt64(plain)
        machine.writing.wrote(plain, now: engine.now)
        performWrites()
    }

    // MARK: Ending our side

    /// Sends close_notify when a connection closes at once, but not on a broken connection or after a truncated stream.
    func sayGoodbye(_ error: SocketError?) {
        guard let session = tls?.session, machine.isOpen, machine.upgrade.isSecure, closeMode != .reset,
            tls?.withholdsCloseNotify != true
        else { return }
        switch error?.reason {
        case .system, .tls: return
        default: session.sendCloseNotify()
        }
        recordAlerts(session)
        flushLastRecords(session)
    }

    /// Sends close_notify. Returns false, and FIN follows later, if the kernel hasn't accepted everything up to it.
    func sendCloseNotify() -> Bool {
        guard let tls, let session = tls.session, machine.upgrade.isSecure else { return true }
        if !tls.withholdsCloseNotify {
            session.sendCloseNotify()
            recordAlerts(session)
        }
        if flushRecords(session) || !machine.isOpen && !machine.isLingering { return true }
        tls.owesFIN = true
        return false
    }

    /// Sends the FIN that had to wait for close_notify.
    func payFIN() {
        guard let tls, tls.owesFIN else { return }
        tls.owesFIN = false
        sendFIN()
    }

    /// Returns the plaintext left in the TLS session, for a connection that closes.
    func takeUnreadRecords() -> [UInt8] {
        guard let tls, tls.hasMore, machine.upgrade.isSecure, let session = tls.session else { return [] }
        var unread: [UInt8] = []
        while unread.count < 1 << 20 {
            let (count, outcome) = session.decrypt(.none, into: LentBytes(engine.plainScratch))
            tape(UnsafeRawBufferPointer(rebasing: engine.plainScratch[..<count]), isSent: false, isPlain: true)
            unread += engine.plainScratch[..<count]
            guard outcome == .done else { break }
        }
        return unread
    }
}
