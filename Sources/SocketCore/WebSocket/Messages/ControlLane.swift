/// The queued pings and pongs. They are sent before any message, between two frames (RFC 6455, 5.4).
struct ControlLane {
    /// A queued control frame.
    struct Frame: Equatable {
        var opcode: WebSocketOpcode
        var payload: [UInt8]
    }

    /// The payloads of the newest unanswered pings. Answering only the newest would do (5.5.3), but a peer that sends
    /// several together expects each to be answered.
    private var owed = OperationDeque<[UInt8]>()
    private var queued = OperationDeque<Frame>()
    private let limit: Int
    /// The pings left unanswered because newer ones arrived first.
    private(set) var superseded: UInt64 = 0

    init(limit: Int) {
        self.limit = limit
    }

    var isEmpty: Bool { owed.isEmpty && queued.isEmpty }

    /// Queues the pong that answers a ping.
    mutating func owe(_ payload: [UInt8]) {
        if owed.count >= max(1, limit), owed.popFirst() != nil { superseded += 1 }
        owed.append(payload)
    }

    /// Queues a ping or pong from the caller.
    mutating func append(_ opcode: WebSocketOpcode, _ payload: [UInt8]) throws(WebSocketRefusal) {
        guard payload.count <= 125 else { throw .payloadTooLong(payload.count) }
        guard queued.count < limit else { throw .tooManyControls(limit: limit) }
        queued.append(Frame(opcode: opcode, payload: payload))
    }

    /// Queues an automatic ping. There is never more than one.
    mutating func appendOwnPing(_ payload: [UInt8]) {
        queued.append(Frame(opcode: .ping, payload: payload))
    }

    /// Removes and returns the next frame, or returns `nil` if there is none.
    mutating func next() -> Frame? {
        if let payload = owed.popFirst() { return Frame(opcode: .pong, payload: payload) }
        return queued.popFirst()
    }

    mutating func drop() {
        while owed.popFirst() != nil {}
        while queued.popFirst() != nil {}
    }
}
