import SocketCore

/// For relays: two connections of one engine, the bytes of each forwarded to the other.
extension AsyncSocket {
    /// Marks both sockets as the legs of one relayed connection. From then on a reset of one ends it at once, even
    /// while it is held back. Has no effect if a socket has no session or the engines differ.
    package func link(to other: AsyncSocket) {
        guard let mine = session, let theirs = other.session, engine === other.engine else { return }
        engine.post(.leg(mine, .link(theirs)))
        engine.post(.leg(theirs, .link(mine)))
    }

    /// Adopts a connected socket as `adopt(descriptor:)` does, as if a listener had accepted it. `didConnectTo` is not
    /// called.
    package func adopt(accepted descriptor: Int32) throws(SocketError) {
        try enter { state, _ in
            Result { () throws(SocketError) in try state.adopt(descriptor, for: self, as: .accepted) }
        }.get()
    }

    /// Records on both legs that the server receives the client's request with a rewritten head, `came` bytes long
    /// before and `sent` after. Call it on the client's leg. Has no effect without a session.
    package func markHeadRewritten(to server: AsyncSocket, came: Int, sent: Int) {
        command(.headRewritten(was: came, is: 0))
        server.command(.headRewritten(was: came, is: sent))
    }

    /// Records on both legs that the client begins TLS inside another protocol, before the bytes that begin it. Call it on
    /// the client's leg. Has no effect without a session.
    package func markUpgraded(to server: AsyncSocket, _ inside: UpgradedProtocol, after offset: Int) {
        for leg in [self, server] { leg.fact { $0?.perform(.faulted(.tlsUpgraded, inside.number, offset)) } }
    }

    /// Taps the plaintext from now on, for snapshots and kept traffic, and shows a WebSocket if the first request is an
    /// upgrade. The tap changes, holds and answers nothing. `role` is the local side's role; `early` was read before.
    /// Has no effect without a session.
    package func watchForWebSocket(as role: WebSocketRole, after early: [UInt8] = []) {
        fact { $0?.watchForWebSocket(as: role, after: early) }
    }

    /// Stops reading from the kernel, so that the peer slows down, or resumes. Unlike `isReadingPaused`, it isn't the
    /// user's request and doesn't undo one. Has no effect without a session.
    package func holdBack(_ hold: Bool) { command(.holdBack(hold)) }

    /// Does what `holdBack(true)` does, but before anything else is read. In a callback on the engine's queue, reads
    /// could precede a posted command.
    package func holdBackAtOnce() {
        fact { $0?.isHeldByLink = true }
        command(.holdBack(true))
    }

    /// Whether the peer's FIN came without the close_notify of its TLS.
    package var wasCutOff: Bool {
        fact { connection in
            guard let tls = connection?.tls, let session = tls.session else { return false }
            return tls.hasWireEnded && !session.hasReceivedCloseNotify
        }
    }

    /// Sends FIN after the queued bytes, without close_notify under TLS. Has no effect without a session.
    package func cutOff() { command(.cutOff) }

    /// Sends the queued bytes that the kernel accepts at once, drops the rest, and closes with RST. Has no effect
    /// without a session.
    package func resetAfterFlush() { command(.reset) }

    /// Shows in snapshots what rules and breakpoints do to this connection, and delivers each read before the next one,
    /// so that a rule can hold back the rest. Has no effect without a session.
    package func showFaults(_ meter: FaultMeter) { command(.faults(meter)) }

    /// Records what a rule or a breakpoint did; see `SocketEvent.Kind.faulted`, `held` and `released`.
    package func recordFault(_ kind: SocketEvent.Kind, _ first: Int, _ second: Int) {
        command(.faulted(kind, first, second))
    }

    /// Makes an intake take what is received from now on, before any read. Has no effect without a session.
    package func setIntake(_ intake: Intake?) { command(.intake(intake)) }

    /// Gives the reads the bytes that the intake took, or others instead.
    package func deliver(_ bytes: [UInt8]) { command(.deliver(bytes)) }

    /// Ends the stream for the reads, after the intake received its end.
    package func deliverEnd() { command(.deliverEnd) }

    /// When the session began, or the current time without one.
    package var opened: MonotonicTime { fact { $0?.opened } ?? SystemClock().now }

    /// How many bytes were queued and received since the session began, counted as plaintext under TLS.
    package var queuedInAll: UInt64 {
        fact { $0.map { ($0.tls?.plaintextSent ?? $0.sent) + UInt64($0.machine.pendingWriteBytes) } ?? 0 }
    }
    package var receivedInAll: UInt64 { fact { $0.map { $0.tls?.plaintextReceived ?? $0.received } ?? 0 } }
    /// Its questions and answers, or `nil` if they are not known.
    package var exchanges: ExchangeSnapshot? { fact { $0?.exchangeFacts } }

    /// Sends each write with its own system call (`true`), or several together as usual.
    package func sendApart(_ isApart: Bool) { command(.sendsApart(isApart)) }

    /// Sends a user's bytes as `send` does. On a leg of a relay they are marked in events and traffic.
    package func inject(_ request: WriteRequest) async throws(SocketError) {
        let operation = engine.names.nextOperation()
        command(.injects(operation))
        do throws(FailedOperation) {
            _ = try await outcome(.write(request), as: operation).get()
        } catch {
            throw error.thrown
        }
    }

    private func command(_ command: LegCommand) {
        state.withLock { state in
            if let session = state.session { state.engine.post(.leg(session, command)) }
        }
    }
}

extension SocketEngine {
    /// The budget for inflating compressed messages that the engine only observes.
    package var inflation: InflationBudget { enter { $0.inflation } }

    /// Stops a listener from accepting because of these rules, or lets it accept again (`nil`). Unlike
    /// `SocketCommand.pauseReading`, it isn't the user's request and doesn't undo one.
    package func shut(_ listener: SocketID, by rules: FaultSnapshot?) { post(.leg(listener, .shut(rules))) }

    /// Counts bytes that couldn't be delivered to the peer of a relay's leg, whose session may have ended.
    package func addLost(_ count: Int, of leg: SocketID) { post(.leg(leg, .lost(count))) }

    /// Shows what the meter counts, as `AsyncSocket.showFaults(_:)` does. Call it whenever the meter has changed. The
    /// connection may have ended.
    package func showFaults(_ meter: FaultMeter, of session: SocketID) { post(.leg(session, .faults(meter))) }
}
