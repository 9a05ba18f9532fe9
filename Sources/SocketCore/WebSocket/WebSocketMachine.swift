/// Either side of a WebSocket after its opening handshake (RFC 6455). It turns the peer's bytes into events, and
/// messages into bytes for the peer.
///
/// The shell passes in the bytes the transport lends (`receive`), the transport's end (`receiveEnd`, `transportFailed`)
/// and the time. It performs the events in order. After each call, while little is queued in the transport, it takes
/// bytes from `takeOutgoing` and reports how many the kernel accepted with `didWrite`. At `deadline` it calls `expire`.
///
/// The machine never reads a clock, creates a random number or blocks. User calls such as `send` queue or reject. The
/// machine answers pings automatically in the next `takeOutgoing`.
package struct WebSocketMachine: ~Copyable {
    /// The side of the WebSocket.
    package let role: WebSocketRole
    /// The agreed permessage-deflate parameters, or `nil` if it was not agreed on.
    package let deflate: PerMessageDeflateParameters?
    /// The WebSocket's settings.
    package let settings: WebSocketSettings
    /// Whether each frame produces an event.
    package var reportsFrames = false

    // MARK: Receiving

    var decoder: FrameDecoder
    var assembler: MessageAssembler
    /// The header of the current frame, and the count of message bytes before it.
    var frame = FrameHeader(opcode: .continuation, length: 0)
    var frameStart: UInt64 = 0
    /// The payload of the current control frame.
    var control: [UInt8] = []
    /// Input held until the events from earlier input are delivered, and whether the end of stream follows it.
    var held: [UInt8] = []
    var isEndHeld = false
    var discarded = 0
    var received = WebSocketCounters()
    /// When the incomplete message times out.
    var messageDeadline: MonotonicTime?

    // MARK: Sending

    var lanes = SendLanes()
    var controls: ControlLane
    var outbox = Outgoing()
    var deflater: Deflater?
    /// Whether the message being sent is compressed.
    var isCompressing = false
    /// Whether the queued bytes have exceeded the high watermark and not fallen to the low one since.
    var isFull = false
    var sent = WebSocketCounters()

    // MARK: Both directions

    var closing: CloseHandshake
    var pings: PingLedger

    /// Creates a WebSocket that is open. It allocates no memory until something is received or sent.
    package init(
        role: WebSocketRole, deflate: PerMessageDeflateParameters? = nil,
        settings: WebSocketSettings = WebSocketSettings(), now: MonotonicTime
    ) {
        self.role = role
        self.deflate = deflate
        self.settings = settings
        decoder = FrameDecoder(
            role: role, allowsCompression: deflate != nil, frameBytes: settings.limits.frameBytes)
        assembler = MessageAssembler(role: role, settings: settings, deflate: deflate)
        controls = ControlLane(limit: settings.limits.queuedControls)
        closing = CloseHandshake(role: role, patience: settings.closeTimeout)
        pings = PingLedger(settings: settings, now: now)
    }

    /// The WebSocket's state.
    package var state: WebSocketState { closing.state }

    // MARK: Time

    /// When `expire` must be called, or `nil` if there is no deadline.
    package var deadline: MonotonicTime? {
        var first = closing.deadline
        if let next = pings.nextPing, next < first ?? .never { first = next }
        if let overdue = pings.overdue, overdue < first ?? .never { first = overdue }
        if let messageDeadline, messageDeadline < first ?? .never { first = messageDeadline }
        return first
    }

    /// Handles the deadlines that have passed: sends a ping, or fails if a pong, a message or the closing handshake is
    /// overdue.
    package mutating func expire(now: MonotonicTime, into events: inout [WebSocketEvent]) {
        if let overdue = pings.overdue, overdue <= now, closing.phase == .open {
            fail(.pongTimeout(pings.timeout), now: now, into: &events)
            // The peer is gone, so nothing has to be delivered first.
            acknowledgeEnd(now: now)
        }
        if let messageDeadline, messageDeadline <= now, closing.acceptsInput {
            fail(.messageTimeout(settings.messageTimeout ?? .zero), now: now, into: &events)
        }
        if let payload = pings.due(now: now) { controls.appendOwnPing(payload) }
        perform(closing.expire(now: now), now: now, into: &events)
    }

    // MARK: Ending

    /// Confirms that all events before `closeReceived` or `failed` are delivered. The local Close can then be sent
    /// after everything queued so far. Has no effect at any other time. Happens automatically after `closeTimeout`.
    package mutating func acknowledgeEnd(now: MonotonicTime) {
        closing.acknowledge(now: now)
    }

    /// Handles the peer's end of stream. If no Close arrived before it, the WebSocket ends (7.1.5: 1006).
    package mutating func receiveEnd(now: MonotonicTime, into events: inout [WebSocketEvent]) {
        guard held.isEmpty else {
            isEndHeld = true
            return
        }
        guard closing.phase != .over else { return }
        perform(closing.receiveEnd(isAllWritten: outbox.isEmpty, now: now), now: now, into: &events)
    }

    /// Handles the loss of the transport, such as a reset.
    package mutating func transportFailed(now: MonotonicTime, into events: inout [WebSocketEvent]) {
        finish(.endedWithoutClose, by: .peer, now: now, into: &events)
    }

    /// Ends the WebSocket now without a Close. Everything queued is dropped.
    package mutating func abort(now: MonotonicTime, into events: inout [WebSocketEvent]) {
        finish(nil, by: .local, now: now, into: &events)
    }

    mutating func fail(_ failure: WebSocketFailure, now: MonotonicTime, into events: inout [WebSocketEvent]) {
        events.append(.failed(failure))
        pings.stop()
        // No more input is accepted, so the incomplete message can't complete.
        assembler.freeMemory()
        messageDeadline = nil
        perform(closing.fail(failure, now: now), now: now, into: &events)
    }

    mutating func perform(
        _ step: CloseHandshake.Step, now: MonotonicTime, into events: inout [WebSocketEvent]
    ) {
        switch step {
        case .none: break
        case .endOutput: events.append(.endOutput)
        case .finish: finish(nil, by: .peer, now: now, into: &events)
        }
    }

    /// Frees all memory and appends the last events. Counters and the incomplete message's progress remain available.
    private mutating func finish(
        _ cause: WebSocketFailure?, by origin: WebSocketCloseReport.Origin, now: MonotonicTime,
        into events: inout [WebSocketEvent]
    ) {
        let unsent = lanes.bytes + outbox.messageBytes
        guard let report = closing.finish(cause, by: origin, unsentBytes: unsent, now: now) else { return }
        pings.stop()
        messageDeadline = nil
        controls.drop()
        _ = lanes.drop()
        outbox = Outgoing()
        assembler.freeMemory()
        deflater = nil
        discarded += held.count
        (held, control, isEndHeld) = ([], [], false)
        events.append(.disconnect)
        events.append(.closed(report))
    }
}

extension MonotonicTime {
    /// Later than any other time.
    fileprivate static let never = MonotonicTime(nanoseconds: .max)
}
