import SocketCore
import SocketRecords

/// A bounded list of what an engine did that its recorder has not taken yet. Adding never waits: what does not fit is
/// counted, and the count is recorded in its place once there is room.
final class RecordingTape: Sendable {
    fileprivate struct Stream: Hashable {
        var id: SocketID
        var isPlain: Bool
    }

    fileprivate struct State {
        var entries: [RecordedEntry] = []
        /// The weight of all entries except snapshots.
        var weight = 0
        /// The weight of the snapshots, which have a limit of their own, so that a large one leaves room for traffic.
        var snapshotWeight = 0
        /// Events that did not fit. Their numbers are missing from the snapshots.
        var lostEvents: UInt64 = 0
        var known: Set<SocketID> = []
        /// The losses of each stream, plaintext or wire, since its last entry.
        var losses: [Stream: RecordedLoss] = [:]
        /// Captured packets that were lost since the last one that fitted, and those that the kernel lost before them.
        var lostPackets: (own: UInt64, kernel: UInt64) = (0, 0)
        var isClosed = false
        /// Memory that is reused for entries and for reads.
        var spare: [RecordedEntry] = []
        var rooms: [[UInt8]] = []
    }

    /// The most bytes that may wait to be written, and as much again of snapshots. One snapshot of any size fits.
    static let limit = 8 << 20
    /// The most events of one snapshot.
    static let eventLimit = limit / 64
    /// The most payload of one entry.
    private static let most = 256 << 10
    /// The size of the buffer for one read, in bytes.
    static let roomSize = 65_536
    private static let roomLimit = 64
    private static let mostSpare = 1 << 14

    /// Whether payload is kept, and not only counted.
    let keepsBytes: Bool
    private let state = Lock(State())
    /// Called when the first entry arrives, once for all that are taken together, on the thread that adds it.
    private let ring: @Sendable () -> Void

    init(keepsBytes: Bool = true, ring: @escaping @Sendable () -> Void) {
        (self.keepsBytes, self.ring) = (keepsBytes, ring)
    }

    private func change(_ body: (inout State) -> Void) {
        let isFirst = state.withLock { state in
            guard !state.isClosed else { return false }
            let wasEmpty = state.entries.isEmpty
            body(&state)
            return wasEmpty && !state.entries.isEmpty
        }
        if isFirst { ring() }
    }

    // MARK: From the engine

    /// Adds a session that has just been established, or of which another entry follows.
    func introduce(_ session: RecordedSession, isNew: Bool, at time: MonotonicTime) {
        change { state in
            guard state.known.insert(session.id).inserted || isNew else { return }
            state.append(RecordedEntry(session.id, at: time, .session(session, isNew: isNew)))
        }
    }

    /// Adds bytes of a session that was introduced. They may be only the first of `length`.
    func bytes(
        _ bytes: ArraySlice<UInt8>, length: Int, isSent: Bool, isPlain: Bool, of id: SocketID, at time: MonotonicTime
    ) {
        add(length, isSent: isSent, isPlain: isPlain, id, time) {
            .bytes(keepsBytes ? bytes : [], length: length, isSent: isSent, isPlain: isPlain)
        }
    }

