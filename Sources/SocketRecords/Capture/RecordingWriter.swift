import SocketCore

/// Writes the blocks of a recording of an engine: an interface for each session, synthetic packets for its traffic, and
/// frames of the inspection wire for everything else.
package struct RecordingWriter: Sendable {
    /// One session's packets, either those on the wire or those of the plaintext of TLS.
    private struct Track: Sendable {
        var interface: UInt32
        var ends: (local: SyntheticPacket.End, peer: SyntheticPacket.End)
        var stream: RecordedStream
    }

    private struct Ends: Hashable, Sendable {
        var local: SyntheticPacket.End
        var peer: SyntheticPacket.End
    }

    /// The most holders of addresses that are kept, including closed ones.
    private static let holderLimit = 1 << 16
    /// The most open sessions, since another program can claim any number.
    private static let sessionLimit = 1 << 17

    private struct Session: Sendable {
        var facts: RecordedSession
        var clear: Track?
        var plain: Track?
        /// Whether its beginning is in the file.
        var isNew: Bool
        /// Whether the peer sent FIN. TLS may still have plaintext from before it.
        var hasPeerEnded = false
        /// The secrets that decrypt its wire bytes.
        var secrets: [UInt8] = []
        /// All its wire bytes, without which the secrets decrypt nothing, or `nil` if they are too many to repeat.
        var wire: [RecordedEntry]? = []
        var wireCount = 0
    }

    private var writer = PcapngWriter()
    private var frames: RecordedFrames
    private var sessions: [SocketID: Session] = [:]
    /// The session that has these addresses in this file.
    private var holders: [Ends: SocketID] = [:]
    private let application: String
    /// The capture whose packets it records, or `nil` if it records an engine.
    private let capture: RecordedCapture?
    private let snap: Int
    /// The most wire bytes that the next file repeats, and their current number.
    private let repeats: Int
    private var repeated = 0
    private static let repeatsOfOne = 16 << 10
    /// The time of the latest entry.
    private var latest = MonotonicTime.zero
    /// Nanoseconds since 1970 at the zero of the engine's clock.
    private let zero: Int64
    /// The number of reads and writes that were not recorded.
    package private(set) var dropped: UInt64 = 0

    /// Creates a writer. `zero` is added to the engine's time to get the time of day, and `snap` is the most payload
    /// bytes kept of each packet. The next file repeats up to `repeats` bytes of TLS sessions that have little traffic
    /// so far, without which their secrets would decrypt nothing.
    package init(
        application: String, zero: Int64, snap: Int = .max, repeats: Int = 1 << 20, of capture: RecordedCapture? = nil
    ) {
        (self.application, self.zero, self.snap, self.repeats) = (application, zero, snap, repeats)
        self.capture = capture
        frames = RecordedFrames(showsPayload: snap > 0)
        begin()
    }

    /// Begins a self-contained file: its sessions are described again, secrets are repeated, and the next snapshot is
    /// complete.
    package mutating func begin() {
        writer = PcapngWriter()
        if let capture {
            writer.section(application: application, comment: "packets as they were captured")
            _ = writer.interface(
                name: capture.interface, description: "", link: capture.link, filter: capture.filter)
        } else {
            writer.section(
                application: application,
                comment: "IP and TCP headers are synthesized: \(application) saw bytes, not packets")
        }
        frames.startOver()
        holders = [:]
        let (former, time) = (sessions, latest)
        repeated = 0
        sessions = sessions.mapValues { Session(facts: $0.facts, isNew: false, hasPeerEnded: $0.hasPeerEnded) }
        for (id, session) in former.sorted(by: { $0.key < $1.key }) where !session.secrets.isEmpty {
            sessions[id]?.isNew = session.isNew && session.wire != nil
            add(RecordedEntry(id, at: time, .secrets(session.secrets)))
            for entry in session.wire ?? [] { add(RecordedEntry(id, at: time, entry.content)) }
            if session.wire == nil { sessions[id]?.wire = nil }
        }
    }

    /// Ends the file. A file without packets gets an interface, since libpcap refuses one that has none.
    package mutating func finish() {
        guard writer.interfaces == 0 else { return }
        _ = writer.interface(name: application, description: "no packets")
    }

    /// The number of bytes written since the last call of `take()`.
    package var pending: Int { writer.count }

    /// Returns the blocks written since the last call.
    package mutating func take() -> [UInt8] { writer.take() }

    /// Returns the blocks written since the last call, in parts that share long payload with the entries.
    package mutating func takeParts() -> [ArraySlice<UInt8>] { writer.takeParts() }

    /// Writes one entry.
    package mutating func add(_ entry: RecordedEntry) {
        let id = entry.socket
        latest = max(latest, entry.time)
        switch entry.content {
        case .session(let facts, let isNew):
            // Traffic of a session beyond the limit is counted as dropped.
            guard sessions.count < Self.sessionLimit || sessions[id] != nil else { return }
            sessions[id] = Session(facts: facts, isNew: isNew)
            if isNew, facts.role != .datagram { _ = track(of: id, isPlain: false, at: entry.time) }
        case .bytes(let bytes, let length, let isSent, let isPlain):
            guard track(of: id, isPlain: isPlain, at: entry.time) else { return dropped &+= 1 }
            if !isPlain { remember(entry, bytes, length) }
            let side: RecordedStream.Side = isSent ? .local : .peer
            let comment = "\(isSent ? "write" : "read") \(length)"
            change(id, isPlain, entry.time, comment: comment) { $0.carry(bytes, length: length, from: side) }
        case .datagram(let bytes, let isSent, let address, let length):
            datagram(bytes, isSent: isSent, address, length, of: id, at: entry.time)
        case .ended(let isLocal, isPlain: true): change(id, true, entry.time) { $0.end(isLocal ? .local : .peer) }
        case .ended(let isLocal, isPlain: false):
            if isLocal { change(id, true, entry.time) { $0.end(.local) } } else { sessions[id]?.hasPeerEnded = true }
            change(id, false, entry.time) { $0.end(isLocal ? .local : .peer) }
        case .closed(let isReset, let isLocal):
            if sessions[id]?.hasPeerEnded == true { change(id, true, entry.time) { $0.end(.peer) } }
            for isPlain in [true, false] {
                change(id, isPlain, entry.time) {
                    isReset && !isPlain ? $0.reset(isLocal ? .local : .peer) : $0.end(.local)
                }
            }
            forgetWire(of: id)
            sessions[id] = nil
        case .secrets(let lines):
            guard snap > 0 else { return }
            writer.secrets(lines)
            sessions[id]?.secrets += lines
        case .dropped(let loss):
            // Bytes after a gap can't be decrypted, even with repeated bytes.
            if !loss.isPlain { forgetWire(of: id) }
            lost(loss, of: id, at: entry.time)
        case .packet(let packet, let lost): captured(packet, lost)
        case .counts(var counts, let nanoseconds):
            counts.dropped = counts.dropped.saturatingAdd(dropped)
            writer.statistics(interface: 0, nanoseconds: UInt64(max(0, nanoseconds)), counts)
        case .snapshot(let snapshot, let traffic):
            for block in frames.blocks(snapshot, traffic) { writer.frames(block) }
        }
    }

    /// Keeps the bytes that the next file must repeat, for sessions that begin with a TLS handshake record.
    private mutating func remember(_ entry: RecordedEntry, _ bytes: ArraySlice<UInt8>, _ length: Int) {
        guard let session = sessions[entry.socket], session.wire != nil else { return }
        sessions[entry.socket]?.wireCount += length
        repeated += length
        guard session.wireCount > 0 || bytes.first == 0x16, bytes.count == length,
            session.wireCount + length <= Self.repeatsOfOne, repeated <= repeats
        else { return forgetWire(of: entry.socket) }
        sessions[entry.socket]?.wire?.append(entry)
    }

    private mutating func forgetWire(of id: SocketID) {
        guard let session = sessions[id], session.wire != nil else { return }
        repeated -= session.wireCount
        sessions[id]?.wire = nil
    }

    // MARK: Packets

    private func nanoseconds(_ time: MonotonicTime) -> UInt64 {
        UInt64(max(0, time.nanoseconds.addingReportingOverflow(zero).partialValue))
    }

    private mutating func change(
        _ id: SocketID, _ isPlain: Bool, _ time: MonotonicTime, comment: String = "", dropped: UInt64 = 0,
        _ change: (inout RecordedStream) -> [RecordedStream.Packet]
    ) {
        guard var track = isPlain ? sessions[id]?.plain : sessions[id]?.clear else { return }
        var notes = PacketNotes(comment: comment, dropped: dropped)
        for packet in change(&track.stream) {
            notes.isInbound = packet.side == .peer
            writer.packet(
                packet.head, packet.payload, length: packet.length, interface: track.interface,
                nanoseconds: nanoseconds(time), notes: notes)
            notes.dropped = 0
        }
        if isPlain { sessions[id]?.plain = track } else { sessions[id]?.clear = track }
    }

    /// Makes sure that the session has an interface. Returns `false` if the session is unknown.
    private mutating func track(of id: SocketID, isPlain: Bool, at time: MonotonicTime) -> Bool {
        guard let session = sessions[id] else { return false }
        if isPlain ? session.plain != nil : session.clear != nil { return true }
        let facts = session.facts
        let (ends, remark) = ends(of: facts, isPlain: isPlain)
        let name = "\(id) \(facts.peer?.description ?? facts.target)" + (isPlain ? " plaintext" : "")
        let interface = writer.interface(name: name, description: "\(facts.role.rawValue) \(facts.target)" + remark)
        if !isPlain, !facts.isInternet {
            let path = [facts.peer, facts.local].compactMap { $0?.name == nil ? nil : $0?.description }.first
            if let path { writer.name(path, of: ends.local.ip) }
        }
        let stream = RecordedStream(
            local: ends.local, peer: ends.peer, number: isPlain ? ~id.number : id.number, snap: snap)
        let track = Track(interface: interface, ends: ends, stream: stream)
        if isPlain { sessions[id]?.plain = track } else { sessions[id]?.clear = track }
        if isPlain || session.isNew, facts.role != .datagram {
            change(id, isPlain, time) { $0.establish(isClient: facts.isClient) }
        }
        return true
    }

    /// Returns a session's addresses in the file, and a remark about them. If the engine has both ends of a connection,
    /// the second end gets its own addresses, since no reader could tell apart two streams between the same ends.
    private mutating func ends(
        of session: RecordedSession, isPlain: Bool
    ) -> (ends: (local: SyntheticPacket.End, peer: SyntheticPacket.End), remark: String) {
        let real = SyntheticPacket.ends(of: session)
        let holder = session.role == .datagram ? nil : holders[Ends(local: real.peer, peer: real.local)]
        if isPlain {
            let isTaken = holder != nil || !session.isInternet
            return (SyntheticPacket.loopback(of: session, ports: real, isSecond: isTaken), "")
        }
        guard let holder else {
            if holders.count >= Self.holderLimit { holders = [:] }
            holders[Ends(local: real.local, peer: real.peer)] = session.id
            return (real, "")
        }
        let ends = [real.local, real.peer].map { SocketAddress($0.ip, port: $0.port).description }
        return (
            SyntheticPacket.loopback(of: session, ports: real),
            "; its addresses \(ends[0]) and \(ends[1]) are used here for \(holder), the other end"
        )
    }

    private mutating func datagram(
        _ bytes: [UInt8], isSent: Bool, _ address: SocketAddress?, _ length: Int, of id: SocketID,
        at time: MonotonicTime
    ) {
        guard track(of: id, isPlain: false, at: time), let track = sessions[id]?.clear else { return dropped &+= 1 }
        var peer = track.ends.peer
        if let ip = address?.ip, let port = address?.port { peer = .init(ip, port) }
        var local = track.ends.local
        // A socket that is bound to a wildcard address still has an address of the peer's family.
        if local.ip.networkBytes.count != peer.ip.networkBytes.count || local.ip.isWildcard {
            local.ip = IPAddress.any(like: peer.ip)
        }
        let payload = bytes.prefix(SyntheticPacket.mostPayload)
        var frame = SyntheticPacket(from: isSent ? local : peer, to: isSent ? peer : local).udp(payload)
        let whole = frame.count
        frame.removeLast(max(0, payload.count - min(payload.count, snap)))
        var comment = isSent ? "send \(length)" : "receive \(length)"
        if length > payload.count { comment += ", \(length - payload.count) of them not recorded" }
        writer.packet(
            frame, length: whole, interface: track.interface, nanoseconds: nanoseconds(time),
            notes: PacketNotes(isInbound: !isSent, comment: comment))
    }

    /// Writes a captured packet, without the end of its payload if that exceeds `snap`.
    private mutating func captured(_ packet: CapturedPacket, _ lost: UInt64) {
        dropped &+= lost
        var frame = packet.bytes
        if snap < .max { frame = frame.prefix(PacketParser.headers(of: packet).saturatingAdd(snap)) }
        writer.packet(
            Array(frame), length: packet.length, interface: 0, nanoseconds: UInt64(max(0, packet.nanoseconds)),
            notes: PacketNotes(isInbound: packet.isInbound, dropped: packet.dropped.saturatingAdd(lost)))
    }

    /// Writes a loss at its place, as a packet without payload that contains the count.
    private mutating func lost(_ loss: RecordedLoss, of id: SocketID, at time: MonotonicTime) {
        dropped &+= loss.operations
        guard sessions[id]?.facts.role != .datagram, track(of: id, isPlain: loss.isPlain, at: time) else { return }
        let comment = "not recorded: \(loss.sent) bytes sent, \(loss.received) received"
        change(id, loss.isPlain, time, comment: comment, dropped: loss.operations) { stream in
            stream.skip(loss.sent, from: .local)
            stream.skip(loss.received, from: .peer)
            return [stream.acknowledge(from: .local)]
        }
    }
}

