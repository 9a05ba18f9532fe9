/// Turns the peer's bytes into events.
extension WebSocketMachine {
    /// Takes all bytes and appends the resulting events in order. Never traps or throws: a protocol violation becomes
    /// `failed`, and the bytes after it are discarded and counted.
    ///
    /// A few compressed bytes can inflate to many. After about `deliveryBudget` bytes of messages, complete or not, or
    /// `mostEvents` events, the remaining input is held and `hasHeldInput` is true. Deliver the events, then call
    /// `proceed`, and read no more from the transport until nothing is held. A large message takes its memory from
    /// `spares` if possible.
    package mutating func receive(
        _ bytes: RawSpan, now: MonotonicTime, spares: inout LargeArrayPool, into events: inout [WebSocketEvent]
    ) {
        received.wireBytes += UInt64(bytes.byteCount)
        bytes.withUnsafeBytes { input in
            guard held.isEmpty else {
                held.append(contentsOf: input)
                return
            }
            let taken = absorb(input, now: now, spares: &spares, into: &events)
            if taken < input.count { held = Array(input[taken...]) }
        }
    }

    /// Takes all bytes as `receive(_:now:spares:into:)` does, without spare memory.
    package mutating func receive(_ bytes: RawSpan, now: MonotonicTime, into events: inout [WebSocketEvent]) {
        var spares = LargeArrayPool()
        receive(bytes, now: now, spares: &spares, into: &events)
    }

    /// The message bytes that one call produces before it holds the remaining input.
    package static var deliveryBudget: Int { 256 << 10 }

    /// The events that one call produces before it holds the remaining input. One read of 16-byte messages produces
    /// fewer.
    package static var mostEvents: Int { 4096 }

    /// Whether bytes or the peer's end of stream are waiting for `proceed`.
    package var hasHeldInput: Bool { !held.isEmpty || isEndHeld }

    /// Continues with the held input. Has no effect if nothing is held.
    package mutating func proceed(now: MonotonicTime, into events: inout [WebSocketEvent]) {
        let input = held.handOver()
        var spares = LargeArrayPool()
        let taken = input.withUnsafeBytes { absorb($0, now: now, spares: &spares, into: &events) }
        if taken < input.count { held = Array(input[taken...]) }
        guard isEndHeld, held.isEmpty else { return }
        isEndHeld = false
        receiveEnd(now: now, into: &events)
    }

    /// Absorbs bytes until the input or the budget is used up. Returns the number taken.
    private mutating func absorb(
        _ input: UnsafeRawBufferPointer, now: MonotonicTime, spares: inout LargeArrayPool,
        into events: inout [WebSocketEvent]
    ) -> Int {
        var offset = 0
        let most = assembler.messageBytes + UInt64(Self.deliveryBudget)
        let mostEvents = events.count + Self.mostEvents
        do throws(WebSocketFailure) {
            while closing.acceptsInput, assembler.messageBytes < most, events.count < mostEvents {
                switch try decoder.next(input, &offset, most: assembler.step) {
                case .wait:
                    if decoder.missing > 0 { pings.isBusy(now: now) }
                    return offset
                case .header(let header): try begin(header, now: now, spares: &spares, into: &events)
                case .payload(let range, let key, let isLast):
                    let bytes = UnsafeRawBufferPointer(rebasing: input[range])
                    try absorb(bytes, key: key, isLast: isLast, now: now, spares: &spares, into: &events)
                }
            }
        } catch {
            fail(error, now: now, into: &events)
        }
        guard !closing.acceptsInput else { return offset }
        discarded += input.count - offset
        return input.count
    }

    private mutating func begin(
        _ header: FrameHeader, now: MonotonicTime, spares: inout LargeArrayPool, into events: inout [WebSocketEvent]
    ) throws(WebSocketFailure) {
        frame = header
        frameStart = assembler.messageBytes
        if !header.opcode.isControl { try assembler.begin(header) }
        guard header.length == 0 else { return }
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        try absorb(none, key: nil, isLast: true, now: now, spares: &spares, into: &events)
    }