    /// Adds bytes from memory that the tape does not own. They are copied.
    func bytes(
        _ bytes: UnsafeRawBufferPointer, isSent: Bool, isPlain: Bool, of id: SocketID, at time: MonotonicTime
    ) {
        var rest = bytes
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest[..<min(rest.count, Self.most)])
            rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
            add(part.count, isSent: isSent, isPlain: isPlain, id, time) {
                .bytes(keepsBytes ? Array(part)[...] : [], length: part.count, isSent: isSent, isPlain: isPlain)
            }
        }
    }

    func datagram(
        _ bytes: [UInt8], isSent: Bool, _ address: SocketAddress?, length: Int, of id: SocketID, at time: MonotonicTime
    ) {
        add(bytes.count, isSent: isSent, isPlain: false, id, time) {
            .datagram(bytes, isSent: isSent, address, length: length)
        }
    }

    /// Adds the FIN or the end of a session. Has no effect if the session was never introduced.
    func ended(_ id: SocketID, _ content: RecordedEntry.Content, at time: MonotonicTime) {
        change { state in
            guard state.known.contains(id) else { return }
            state.settle(id, time)
            state.append(RecordedEntry(id, at: time, content))
            if case .closed = content { state.known.remove(id) }
        }
    }

    func secrets(_ lines: String, of id: SocketID, at time: MonotonicTime) {
        change { $0.append(RecordedEntry(id, at: time, .secrets(Array(lines.utf8)))) }
    }

    /// Adds a snapshot. If it doesn't fit, it replaces the last one that waits, and gets its events and traffic.
    func snapshot(_ snapshot: EngineSnapshot, _ traffic: [SocketID: TrafficSnapshot]) {
        change { $0.append(snapshot, traffic) }
    }

    /// Adds what another program reported. Reads and writes that do not fit are only counted. Starts and ends of
    /// sessions may exceed the limit by as much again.
    func add(_ entry: RecordedEntry) {
        change { state in
            let excess = state.weight + entry.weight - Self.limit
            switch entry.content {
            case .bytes(_, let length, let isSent, let isPlain) where excess > 0:
                return state.lose(length, isSent: isSent, Stream(id: entry.socket, isPlain: isPlain))
            case .datagram(_, let isSent, _, let length) where excess > 0:
                return state.lose(length, isSent: isSent, Stream(id: entry.socket, isPlain: false))
            case .snapshot(let snapshot, let traffic): return state.append(snapshot, traffic)
            default: break
            }
            guard excess <= Self.limit else { return }
            state.settle(entry.socket, entry.time)
            state.append(entry)
        }
    }

    func packet(_ packet: CapturedPacket) {
        change { state in
            guard state.weight + packet.bytes.count <= Self.limit else {
                state.lostPackets.own += 1
                state.lostPackets.kernel.saturate(adding: packet.dropped)
                return
            }
            var packet = packet
            let lost = state.lostPackets
            packet.dropped.saturate(adding: lost.kernel)
            state.lostPackets = (0, 0)
            state.append(RecordedEntry(SocketID(0), at: .zero, .packet(packet, lost: lost.own)))
        }
    }

    /// Adds the kernel's counts of the capture.
    func counts(_ counts: CaptureCounts, nanoseconds: Int64) {
        change { state in
            var counts = counts
            counts.dropped.saturate(adding: state.lostPackets.own)
            state.append(RecordedEntry(SocketID(0), at: .zero, .counts(counts, nanoseconds: nanoseconds)))
        }
    }

    private func add(
        _ count: Int, isSent: Bool, isPlain: Bool, _ id: SocketID, _ time: MonotonicTime,
        _ content: () -> RecordedEntry.Content
    ) {
        change { state in
            guard state.weight + (keepsBytes ? count : 0) <= Self.limit else {
                return state.lose(count, isSent: isSent, Stream(id: id, isPlain: isPlain))
            }
            if !state.losses.isEmpty { state.settle(id, time) }
            state.append(RecordedEntry(id, at: time, content()))
        }
    }

    /// Returns a buffer for one read, with arbitrary contents.
    func takeRoom() -> [UInt8] {
        state.withLock { $0.rooms.popLast() } ?? [UInt8](repeating: 0, count: Self.roomSize)
    }

    // MARK: From the recorder

    /// Takes the entries, or about `most` bytes of them.
    func take(atMost most: Int = .max) -> (entries: [RecordedEntry], isClosed: Bool) {
        state.withLock { state in
            guard state.weight > most else {
                var taken: [RecordedEntry] = []
                swap(&taken, &state.entries)
                swap(&state.entries, &state.spare)
                (state.weight, state.snapshotWeight) = (0, 0)
                return (taken, state.isClosed)
            }
            let rest = state.weight - most
            var count = 0
            while state.weight > rest {
                state.weigh(state.entries[count], -1)
                count += 1
            }
            defer { state.entries.removeFirst(count) }
            return (Array(state.entries[..<count]), false)
        }
    }

    /// Keeps the memory of entries that are no longer needed, and removes them.
    func reuse(_ entries: inout [RecordedEntry]) {
        var rooms: [[UInt8]] = []
        for index in entries.indices {
            guard rooms.count < Self.roomLimit, let room = entries[index].takeArray(of: Self.roomSize) else { continue }
            rooms.append(room)
        }
        entries.removeAll(keepingCapacity: entries.capacity < Self.mostSpare)
        state.withLock { state in
            if state.spare.capacity < entries.capacity { swap(&state.spare, &entries) }
            state.rooms += rooms.prefix(max(0, Self.roomLimit - state.rooms.count))
        }
    }

    /// Takes no further entries. The remaining losses are recorded at the end.
    func close(at time: MonotonicTime) {
        state.withLock { state in
            guard !state.isClosed else { return }
            for id in Set(state.losses.keys.map(\.id)).sorted() { state.settle(id, time) }
            state.isClosed = true
        }
        ring()
    }

    /// The number of events that did not fit.
    var lostEvents: UInt64 { state.withLock { $0.lostEvents } }

    /// The number of operations that did not fit and whose loss has not been recorded yet.
    var lost: UInt64 {
        state.withLock { state in state.losses.values.reduce(state.lostPackets.own) { $0 &+ $1.operations } }
    }
}

