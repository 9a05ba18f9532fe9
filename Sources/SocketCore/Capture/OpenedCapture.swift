/// What a capture file tells, as an engine would: of a recording of ours its snapshots and traffic as they were shown, of
/// any other file what its packets add up to.
package struct OpenedCapture: Sendable {
    private var reader = CaptureReader()
    private var packets: CapturedSessions
    private var decoder = InspectionFrameDecoder()
    private var mirror = InspectionMirror()
    private var traffic: [SocketID: MirroredTraffic] = [:]
    private var trafficCost = 0
    private let limits: (each: Int, all: Int)
    /// Whether it is a recording of ours.
    package private(set) var isOurs = false
    /// Bytes read.
    package private(set) var length: UInt64 = 0

    /// Keeps at most `each` bytes of one session's traffic and about `all` bytes in all.
    package init(keeping each: Int = TrafficLog.standardLimit, all: Int = TrafficLog.standardTotal) {
        limits = (each, all)
        packets = CapturedSessions(keeping: each, all: all)
        var watch = InspectionWatch()
        (watch.wantsAll, watch.wantsEvents) = (true, true)
        mirror.watches(watch)
    }

    /// Takes the next bytes of the file.
    package mutating func take(_ bytes: some Collection<UInt8>) throws(CaptureError) {
        length += UInt64(bytes.count)
        reader.append(bytes)
        while let entry = try reader.next() {
            switch entry {
            case .section: packets.beginSection()
            case .interface(let interface): packets.add(interface)
            case .packet(let packet): packets.take(packet)
            case .frames(let frames): try take(frames: frames)
            case .name: break
            }
        }
    }

    /// The file has ended.
    package mutating func finish() { packets.finish() }

    /// What stands in the way of a complete picture, as words; empty if nothing does.
    package var shortcomings: [String] {
        func count(_ number: UInt64, _ what: String) -> String? { number > 0 ? "\(number) \(what)" : nil }
        let missing = packets.sessions.reduce(UInt64(0)) { $0 &+ $1.fromLocal.missing &+ $1.fromPeer.missing }
        return [
            count(UInt64(reader.pending), "bytes of a block that was cut off"),
            count(packets.dropped, "packets or operations not recorded"), count(missing, "bytes missing"),
            count(packets.skipped, "packets that are neither TCP nor UDP"),
            count(packets.refused, "packets of more than \(CapturedSessions.limit) sessions"),
            count(packets.lostFragments, "fragments without the rest"), count(reader.skipped, "blocks not understood"),
        ].compactMap { $0 }
    }

    // MARK: Frames of ours

    private mutating func take(frames: ArraySlice<UInt8>) throws(CaptureError) {
        isOurs = true
        decoder.append(frames)
        do throws(WireError) {
            while let frame = try decoder.next() {
                if case .traffic(let change) = frame { try take(change) } else { try mirror.take(frame) }
            }
        } catch {
            let problem = if case .malformed(let sentence) = error { sentence } else { "a newer version wrote it" }
            throw CaptureError("its snapshots cannot be read: \(problem)")
        }
    }

    private mutating func take(_ change: InspectionTraffic) throws(WireError) {
        guard traffic.count < CapturedSessions.limit || traffic[change.socket] != nil else { return }
        var kept = traffic.removeValue(forKey: change.socket) ?? MirroredTraffic()
        trafficCost -= kept.cost
        try kept.take(change)
        kept.trim(to: limits.each)
        trafficCost += kept.cost
        traffic[change.socket] = kept
        guard trafficCost > limits.all else { return }
        let share = EvenShare.level(traffic.values.map(\.cost), sum: limits.all - limits.all / 8)
        trafficCost = 0
        for id in traffic.keys {
            traffic[id]?.trim(to: share)
            trafficCost += traffic[id]?.cost ?? 0
        }
    }

    // MARK: As a source

    /// The state at the end of what was read; `nil` if there is none yet. Of a recording of ours, its events since the
    /// last call are in it.
    package mutating func snapshot(_ request: SnapshotRequest, named name: String) -> EngineSnapshot? {
        var snapshot: EngineSnapshot
        if isOurs {
            guard let shown = mirror.snapshot(engine: name) else { return nil }
            snapshot = shown
        } else {
            guard let start = packets.start else { return nil }
            snapshot = EngineSnapshot(
                engine: name, time: packets.latest, wallNanoseconds: start + packets.latest.nanoseconds)
            snapshot.sockets = packets.sessions.map(\.snapshot)
            snapshot.counters.opened = UInt64(packets.sessions.count)
        }
        snapshot.trafficOf = request.traffic
        snapshot.traffic = request.traffic.map { traffic(of: $0) }
        return snapshot
    }

    /// What is kept of a session's traffic.
    package func traffic(of id: SocketID) -> TrafficSnapshot {
        if isOurs { return traffic[id]?.snapshot ?? TrafficSnapshot() }
        let index = Int(clamping: id.number) - 1
        return packets.sessions.indices.contains(index) ? packets.sessions[index].traffic : TrafficSnapshot()
    }
}
