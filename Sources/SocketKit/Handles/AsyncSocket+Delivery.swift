import SocketCore

/// What the engine does with a handle.
extension AsyncSocket: DeliveringHandle {
    /// Runs `body` on the queue of the engine that this socket lives on, with its present session, after all that was
    /// posted. A move may change both while this waits for the queue; then it begins anew.
    func enter<R>(_ body: (EngineState, SocketID?) -> R) -> R {
        while true {
            let engine = engine
            let result: R? = engine.enter { engineState in
                let (present, session) = state.withLock { ($0.engine, $0.session) }
                return present === engine ? .some(body(engineState, session)) : nil
            }
            if let result { return result }
        }
    }

    /// A command came whose session is over: it fails.
    func forwardOrFail(_ action: SocketCommand.Action, as operation: OperationID, in engineState: EngineState) {
        guard let failed = action.failure(as: operation) else { return }
        engineState.outbox.append(.missed(self, .failed(failed)))
    }

    func sessionBegan(_ id: SocketID) {
        state.withLock { state in
            state.core.present.begin(id)
            if state.isAwaited { state.changeAwaited { $0.enter(id) } }
        }
    }

    /// The session is over; `ending` is how it was at its end.
    func sessionEnded(_ id: SocketID, as ending: EndedSession) {
        state.withLock { $0.core.present.end(id, as: ending) }
    }

    /// Why the last session ended; nil: this side asked for it.
    var lastError: SocketError? { closeRecord?.error }

    /// Whether somebody awaits this operation.
    func awaits(_ operation: OperationID) -> Bool { state.withLock { $0.awaited.operations[operation] != nil } }

    /// Whether the task that awaits this operation was cancelled and has no answer yet.
    func hasGivenUp(_ operation: OperationID) -> Bool { state.withLock { $0.awaited.isGivenUp(operation) } }

    /// The reads that somebody awaits.
    var awaitedReads: [OperationID] { state.withLock { $0.awaited.reads.sorted() } }

    /// Whether there is a delegate, where callbacks come on the engine's queue and nobody awaits anything; nil elsewhere.
    func hasInlineDelegate(in engine: EngineState) -> Bool? {
        let (hasInlineDelegate, delegate) = state.withLock { state in
            let hasInlineDelegate = state.pump == nil && !state.isAwaited
            return (hasInlineDelegate, hasInlineDelegate ? state.delegate : nil)
        }
        // This may be its last reference.
        if let delegate { engine.retire(delegate) }
        return hasInlineDelegate ? delegate != nil : nil
    }

    /// How callbacks arrive, for a snapshot; `reading` is the read in hand.
    func callbacks(reading: OperationID?, in engine: EngineState) -> CallbackSnapshot {
        let (isAwaited, pump, delegate) = state.withLock { state in
            (reading.map { state.awaited.operations[$0] != nil } ?? true, state.pump, state.delegate)
        }
        // This may be its last reference.
        if let delegate { engine.retire(delegate) }
        var snapshot = CallbackSnapshot(
            isHeard: delegate != nil || isAwaited, undelivered: backPressure.weight)
        if let measured = pump?.lag(engine.now) { (snapshot.lag, snapshot.ran) = (measured.lag, measured.ran) }
        return snapshot
    }

    // MARK: Delivery

    /// Where a notice goes.
    private enum Way {
        case here((any AsyncSocketDelegate)?)
        case pump(DelegatePump)
        case awaited([@Sendable () -> Void])
        case nowhere
    }

    /// Answers whoever awaits this, or calls the delegate, on the queue where it wants to be called. True when so much
    /// waits for that queue that no more shall be taken from the kernel; `caughtUp` is posted when that is over.
    @inline(__always)
    func deliver(_ notice: SocketNotice) -> Bool {
        let way = state.withLock { state -> Way in
            if state.isAwaited {
                let resume = state.changeAwaited { $0.take(notice) }
                if !resume.isEmpty { return .awaited(resume) }
            }
            guard let pump = state.pump else { return .here(state.delegate) }
            if !state.hearsOfWrites, case .wrote = notice { return .nowhere }
            return .pump(pump)
        }
        switch way {
        case .here(let delegate):
            call(notice, delegate)
            return false
        case .pump(let pump):
            return weigh(notice, andSendBy: pump)
        case .awaited(let resume):
            resume.forEach { $0() }
            return notice.isCompletion ? false : deliverBesides(notice)
        case .nowhere: return false
        }
    }

    /// Whether a delegate with a queue of its own is called for completed writes. A layer whose own delegate has no use for
    /// them clears it, which saves the way to that queue.
    package var hearsOfWrites: Bool {
        get { state.withLock { $0.hearsOfWrites } }
        set { state.replace(with: newValue) { swap(&$0.hearsOfWrites, &$1) } }
    }

    /// Without a closure, which would be allocated for each notice.
    func send(_ notice: SocketNotice, by pump: DelegatePump) {
        pump.append(notice, for: self)
    }

    /// A move may change the engine and the session at any time.
    func postCaughtUp() {
        state.withLock { state in
            if let session = state.session { state.engine.post(.caughtUp(session)) }
        }
    }

    /// Tells the delegate what somebody awaited too, and who may have changed the delegate.
    private func deliverBesides(_ notice: SocketNotice) -> Bool {
        let (pump, delegate) = state.withLock { ($0.pump, $0.delegate) }
        if let pump { return weigh(notice, andSendBy: pump) }
        call(notice, delegate)
        return false
    }

    /// Calls the present delegate: one that was set while this waited gets it.
    func call(_ notice: SocketNotice) { call(notice, delegate) }

