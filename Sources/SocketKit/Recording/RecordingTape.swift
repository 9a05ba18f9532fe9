import Dispatch
import Glibc
import SocketCore

/// What an engine did that a recording has not written yet, within a limit. Adding to it never waits: what does not fit
/// is counted, and told in its place as soon as there is room again.
final class RecordingTape: Sendable {
    fileprivate struct Stream: Hashable {
        var id: SocketID
        var isPlain: Bool
    }

    fileprivate struct State {
        var entries: [RecordedEntry] = []
        var weight = 0
        var known: Set<SocketID> = []
        /// What was lost of each stream since its last entry: plaintext, and what was on the wire.
        var losses: [Stream: RecordedLoss] = [:]
        /// Captured packets that were lost since the last one that fitted, and those that the kernel lost before them.
        var lostPackets: (own: UInt64, kernel: UInt64) = (0, 0)
        var isClosed = false
    }

    /// Bytes that wait to be written.
    static let limit = 8 << 20
    /// Payload that one entry has at most.
    private static let most = 256 << 10

    private let state = Lock(State())
    /// Rung when the first entry comes: one ring for all that are taken together.
    private let bell = DispatchSemaphore(value: 0)

    private func change(_ body: (inout State) -> Void) {
        let isFirst = state.withLock { state in
            guard !state.isClosed else { return false }
            let wasEmpty = state.entries.isEmpty
            body(&state)
            return wasEmpty && !state.entries.isEmpty
        }
        if isFirst { bell.signal() }
    }

    // MARK: From the engine

    func established(_ session: RecordedSession, at time: MonotonicTime) {
        change { state in
            state.known.insert(session.id)
            state.append(RecordedEntry(session.id, at: time, .session(session, isNew: true)))
        }
    }

    func bytes(
        _ buffers: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ count: Int, isSent: Bool, isPlain: Bool,
        of session: RecordedSession, at time: MonotonicTime
    ) {
        var left = count
        for buffer in buffers {
            var rest = UnsafeRawBufferPointer(rebasing: buffer[..<min(left, buffer.count)])
            left -= rest.count
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest[..<min(rest.count, Self.most)])
                rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
                add(part.count, isSent: isSent, isPlain: isPlain, session, time) {
                    .bytes(Array(part), isSent: isSent, isPlain: isPlain)
                }
            }
        }
    }

    func datagram(
        _ bytes: [UInt8], isSent: Bool, _ address: SocketAddress?, length: Int, of session: RecordedSession,
        at time: MonotonicTime
    ) {
        add(bytes.count, isSent: isSent, isPlain: false, session, time) {
            .datagram(bytes, isSent: isSent, address, length: length)
        }
    }

    /// FIN or the end of a session. Of one that was never seen there is nothing to tell.
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

    func snapshot(_ snapshot: EngineSnapshot, _ traffic: [SocketID: TrafficSnapshot]) {
        let entry = RecordedEntry(SocketID(0), at: snapshot.time, .snapshot(snapshot, traffic))
        change { state in
            guard state.weight + entry.weight <= Self.limit else { return }
            state.append(entry)
        }
    }

    /// A packet as it was captured.
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

    /// What the kernel has counted of the capture.
    func counts(_ counts: CaptureCounts, nanoseconds: Int64) {
        change { state in
            var counts = counts
            counts.dropped.saturate(adding: state.lostPackets.own)
            state.append(RecordedEntry(SocketID(0), at: .zero, .counts(counts, nanoseconds: nanoseconds)))
        }
    }

    private func add(
        _ count: Int, isSent: Bool, isPlain: Bool, _ session: RecordedSession, _ time: MonotonicTime,
        _ content: () -> RecordedEntry.Content
    ) {
        change { state in
            if state.known.insert(session.id).inserted {
                state.append(RecordedEntry(session.id, at: time, .session(session, isNew: false)))
            }
            guard state.weight + count <= Self.limit else {
                let stream = Stream(id: session.id, isPlain: isPlain)
                state.losses[stream, default: RecordedLoss()].isPlain = isPlain
                state.losses[stream]?.add(count, isSent: isSent)
                return
            }
            state.settle(session.id, time)
            state.append(RecordedEntry(session.id, at: time, content()))
        }
    }

    // MARK: From the recording's thread

    /// Waits for entries, until a deadline at most.
    func take(until deadline: DispatchTime) -> (entries: [RecordedEntry], isClosed: Bool) {
        _ = bell.wait(timeout: deadline)
        return state.withLock { state in
            defer { (state.entries, state.weight) = ([], 0) }
            return (state.entries, state.isClosed)
        }
    }

    /// Takes nothing more. What was lost last is told at the end.
    func close(at time: MonotonicTime) {
        state.withLock { state in
            guard !state.isClosed else { return }
            for id in Set(state.losses.keys.map(\.id)).sorted() { state.settle(id, time) }
            state.isClosed = true
        }
        bell.signal()
    }

    /// Operations that did not fit and have not been told yet.
    var lost: UInt64 {
        state.withLock { state in state.losses.values.reduce(state.lostPackets.own) { $0 &+ $1.operations } }
    }
}