extension RecordingTape.State {
    fileprivate mutating func append(_ entry: consuming RecordedEntry) {
        weigh(entry, 1)
        entries.append(entry)
    }

    /// Adds the weight of an entry, or with `sign` -1 subtracts it.
    fileprivate mutating func weigh(_ entry: borrowing RecordedEntry, _ sign: Int) {
        if entry.isSnapshot { snapshotWeight += sign * entry.weight } else { weight += sign * entry.weight }
    }

    fileprivate mutating func append(_ snapshot: EngineSnapshot, _ traffic: [SocketID: TrafficSnapshot]) {
        var (snapshot, traffic) = (snapshot, traffic)
        let entry = RecordedEntry(SocketID(0), at: snapshot.time, .snapshot(snapshot, traffic))
        guard snapshotWeight > 0, snapshotWeight + entry.weight > RecordingTape.limit else { return append(entry) }
        if let last = entries.lastIndex(where: \.isSnapshot) {
            let former = entries.remove(at: last)
            weigh(former, -1)
            if case .snapshot(let skipped, let kept) = former.content {
                snapshot.peers = snapshot.peers ?? skipped.peers
                snapshot.events = skipped.events + snapshot.events
                let both = traffic.merging(kept) { latest, _ in latest }
                let entry = RecordedEntry(SocketID(0), at: snapshot.time, .snapshot(snapshot, both))
                if entry.weight <= 2 * RecordingTape.limit { traffic = both } else { lose(kept, except: traffic) }
            }
        }
        let excess = snapshot.events.count - RecordingTape.eventLimit
        if excess > 0 {
            snapshot.events.removeFirst(excess)
            lostEvents += UInt64(excess)
        }
        append(RecordedEntry(SocketID(0), at: snapshot.time, .snapshot(snapshot, traffic)))
    }

    /// Counts traffic that does not fit beside a later snapshot.
    private mutating func lose(_ kept: [SocketID: TrafficSnapshot], except later: [SocketID: TrafficSnapshot]) {
        for (id, traffic) in kept where later[id] == nil {
            for item in traffic.items {
                lose(item.done, isSent: item.direction == .sent, RecordingTape.Stream(id: id, isPlain: false))
            }
        }
    }

    fileprivate mutating func lose(_ count: Int, isSent: Bool, _ stream: RecordingTape.Stream) {
        losses[stream, default: RecordedLoss(isPlain: stream.isPlain)].add(count, isSent: isSent)
    }

    /// Records the losses of a session before its next entry.
    fileprivate mutating func settle(_ id: SocketID, _ time: MonotonicTime) {
        guard !losses.isEmpty else { return }
        for isPlain in [false, true] {
            let stream = RecordingTape.Stream(id: id, isPlain: isPlain)
            guard let loss = losses.removeValue(forKey: stream) else { continue }
            append(RecordedEntry(id, at: time, .dropped(loss)))
        }
    }
}
