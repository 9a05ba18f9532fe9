/// Observes the frames in one direction of a WebSocket between other parties. It takes bytes and reports messages, and
/// neither answers nor stops anything.
struct FrameObserver: ~Copyable {
    /// An incomplete message.
    private struct Message {
        var traffic: WebSocketTraffic
        var bytes: [UInt8] = []
        var length = 0
    }

    /// The most bytes kept of a message, the same as for a traffic item.
    private static let keptBytes = 16_384
    /// The problem reported for a message that was not inflated because the engine's budget was used up.
    private static let tooMuch = "not inflated: too much to inflate at once"

    private let isSent: Bool
    private let keepsMessages: Bool
    private var decoder: FrameDecoder
    private var assembler: MessageAssembler
    /// The current frame's header, and the count of message bytes before it.
    private var frame = FrameHeader(opcode: .continuation, length: 0)
    private var frameStart: UInt64 = 0
    private var control: [UInt8] = []
    private var message: Message?
    private var chunks: [WebSocketEvent] = []
    /// The bytes of budget left for inflating the current input.
    private var allowance = Int.max
    private var counted = WebSocketCounters()
    /// The Close that ended this direction. No frames follow it.
    private(set) var close: WebSocketCloseFrame?
    /// The violation that ended this direction. Nothing after it is parsed.
    private(set) var failure: WebSocketFailure?
    /// The number of compressed messages that were not inflated.
    private(set) var skipped: UInt64 = 0
    /// The number of bytes after the end.
    private(set) var discarded = 0

    /// Observes what `speaker` sends. `isSent` is whether the local side sends it.
    init(
        speaker: WebSocketRole, isSent: Bool, deflate: PerMessageDeflateParameters?, keepsMessages: Bool,
        inflatedLimit: Int
    ) {
        let listener: WebSocketRole = speaker == .client ? .server : .client
        let limits = WebSocketLimits(streamedMessageBytes: .max, emptyFragments: .max)
        self.isSent = isSent
        self.keepsMessages = keepsMessages
        decoder = FrameDecoder(role: listener, allowsCompression: deflate != nil, frameBytes: .max)
        assembler = MessageAssembler(
            role: listener, settings: WebSocketSettings(limits: limits, delivery: .chunks), deflate: deflate,
            inflatedLimit: inflatedLimit)
    }

    /// Parses the next bytes and appends the items they complete. Inflates within `allowance` and subtracts what was
    /// used.
    mutating func receive(
        _ input: UnsafeRawBufferPointer, now: MonotonicTime, allowance: inout Int, into items: inout [ObservedItem]
    ) {
        self.allowance = allowance
        receive(input, now: now, into: &items)
        allowance = self.allowance
    }

    private mutating func receive(
        _ input: UnsafeRawBufferPointer, now: MonotonicTime, into items: inout [ObservedItem]
    ) {
        counted.wireBytes += UInt64(input.count)
        var offset = 0
        do throws(WebSocketFailure) {
            while failure == nil, close == nil {
                switch try decoder.next(input, &offset, most: assembler.step) {
                case .wait: return
                case .header(let header): try begin(header, now: now, into: &items)
                case .payload(let range, let key, let isLast):
                    let bytes = UnsafeRawBufferPointer(rebasing: input[range])
                    try absorb(bytes, key: key, isLast: isLast, now: now, into: &items)
                }
            }
        } catch {
            fail(error, into: &items)
        }
        discard(UnsafeRawBufferPointer(rebasing: input[min(offset, input.count)...]), into: &items)
    }

    /// Reports the incomplete message when the connection has ended.
    mutating func end(into items: inout [ObservedItem]) {
        cut("the connection ended in the middle of it", into: &items)
        assembler.freeMemory()
    }

    // MARK: Frames

