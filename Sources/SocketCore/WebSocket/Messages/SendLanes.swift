/// The messages that are to be sent, in order. One that is streamed holds up those behind it until it is finished: the
/// fragments of two messages must not be mixed (RFC 6455, 5.4).
struct SendLanes {
    /// A frame to be made.
    struct Frame {
        var id: WebSocketMessageID
        var type: WebSocketMessageType
        /// Its place within the message.
        var isFirst: Bool
        var isFinal: Bool
        /// Whether the caller lets the message be compressed.
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

    /// Whole messages, or one that is streamed.
    private struct Lane {
        var stream: Stream?
        var frames = OperationDeque<Frame>()

        /// Adds a fragment to the message that is streamed. Without its stream, the lane ends with its last frame.
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
    /// Those behind it.
    private var others: [Lane] = []
    private var begun: UInt64 = 0
    /// Bytes of messages queued.
    private(set) var bytes = 0
    /// Messages of which no frame was taken.
    private(set) var messages = 0

    /// Whether a frame can be taken now.
    var hasFrame: Bool { !first.frames.isEmpty }

    /// Whether nothing is queued, and nothing is being streamed.
    var isEmpty: Bool { others.isEmpty && first.frames.isEmpty && first.stream == nil }

    /// Queues a whole message.
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

    /// Queues a message that is to be streamed.
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

    /// Adds a fragment to a message that is being streamed.
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

    /// Takes the next frame out; nil when there is none, as while the message at hand is streamed and has no more yet.
    mutating func next() -> Frame? {
        guard let frame = first.frames.popFirst() else { return nil }
        bytes -= frame.payload.count
        if frame.isFirst { messages -= 1 }
        advance()
        return frame
    }

    /// Drops all. The answer is how many bytes that was.
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