extension SyntheticPacket {
    /// Returns the ends of a session: its IP addresses, or loopback addresses derived from its number if it has none.
    package static func ends(of session: RecordedSession) -> (local: End, peer: End) {
        let local = session.local.flatMap { address in address.ip.map { End($0, address.port ?? 0) } }
        let peer = session.peer.flatMap { address in address.ip.map { End($0, address.port ?? 0) } }
        switch (local, peer) {
        case (let local?, let peer?) where local.ip.networkBytes.count == peer.ip.networkBytes.count:
            return (local, peer)
        case (let local?, nil): return (local, End(IPAddress.any(like: local.ip), 0))
        case (nil, let peer?): return (End(IPAddress.any(like: peer.ip), 0), peer)
        default:
            let (client, server) = (End(.any(like: .v4(0)), 49_152), End(.any(like: .v4(0)), 49_153))
            return loopback(of: session, ports: session.isClient ? (client, server) : (server, client))
        }
    }

    /// Returns the same ports at an address that only this session has, so that readers don't merge two streams: in
    /// 127.128.0.0/9, or in 127.64.0.0/10 for its second address.
    static func loopback(
        of session: RecordedSession, ports: (local: End, peer: End), isSecond: Bool = false
    ) -> (local: End, peer: End) {
        // Sessions of several programs can have the same numbers.
        let number = UInt32(truncatingIfNeeded: session.id.own.number &+ UInt64(session.id.ordinal) &* 131_071)
        let bits = isSecond ? 0x7F40_0000 | number & 0x3F_FFFF : 0x7F80_0000 | number & 0x7F_FFFF
        let ip = IPAddress.v4(bits.bigEndian)
        return (End(ip, ports.local.port), End(ip, ports.peer.port))
    }
}

extension IPAddress {
    /// Returns the loopback address of the same family.
    static func any(like other: IPAddress) -> IPAddress {
        if case .v4 = other { .v4(UInt32(0x7F00_0001).bigEndian) } else { .v6(0, UInt64(1).bigEndian) }
    }
}
