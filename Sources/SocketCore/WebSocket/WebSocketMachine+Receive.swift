/// Bytes of the peer become events.
extension WebSocketMachine {
    /// Takes all bytes, and appends what happened, in order. It never traps and never throws: what breaks the protocol
    /// becomes `failed`, and what comes behind it is discarded and counted.
    ///
    /// Few compressed bytes may make many: once about `deliveryBudget` bytes of messages were made, whole or not, or
    /// `mostEvents` events,
    /// the rest is held, and `hasHeldInput` is true. Deliver what there is, then call `proceed`; ask the transport for no more until
    /// nothing is held. A large message takes its memory from `spares`, where there is some.
    package mutating func receive(
        _ bytes: RawSpan, now: MonotonicTime, spares: inout SpareArrays, into events: inout [WebSocketEvent]
    ) {
        received.wireBytes += UInt64(bytes.byteCount)
        bytes.withUnsafeBytes { input in
            guard held.isEmpty else {
                held.append(contentsOf: input)
                return
            }
            let taken = take(input, now: now, spares: &spares, into: &events)
            if taken < input.count { held = Array(input[taken...]) }
        }
    }

    /// The same, without spare memory.
    package mutating func receive(_ bytes: RawSpan, now: MonotonicTime, into events: inout [WebSocketEvent]) {
        var spares = SpareArrays()
        receive(bytes, now: now, spares: &spares, into: &events)
    }

    /// Bytes of messages that one call makes before it holds the rest.
    package static var deliveryBudget: Int { 256 << 10 }

    /// Events that one call makes before it holds the rest: more than a read of messages of 16 bytes makes.
    package static var mostEvents: Int { 4096 }

    /// Whether bytes, or the end of the peer's stream, wait for `proceed`.
    package var hasHeldInput: Bool { !held.isEmpty || isEndHeld }

    /// Goes on with what is held. Without effect when nothing is.
    package mutating func proceed(now: MonotonicTime, into events: inout [WebSocketEvent]) {
        let input = held.handOver()
        var spares = SpareArrays()
        let taken = input.withUnsafeBytes { take($0, now: now, spares: &spares, into: &events) }
        if taken < input.count { held = Array(input[taken...]) }
        guard isEndHeld, held.isEmpty else { return }
        isEndHeld = false
        receiveEnd(now: now, into: &events)
    }

    /// Takes bytes until they end or the budget does; how many were taken.
    private mutating func take(
        _ input: UnsafeRawBufferPointer, now: MonotonicTime, spares: inout SpareArrays,
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
                    try take(bytes, key: key, isLast: isLast, now: now, spares: &spares, into: &events)
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
        _ header: FrameHeader, now: MonotonicTime, spares: inout SpareArrays, into events: inout [WebSocketEvent]
    ) throws(WebSocketFailure) {
        frame = header
        frameStart = assembler.messageBytes
        if !header.opcode.isControl { try assembler.begin(header) }
        guard header.length == 0 else { return }
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        try take(none, key: nil, isLast: true, now: now, spares: &spares, into: &events)
    }

    private mutating func take(
        _ bytes: UnsafeRawBufferPointer, key: UInt32?, isLast: Bool, now: MonotonicTime, spares: inout SpareArrays,
        into events: inout [WebSocketEvent]
    ) throws(WebSocketFailure) {
        guard !frame.opcode.isControl else {
            control.append(bytes, unmaskedWith: key)
            if isLast { try endControl(now: now, into: &events) }
            return
        }
        let message = events.count
        try assembler.take(bytes, key: key, spares: &spares, into: &events)
        if assembler.isUnfinished { extendMessage(by: bytes.count, now: now) } else { messageDeadline = nil }
        guard isLast else { return }
        received.payloadBytes += UInt64(frame.length)
        record(before: message, assembler.id, [], now: now, into: &events)
    }

    /// Counts the frame at hand, and puts its record before what it completed.
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

    // MARK: Messages that are half there

    /// What messages that are half there take up in memory.
    package var unfinishedBytes: Int { assembler.unfinishedBytes }

    /// How much that may be from now on, and the limit that it comes of.
    package mutating func limitUnfinished(to bytes: Int, of limit: Int) { assembler.room = (bytes, limit) }

    /// This side leaves the peer's bytes where they are: until then the message cannot come whole.
    package mutating func putOffMessage(until time: MonotonicTime) {
        if let due = messageDeadline, due < time { messageDeadline = time }
    }

    /// Nanoseconds more for each byte: a second for 16 KiB.
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
        case .continuation, .text, .binary: fatalError("\(frame.opcode) is no control frame")
        }
    }

    /// Reads the payload of a Close (5.5.1).
    static func close(_ payload: [UInt8]) throws(WebSocketFailure) -> WebSocketCloseFrame {
        guard !payload.isEmpty else { return WebSocketCloseFrame(code: nil) }
        guard payload.count >= 2 else { throw .cutCloseCode }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isAcceptedFromPeer else { throw .badCloseCode(code) }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else { throw .badCloseReason }
        return WebSocketCloseFrame(code: code, reason: reason)
    }
}