    private mutating func begin(
        _ header: FrameHeader, now: MonotonicTime, into items: inout [ObservedItem]
    ) throws(WebSocketFailure) {
        frame = header
        frameStart = assembler.messageBytes
        if !header.opcode.isControl {
            try assembler.begin(header)
            if keepsMessages, let kind = WebSocketTraffic.Kind(header.opcode) {
                message = Message(traffic: WebSocketTraffic(kind))
            }
        }
        guard header.length == 0 else { return }
        try absorb(UnsafeRawBufferPointer(start: nil, count: 0), key: nil, isLast: true, now: now, into: &items)
    }

    private mutating func absorb(
        _ bytes: UnsafeRawBufferPointer, key: UInt32?, isLast: Bool, now: MonotonicTime,
        into items: inout [ObservedItem]
    ) throws(WebSocketFailure) {
        guard !frame.opcode.isControl else {
            control.append(bytes, unmaskedWith: key)
            if isLast { try endControl(now: now, into: &items) }
            return
        }
        chunks.removeAll(keepingCapacity: true)
        try assemble(bytes, key: key)
        for case .chunk(let chunk) in chunks { keep(chunk.bytes) }
        guard isLast else { return }
        counted.payloadBytes += UInt64(frame.length)
        let record = record(assembler.id, now: now)
        message?.traffic.add(record)
        if frame.isFinal { endMessage(into: &items) }
    }

    /// Assembles payload. A message that would exceed the allowance is skipped.
    private mutating func assemble(_ bytes: UnsafeRawBufferPointer, key: UInt32?) throws(WebSocketFailure) {
        guard assembler.inflates else {
            var spares = LargeArrayPool()
            return try assembler.absorb(bytes, key: key, spares: &spares, into: &chunks)
        }
        let room = max(0, allowance - bytes.count)
        let isShort = room < assembler.inflatedRoom
        guard room > 0 || !isShort else {
            assembler.pass(bytes.count)
            return skip(Self.tooMuch)
        }
        try inflate(bytes, key: key, room: room, isShort: isShort)
    }

    private mutating func inflate(
        _ bytes: UnsafeRawBufferPointer, key: UInt32?, room: Int, isShort: Bool
    ) throws(WebSocketFailure) {
        let before = assembler.inflation
        defer { allowance -= assembler.inflation - before }
        var spares = LargeArrayPool()
        assembler.allowance = room
        do throws(WebSocketFailure) {
            try assembler.absorb(bytes, key: key, spares: &spares, into: &chunks)
        } catch {
            guard case .messageTooBig(let limit) = error else { throw error }
            skip(isShort ? Self.tooMuch : "not inflated: over \(limit) bytes")
        }
    }

    private mutating func skip(_ problem: String) {
        assembler.skip(into: &chunks)
        message?.traffic.problem = problem
    }

    private mutating func keep(_ bytes: [UInt8]) {
        guard let kept = message?.bytes.count else { return }
        message?.length += bytes.count
        if kept == 0, bytes.count <= Self.keptBytes {
            message?.bytes = bytes
        } else {
            message?.bytes += bytes.prefix(Self.keptBytes - kept)
        }
    }

    private mutating func endMessage(into items: inout [ObservedItem]) {
        if assembler.isSkipped { skipped += 1 }
        guard var ended = message.take() else { return }
        if assembler.isSkipped {
            ended.traffic.problem = ended.traffic.problem ?? "not inflated, because an earlier message was not"
            (ended.bytes, ended.length) = ([], 0)
        }
        items.append(
            ObservedItem(isSent: isSent, traffic: ended.traffic, length: ended.length, bytes: ended.bytes))
    }

    private mutating func record(_ message: WebSocketMessageID?, now: MonotonicTime) -> WebSocketFrameRecord {
        counted.frames += 1
        let made = Int(assembler.messageBytes - frameStart)
        return WebSocketFrameRecord(
            isSent: isSent, opcode: frame.opcode, isFinal: frame.isFinal, reserved: frame.reserved,
            maskKey: frame.maskKey.map { UInt32(bigEndian: $0) }, length: frame.length,
            messageBytes: assembler.isSkipped ? frame.length : made, message: message, time: now)
    }