    /// Whether bytes can be shown where they are: the delegate is called where they arrive.
    var deliversInline: Bool { state.withLock { $0.pump == nil } }

    /// Calls `body` with the delegate as long as it wants to go on, on the engine's queue; again where that is another one
    /// by then, of which `isSame` tells, unless callbacks come elsewhere from then on. The delegate is retained meanwhile,
    /// since to load the weak reference is expensive. User code may let go of it, so it is released as user code runs.
    func withDelegate(
        in engine: EngineState, _ body: (_ delegate: (any AsyncSocketDelegate)?, _ isSame: () -> Bool) -> Bool
    ) {
        var goesOn = true
        while goesOn {
            let changes = delegateChanges.load(ordering: .acquiring)
            var delegate = delegate
            goesOn = body(delegate) { delegateChanges.load(ordering: .acquiring) == changes }
            engine.runUserCode { delegate = nil }
            goesOn = goesOn && deliversInline
        }
    }

    private func call(_ notice: SocketNotice, _ delegate: (any AsyncSocketDelegate)?) {
        switch notice {
        case .connected(let address, _): delegate?.socket(self, didConnectTo: address)
        case .read(_, let tag, let bytes, true): delegate?.socket(self, didBorrow: bytes.span.bytes, tag: tag)
        case .read(let operation, let tag, let bytes, false):
            delegate?.socket(self, didRead: bytes, operation: operation, tag: tag)
        case .readPartial(let operation, let tag, let count):
            delegate?.socket(self, didReadPartialOf: count, operation: operation, tag: tag)
        case .wrote(let operation, let tag): delegate?.socket(self, didWrite: operation, tag: tag)
        case .wrotePartial(let operation, let tag, let count):
            delegate?.socket(self, didWritePartialOf: count, operation: operation, tag: tag)
        case .failed(let operation): delegate?.socket(self, didFail: operation)
        case .givenUp: break
        case .timedOut(let operation):
            let verdict = delegate?.socket(self, didTimeOut: operation) ?? configuration.timeoutVerdict
            answerTimeout(of: operation.operation, verdict)
        case .closedReadStream: delegate?.socketDidCloseReadStream(self)
        case .peerClosed: delegate?.socketPeerDidClose(self)
        case .writable(let isWritable, _): delegate?.socket(self, didBecomeWritable: isWritable)
        case .secured: delegate?.socketDidSecure(self)
        case .trust(let trust):
            let verdict = delegate?.socket(self, didReceive: trust) ?? .unhandled
            if verdict != .later { answerTrust(of: trust.question, verdict) }
        case .disconnecting(let error, let unread):
            delegate?.socket(self, willDisconnect: error, unread: unread)
        case .disconnected(let error, _): delegate?.socket(self, didDisconnect: error)
        }
    }

    // MARK: For those who await

    /// Queues a read as an `await` does, for who simulates tasks; `answer` gets the operation's name and what came of it.
    package func await(
        _ request: ReadRequest, _ answer: @escaping @Sendable (OperationID, Result<[UInt8], FailedOperation>) -> Void
    ) -> OperationID {
        let operation = engine.names.nextOperation()
        ask(.read(request), as: operation) { answer(operation, $0) }
        return operation
    }

    /// Queues a write likewise.
    package func await(
        _ request: WriteRequest, _ answer: @escaping @Sendable (OperationID, Result<[UInt8], FailedOperation>) -> Void
    ) -> OperationID {
        let operation = engine.names.nextOperation()
        ask(.write(request), as: operation) { answer(operation, $0) }
        return operation
    }

    /// The task that awaits this operation was cancelled: the engine ends it and answers, or answers and lets it go on.
    package func giveUp(_ operation: OperationID) {
        guard state.withLock({ $0.isAwaited && $0.changeAwaited { $0.giveUp(operation) } }) else { return }
        cancel(.operation(operation))
    }

    /// Asks for the connection or for TLS, and waits for one of the two; `nil`, or why it failed, be it at the call or
    /// later. When the task is cancelled the connection is closed, which answers.
    func wait(
        in list: any WritableKeyPath<AwaitedAnswers, Waiters<SocketError?>> & Sendable, _ operation: String,
        _ begin: () throws(SocketError) -> Void
    ) async throws(SocketError) {
        let waiter = engine.names.nextOperation()
        let cancelled = SocketError.cancelled(operation)
        let error: SocketError? = await waitForAnswer(orIfCancelled: cancelled) { answer in
            // Before it begins, or the answer could come before anybody waits for it.
            state.withLock { state in
                let session = state.session
                state.changeAwaited { $0[keyPath: list].add(waiter, of: session, answer) }
            }
            do throws(SocketError) {
                try begin()
            } catch {
                let refused = state.withLock { $0.changeAwaited { $0[keyPath: list].remove(waiter) } }
                refused?(error)
            }
        } onCancel: { [self] in
            let isWaiting = state.withLock { state in
                state.isAwaited && state.changeAwaited { $0[keyPath: list].settle(waiter, on: cancelled) }
            }
            if isWaiting { ask(.close(.now)) }
        }
        if let error { throw error }
    }
}

extension SocketNotice: WeighedNotice {
    var weight: Int {
        switch self {
        case .read(_, _, let bytes, _): bytes.count + BackPressure.noticeWeight
        case .readPartial, .wrote, .wrotePartial, .closedReadStream, .peerClosed, .writable, .secured:
            BackPressure.noticeWeight
        case .failed(let operation), .givenUp(let operation): operation.bytes.count + BackPressure.boxedWeight
        case .disconnecting(_, let unread): unread.count + BackPressure.boxedWeight
        case .connected, .timedOut, .trust, .disconnected: BackPressure.boxedWeight
        }
    }
}
