import SocketCore
import SocketRecords

// Facts about a WebSocket that derive from others.

extension WebSocketPicture: Deriving {
    func derive(_ tell: inout FactTeller) {
        tell.always("awaiting", AwaitedPart(self), "what the parser needs next", after: "stage")
        tell(
            "close", ClosingHandshake(self), "the closing handshake; null while neither side has started it",
            after: "rtt_ms")
    }
}

/// What the parser of a WebSocket needs next, and how much of it has arrived.
struct AwaitedPart: WireMessage {
    private enum Part: String, CaseIterable, WireWord {
        case frameHeader, extendedLength, mask, payload, nothing, connection, proxyResponse, request, response
    }

    private var what = Part.nothing
    private var opcode: WebSocketOpcode?
    private var done: Int?
    private var total: Int?

    static var blank: AwaitedPart { AwaitedPart(WebSocketPicture.blank) }

    init(_ facts: WebSocketPicture) {
        (what, opcode) = Self.part(facts)
        let now = WebSocketWords.incoming(facts)
        (done, total) = (now.done, now.total)
    }

    mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &what, "what", "the part")
        try coder.field(2, &opcode, "opcode", "the kind of frame it belongs to")
        try coder.field(3, &done, "done_bytes", "how much has arrived")
        try coder.field(4, &total, "total_bytes", "its size")
    }

    private static func part(_ facts: WebSocketPicture) -> (Part, WebSocketOpcode?) {
        switch facts.traffic?.awaiting {
        case .header: return (.frameHeader, nil)
        case .extendedLength: return (.extendedLength, nil)
        case .mask: return (.mask, nil)
        case .payload(let opcode, _, _): return (.payload, opcode)
        case .nothing: return (.nothing, nil)
        case nil: break
        }
        switch facts.stage {
        case .connecting: return (.connection, nil)
        case .tunnelling: return (.proxyResponse, nil)
        case .opening: return (facts.role == .client ? .response : .request, nil)
        case .open, .closing, .refused, .closed: return (.nothing, nil)
        }
    }
}

/// The closing handshake of a WebSocket.
struct ClosingHandshake: WireMessage {
    private var origin: WebSocketCloseReport.Origin?
    private var sent: WebSocketCloseFrame?
    private var received: WebSocketCloseFrame?
    private var code: WebSocketCloseCode?
    private var failure: WebSocketFailure?
    private var isClean: Bool?
    private var unsent: Int?

    static var blank: ClosingHandshake { ClosingHandshake() }

    private init() {}

    /// Returns `nil` while neither side has started it.
    init?(_ facts: WebSocketPicture) {
        origin = facts.report?.origin ?? facts.traffic?.closeOrigin
        failure = facts.report?.failure ?? facts.traffic?.failure
        guard origin != nil || failure != nil else { return nil }
        sent = facts.report?.sent ?? facts.traffic?.closeSent
        received = facts.report?.received ?? facts.traffic?.closeReceived
        (code, isClean, unsent) = (facts.report?.code, facts.report?.wasClean, facts.report?.unsentBytes)
    }

    mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &origin, "initiated_by", "who started it")
        try coder.field(2, &sent, "sent", "the Close frame that was sent")
        try coder.field(3, &received, "received", "the Close frame that was received")
        try coder.field(4, &code, "code", "the code in effect")
        try coder.field(5, &failure, "failure", "what went wrong")
        try coder.field(6, &isClean, "clean", "whether both sides closed it properly")
        try coder.field(7, &unsent, "unsent_bytes", "what was not sent")
    }
}
