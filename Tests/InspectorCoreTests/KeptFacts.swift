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
            + snapshot.engines.map { JSON.object(json.members(.engine($0, load: nil, lints: [], process: 0))).text }
    }

    /// What the kept messages say: those of `everything.hex`, a socket in which each field has a value, one in which each
    /// number is below 0, and another end.
    static func everything(_ messages: [[UInt8]]) throws -> [String] {
        let json = json(EngineSnapshot(engine: "", time: .zero, wallNanoseconds: 1_700_000_000_000_000_000))
        let full: SocketSnapshot = try WireReader.message(messages[0][...])
        var hostile: SocketSnapshot = try WireReader.message(messages[1][...])
        hostile.makePlausible()
        let end: PeerEnd = try WireReader.message(messages[2][...])
        var (captured, engine) = (full, full)
        captured.ends = CapturedEnds(local: CapturedEnds.End(full))
        engine.host = nil
        var listener = engine
        listener.role = .listener
        var bare = SocketSnapshot(id: SocketID(1), role: .client, phase: .connecting, target: "t", opened: .zero)
        let lines = [full, engine, listener, captured, hostile, bare].map { json.members($0, end: end) }
        bare.reading.pendingCount = 3
        bare.phase = .closed
        bare.closed = CloseRecord(time: MonotonicTime(nanoseconds: 3))
        return (lines + [json.members(bare)]).map { JSON.object($0).text }
    }

    /// The message, encoded again.
    static func again<Message: WireMessage>(_ bytes: [UInt8], _: Message.Type) throws -> [UInt8] {
        (try WireReader.message(bytes[...]) as Message).encoded
    }

    /// The socket, encoded for a viewer without the right to payload.
    static func hidden(_ bytes: [UInt8]) throws -> [UInt8] {
        var socket: SocketSnapshot = try WireReader.message(bytes[...])
        socket.hidePayload()
        return socket.encoded
    }
}

extension JSON {
    /// Whether it says all that `former` says, in the same order, and perhaps more.
    func extends(_ former: JSON) -> Bool {
        switch (former, self) {
        case (.object(let kept), .object(let members)):
            var rest = members[...]
            return kept.allSatisfy { fact in
                guard let found = rest.firstIndex(where: { $0.name == fact.name }) else { return false }
                let value = rest[found].value
                rest = rest[(found + 1)...]
                return value.extends(fact.value)
            }
        case (.array(let kept), .array(let values)):
            return kept.count == values.count && zip(values, kept).allSatisfy { $0.extends($1) }
        default: return self == former
        }
    }
}
