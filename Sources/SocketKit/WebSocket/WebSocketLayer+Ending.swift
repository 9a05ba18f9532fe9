import SocketCore

/// The end of a WebSocket, and its snapshot.
extension WebSocketLayer {
    /// How long a deadline is postponed while this side leaves the peer's bytes in the kernel.
    private static let patience = Duration.seconds(1)

    /// Handles a deadline.
    func expire(on connection: Connection) {
        guard isOpen else { return expireOpening(on: connection) }
        let isLeftInKernel = connection.isHeld || connection.machine.reading.isPausedByHand
        if isLeftInKernel, machine?.state == .open {
            // The pong may be among the unread bytes.
            let later = connection.engine.now + Self.patience
            postponed = later
            machine?.putOffMessage(until: later)
            return
        }
        postponed = nil
        machine?.expire(now: connection.engine.now, into: &events)
        performEvents(on: connection)
    }

    /// Ends everything once the connection has ended, and notifies the handle.
    func transportEnded(_ error: SocketError?, on connection: Connection) {
        if case .returning(let tunnel) = stage, let plan, error == nil, let handle = handle.load(in: connection.engine)
        {
            stage = .tunnelling(tunnel)
            former.append(connection.id)
            if handle.reconnect(self, to: plan.endpoint, in: connection.engine) { return }
        }
        performEvents(on: connection)
        let cause = self.cause(error)
        failUnsent(cause, on: connection)
        openDeadline = nil
        stage = .over
        if agreement == nil, let listener = listener.load(in: connection.engine) {
            listener.gaveUp(connection.id)
            connection.engine.outbox.append(.webSocketListener(listener, .refused(connection.peer, cause ?? problem)))
        } else {
            tell(.closed(report, cause), on: connection)
        }
    }

    /// Handles the closing of the connection. Notices follow later, but the last snapshot already shows how it ended.
    func transportCloses(_ error: SocketError?, in engine: EngineState) {
        defer { countUnfinished(engine) }
        let now = engine.now
        guard isOpen, report == nil else { return }
        if error == nil {
            machine?.abort(now: now, into: &events)
        } else {
            machine?.transportFailed(now: now, into: &events)
        }
        for case .closed(let report) in events { self.report = report }
    }

    /// Handles the release of the handle: sends the queued messages and then Close 1001, until the kernel accepts no
    /// more.
    func goAway(on connection: Connection) {
        guard isOpen, machine?.state == .open else { return }
        // This can't throw: the code is a valid one to send, and there is no reason text.
        try? machine?.close(.goingAway, now: connection.engine.now)
        pump(on: connection)
        connection.sendPending()
    }

    private func failUnsent(_ cause: SocketError?, on connection: Connection) {
        let lost = cause ?? SocketError(.disconnected, operation: "send", detail: "the WebSocket was closed")
        for (_, operation) in waiting { tell(.failed(operation, lost), on: connection) }
        waiting = []
        while let next = unsent.popFirst() {
            logSent(next.operation, lost.detail, on: connection)
            tell(.failed(next.operation, lost), on: connection)
        }
        for stream in streams.keys.sorted() {
            logSent(stream, lost.detail, on: connection)
            tell(.failed(stream, lost), on: connection)
        }
        streams = [:]
    }

    /// Returns the error with which it ended, or `nil` if it ended cleanly.
    private func cause(_ error: SocketError?) -> SocketError? {
        guard let report else { return problem ?? error }
        guard let failure = report.failure else { return report.wasClean ? nil : error }
        // The kernel's error, such as a reset, says more than the lack of a Close.
        if failure == .endedWithoutClose, let error { return error }
        return SocketError(.webSocket(.failed(failure)), operation: "WebSocket", detail: failure.description)
    }

    // MARK: Snapshot

    private var pictured: WebSocketStage {
        switch stage {
        case .tunnelling, .tunnelled, .returning: .tunnelling
        case .opening, .answering, .deciding: .opening
        case .open:
            switch machine?.state {
            case .open: .open
            case .closing: .closing
            case .closed, nil: .closed
            }
        case .over: agreement == nil ? .refused : .closed
        }
    }

    /// Returns a snapshot of the WebSocket.
    func snapshot(isConnecting: Bool) -> WebSocketPicture {
        let target = plan?.url.description ?? request.flatMap { WebSocketRequest($0)?.resource } ?? "-"
        var snapshot = WebSocketPicture(role: role, stage: isConnecting ? .connecting : pictured, target: target)
        snapshot.request = request
        snapshot.response = response
        snapshot.subprotocol = agreement?.subprotocol
        snapshot.extensions = agreement?.extensions ?? []
        snapshot.problem = problem?.detail
        snapshot.openingDeadline = openDeadline
        snapshot.openedIn = openedIn
        snapshot.undeliveredBytes = backPressure.pressure.weight
        snapshot.traffic = machine?.snapshot()
        snapshot.report = report
        switch stage {
        case .answering(let handshake): snapshot.headBytes = handshake.count
        case .tunnelling, .tunnelled, .returning, .opening, .deciding, .open, .over: break
        }
        return snapshot
    }
}
