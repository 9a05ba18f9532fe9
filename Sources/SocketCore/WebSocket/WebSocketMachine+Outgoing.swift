/// Turns queued messages into bytes for the transport.
extension WebSocketMachine {
    /// Returns the next bytes for the transport, or an empty array if there are none. Control frames are sent before
    /// messages, between two frames. Small frames are combined up to about `most` bytes. A long payload is returned
    /// separately: without a copy if it is not masked, and in pieces of `most` bytes if it is.
    ///
    /// `maskKey` returns four random bytes, fresh for each frame (RFC 6455, 5.3). Only a client calls it.
    package mutating func takeOutgoing(
        most: Int = 64 << 10, now: MonotonicTime, maskKey: () -> UInt32, into events: inout [WebSocketEvent]
    ) -> [UInt8] {
        guard hasOutgoing else { return [] }
        var wire: [UInt8] = []
        if outbox.hasPayload { return takePayload(behind: wire, most: most) }
        while wire.count < most, !outbox.hasPayload {
            if !controls.isEmpty, mayStillSend, let control = controls.next() {
                add(control, key: role == .client ? maskKey() : nil, to: &wire, now: now, into: &events)
            } else if lanes.hasFrame, mayStillSend, let frame = lanes.next() {
                add(frame, key: role == .client ? maskKey() : nil, to: &wire, now: now, into: &events)
            } else if let close = closing.closeToSend {
                add(close, key: role == .client ? maskKey() : nil, to: &wire, now: now, into: &events)
            } else {
                break
            }
        }
        if role == .client, outbox.hasPayload { return takePayload(behind: wire, most: most) }
        sent.wireBytes += UInt64(wire.count)
        return wire
    }

    private mutating func takePayload(behind wire: consuming [UInt8], most: Int) -> [UInt8] {
        outbox.takePayload(most: max(1, most - wire.count), into: &wire)
        sent.wireBytes += UInt64(wire.count)
        return wire
    }

    /// Whether `takeOutgoing` would return bytes.
    package var hasOutgoing: Bool {
        outbox.hasPayload || closing.phase == .queued || mayStillSend && (!controls.isEmpty || lanes.hasFrame)
    }

    /// Notes that the kernel has accepted `count` of the bytes returned by `takeOutgoing`.
    package mutating func didWrite(_ count: Int, now: MonotonicTime, into events: inout [WebSocketEvent]) {
        guard closing.phase != .over else { return }
        if let last = outbox.didWrite(count) { events.append(.sent(through: last)) }
        noteDrain(into: &events)
        perform(closing.didWrite(isAllWritten: outbox.isEmpty, now: now), now: now, into: &events)
    }

    /// Whether frames other than a Close can be sent. None follow a Close (5.5.1).
    var mayStillSend: Bool {
        switch closing.phase {
        case .open, .ending, .queued: true
        case .said, .halfClosed, .over: false
        }
    }

    private mutating func add(
        _ control: ControlLane.Frame, key: UInt32?, to wire: inout [UInt8], now: MonotonicTime,
        into events: inout [WebSocketEvent]
    ) {
        let header = FrameHeader(opcode: control.opcode, maskKey: key, length: control.payload.count)
        if control.opcode == .ping {
            sent.pings += 1
            pings.sent(control.payload, now: now)
        } else {
            sent.pongs += 1
        }
        add(header, nil, control.payload, of: 0, to: &wire, now: now, into: &events)
    }

    private mutating func add(
        _ close: WebSocketCloseFrame, key: UInt32?, to wire: inout [UInt8], now: MonotonicTime,
        into events: inout [WebSocketEvent]
    ) {
        var payload: [UInt8] = []
        if let code = close.code {
            payload = [UInt8(code.rawValue >> 8), UInt8(truncatingIfNeeded: code.rawValue)] + Array(close.reason.utf8)
        }
        let header = FrameHeader(opcode: .close, maskKey: key, length: payload.count)
        add(header, nil, payload, of: 0, to: &wire, now: now, into: &events)
        perform(closing.didSay(close, now: now), now: now, into: &events)
    }

    private mutating func add(
        _ frame: SendLanes.Frame, key: UInt32?, to wire: inout [UInt8], now: MonotonicTime,
        into events: inout [WebSocketEvent]
    ) {
        if frame.isFirst { isCompressing = compresses(frame) }
        let payload = isCompressing ? compress(frame) : frame.payload
        let opcode: WebSocketOpcode = frame.isFirst ? frame.type == .text ? .text : .binary : .continuation
        let header = FrameHeader(
            isFinal: frame.isFinal, reserved: isCompressing && frame.isFirst ? 4 : 0, opcode: opcode, maskKey: key,
            length: payload.count)
        sent.payloadBytes += UInt64(payload.count)
        sent.messageBytes += UInt64(frame.payload.count)
        if frame.isFinal {
            sent.messages += 1
            sent.compressedMessages += isCompressing ? 1 : 0
        }
        add(header, frame.id, payload, of: frame.payload.count, to: &wire, now: now, into: &events)
    }

    /// Writes a frame's header, and its payload unless the payload is long.
    private mutating func add(
        _ header: FrameHeader, _ message: WebSocketMessageID?, _ payload: [UInt8], of messageBytes: Int,
        to wire: inout [UInt8], now: MonotonicTime, into events: inout [WebSocketEvent]
    ) {
        sent.frames += 1
        outbox.add(header, message: message, messageBytes: messageBytes)
        if payload.count <= Self.copiedBytes {
            wire.makeRoom(for: header.count + payload.count)
            header.append(to: &wire, with: payload)
        } else {
            header.append(to: &wire)
            outbox.keep(payload, key: header.maskKey)
        }
        guard reportsFrames else { return }
        var record = WebSocketFrameRecord(
            isSent: true, opcode: header.opcode, isFinal: header.isFinal, reserved: header.reserved,
            maskKey: header.maskKey.map { UInt32(bigEndian: $0) }, length: header.length,
            messageBytes: messageBytes, message: message, time: now)
        if header.opcode.isControl { record.control = payload }
        events.append(.frame(record))
    }

    /// The longest payload that is copied after its header. Longer ones are passed on without a copy.
    private static var copiedBytes: Int { 16 << 10 }

    // MARK: Compression

    /// Whether a new message is compressed. zlib can't keep to a window of 256 bytes.
    private func compresses(_ frame: SendLanes.Frame) -> Bool {
        guard let deflate, frame.mayCompress, deflate.windowBits(role) >= 9, frame.payload.count <= 1 << 30 else {
            return false
        }
        return !frame.isFinal || frame.payload.count >= settings.compressionThreshold
    }

    private mutating func compress(_ frame: SendLanes.Frame) -> [UInt8] {
        guard let deflate else { return frame.payload }
        var deflater =
            self.deflater.take() ?? Deflater(level: settings.compressionLevel, windowBits: deflate.windowBits(role))
        let compressed = deflater.deflate(frame.payload, isLast: frame.isFinal)
        if frame.isFinal, deflate.forgets(role) { deflater.reset() }
        self.deflater = consume deflater
        return compressed
    }
}
