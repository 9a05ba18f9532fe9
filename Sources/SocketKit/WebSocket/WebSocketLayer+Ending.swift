import SocketCore

/// The end, and what is shown.
extension WebSocketLayer {
    /// How long a deadline is put off while this side itself leaves the peer's bytes in the kernel.
    private static let patience = Duration.seconds(1)

    /// A deadline came.
    func expire(on connection: Connection) {
        guard isOpen else { return expireOpening(on: connection) }
        let isLeftInKernel = connection.isHeld || connection.machine.reading.isPausedByHand
        if isLeftInKernel, machine?.state == .open {
            // The pong may lie among them.
            let later = connection.engine.now + Self.patience
            postponed = later
            machine?.putOffMessage(until: later)
            return
        }
        postponed = nil
        machine?.expire(now: connection.engine.now, into: &events)
        performEvents(on: connection)
    }

    /// The connection is over: everything ends, and the end is told.
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

    /// The connection closes. What comes of it is told later; but its last picture shows how it ended.
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

    /// The user let go of it: what is queued, and Close 1001 behind that, go as far as the kernel takes them at once.
    func goAway(on connection: Connection) {
        guard isOpen, machine?.state == .open else { return }
        // A code that may be sent, without a reason: nothing refuses that.
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

    /// Why it ended, if that was not in order.
    private func cause(_ error: SocketError?) -> SocketError? {
        guard let report else { return problem ?? error }
        guard let failure = report.failure else { return report.wasClean ? nil : error }
        // What the kernel said, such as a reset, is more exact than that no Close came.
        if failure == .endedWithoutClose, let error { return error }
        return SocketError(.webSocket(.failed(failure)), operation: "WebSocket", detail: failure.description)
    }

    // MARK: Shown

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

    /// It as it is now.
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
