/// What is to be sent is queued, or refused with nothing changed.
extension WebSocketMachine {
    /// Queues a whole message, which goes out as one frame. `mayCompress` false: its bytes would not shrink, such as those
    /// of a picture.
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

    /// Begins a message whose parts are to follow, each of which goes out as one frame. What is queued later waits until it
    /// is finished.
    package mutating func begin(
        _ type: WebSocketMessageType, mayCompress: Bool = true
    ) throws(WebSocketRefusal) -> WebSocketMessageID {
        try checkRoom(for: 0)
        return lanes.begin(type, mayCompress: mayCompress)
    }

    /// Adds a part to a message that was begun; text may be cut within a character.
    package mutating func append(_ bytes: [UInt8], to id: WebSocketMessageID) throws(WebSocketRefusal) {
        try checkRoom(for: bytes.count)
        try lanes.extend(id, with: bytes, isFinal: false)
        noteFill()
    }

    /// Adds the last part, which may be empty.
    package mutating func finish(
        _ id: WebSocketMessageID, with bytes: [UInt8] = []
    ) throws(WebSocketRefusal) {
        try checkRoom(for: bytes.count)
        try lanes.extend(id, with: bytes, isFinal: true)
        noteFill()
    }

    /// Queues a ping of at most 125 bytes. Its pong tells the round-trip time.
    package mutating func ping(_ payload: [UInt8] = []) throws(WebSocketRefusal) {
        guard closing.acceptsMessages else { throw .notOpen(state) }
        try controls.append(.ping, payload)
    }

    /// Queues a pong that nobody asked for, of at most 125 bytes: a sign of life (RFC 6455, 5.5.3).
    package mutating func pong(_ payload: [UInt8] = []) throws(WebSocketRefusal) {
        guard closing.acceptsMessages else { throw .notOpen(state) }
        try controls.append(.pong, payload)
    }

    /// Says Close, behind all that is queued; a message that is streamed and not finished is cut off. Without effect when
    /// anybody closes already.
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

    // MARK: Fill

    /// Bytes of messages that are not with the kernel yet.
    package var bufferedBytes: Int { lanes.bytes + outbox.messageBytes }

    /// Whether the bytes to be sent are not above the high watermark, nor were since they were last at the low one.
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
