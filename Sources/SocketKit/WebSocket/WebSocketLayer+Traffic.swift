import SocketCore

/// The traffic of an open WebSocket.
extension WebSocketLayer {
    /// The bytes in the connection's write queue at which no more are taken from the machine. Control frames can
    /// overtake bytes that are still in the machine.
    private static let queueLimit = 128 << 10
    /// The bytes taken from the machine in one turn before other sockets get their share.
    private static let turnLimit = 1 << 20

    // MARK: Out

    /// Performs a command, or keeps it until there is a machine. Returns `false` if it was rejected.
    @discardableResult
    func perform(_ command: WebSocketCommand, as operation: OperationID, on connection: Connection) -> Bool {
        guard isOpen else { return performEarly(command, operation, on: connection) }
        defer { connection.askForPump() }
        do throws(WebSocketRefusal) {
            try queue(command, operation, on: connection)
            return true
        } catch {
            log(refused: command, as: operation, error.description, on: connection)
            let refused = SocketError(.webSocket(.notSent(error)), operation: "send", detail: error.description)
            tell(.failed(operation, refused), on: connection)
            return false
        }
    }

    private func queue(
        _ command: WebSocketCommand, _ operation: OperationID, on connection: Connection
    ) throws(WebSocketRefusal) {
        switch command {
        case .message(let message):
            guard let id = try machine?.send(message.type, message.bytes) else { return }
            unsent.append((id, operation))
            log(message.type, message.bytes, as: operation, on: connection)
        case .fragments(let type, let parts):
            guard let id = try machine?.begin(type) else { return }
            for part in parts.dropLast() { try machine?.append(part, to: id) }
            try machine?.finish(id, with: parts.last ?? [])
            unsent.append((id, operation))
            log(type, Array(parts.joined()), as: operation, on: connection)
        case .begin(let type):
            streams[operation] = try machine?.begin(type)
            if connection.traffic != nil { streamed[operation] = StreamedTraffic(type: type) }
        case .append(let stream, let bytes, let isLast):
            guard let id = streams[stream] else { throw .noSuchMessage(WebSocketMessageID(0)) }
            guard isLast else {
                try machine?.append(bytes, to: id)
                return log(part: bytes, of: stream, as: operation, on: connection)
            }
            try machine?.finish(id, with: bytes)
            log(part: bytes, of: stream, as: operation, on: connection)
            streams[stream] = nil
            unsent.append((id, stream))
        case .ping(let payload): try machine?.ping(payload)
        case .pong(let payload): try machine?.pong(payload)
        case .close(let code, let reason): try machine?.close(code, reason: reason, now: connection.engine.now)
        }
    }

    private func performEarly(
        _ command: WebSocketCommand, _ operation: OperationID, on connection: Connection
    ) -> Bool {
        if case .close = command {
            connection.askToClose(.now)
            return true
        }
        let bytes = waitingBytes + command.byteCount
        guard case .over = stage else {
            let limit = configuration.settings.limits.sendQueueBytes
            if bytes <= limit {
                waiting.append((command, operation))
                waitingBytes = bytes
                return true
            }
            let error = SocketError(
                .badParameter, operation: "send",
                detail: "\(bytes) bytes queued before it is open exceed the limit of \(limit)")
            tell(.failed(operation, error), on: connection)
            return false
        }
        tell(.failed(operation, Self.notOpen), on: connection)
        return false
    }

    static let notOpen = SocketError(.notConnected, operation: "send", detail: "the WebSocket is not open")

    /// Moves the machine's outgoing bytes to the connection's write queue until that is full. Called where the
    /// connection flushes its writes, so the commands of one turn leave together.
    func pump(on connection: Connection) {
        let now = connection.engine.now
        if pumped.turn != now { pumped = (now, 0) }
        while connection.machine.pendingWriteBytes < Self.queueLimit, machine?.hasOutgoing == true {
            guard pumped.bytes < Self.turnLimit else {
                connection.interest.isSendBudgetSpent = true
                break
            }
            let bytes = machine?.takeOutgoing(
                now: now, maskKey: { connection.engine.maskKeys.next() }, into: &events)
            guard let bytes, !bytes.isEmpty else { break }
            pumped.bytes += bytes.count
            handedOn += bytes.count
            connection.enqueue(WriteRequest(bytes), as: connection.engine.names.nextOperation())
        }
    }

    /// Reports bytes that the kernel accepted to the machine. The resulting events are performed once the connection
    /// has finished its writes.
    func transportMoved(on connection: Connection) {
        let written = handedOn - connection.machine.pendingWriteBytes
        guard isOpen, written > reported else { return }
        machine?.didWrite(written - reported, now: connection.engine.now, into: &events)
        reported = written
    }

