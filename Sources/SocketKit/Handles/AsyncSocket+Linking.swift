import SocketCore

/// For relays: two connections of one engine, the bytes of each forwarded to the other.
extension AsyncSocket {
    /// Notes on both that they are the legs of one relayed connection. From then on a reset of one ends it at once, also
    /// while it is held back. No effect on a socket without a session, or on two engines.
    package func link(to other: AsyncSocket) {
        guard let mine = session, let theirs = other.session, engine === other.engine else { return }
        engine.post(.leg(mine, .link(theirs)))
        engine.post(.leg(theirs, .link(mine)))
    }

    /// Notes on both legs that the server gets the client's request with another head: `came` bytes long it was, `sent`
    /// it is. This one is the client's leg. No effect without a session.
    package func markHeadRewritten(to server: AsyncSocket, came: Int, sent: Int) {
        command(.headRewritten(was: came, is: 0))
        server.command(.headRewritten(was: came, is: sent))
    }

    /// Looks from now on, for snapshots and for the traffic that is kept, at what passes in clear, and shows a WebSocket
    /// where an upgrade is the first request: what comes and goes is not changed, held or answered by that. `role` is the
    /// part that this end plays; `early` was read before. No effect without a session.
    package func watchForWebSocket(as role: WebSocketRole, after early: [UInt8] = []) {
        fact { $0?.watchForWebSocket(as: role, after: early) }
    }

    /// Takes nothing more from the kernel, so that the peer feels it, or takes it again. Unlike `pauseReading` it is no
    /// act of a person, and does not undo one. No effect without a session.
    package func holdBack(_ hold: Bool) { command(.holdBack(hold)) }

    /// The same as `holdBack(true)`, before anything else is read: within a callback of the engine's queue, what was
    /// posted before may still have been followed by reads.
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

    /// Sends FIN after the queued bytes, without close_notify where there is TLS. No effect without a session.
    package func cutOff() { command(.cutOff) }

    /// Sends what the kernel takes at once of what is queued, drops the rest, and closes with RST. No effect without a
    /// session.
    package func resetAfterFlush() { command(.reset) }

    /// Shows in snapshots what rules and breakpoints do to this connection, and delivers each read before the next one,
    /// so that a rule can hold back the rest. No effect without a session.
    package func showFaults(_ meter: FaultMeter) { command(.faults(meter)) }

    /// Records what a rule or a breakpoint did; see `SocketEvent.Kind.faulted`, `held` and `released`.
    package func recordFault(_ kind: SocketEvent.Kind, _ first: Int, _ second: Int) {
        command(.faulted(kind, first, second))
    }

    /// Lets an intake take what is received from now on, before any read does. No effect without a session.
    package func setIntake(_ intake: Intake?) { command(.intake(intake)) }

    /// Gives bytes to the reads that the intake took, as they are or others.
    package func deliver(_ bytes: [UInt8]) { command(.deliver(bytes)) }

    /// Ends the stream for the reads, which the intake was told of.
    package func deliverEnd() { command(.deliverEnd) }

    /// When the session began; now, without one.
    package var opened: MonotonicTime { fact { $0?.opened } ?? SystemClock().now }

    /// How many bytes were queued since the session began, and how many came, before any TLS.
    package var queuedInAll: UInt64 {
        fact { $0.map { ($0.tls?.plaintextSent ?? $0.sent) + UInt64($0.machine.pendingWriteBytes) } ?? 0 }
    }
    package var receivedInAll: UInt64 { fact { $0.map { $0.tls?.plaintextReceived ?? $0.received } ?? 0 } }

    /// Sends each write by a system call of its own (true), or several together as usual.
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
    /// What was spent on the compressed messages of others.
    package var inflation: InflationBudget { enter { $0.inflation } }

    /// Lets a listener accept nothing, since these rules say so, or accept again (`nil`). Unlike `pauseReading` no
    /// person asked for it, and it does not undo what one asked for.
    package func shut(_ listener: SocketID, by rules: FaultSnapshot?) { post(.leg(listener, .shut(rules))) }

    /// Counts bytes that could not be delivered to the peer of a relay's leg, which may be over.
    package func addLost(_ count: Int, of leg: SocketID) { post(.leg(leg, .lost(count))) }

    /// The same as the socket's `showFaults`, again whenever the meter has changed; the connection may be over.
    package func showFaults(_ meter: FaultMeter, of session: SocketID) { post(.leg(session, .faults(meter))) }
}
