/// A WebSocket after its opening handshake, of either end (RFC 6455): bytes of the peer in, events out; what is to be sent
/// in, bytes for the peer out.
///
/// The shell gives it what the transport lends (`receive`), its end (`receiveEnd`, `transportFailed`) and the time. It
/// performs the events in order, and after each call asks `takeOutgoing` for bytes while little of them waits in the
/// transport, tells `didWrite` how many of those the kernel took, wakes at `deadline` and calls `expire`.
///
/// Nothing here reads a clock, makes a random number or blocks. Calls of the user go through `send` and its kin, which
/// queue or refuse; pings are answered by the machine itself with the next `takeOutgoing`.
package struct WebSocketMachine: ~Copyable {
    /// Which end it is.
    package let role: WebSocketRole
    /// permessage-deflate as agreed on; nil: it was not.
    package let deflate: PerMessageDeflateParameters?
    /// How it behaves.
    package let settings: WebSocketSettings
    /// Whether each frame makes an event.
    package var reportsFrames = false

    // MARK: What comes in

    var decoder: FrameDecoder
    var assembler: MessageAssembler
    /// The header of the frame at hand, and the bytes of messages that there were before it.
    var frame = FrameHeader(opcode: .continuation, length: 0)
    var frameStart: UInt64 = 0
    /// The payload of the control frame at hand.
    var control: [UInt8] = []
    /// What came while what was made of earlier bytes waits to be delivered, and the end behind it.
    var held: [UInt8] = []
    var isEndHeld = false
    var discarded = 0
    var received = WebSocketCounters()
    /// When the message that is half there has taken too long.
    var messageDeadline: MonotonicTime?

    // MARK: What goes out

    var lanes = SendLanes()
    var controls: ControlLane
    var outbox = Outgoing()
    var deflater: Deflater?
    /// Whether the message whose frames go out is compressed.
    var isCompressing = false
    /// The bytes to be sent were above the high watermark, and not at the low one since.
    var isFull = false
    var sent = WebSocketCounters()

    // MARK: Both

    var closing: CloseHandshake
    var pings: PingLedger

    /// A WebSocket that is open now. It owns no memory until something comes or is sent.
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

    /// How far it is in its life.
    package var state: WebSocketState { closing.state }

    // MARK: Time

    /// When `expire` is to be called; nil: not at all.
    package var deadline: MonotonicTime? {
        var first = closing.deadline
        if let next = pings.nextPing, next < first ?? .never { first = next }
        if let overdue = pings.overdue, overdue < first ?? .never { first = overdue }
        if let messageDeadline, messageDeadline < first ?? .never { first = messageDeadline }
        return first
    }

    /// Does what is due: sends a ping, fails when its pong is overdue, ends a closing that takes too long.
    package mutating func expire(now: MonotonicTime, into events: inout [WebSocketEvent]) {
        if let overdue = pings.overdue, overdue <= now, closing.phase == .open {
            fail(.pongTimeout(pings.timeout), now: now, into: &events)
            // Nobody has to deliver anything before: the peer is gone.
            acknowledgeEnd(now: now)
        }
        if let messageDeadline, messageDeadline <= now, closing.acceptsInput {
            fail(.messageTimeout(settings.messageTimeout ?? .zero), now: now, into: &events)
        }
        if let payload = pings.due(now: now) { controls.appendOwnPing(payload) }
        perform(closing.expire(now: now), now: now, into: &events)
    }

    // MARK: Ends

    /// What came before `closeReceived` or `failed` is delivered: this end's own Close may go out, behind what was queued
    /// until now. Without effect at any other time. It happens by itself when `closeTimeout` is over.
    package mutating func acknowledgeEnd(now: MonotonicTime) {
        closing.acknowledge(now: now)
    }

    /// The peer's half of the transport ended in order. Without a Close before, that is the end (7.1.5: 1006).
    package mutating func receiveEnd(now: MonotonicTime, into events: inout [WebSocketEvent]) {
        guard held.isEmpty else {
            isEndHeld = true
            return
        }
        guard closing.phase != .over else { return }
        perform(closing.receiveEnd(isAllWritten: outbox.isEmpty, now: now), now: now, into: &events)
    }

    /// The transport is gone: reset, or broken in another way.
    package mutating func transportFailed(now: MonotonicTime, into events: inout [WebSocketEvent]) {
        finish(.endedWithoutClose, by: .peer, now: now, into: &events)
    }

    /// Ends it now, without a Close: what is queued is dropped.
    package mutating func abort(now: MonotonicTime, into events: inout [WebSocketEvent]) {
        finish(nil, by: .local, now: now, into: &events)
    }

    mutating func fail(_ failure: WebSocketFailure, now: MonotonicTime, into events: inout [WebSocketEvent]) {
        events.append(.failed(failure))
        pings.stop()
        // Nothing more is taken, so nothing comes of what is half there.
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

    /// Frees all memory and says the last word. What was counted stays to be seen, and what was half there.
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
    /// Later than any other.
    fileprivate static let never = MonotonicTime(nanoseconds: .max)
}
