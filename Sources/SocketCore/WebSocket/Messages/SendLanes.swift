/// The queued messages in order. A streamed message holds up those after it until it is finished, because the fragments
/// of two messages must not be mixed (RFC 6455, 5.4).
struct SendLanes {
    /// A queued frame.
    struct Frame {
        var id: WebSocketMessageID
        var type: WebSocketMessageType
        /// The frame's position within the message.
        var isFirst: Bool
        var isFinal: Bool
        /// Whether the caller allows compression.
        var mayCompress: Bool
        var payload: [UInt8]
    }

    /// A message that is being streamed.
    struct Stream {
        var id: WebSocketMessageID
        var type: WebSocketMessageType
        var mayCompress: Bool
        var text = UTF8Validator()
        var bytes = 0
        var isBegun = false
    }

    /// A run of whole messages, or one streamed message.
    private struct Lane {
        var stream: Stream?
        var frames = OperationDeque<Frame>()

        /// Adds a fragment to the streamed message. Once the stream has ended, the lane ends with its last frame.
        mutating func extend(with payload: [UInt8], isFinal: Bool) throws(WebSocketRefusal) {
            guard var stream else { return }
            if stream.type == .text {
                let impossible = payload.withUnsafeBytes { stream.text.validate($0) }
                if let impossible { throw .notUTF8(offset: stream.bytes + impossible) }
                guard !isFinal || stream.text.isComplete else {
                    throw .notUTF8(offset: stream.bytes + payload.count)
                }
            }
            stream.bytes += payload.count
            frames.append(
                Frame(
                    id: stream.id, type: stream.type, isFirst: !stream.isBegun, isFinal: isFinal,
                    mayCompress: stream.mayCompress, payload: payload))
            stream.isBegun = true
            self.stream = isFinal ? nil : stream
        }
    }

    /// The lane that frames are taken from.
    private var first = Lane()
    /// The lanes after it.
    private var others: [Lane] = []
    private var begun: UInt64 = 0
    /// The queued bytes of messages.
    private(set) var bytes = 0
    /// The messages of which no frame was taken.
    private(set) var messages = 0

    /// Whether a frame can be taken now.
    var hasFrame: Bool { !first.frames.isEmpty }

    var isEmpty: Bool { others.isEmpty && first.frames.isEmpty && first.stream == nil }

    mutating func append(_ type: WebSocketMessageType, _ payload: [UInt8], mayCompress: Bool) -> WebSocketMessageID {
        let id = nextID()
        let frame = Frame(
            id: id, type: type, isFirst: true, isFinal: true, mayCompress: mayCompress, payload: payload)
        bytes += payload.count
        if others.isEmpty, first.stream == nil {
            first.frames.append(frame)
        } else {
            if others.isEmpty || others[others.count - 1].stream != nil { others.append(Lane()) }
            others[others.count - 1].frames.append(frame)
        }
        return id
    }

    /// Queues a message to be streamed.
    mutating func begin(_ type: WebSocketMessageType, mayCompress: Bool) -> WebSocketMessageID {
        let id = nextID()
        let stream = Stream(id: id, type: type, mayCompress: mayCompress)
        if isEmpty { first.stream = stream } else { others.append(Lane(stream: stream)) }
        return id
    }

    private mutating func nextID() -> WebSocketMessageID {
        begun += 1
        messages += 1
        return WebSocketMessageID(begun)
    }

    /// Adds a fragment to a streamed message.
    mutating func extend(
        _ id: WebSocketMessageID, with payload: [UInt8], isFinal: Bool
    ) throws(WebSocketRefusal) {
        if first.stream?.id == id {
            try first.extend(with: payload, isFinal: isFinal)
            advance()
        } else {
            guard let index = others.firstIndex(where: { $0.stream?.id == id }) else { throw .noSuchMessage(id) }
            try others[index].extend(with: payload, isFinal: isFinal)
        }
        bytes += payload.count
    }

    /// Removes and returns the next frame. Returns `nil` if there is none, or if the streamed message has no more
    /// fragments yet.
    mutating func next() -> Frame? {
        guard let frame = first.frames.popFirst() else { return nil }
        bytes -= frame.payload.count
        if frame.isFirst { messages -= 1 }
        advance()
        return frame
    }

    /// Drops everything and returns the number of bytes dropped.
    mutating func drop() -> Int {
        defer {
            first = Lane()
            others = []
            bytes = 0
            messages = 0
        }
        return bytes
    }

    private mutating func advance() {
        while !others.isEmpty, first.frames.isEmpty, first.stream == nil { first = others.removeFirst() }
    }
}
