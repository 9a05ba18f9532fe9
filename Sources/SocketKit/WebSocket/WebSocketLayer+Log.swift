import SocketCore

/// The recorded traffic of a WebSocket: messages and control frames instead of the bytes that carry them. The heads of
/// its opening handshake are recorded as bytes.
extension WebSocketLayer {
    /// Returns the part of received bytes that belongs to the opening handshake. Frames may follow in the same read.
    func head(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let span = bytes.bytes
        var count = bytes.count
        switch stage {
        case .opening(var handshake):
            if case .open(_, _, let taken) = handshake.receive(span) { count = taken }
        case .answering(var handshake):
            if case .request(_, let taken) = handshake.receive(span) { count = taken }
        case .tunnelling, .tunnelled, .returning, .deciding, .open, .over: break
        }
        return UnsafeRawBufferPointer(rebasing: bytes[..<count])
    }

    /// Records a queued message, or a queued part of one.
    func log(
        _ type: WebSocketMessageType, _ bytes: [UInt8], isPart: Bool = false, as operation: OperationID,
        on connection: Connection
    ) {
        guard connection.keepsTraffic else { return }
        var traffic = WebSocketTraffic(.init(type))
        traffic.isPart = isPart
        connection.traffic?.record(
            operation, direction: .sent, tag: 0, kind: .write, done: bytes.count, total: bytes.count,
            state: .inProgress, now: connection.engine.now, webSocket: traffic
        ) { bytes.part($0) }
    }

    /// Records a queued part of a streamed message.
    func log(part bytes: [UInt8], of stream: OperationID, as operation: OperationID, on connection: Connection) {
        guard connection.traffic != nil, let message = streamed[stream] else { return }
        if bytes.isEmpty, !message.parts.isEmpty { return }
        log(message.type, bytes, isPart: true, as: operation, on: connection)
        streamed[stream]?.parts.append(operation)
    }

    /// Records a message that was rejected.
    func log(refused command: WebSocketCommand, as operation: OperationID, _ why: String, on connection: Connection) {
        switch command {
        case .message(let message): log(message.type, message.bytes, as: operation, on: connection)
        case .fragments(let type, let parts): log(type, Array(parts.joined()), as: operation, on: connection)
        case .begin, .append, .ping, .pong, .close: return
        }
        logSent(operation, why, on: connection)
    }

    /// Records that the kernel accepted a whole message, or that it won't be sent because of `error`.
    func logSent(_ operation: OperationID, _ error: String?, on connection: Connection) {
        guard connection.keepsTraffic || !streamed.isEmpty else { return }
        for part in [operation] + (streamed.removeValue(forKey: operation)?.parts ?? []) {
            connection.traffic?.settle(part, error: error, now: connection.engine.now)
        }
    }

    /// Records a frame that was completely received, or was created for sending.
    func log(_ frame: WebSocketFrameRecord, on connection: Connection) {
        guard !frame.opcode.isControl else { return logControl(frame, on: connection) }
        if frame.isSent {
            guard let operation = frame.message.flatMap(carrier) else { return }
            connection.traffic?.add(frame, to: operation)
        } else {
            if let kind = WebSocketTraffic.Kind(frame.opcode) { incoming = WebSocketTraffic(kind) }
            incoming?.add(frame)
        }
    }

    /// Returns the recorded message, or part of a message, that the next frame of this message carries.
    private func carrier(of message: WebSocketMessageID) -> OperationID? {
        guard let operation = operation(of: message) else { return nil }
        return streamed[operation]?.nextCarrier() ?? operation
    }

    private func operation(of message: WebSocketMessageID) -> OperationID? {
        for index in 0..<unsent.count where unsent[index].message == message { return unsent[index].operation }
        return streams.first { $0.value == message }?.key
    }

    private func logControl(_ frame: WebSocketFrameRecord, on connection: Connection) {
        guard let kind = WebSocketTraffic.Kind(frame.opcode) else { return }
        var traffic = WebSocketTraffic(kind)
        traffic.add(frame)
        traffic.frames[0].control = []
        // A pong is recorded with its round-trip time.
        if !frame.isSent, kind == .pong { return pong = traffic }
        log(traffic, frame.control, frame.isSent ? .sent : .received, on: connection)
    }

    /// Records a received message, or a received part of one.
    func log(_ type: WebSocketMessageType, received bytes: [UInt8], isPart: Bool, on connection: Connection) {
        guard connection.traffic != nil else { return }
        var traffic = incoming.take() ?? WebSocketTraffic(.init(type))
        traffic.isPart = isPart
        log(traffic, bytes, .received, on: connection)
    }

    func logPong(_ payload: [UInt8], _ roundTrip: Duration?, on connection: Connection) {
        guard connection.traffic != nil else { return }
        var traffic = pong.take() ?? WebSocketTraffic(.pong)
        traffic.roundTrip = roundTrip
        log(traffic, payload, .received, on: connection)
    }

    private func log(
        _ traffic: WebSocketTraffic, _ bytes: [UInt8], _ direction: TrafficItem.Direction, on connection: Connection
    ) {
        connection.traffic?.record(
            connection.engine.names.nextOperation(), direction: direction, tag: 0,
            kind: direction == .sent ? .write : .read(.available(limit: nil)), done: bytes.count, total: bytes.count,
            state: .complete(after: .zero), now: connection.engine.now, webSocket: traffic
        ) { bytes.part($0) }
    }
}

/// The recorded traffic of a streamed message: its parts, each of which is sent as one frame.
struct StreamedTraffic {
    var type: WebSocketMessageType
    var parts: [OperationID] = []
    /// The number of its frames created so far.
    private var frames = 0

    init(type: WebSocketMessageType) {
        self.type = type
    }

    /// Returns the part that the next frame carries. An empty final frame without a part of its own belongs to the last
    /// part.
    mutating func nextCarrier() -> OperationID? {
        defer { frames += 1 }
        return parts.indices.contains(frames) ? parts[frames] : parts.last
    }
}