    private mutating func absorb(
        _ bytes: UnsafeRawBufferPointer, key: UInt32?, isLast: Bool, now: MonotonicTime, spares: inout LargeArrayPool,
        into events: inout [WebSocketEvent]
    ) throws(WebSocketFailure) {
        guard !frame.opcode.isControl else {
            control.append(bytes, unmaskedWith: key)
            if isLast { try endControl(now: now, into: &events) }
            return
        }
        let message = events.count
        try assembler.absorb(bytes, key: key, spares: &spares, into: &events)
        if assembler.isUnfinished { extendMessage(by: bytes.count, now: now) } else { messageDeadline = nil }
        guard isLast else { return }
        received.payloadBytes += UInt64(frame.length)
        record(before: message, assembler.id, [], now: now, into: &events)
    }

    /// Counts the current frame and inserts its record before the events it completed.
    private mutating func record(
        before index: Int, _ message: WebSocketMessageID?, _ control: [UInt8], now: MonotonicTime,
        into events: inout [WebSocketEvent]
    ) {
        received.frames += 1
        guard reportsFrames else { return }
        var record = WebSocketFrameRecord(
            isSent: false, opcode: frame.opcode, isFinal: frame.isFinal, reserved: frame.reserved,
            maskKey: frame.maskKey.map { UInt32(bigEndian: $0) }, length: frame.length,
            messageBytes: Int(assembler.messageBytes - frameStart), message: message, time: now)
        record.control = control
        events.insert(.frame(record), at: index)
    }

    // MARK: Incomplete messages

    /// The memory that incomplete messages use, in bytes.
    package var unfinishedBytes: Int { assembler.unfinishedBytes }

    /// Sets the memory that incomplete messages can use from now on, and the limit it derives from.
    package mutating func limitUnfinished(to bytes: Int, of limit: Int) { assembler.room = (bytes, limit) }

    /// Moves the message deadline to `time` or later. The local side isn't reading, so the message can't complete
    /// before then.
    package mutating func putOffMessage(until time: MonotonicTime) {
        if let due = messageDeadline, due < time { messageDeadline = time }
    }

    /// The nanoseconds added to the deadline for each byte: one second for every 16 KiB.
    private static var shareOfByte: Int64 { 1_000_000_000 >> 14 }

    private mutating func extendMessage(by count: Int, now: MonotonicTime) {
        guard let timeout = settings.messageTimeout else { return }
        let due = messageDeadline ?? now + timeout
        messageDeadline = MonotonicTime(nanoseconds: due.nanoseconds &+ Int64(count) &* Self.shareOfByte)
    }

    // MARK: Control frames

    private mutating func endControl(
        now: MonotonicTime, into events: inout [WebSocketEvent]
    ) throws(WebSocketFailure) {
        let payload = control.handOver()
        record(before: events.count, nil, payload, now: now, into: &events)
        switch frame.opcode {
        case .ping:
            received.pings += 1
            if settings.answersPings, mayStillSend { controls.owe(payload) }
            events.append(.ping(payload))
        case .pong:
            received.pongs += 1
            events.append(.pong(payload, roundTrip: pings.answered(payload, now: now)))
        case .close:
            let close = try Self.close(payload)
            events.append(.closeReceived(close))
            pings.stop()
            perform(closing.receive(close, now: now), now: now, into: &events)
        case .continuation, .text, .binary: fatalError("\(frame.opcode) is not a control frame")
        }
    }

    /// Parses the payload of a Close (5.5.1).
    static func close(_ payload: [UInt8]) throws(WebSocketFailure) -> WebSocketCloseFrame {
        guard !payload.isEmpty else { return WebSocketCloseFrame(code: nil) }
        guard payload.count >= 2 else { throw .cutCloseCode }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isAcceptedFromPeer else { throw .badCloseCode(code) }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else { throw .badCloseReason }
        return WebSocketCloseFrame(code: code, reason: reason)
    }
}
