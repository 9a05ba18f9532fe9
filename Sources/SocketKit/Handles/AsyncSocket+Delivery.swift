import SocketCore

/// The engine's interface to the handle.
extension AsyncSocket: DeliveringHandle {
    /// Runs `body` on the queue of the socket's engine with the current session, after all jobs posted so far. If a
    /// move changes the engine while this waits for the queue, it starts again.
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

    /// Fails a command whose session has already ended.
    func failMissed(_ action: SocketCommand.Action, as operation: OperationID, in engineState: EngineState) {
        guard let failed = action.failure(as: operation) else { return }
        engineState.outbox.append(.missed(self, .failed(failed)))
    }

    func sessionBegan(_ id: SocketID) {
        state.withLock { state in
            state.core.present.begin(id)
            if state.isAwaited { state.changeAwaited { $0.enter(id) } }
        }
    }

    /// Records that the session has ended, with its final state.
    func sessionEnded(_ id: SocketID, as ending: EndedSession) {
        state.withLock { $0.core.present.end(id, as: ending) }
    }

    /// Why the last session ended, or `nil` if the local side closed it.
    var lastError: SocketError? { closeRecord?.error }

    /// The next of the chunks that were received ahead for such a read, or `nil` if there is none.
    func takeAhead(of request: ReadRequest) -> [UInt8]? { state.withLock { $0.takeAhead(of: request) } }

    func awaits(_ operation: OperationID) -> Bool { state.withLock { $0.isAwaited && $0.awaited.awaits(operation) } }

    /// Whether the task that awaits this operation was cancelled and has no answer yet.
    func hasGivenUp(_ operation: OperationID) -> Bool { state.withLock { $0.awaited.isGivenUp(operation) } }

    var awaitedReads: [OperationID] { state.withLock { $0.awaited.reads } }

    /// Whether there is a delegate, or `nil` if callbacks don't run on the engine's queue or a task awaits something.
    func hasInlineDelegate(in engine: EngineState) -> Bool? {
        let (hasInlineDelegate, delegate) = state.withLock { state in
            let hasInlineDelegate = state.pump == nil && !state.isAwaited
            return (hasInlineDelegate, hasInlineDelegate ? state.delegate : nil)
        }
        // This may be the delegate's last reference.
        if let delegate { engine.retire(delegate) }
        return hasInlineDelegate ? delegate != nil : nil
    }

    /// How callbacks are delivered, for a snapshot. `reading` is the current read.
    func callbacks(reading: OperationID?, in engine: EngineState) -> CallbackSnapshot {
        let (isAwaited, pump, delegate) = state.withLock { state in
            (reading.map { state.awaited.awaits($0) } ?? true, state.pump, state.delegate)
        }
        // This may be the delegate's last reference.
        if let delegate { engine.retire(delegate) }
        var snapshot = CallbackSnapshot(
            isHeard: delegate != nil || isAwaited, undelivered: backPressure.weight)
        if let measured = pump?.lag(engine.now) { (snapshot.lag, snapshot.ran) = (measured.lag, measured.ran) }
        return snapshot
    }

    // MARK: Delivery

    /// Where a notice goes. Only references, because every callback passes one: a case with more would be copied and
    /// destroyed by calls, which cost 130 instructions.
    private enum Way {
        case here((any AsyncSocketDelegate)?)
        case pump(DelegatePump)
        case awaited
        case nowhere
    }

    /// Answers the awaiting task, or calls the delegate on its queue. `connection` is `nil` for a command that missed
    /// its session. Returns `true` if so much waits for that queue
    /// that the session must stop reading from the kernel; `caughtUp` is posted when it can resume.
    @inline(__always)
    func deliver(_ notice: SocketNotice, of connection: Connection?) -> Bool {
        let way = state.withLock { state -> Way in
            if state.isAwaited { return .awaited }
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
        case .awaited: return answer(notice, of: connection)
        case .nowhere: return false
        }
    }

