import SocketCore

@testable import InspectorCore
@testable import SocketRecords

/// What the kept files say, as lines of JSON.
enum KeptFacts {
    static let wires = ["live-plain.wire", "live-secure.wire"]
    static let recordings = ["host.pcapng", "relay.pcapng", "wire-1.pcapng"]

    /// The frames of a session, encoded again.
    static func rewritten(_ bytes: [UInt8]) throws -> [UInt8] {
        var decoder = InspectionFrameDecoder()
        decoder.append(bytes)
        var again: [UInt8] = []
        while let frame = try decoder.next() { again += frame.bytes }
        return again
    }

    static func lines(ofWire bytes: [UInt8]) throws -> [String] {
        var (decoder, mirror) = (InspectionFrameDecoder(), InspectionMirror())
        var watch = InspectionWatch()
        (watch.wantsAll, watch.wantsEvents) = (true, true)
        mirror.watches(watch)
        decoder.append(bytes)
        var events: [SocketEvent] = []
        var last: EngineSnapshot?
        while let frame = try decoder.next() {
            try mirror.absorb(frame)
            guard case .tick = frame, let snapshot = mirror.snapshot(engine: "kept") else { continue }
            events += snapshot.events
            last = snapshot
        }
        return last.map { lines($0, events) } ?? []
    }

    static func lines(ofRecording bytes: [UInt8]) throws -> [String] {
        var capture = OpenedCapture()
        try capture.absorb(bytes)
        capture.finish()
        return capture.snapshot(SnapshotRequest(eventsFrom: 0), named: "kept").map { lines($0, $0.events) } ?? []
    }

    private static func json(_ snapshot: EngineSnapshot) -> SocketJSON {
        var clock = WallClock()
        clock.absorb(snapshot)
        return SocketJSON(clock: clock)
    }

    private static func lines(_ snapshot: EngineSnapshot, _ events: [SocketEvent]) -> [String] {
        let json = json(snapshot)
        return snapshot.sockets.map { JSON.object(json.members($0, end: snapshot.peers?[$0.id])).text }
            + events.map { JSON.object(json.members($0, of: snapshot.socket($0.socket))).text }
            + snapshot.engines.map { JSON.object(SocketJSON.load(nil, $0)).text }
    }

    /// Sockets of every kind in which each field has a value: their bytes on the wire, with what only the right to payload
    /// shows, without it, and corrected; then their JSON.
    static var everything: [String] {
        let json = json(EngineSnapshot(engine: "", time: .zero, wallNanoseconds: 1_700_000_000_000_000_000))
        var filler = FactFiller()
        var full = SocketSnapshot.blank
        try? full.fields(&filler)
        var end = PeerEnd.blank
        try? end.fields(&filler)
        var captured = full
        captured.ends = CapturedEnds(local: CapturedEnds.End(full))
        var engine = full
        engine.host = nil
        var listener = engine
        listener.role = .listener
        var bare = SocketSnapshot(id: SocketID(1), role: .client, phase: .connecting, target: "t", opened: .zero)
        var (hidden, hostile, corrector) = (full, SocketSnapshot.blank, FactFiller(isHostile: true))
        hidden.hidePayload()
        try? hostile.fields(&corrector)
        hostile.makePlausible()
        var lines = [full, hidden, hostile].map { $0.encoded.map { String($0, radix: 16) }.joined(separator: " ") }
        lines += [full, engine, listener, captured, hostile, bare].map { JSON.object(json.members($0, end: end)).text }
        bare.reading.pendingCount = 3
        bare.phase = .closed
        bare.closed = CloseRecord(time: MonotonicTime(nanoseconds: 3))
        return lines + [JSON.object(json.members(bare)).text]
    }
}

/// Gives every field a value: its number, or the last of its words.
struct FactFiller: WireCoder {
    /// Whether numbers that can be negative are.
    var isHostile = false

    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value) {
        if let made = made(number, Value.self) { value = made }
    }

    mutating func field<Value: WireValue>(_ number: UInt32, _ value: inout Value?) {
        if let made = made(number, Value.self) { value = made }
    }

    mutating func field<Value: WireValue>(_ number: UInt32, _ values: inout [Value]) {
        if let made = made(number, Value.self) { values = [made] }
    }

    private static let samples: [any WireValue & Sendable] = [
        SocketAddress.v4(host: "10.0.0.1", port: 80), OperationSnapshot.Kind.read(.delimiter([13, 10], limit: 9)),
        SocketError.Reason.system(errno: 104), TLSVerification.failed(code: 18, text: "self-signed"),
        ConnectSnapshot.Attempt.Outcome.failed(errno: 111), WebSocketFailure.unmaskedFrame,
        WebSocketParserState.payload(.text, done: 3, total: 9), Endpoint.host("example.org", port: 53),
        WebSocketOpcode.text, HostState.established, SocketFlags.connected, DatagramFlags.didBind,
    ]

    private mutating func made<Value: WireValue>(_ number: UInt32, _: Value.Type) -> Value? {
        if let sample = Self.samples.first(where: { $0 is Value }) { return sample as? Value }
        if let words = Value.self as? any CaseIterable.Type, let word = Self.last(words) as? Value { return word }
        if let message = Value.self as? any WireMessage.Type { return filled(message) as? Value }
        var writer = WireWriter()
        switch Value.wireType {
        case .varint: writer.varint(UInt64(number) << 1 | (isHostile ? 1 : 0))
        case .fixed64: writer.fixed64((Double(number) / 64).bitPattern)
        case .delimited: writer.delimited(Array("t\(number)".utf8))
        case .fixed32: return nil
        }
        var reader = WireReader(writer.bytes[...])
        return try? Value.read(from: &reader)
    }

    private mutating func filled<Message: WireMessage>(_: Message.Type) -> Message {
        var message = Message.blank
        try? message.fields(&self)
        return message
    }

    private static func last<Words: CaseIterable>(_: Words.Type) -> Any? { Array(Words.allCases).last }
}
