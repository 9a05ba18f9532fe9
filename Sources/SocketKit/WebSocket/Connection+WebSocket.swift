import SocketCore

/// The hooks of a WebSocket. A connection without one skips them.
extension Connection {
    /// Turns this connection into a WebSocket's.
    func begin(_ layer: WebSocketLayer) {
        recallPieces()
        layers.taker = .webSocket(layer)
        layer.begin(on: self)
        finishStep()
    }

    /// Lends bytes to the WebSocket. Returns those that remain because another read is in the way. It runs no user
    /// code, so nothing must be settled first.
    func lend(_ bytes: UnsafeRawBufferPointer, to webSocket: WebSocketLayer) -> UnsafeRawBufferPointer {
        guard webSocket.gatheredReads == 0, machine.reading.lendsBytes else { return bytes }
        var rest = bytes
        while !rest.isEmpty, machine.isOpen, let loan = machine.reading.lend(rest, now: engine.now) {
            let item = UnsafeRawBufferPointer(rebasing: rest[..<loan.count])
            rest = UnsafeRawBufferPointer(rebasing: rest[loan.count...])
            record(.readDone, tag: loan.tag, loan.count)
            if keepsTraffic { log(loan, webSocket.head(in: item)) }
            webSocket.receive(item.bytes, on: self)
        }
        return rest
    }

    /// Notifies the WebSocket: at once of progress in writing, and of everything else when no bytes are lent.
    func notify(_ webSocket: WebSocketLayer, _ notice: SocketNotice) {
        switch notice {
        case .wrote, .wrotePartial: webSocket.transportMoved(on: self)
        case .read:
            webSocket.gatheredReads += 1
            engine.outbox.append(.webSocketStep(self, notice))
        case .connected, .readPartial, .failed, .givenUp, .timedOut, .closedReadStream, .peerClosed, .writable,
            .secured,
            .trust, .disconnecting, .disconnected:
            engine.outbox.append(.webSocketStep(self, notice))
        }
    }

    /// Schedules a flush at the end of this turn, which pumps the WebSocket.
    func askForPump() {
        guard !machine.isClosed, !isQueuedForFlush else { return }
        isQueuedForFlush = true
        engine.unflushed.append(self)
    }

    /// Performs a postponed step, from the outbox.
    @inline(never)
    func stepWebSocket(_ notice: SocketNotice?) {
        guard let webSocket else { return }
        if let notice { webSocket.hear(notice, on: self) } else { webSocket.proceed(on: self) }
        // The opening may have moved to another connection, in which case this one is closed.
        if !machine.isClosed { finishStep() }
    }

    /// Rejects reads and writes from other sources, which would tear frames apart.
    func refuseByWebSocket(_ action: SocketCommand.Action, as operation: OperationID) {
        guard var failed = action.failure(as: operation) else { return }
        failed.error = SocketError(
            .badConfiguration, operation: failed.error.operation,
            detail: "a WebSocket does its own reads and writes; send messages instead")
        fail(failed)
    }
}

extension EngineState {
    /// Performs a command of a handle, which is notified if the session has ended.
    func perform(_ command: WebSocketCommand, of handle: WebSocket, _ id: SocketID?, as operation: OperationID) {
        if let id = present(id, of: handle) { return perform(.webSocket(id, command), as: operation) }
        if case .close = command { return }
        outbox.append(.webSocket(handle, WebSocket.noSession, .failed(operation, WebSocketLayer.notOpen)))
    }

    /// Returns the session that a command is for: the one it was posted to, or the one in which the same opening
    /// continues because a proxy required another connection. Returns `nil` if the session has ended.
    private func present(_ id: SocketID?, of handle: WebSocket) -> SocketID? {
        guard let id, connection(id) == nil else { return id }
        guard let later = handle.session, connection(later)?.webSocket?.former.contains(id) == true else { return nil }
        return later
    }

    /// Records that a WebSocket's notices were delivered up to the end of its input.
    func acknowledgeEnd(of id: SocketID) {
        guard let connection = connection(id), let webSocket = connection.webSocket else { return }
        webSocket.acknowledgeEnd(on: connection)
        connection.finishStep()
    }
}
