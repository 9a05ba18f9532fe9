/// The pings and pongs that are to be sent: they go out before any message, between two frames (RFC 6455, 5.4).
struct ControlLane {
    /// A control frame to be made.
    struct Frame: Equatable {
        var opcode: WebSocketOpcode
        var payload: [UInt8]
    }

    /// The answers to the newest pings. The newest alone would do (5.5.3), but who sends a few together likes to see each
    /// answered.
    private var owed = OperationDeque<[UInt8]>()
    private var queued = OperationDeque<Frame>()
    private let limit: Int
    /// Pings that were not answered, for a newer one came first.
    private(set) var superseded: UInt64 = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether there is none.
    var isEmpty: Bool { owed.isEmpty && queued.isEmpty }

    /// A ping came that is to be answered.
    mutating func owe(_ payload: [UInt8]) {
        if owed.count >= max(1, limit), owed.popFirst() != nil { superseded += 1 }
        owed.append(payload)
    }

    /// Queues a ping or a pong of the caller.
    mutating func append(_ opcode: WebSocketOpcode, _ payload: [UInt8]) throws(WebSocketRefusal) {
        guard payload.count <= 125 else { throw .payloadTooLong(payload.count) }
        guard queued.count < limit else { throw .tooManyControls(limit: limit) }
        queued.append(Frame(opcode: opcode, payload: payload))
    }

    /// Queues a ping that is sent by itself: there never are two of those.
    mutating func appendOwnPing(_ payload: [UInt8]) {
        queued.append(Frame(opcode: .ping, payload: payload))
    }

    /// Takes the next frame out.
    mutating func next() -> Frame? {
        if let payload = owed.popFirst() { return Frame(opcode: .pong, payload: payload) }
        return queued.popFirst()
    }

    /// Drops all.
    mutating func drop() {
        while owed.popFirst() != nil {}
        while queued.popFirst() != nil {}
    }
}