extension RecordingTape.State {
    fileprivate mutating func append(_ entry: RecordedEntry) {
        entries.append(entry)
        weight += entry.weight
    }

    /// Tells what was lost of a session before what follows.
    fileprivate mutating func settle(_ id: SocketID, _ time: MonotonicTime) {
        guard !losses.isEmpty else { return }
        for isPlain in [false, true] {
            let stream = RecordingTape.Stream(id: id, isPlain: isPlain)
            guard let loss = losses.removeValue(forKey: stream) else { continue }
            append(RecordedEntry(id, at: time, .dropped(loss)))
        }
    }
}

extension Connection {
    /// What a recording must know of it.
    private var recorded: RecordedSession {
        RecordedSession(
            id: id, local: local, peer: peer, isClient: role == .client, role: role, target: target)
    }

    func tapeEstablished() { engine.tape?.established(recorded, at: engine.now) }

    func tape(_ bytes: UnsafeRawBufferPointer, isSent: Bool, isPlain: Bool = false) {
        guard engine.tape != nil else { return }
        withUnsafePointer(to: bytes) {
            tape(UnsafeBufferPointer(start: $0, count: 1), bytes.count, isSent: isSent, isPlain: isPlain)
        }
    }

    func tape(
        _ buffers: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ count: Int, isSent: Bool, isPlain: Bool = false
    ) {
        guard let tape = engine.tape, count > 0 else { return }
        tape.bytes(buffers, count, isSent: isSent, isPlain: isPlain, of: recorded, at: engine.now)
    }

    /// What went over the wire under TLS, where the user asked for the secrets that open it.
    func tapeWire(_ lent: LentBytes, _ count: Int? = nil, isSent: Bool) {
        guard engine.tape != nil, lent.count > 0, tls?.session?.logsSecrets == true else { return }
        tape(UnsafeRawBufferPointer(rebasing: lent.bytes[..<(count ?? lent.count)]), isSent: isSent)
    }

    /// The secrets that open what follows.
    func tapeSecrets(_ session: TLSSession) {
        let lines = session.takeSecrets()
        guard let tape = engine.tape, !lines.isEmpty else { return }
        tape.secrets(lines.map { $0 + "\n" }.joined(), of: id, at: engine.now)
    }

    func tapeEnd(isLocal: Bool, isPlain: Bool = false) {
        engine.tape?.ended(id, .ended(isLocal: isLocal, isPlain: isPlain), at: engine.now)
    }

    func tapeClose(_ error: SocketError?) {
        guard let tape = engine.tape, connected != nil else { return }
        let isPeers =
            if case .system(let errno)? = error?.reason { [ECONNRESET, EPIPE].contains(errno) } else { false }
        tape.ended(id, .closed(isReset: isPeers || closeMode == .reset, isLocal: !isPeers), at: engine.now)
    }
}

extension DatagramSession {
    func tape(_ bytes: [UInt8], isSent: Bool, _ address: SocketAddress?, length: Int) {
        guard let tape = engine.tape else { return }
        let session = RecordedSession(
            id: id, local: links.first?.local, peer: peer, isClient: peer != nil, role: .datagram, target: target)
        tape.datagram(bytes, isSent: isSent, address, length: length, of: session, at: engine.now)
    }
}
