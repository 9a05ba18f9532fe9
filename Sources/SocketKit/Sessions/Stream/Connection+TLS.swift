import Glibc
import SocketCore

/// Interprets the TLS barrier: the request for TLS, the handshake, and the verdict on the peer's certificate.
extension Connection {
    /// Puts the barrier in both queues. Throws if TLS was already requested, if the connection is ending, or if a
    /// setting doesn't fit this connection.
    func startTLS(_ context: TLSContext) throws(SocketError) {
        let layer = try TLSLayer.make(context, host: origin.host, address: target)
        recallPieces()
        let ahead = (machine.readingSnapshot(listing: 0), machine.writingSnapshot(listing: 0))
        if let refusal = machine.startTLS() { throw refusal }
        layer.asked = engine.now
        layers.wire = .tls(layer)
        record(.tlsQueued, ahead.0.operations, ahead.1.operations)
        performReads()
        finishStep()
    }

    /// Called when the barrier is at the head of both queues.
    func beginHandshake() {
        guard let tls else { return }
        let session = TLSSession(
            tls.context, askedName: tls.askedName, expectedName: tls.expectedName, sessionKey: tls.sessionKey)
        guard let session else {
            return close(error: SocketError(.other, operation: "handshake", detail: "out of memory"))
        }
        tls.session = session
        tls.began = engine.now
        let timeout = tls.context.settings.handshakeTimeout
        let ahead = machine.beginHandshake(until: timeout.map { engine.now + $0 })
        record(.tlsBegan, ahead.count)
        interest.resumeReading()
        handshake(ahead)
        if machine.isOpen { receiveAvailable() }
    }

    private func handshake(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { handshake(with: LentBytes($0)) }
    }

    func handshake(with bytes: LentBytes, isReceived: Bool = false) {
        guard let tls, let session = tls.session, machine.isOpen else { return }
        let outcome = session.handshake(bytes)
        tapeSecrets(session)
        if isReceived { tapeWire(bytes, isSent: false) }
        recordAlerts(session)
        switch outcome {
        case .wantsBytes:
            _ = flushRecords(session)
        case .done:
            _ = flushRecords(session)
            if machine.isOpen { secured(tls, session) }
        case .asks(let trust):
            _ = flushRecords(session)
            if machine.isOpen { ask(trust, tls) }
        case .closed:
            failTLS(.closedAbort, "the peer ended TLS during the handshake")
        case .failed(let failure):
            failTLS(failure, failure.sentence)
        }
    }

    private func secured(_ tls: TLSLayer, _ session: TLSSession) {
        let facts = session.facts
        tls.facts = facts
        tls.handshakeTime = tls.began.map { engine.now - $0 - tls.verdictTime }
        tls.hasMore = true
        machine.didSecure(now: engine.now)
        record(.secured, (tls.handshakeTime ?? .zero).wholeMicroseconds, facts.isResumed ? 1 : 0)
        notify(.secured(of: id))
        performReads()
        decryptMore()
        askForFlush()
    }

    // MARK: The peer's certificate

    private func ask(_ trust: TLSTrust, _ tls: TLSLayer) {
        var trust = trust
        trust.question = engine.names.nextOperation()
        tls.question = trust
        tls.questioned = engine.now
        machine.upgrade.ask(now: engine.now)
        record(.trustAsked, trust.code)
        if keptHandle == nil { answer(.refuse, toTrust: trust.question) } else { notify(.trust(trust)) }
    }

    /// Carries out a verdict on the peer's certificate. Has no effect if the question is no longer open.
    func answer(_ verdict: TrustVerdict, toTrust question: OperationID) {
        guard machine.isOpen, let tls, let session = tls.session, tls.question?.question == question else { return }
        if verdict == .later { return }
        guard machine.upgrade.answer(now: engine.now) else { return }
        tls.question = nil
        tls.verdictTime = tls.questioned.map { engine.now - $0 } ?? .zero
        record(.trustAnswered, verdict == .accept ? 1 : 0)
        session.answer(verdict == .accept)
        interest.resumeReading()
        // A client's refusal is sent as an alert. OpenSSL's servers are past that point.
        if verdict == .accept || tls.context.settings.role == .client { handshake(with: .none) }
        if verdict != .accept, machine.isOpen { failTLS(.refused, TLSFailure.refused.sentence) }
        if machine.isOpen { receiveAvailable() }
        finishStep()
    }

    /// Ends the session: no delegate evaluates the certificate, which is an error of the program, not of the peer.
    func nobodyJudges(_ question: OperationID) {
        guard machine.isOpen, let tls, tls.question?.question == question else { return }
        close(
            error: SocketError(
                .other, operation: "handshake",
                detail: "\(peer?.description ?? target): the delegate must judge the peer's certificate, "
                    + "but does not implement didReceiveTrust"))
    }

    // MARK: Failing

    /// Ends the session after a TLS failure. Pending alerts are sent before the connection closes.
    func failTLS(_ failure: TLSFailure, _ sentence: String) {
        guard !machine.isClosed else { return }
        let subject = peer?.description ?? target
        let error = SocketError(
            .tls(failure), operation: machine.upgrade.isSecure ? "TLS" : "handshake", detail: "\(subject): \(sentence)")
        if let session = tls?.session {
            recordAlerts(session)
            flushLastRecords(session)
            // Unread bytes would turn the close into a reset, which can overtake the alert.
            if !interest.isHungUp { drainBeforeClose() }
        }
        close(error: error)
    }

    private func drainBeforeClose() {
        guard let descriptor = socket?.descriptor else { return }
        _ = engine.kernel.shutdownWrite(descriptor)
        for _ in 0..<4 {
            guard case .bytes(let count) = engine.kernel.receive(descriptor, into: engine.scratch, peek: false),
                count > 0
            else { return }
            received += UInt64(count)
            engine.counters.received += UInt64(count)
        }
    }

    /// Fails a handshake whose deadline has passed.
    func expireHandshake() {
        guard let due = machine.upgrade.deadline, due <= engine.now else { return }
        let time = tls?.context.settings.handshakeTimeout ?? .zero
        failTLS(.handshakeTimeout, "the TLS handshake was not complete after \(time)")
    }

    func recordAlerts(_ session: TLSSession) {
        for alert in session.takeAlerts() { record(alert.isOurs ? .alertSent : .alertReceived, Int(alert.number)) }
    }
}

extension TLSFailure {
    /// What went wrong, in words for the user.
    var sentence: String {
        switch self {
        case .closedAbort: "the peer closed without close_notify: the stream may be truncated"
        case .handshakeTimeout: "the TLS handshake took too long"
        case .untrusted(_, let text): "certificate verify failed: \(text)"
        case .refused: "the peer's certificate was refused"
        case .alert(let number, let name): "the peer refused with TLS alert \(name) (\(number))"
        case .library(let reason): reason
        }
    }
}

extension QueueSnapshot {
    /// Includes the current operation.
    fileprivate var operations: Int { pendingCount + (current == nil ? 0 : 1) }
}

extension Duration {
    fileprivate var wholeMicroseconds: Int { Int(wholeNanoseconds / 1_000) }
}
