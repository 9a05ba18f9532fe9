import Glibc
import SocketCore
import SocketRecords

/// The tapes of all recorders of an engine. Used on the engine's queue only.
final class EngineTapes {
    let all: [RecordingTape]
    /// Whether any tape keeps payload.
    fileprivate let keepsBytes: Bool
    /// The buffer for the next read.
    fileprivate var room: [UInt8] = []
    /// Changes when a tape is added, so that every session is introduced to it once.
    fileprivate let generation: UInt32

    fileprivate init(_ all: [RecordingTape], _ generation: UInt32) {
        (self.all, self.generation) = (all, generation)
        keepsBytes = all.contains(where: \.keepsBytes)
    }

    /// Calls `receive` with up to `wanted` bytes of the buffer. Returns the result and the number of bytes offered.
    func receive(
        atMost wanted: Int, _ receive: (UnsafeMutableRawBufferPointer) -> IOResult
    ) -> (result: IOResult, room: Int) {
        if room.isEmpty { room = all.first?.takeRoom() ?? [] }
        let count = min(wanted, room.count)
        let result = room.withUnsafeMutableBytes { receive(UnsafeMutableRawBufferPointer(rebasing: $0[..<count])) }
        return (result, count)
    }

    /// Returns what was received: the buffer itself, or a copy if the buffer would be mostly empty.
    fileprivate func takeReceived(_ count: Int) -> ArraySlice<UInt8> {
        guard keepsBytes else { return room[..<count] }
        guard RecordedEntry.sharesMemory(count, of: room.count) else { return Array(room[..<count])[...] }
        return room[..<count]
    }

    /// Ends the use of the received bytes. The buffer stays, unless a tape keeps it.
    func endReceiving() {
        if !room.isEmpty, !LargeArrayPool.isHeldOnce(&room) { room = [] }
    }
}

extension EngineState {
    func record(on tape: RecordingTape) {
        tapeGeneration &+= 1
        tapes = EngineTapes((tapes?.all ?? []) + [tape], tapeGeneration)
    }

    func stopRecording(on tape: RecordingTape) {
        let left = tapes?.all.filter { $0 !== tape } ?? []
        tapes = left.isEmpty ? nil : EngineTapes(left, tapeGeneration)
    }
}

extension Connection {
    /// The connection as a recording describes it.
    private var recorded: RecordedSession {
        RecordedSession(
            id: id, local: local, peer: peer, isClient: role == .client, role: role, target: target)
    }

    private func introduce(to tapes: EngineTapes, isNew: Bool = false) {
        guard isNew || tapeGeneration != tapes.generation else { return }
        tapeGeneration = tapes.generation
        for tape in tapes.all { tape.introduce(recorded, isNew: isNew, at: engine.now) }
    }

    func tapeEstablished() {
        if let tapes = engine.tapes { introduce(to: tapes, isNew: true) }
    }

    func tape(_ bytes: UnsafeRawBufferPointer, isSent: Bool, isPlain: Bool = false) {
        guard let tapes = engine.tapes, !bytes.isEmpty else { return }
        introduce(to: tapes)
        for tape in tapes.all { tape.bytes(bytes, isSent: isSent, isPlain: isPlain, of: id, at: engine.now) }
    }

    /// Records the first `count` bytes of these buffers.
    func tape(
        _ buffers: UnsafeBufferPointer<UnsafeRawBufferPointer>, _ count: Int, isSent: Bool, isPlain: Bool = false
    ) {
        guard engine.tapes != nil else { return }
        var left = count
        for buffer in buffers where left > 0 {
            let part = UnsafeRawBufferPointer(rebasing: buffer[..<min(left, buffer.count)])
            left -= part.count
            tape(part, isSent: isSent, isPlain: isPlain)
        }
    }

    /// Records bytes whose memory is shared, not copied.
    private func tape(shared bytes: ArraySlice<UInt8>, length: Int? = nil, isSent: Bool, to tapes: EngineTapes) {
        introduce(to: tapes)
        for tape in tapes.all {
            tape.bytes(
                bytes, length: length ?? bytes.count, isSent: isSent, isPlain: false, of: id, at: engine.now)
        }
    }

    /// Records received bytes, and passes them to `use`.
    func tapeReceived(_ count: Int, _ tapes: EngineTapes, _ use: (UnsafeRawBufferPointer) -> Void) {
        let bytes = tapes.takeReceived(count)
        tape(shared: bytes, isSent: false, to: tapes)
        bytes.withUnsafeBytes(use)
    }

    /// Records the first `count` pending bytes, which the kernel has accepted. Long writes are shared, not copied.
    func tapeSent(_ count: Int) {
        guard let tapes = engine.tapes, count > 0 else { return }
        guard tapes.keepsBytes else { return tape(shared: [], length: count, isSent: true, to: tapes) }
        func tell(_ bytes: ArraySlice<UInt8>) { tape(shared: bytes, isSent: true, to: tapes) }
        var short: [UInt8] = []
        machine.writing.forEachUnsent(first: count) { part, whole in
            if RecordedEntry.sharesMemory(part.count, of: whole) {
                if !short.isEmpty { tell(short[...]) }
                short = []
                tell(part)
            } else {
                short += part
            }
        }
        if !short.isEmpty { tell(short[...]) }
    }

    /// Records bytes on the wire under TLS, if the user asked for the secrets that decrypt them.
    func tapeWire(_ lent: LentBytes, _ count: Int? = nil, isSent: Bool) {
        guard engine.tapes != nil, lent.count > 0, tls?.session?.logsSecrets == true else { return }
        tape(UnsafeRawBufferPointer(rebasing: lent.bytes[..<(count ?? lent.count)]), isSent: isSent)
    }

    /// Records the secrets that decrypt what follows.
    func tapeSecrets(_ session: TLSSession) {
        let lines = session.takeSecrets()
        guard let tapes = engine.tapes, !lines.isEmpty else { return }
        introduce(to: tapes)
        let text = lines.map { $0 + "\n" }.joined()
        for tape in tapes.all { tape.secrets(text, of: id, at: engine.now) }
    }

    func tapeEnd(isLocal: Bool, isPlain: Bool = false) {
        for tape in engine.tapes?.all ?? [] {
            tape.ended(id, .ended(isLocal: isLocal, isPlain: isPlain), at: engine.now)
        }
    }

    func tapeClose(_ error: SocketError?) {
        guard let tapes = engine.tapes, connected.value != nil else { return }
        let isPeers =
            if case .system(let errno)? = error?.reason { [ECONNRESET, EPIPE].contains(errno) } else { false }
        let content = RecordedEntry.Content.closed(isReset: isPeers || closeMode == .reset, isLocal: !isPeers)
        for tape in tapes.all { tape.ended(id, content, at: engine.now) }
    }
}

extension DatagramSession {
    func tape(_ bytes: [UInt8], isSent: Bool, _ address: SocketAddress?, length: Int) {
        guard let tapes = engine.tapes else { return }
        let session = RecordedSession(
            id: id, local: links.first?.local, peer: peer, isClient: peer != nil, role: .datagram, target: target)
        for tape in tapes.all {
            tape.introduce(session, isNew: false, at: engine.now)
            tape.datagram(bytes, isSent: isSent, address, length: length, of: id, at: engine.now)
        }
    }
}
