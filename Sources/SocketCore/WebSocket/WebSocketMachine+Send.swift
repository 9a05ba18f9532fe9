/// Queues what is to be sent, or rejects it and changes nothing.
extension WebSocketMachine {
    /// Queues a whole message, which goes out as one frame. Pass `false` for `mayCompress` if its bytes would not
    /// shrink, such as those of an image.
    @discardableResult package mutating func send(
        _ type: WebSocketMessageType, _ bytes: [UInt8], mayCompress: Bool = true
    ) throws(WebSocketRefusal) -> WebSocketMessageID {
        try checkRoom(for: bytes.count)
        if type == .text {
            var text = UTF8Validator()
            if let impossible = bytes.withUnsafeBytes({ text.validate($0) }) { throw .notUTF8(offset: impossible) }
            guard text.isComplete else { throw .notUTF8(offset: bytes.count) }
        }
        defer { noteFill() }
        return lanes.append(type, bytes, mayCompress: mayCompress)
    }

    /// Begins a message whose parts follow, one frame each. Messages queued later wait until it is finished.
    package mutating func begin(
        _ type: WebSocketMessageType, mayCompress: Bool = true
    ) throws(WebSocketRefusal) -> WebSocketMessageID {
        try checkRoom(for: 0)
        return lanes.begin(type, mayCompress: mayCompress)
    }

    /// Adds a part to a message that `begin` started. Text can be split within a character.
    package mutating func append(_ bytes: [UInt8], to id: WebSocketMessageID) throws(WebSocketRefusal) {
        try checkRoom(for: bytes.count)
        try lanes.extend(id, with: bytes, isFinal: false)
        noteFill()
    }

    /// Adds the last part of a message, which can be empty.
    package mutating func finish(
        _ id: WebSocketMessageID, with bytes: [UInt8] = []
    ) throws(WebSocketRefusal) {
        try checkRoom(for: bytes.count)
        try lanes.extend(id, with: bytes, isFinal: true)
        noteFill()
    }

    /// Queues a ping of at most 125 bytes. Its pong measures the round-trip time.
    package mutating func ping(_ payload: [UInt8] = []) throws(WebSocketRefusal) {
        guard closing.acceptsMessages else { throw .notOpen(state) }
        try controls.append(.ping, payload)
    }

    /// Queues an unsolicited pong of at most 125 bytes as a sign of life (RFC 6455, 5.5.3).
    package mutating func pong(_ payload: [UInt8] = []) throws(WebSocketRefusal) {
        guard closing.acceptsMessages else { throw .notOpen(state) }
        try controls.append(.pong, payload)
    }

    /// Queues a Close after everything queued. A streamed message that is not finished is cut off. Has no effect if
    /// either side is closing already.
    package mutating func close(
        _ code: WebSocketCloseCode? = .normal, reason: String = "", now: MonotonicTime
    ) throws(WebSocketRefusal) {
        if let code, !code.isSendable { throw .closeCode(code) }
        guard reason.utf8.count <= 123 else { throw .reasonTooLong(reason.utf8.count) }
        guard code != nil || reason.isEmpty else { throw .reasonWithoutCode }
        closing.close(WebSocketCloseFrame(code: code, reason: reason), now: now)
        pings.stop()
    }

    private func checkRoom(for count: Int) throws(WebSocketRefusal) {
        guard closing.acceptsMessages else { throw .notOpen(state) }
        let queued = bufferedBytes
        guard count <= settings.limits.sendQueueBytes - queued else {
            throw .queueFull(bytes: count, queued: queued, limit: settings.limits.sendQueueBytes)
        }
    }

    // MARK: Watermarks

    /// The bytes of messages that the kernel has not accepted yet.
    package var bufferedBytes: Int { lanes.bytes + outbox.messageBytes }

    /// Whether the queued bytes have not exceeded the high watermark since they were last at or below the low one.
    package var isWritable: Bool { !isFull }

    private mutating func noteFill() {
        if bufferedBytes > settings.watermarks.high { isFull = true }
    }

    mutating func noteDrain(into events: inout [WebSocketEvent]) {
        guard isFull, bufferedBytes <= settings.watermarks.low else { return }
        isFull = false
        events.append(.writable)
    }
}