    private mutating func endControl(
        now: MonotonicTime, into items: inout [ObservedItem]
    ) throws(WebSocketFailure) {
        let payload = control.handOver()
        let record = record(nil, now: now)
        guard let kind = WebSocketTraffic.Kind(frame.opcode) else { return }
        var traffic = WebSocketTraffic(kind)
        traffic.add(record)
        items.append(ObservedItem(isSent: isSent, traffic: traffic, length: payload.count, bytes: payload))
        switch kind {
        case .ping: counted.pings += 1
        case .pong: counted.pongs += 1
        case .close: close = try WebSocketMachine.close(payload)
        case .text, .binary, .undecoded: break
        }
    }

    // MARK: After the end

    private mutating func fail(_ failure: WebSocketFailure, into items: inout [ObservedItem]) {
        self.failure = failure
        cut(failure.description, into: &items)
        assembler.freeMemory()
        var traffic = WebSocketTraffic(.undecoded)
        traffic.problem = failure.description
        let header = decoder.unfinished
        discarded += header.count
        items.append(ObservedItem(isSent: isSent, traffic: traffic, length: header.count, bytes: header))
    }

    /// Counts bytes that are not frames. Bytes right after a violation are added to the item that reports it.
    private mutating func discard(_ bytes: UnsafeRawBufferPointer, into items: inout [ObservedItem]) {
        guard !bytes.isEmpty else { return }
        discarded += bytes.count
        if items.last?.traffic.kind != .undecoded || items.last?.isSent != isSent {
            var traffic = WebSocketTraffic(.undecoded)
            traffic.problem = failure == nil ? "after the Close" : nil
            items.append(ObservedItem(isSent: isSent, traffic: traffic, length: 0, bytes: []))
        }
        let last = items.count - 1
        items[last].length += bytes.count
        items[last].bytes += bytes.prefix(Self.keptBytes - items[last].bytes.count)
    }

    /// Reports the message that will not be completed.
    private mutating func cut(_ problem: String, into items: inout [ObservedItem]) {
        guard var begun = message.take() else { return }
        begun.traffic.isPart = true
        begun.traffic.problem = problem
        items.append(
            ObservedItem(isSent: isSent, traffic: begun.traffic, length: begun.length, bytes: begun.bytes))
    }

    // MARK: State

    /// What the parser is waiting for.
    var awaiting: WebSocketParserState { failure == nil && close == nil ? decoder.awaiting : .nothing }

    /// The seam after the last byte parsed, which finds where another message can be inserted, or `nil` if none can.
    var seam: FrameSeam? {
        guard failure == nil, close == nil else { return nil }
        return FrameSeam(decoder, frame: frame, isMessageOpen: receiving != nil)
    }

    /// The progress of the incomplete message, or `nil` if there is none.
    var receiving: WebSocketMessageProgress? { failure == nil ? assembler.progress : nil }

    /// The progress of the current frame, header included.
    var progress: WebSocketSendProgress? {
        guard case .payload(let opcode, let done, let total) = awaiting else { return nil }
        // The sender can announce any length up to Int.max.
        let (sum, isBeyond) = total.addingReportingOverflow(frame.count)
        return WebSocketSendProgress(
            opcode: opcode, message: opcode.isControl ? nil : assembler.id, done: frame.count + done,
            total: isBeyond ? .max : sum)
    }

    /// The traffic in this direction, including the current frame.
    var counters: WebSocketCounters {
        var counters = counted
        counters.messages = assembler.completed
        counters.compressedMessages = assembler.compressed
        counters.messageBytes = assembler.messageBytes
        if case .payload(let opcode, let done, _) = decoder.awaiting, !opcode.isControl {
            counters.payloadBytes += UInt64(done)
        }
        return counters
    }
}