    /// Answers the tasks that await this, and calls the delegate if it is for that too. Not inlined, because `deliver` is
    /// part of the loop that runs the callbacks.
    @inline(never)
    private func answer(_ notice: SocketNotice, of connection: Connection?) -> Bool {
        // A task may have given up since.
        switch state.withLock({ $0.isAwaited ? $0.changeAwaited { $0.absorb(notice) } : .isNotAwaited }) {
        case .isNotAwaited: return deliverBesides(notice)
        case .answersNobody: return false
        case .answer(let answer, let result, let wanted):
            answer(
                result.map { bytes in
                    Received(bytes: bytes, pieces: wanted.flatMap { connection?.handPieces($0, to: self) })
                })
            return false
        case .answers(let answers):
            answers.forEach { $0() }
            return deliverBesides(notice)
        }
    }

    /// Whether a delegate with its own queue is called for completed writes. A layer whose delegate ignores them clears
    /// it, which saves the hop to that queue.
    package var hearsOfWrites: Bool {
        get { state.withLock { $0.hearsOfWrites } }
        set { state.replace(with: newValue) { swap(&$0.hearsOfWrites, &$1) } }
    }

    /// Avoids a closure, which would be allocated for each notice.
    func send(_ notice: SocketNotice, by pump: DelegatePump) {
        pump.append(notice, for: self)
    }

    /// Posts under the lock, because a move can change the engine and the session at any time.
    func postCaughtUp() {
        state.withLock { state in
            if let session = state.session { state.engine.post(.caughtUp(session)) }
        }
    }

    /// Notifies the delegate of something that a task may have awaited too. That task may have changed the delegate.
    private func deliverBesides(_ notice: SocketNotice) -> Bool {
        let (pump, delegate, hearsOfWrites) = state.withLock { ($0.pump, $0.delegate, $0.hearsOfWrites) }
        if let pump {
            if !hearsOfWrites, case .wrote = notice { return false }
            return weigh(notice, andSendBy: pump)
        }
        call(notice, delegate)
        return false
    }

    /// Calls the current delegate, which may have been set while the notice was queued.
    func call(_ notice: SocketNotice) { call(notice, delegate) }

    /// Whether bytes can be lent, because the delegate is called where they arrive.
    var deliversInline: Bool { state.withLock { $0.pump == nil } }

    /// Calls `body` with the delegate on the engine's queue until it returns `false` or callbacks move to another
    /// queue. `isSame` is `false` once the delegate has changed; the next call gets the new one. The delegate is
    /// retained during the call, because loading the weak reference is expensive. User code may drop its other
    /// references, so it is released as user code.
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

    // MARK: Awaiting

    /// Queues a read as an `await` does, for callers that simulate tasks. `answer` receives the operation's identifier
    /// and result.
    package func await(
        _ request: ReadRequest, _ answer: @escaping @Sendable (OperationID, Result<[UInt8], FailedOperation>) -> Void
    ) -> OperationID {
        let operation = engine.names.nextOperation()
        ask(.read(request), as: operation) { answer(operation, $0.map(\.bytes)) }
        return operation
    }

    /// Queues a write as an `await` does. `answer` receives the operation's identifier and result.
    package func await(
        _ request: WriteRequest, _ answer: @escaping @Sendable (OperationID, Result<[UInt8], FailedOperation>) -> Void
    ) -> OperationID {
        let operation = engine.names.nextOperation()
        ask(.write(request), as: operation) { answer(operation, $0.map(\.bytes)) }
        return operation
    }

    /// Gives up an operation whose awaiting task was cancelled. The engine ends it and answers, or answers and lets it
    /// continue.
    package func giveUp(_ operation: OperationID) {
        guard state.withLock({ $0.isAwaited && $0.changeAwaited { $0.giveUp(operation) } }) else { return }
        cancel(.operation(operation))
    }

    /// Requests the connection or TLS and waits for it. Throws why it failed, whether at the call or later. Cancelling
    /// the task closes the connection, which gives the answer.
    func wait(
        in list: any WritableKeyPath<AwaitedAnswers, Waiters<SocketError?>> & Sendable, _ operation: String,
        _ begin: () throws(SocketError) -> Void
    ) async throws(SocketError) {
        let waiter = engine.names.nextOperation()
        let cancelled = SocketError.cancelled(operation)
        let error: SocketError? = await waitForAnswer(orIfCancelled: cancelled) { answer in
            // Registered first, because the answer could otherwise arrive before its waiter.
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