    // MARK: In

    /// Processes the input that the machine has held. Returns whether more bytes can be read from the kernel.
    func mayReceive(on connection: Connection) -> Bool {
        guard !backPressure.pressure.isHolding else { return false }
        isUserBehind = false
        guard machine?.hasHeldInput == true else { return true }
        limitUnfinished(connection.engine)
        machine?.proceed(now: connection.engine.now, into: &events)
        performEvents(on: connection)
        return machine?.hasHeldInput != true && !isUserBehind
    }

    /// Holds back reads while the user or the machine can't keep up.
    private func holdIfBehind(on connection: Connection) {
        let mustWait = machine?.hasHeldInput == true
        // The user may have caught up before anything was held back, and reports that only once.
        if isUserBehind { isUserBehind = backPressure.pressure.isHolding }
        guard mustWait || isUserBehind else { return }
        connection.isHeldBack = true
        if !isUserBehind { askToProceed(on: connection) }
    }

    /// Records that everything before the end of input was delivered.
    func acknowledgeEnd(on connection: Connection) {
        machine?.acknowledgeEnd(now: connection.engine.now)
        connection.askForPump()
    }

    // MARK: Unfinished messages

    /// The bytes of each unfinished message that don't count, which is no more than the kernel buffers for a connection
    /// anyway.
    private static let freeBytes = 64 << 10

    /// Tells the machine how many bytes of an unfinished message it can keep.
    func limitUnfinished(_ engine: EngineState) {
        let limit = engine.configuration.unfinishedMessageBytes
        machine?.limitUnfinished(
            to: Self.freeBytes + max(0, limit - engine.unfinishedBytes + unfinished), of: limit)
    }

    /// Updates the engine's sum.
    func countUnfinished(_ engine: EngineState) {
        let counts = max(0, (machine?.unfinishedBytes ?? 0) - Self.freeBytes)
        guard counts != unfinished else { return }
        engine.unfinishedBytes += counts - unfinished
        unfinished = counts
    }

    // MARK: Events

    /// Performs the machine's events in order.
    func performEvents(on connection: Connection) {
        countUnfinished(connection.engine)
        if !events.isEmpty {
            let said = events
            events = []
            // The connection's last snapshot is made when it is closed, before the `closed` event is performed.
            for case .closed(let report) in said { self.report = report }
            for event in said { perform(event, on: connection) }
        }
        // A few bytes can inflate to many without completing a message.
        if isUserBehind || machine?.hasHeldInput == true { holdIfBehind(on: connection) }
        // Other sockets come first once the turn's budget is spent. Write interest brings the reactor back.
        if !connection.interest.isSendBudgetSpent, machine?.hasOutgoing == true,
            connection.machine.pendingWriteBytes < Self.queueLimit
        {
            connection.askForPump()
        }
    }

    private func perform(_ event: WebSocketEvent, on connection: Connection) {
        switch event {
        case .message(let type, let bytes):
            log(type, received: bytes, isPart: false, on: connection)
            tell(.message(WebSocketMessage(type, bytes)), on: connection)
        case .chunk(let chunk):
            log(chunk.type, received: chunk.bytes, isPart: !(chunk.isFirst && chunk.isFinal), on: connection)
            tell(.chunk(chunk), on: connection)
        case .ping(let payload): tell(.ping(payload), on: connection)
        case .pong(let payload, let roundTrip):
            logPong(payload, roundTrip, on: connection)
            tell(.pong(payload, roundTrip: roundTrip), on: connection)
        case .closeReceived(let frame): tell(.inputEnded(frame), on: connection)
        case .failed(let failure):
            if case .noRoom = failure { connection.engine.counters.messagesWithoutRoom += 1 }
            tell(.inputEnded(nil), on: connection)
        case .sent(let last): wasSent(through: last, on: connection)
        case .writable: tell(.writable, on: connection)
        case .frame(let frame): log(frame, on: connection)
        case .endOutput: connection.halfClose()
        case .disconnect: connection.close(error: nil)
        case .closed: break
        }
    }

    private func wasSent(through last: WebSocketMessageID, on connection: Connection) {
        while !unsent.isEmpty, unsent[0].message <= last, let next = unsent.popFirst() {
            logSent(next.operation, nil, on: connection)
            tell(.sent(next.operation), on: connection)
        }
    }
}

extension WebSocketCommand {
    /// The number of payload bytes that it carries.
    var byteCount: Int {
        switch self {
        case .message(let message): message.bytes.count
        case .fragments(_, let parts): parts.reduce(0) { $0 + $1.count }
        case .append(_, let bytes, _), .ping(let bytes), .pong(let bytes): bytes.count
        case .begin, .close: 0
        }
    }
}
