import SocketCore

/// The hooks of a WebSocket; a connection without one passes them by.
extension Connection {
    /// From now on this connection is a WebSocket's.
    func begin(_ layer: WebSocketLayer) {
        layers.taker = .webSocket(layer)
        layer.begin(on: self)
        finishStep()
    }

    /// Shows bytes to the WebSocket where they are, and says which are left: another read is in the way. It runs no user
    /// code, so nothing has to be settled before.
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

    /// Tells the WebSocket; what moves bytes at once, the rest when nothing is lent any more.
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

    /// Asks to be flushed at the end of this turn, which pumps the WebSocket.
    func askForPump() {
        guard !machine.isClosed, !isQueuedForFlush else { return }
        isQueuedForFlush = true
        engine.unflushed.append(self)
    }

    /// What was put off is done, from the outbox.
    @inline(never)
    func stepWebSocket(_ notice: SocketNotice?) {
        guard let webSocket else { return }
        if let notice { webSocket.hear(notice, on: self) } else { webSocket.proceed(on: self) }
        // It may have begun anew on another connection meanwhile; then this one is closed.
        if !machine.isClosed { finishStep() }
    }

    /// Reads and writes of anybody else's would tear frames apart.
    func refuseByWebSocket(_ action: SocketCommand.Action, as operation: OperationID) {
        guard var failed = action.failure(as: operation) else { return }
        failed.error = SocketError(
            .badConfiguration, operation: failed.error.operation,
            detail: "a WebSocket reads and writes by itself; send it messages")
        fail(failed)
    }
}

extension EngineState {
    /// A command of a handle, which hears of it when the session is over.
    func perform(_ command: WebSocketCommand, of handle: WebSocket, _ id: SocketID?, as operation: OperationID) {
        if let id = present(id, of: handle) { return perform(.webSocket(id, command), as: operation) }
        if case .close = command { return }
        outbox.append(.webSocket(handle, WebSocket.noSession, .failed(operation, WebSocketLayer.notOpen)))
    }

    /// The session that a command is for: that of the time when it was asked for, or the one in which the same opening
    /// goes on, since a proxy wanted another connection; nil: it is over.
    private func present(_ id: SocketID?, of handle: WebSocket) -> SocketID? {
        guard let id, connection(id) == nil else { return id }
        guard let later = handle.session, connection(later)?.webSocket?.former.contains(id) == true else { return nil }
        return later
    }

    /// What a WebSocket said is delivered up to the end of its input.
    func acknowledgeEnd(of id: SocketID) {
        guard let connection = connection(id), let webSocket = connection.webSocket else { return }
        webSocket.acknowledgeEnd(on: connection)
        connection.finishStep()
    }
}
