import SocketCore

/// One conversation of a capture, from the view of the client, which is `local`.
package struct CapturedSession: Sendable {
    /// FIN or RST of one side.
    package struct End: Hashable, Sendable {
        package var isSent: Bool
        package var isReset: Bool
        package var time: MonotonicTime
        /// The number of reads and writes before it.
        package var items: UInt64
    }

    package let id: SocketID
    package let local: SyntheticPacket.End
    package let peer: SyntheticPacket.End
    package let isStream: Bool
    /// The name of its interface, if the file has one.
    package var interface = ""
    package fileprivate(set) var opened: MonotonicTime
    package fileprivate(set) var latest: MonotonicTime
    package fileprivate(set) var connected: MonotonicTime?
    package fileprivate(set) var closed: MonotonicTime?
    /// The ends of its streams, in order.
    package private(set) var ends: [End] = []
    private var wasReset: Bool { ends.contains(where: \.isReset) }
    /// The reassembled stream of each end.
    package fileprivate(set) var fromLocal = StreamAssembler()
    package fileprivate(set) var fromPeer = StreamAssembler()
    package fileprivate(set) var sent: UInt64 = 0
    package fileprivate(set) var received: UInt64 = 0
    package fileprivate(set) var counters = DatagramCounters()
    /// The number of repeated bytes that differed.
    package fileprivate(set) var differing: UInt64 = 0
    fileprivate var peerClosed: MonotonicTime?
    fileprivate var isWriteShut = false
    fileprivate var hasPeerClosedFirst = false
    fileprivate var firstSequence: UInt32?
    var store = TrafficStore()
    private var nextItem: UInt64 = 0
    /// The events since the last call of `takeNews`.
    private var news: [(kind: SocketEvent.Kind, first: Int, second: Int)] = []
    /// The number of bytes missing before the next item of each direction.
    private var gaps: [TrafficItem.Direction: UInt64] = [:]
    /// Whether the items are also collected for `takeItems`, and those since its last call.
    var collectsItems = false
    private var passed: [TrafficItem] = []
    /// When the last byte passed.
    private var lastByte: MonotonicTime?

    init(_ id: SocketID, local: SyntheticPacket.End, peer: SyntheticPacket.End, isStream: Bool, at time: MonotonicTime)
    {
        (self.id, self.local, self.peer, self.isStream) = (id, local, peer, isStream)
        (opened, latest) = (time, time)
    }

    /// Returns whether a segment with SYN begins another session between the same ends.
    func isOver(before segment: ParsedPacket.TCPSegment) -> Bool {
        guard let first = segment.firstOfClient else { return false }
        if let firstSequence {
            // A repeated SYN-ACK answers the same SYN.
            return firstSequence != first || closed != nil && !segment.flags.contains(.ack)
        }
        // The SYN may have been captured late, or the session's beginning was not captured.
        return closed != nil || ![fromLocal, fromPeer].contains { $0.begins(after: first) }
    }

    /// Processes a packet of this session, and returns what it adds to its stream.
    mutating func absorb(_ packet: ParsedPacket, at time: MonotonicTime, limit: Int) -> [StreamAssembler.Piece] {
        latest = max(latest, time)
        let isSent = packet.source == local
        guard case .tcp(let segment) = packet.content else {
            datagram(packet, isSent, time, limit)
            return []
        }
        if let first = segment.firstOfClient { firstSequence = first }
        if connected == nil, segment.flags.isDisjoint(with: [.syn, .reset]) {
            connected = time
            news.append((.connected, 0, 0))
        }
        var pieces: [StreamAssembler.Piece] = []
        if segment.flags.contains(.ack), !segment.flags.contains(.reset) {
            let acknowledged =
                isSent
                ? fromPeer.otherSide(acknowledges: segment.acknowledges)
                : fromLocal.otherSide(acknowledges: segment.acknowledges)
            keep(acknowledged, isSent: !isSent, time, limit)
        }
        if segment.flags.contains(.reset) {
            if closed == nil { news.append((.closed, 0, 0)) }
            if !wasReset { ends.append(End(isSent: isSent, isReset: true, time: time, items: nextItem)) }
            closed = closed ?? time
        } else if isSent {
            pieces = fromLocal.absorb(segment, packet.payload, missing: packet.missing)
        } else {
            pieces = fromPeer.absorb(segment, packet.payload, missing: packet.missing)
        }
        keep(pieces, isSent: isSent, time, limit)
        noteEnds(time, limit)
        return pieces
    }

    /// Returns the events since the last call.
    mutating func takeNews() -> [(kind: SocketEvent.Kind, first: Int, second: Int)] {
        defer { if !news.isEmpty { news = [] } }
        return news
    }

    /// Returns the items since the last call.
    mutating func takeItems() -> [TrafficItem] {
        defer { passed = [] }
        return passed
    }

    /// The number of bytes that its streams keep, including those that wait for earlier ones.
    var remembered: Int { fromLocal.remembered + fromPeer.remembered }

    /// Drops the bytes that are kept to compare with repeated ones.
    mutating func forget() {
        fromLocal.forget()
        fromPeer.forget()
    }

    /// The approximate memory of the bytes in its streams that wait for earlier ones.
    var waiting: Int { fromLocal.waiting + fromPeer.waiting }

    /// The number of holes that were given up because a limit was reached.
    var givenUp: UInt64 { fromLocal.givenUp + fromPeer.givenUp }
    /// The number of bytes before the first one seen.
    var early: UInt64 { fromLocal.early + fromPeer.early }

    /// Delivers the waiting bytes without those before them.
    mutating func giveUp(at time: MonotonicTime, limit: Int) {
        keep(fromLocal.giveUp(), isSent: true, time, limit)
        keep(fromPeer.giveUp(), isSent: false, time, limit)
        noteEnds(time, limit)
    }

    /// Delivers the waiting bytes at the end of the file.
    mutating func finish(limit: Int) {
        keep(fromLocal.finish(), isSent: true, latest, limit)
        keep(fromPeer.finish(), isSent: false, latest, limit)
        noteEnds(latest, limit)
        keepLastGap(isSent: true, latest, limit)
        keepLastGap(isSent: false, latest, limit)
    }

    /// Records the bytes that are missing at the end of a stream, where no item follows.
    private mutating func keepLastGap(isSent: Bool, _ time: MonotonicTime, _ limit: Int) {
        guard gaps[isSent ? .sent : .received, default: 0] > 0 else { return }
        keep([], 0, isSent: isSent, time, limit, from: nil)
    }

    private mutating func noteEnds(_ time: MonotonicTime, _ limit: Int) {
        if fromLocal.hasEnded, !isWriteShut {
            keepLastGap(isSent: true, time, limit)
            isWriteShut = true
            ends.append(End(isSent: true, isReset: false, time: time, items: nextItem))
            news.append((.halfClosed, 0, 0))
        }
        if fromPeer.hasEnded, peerClosed == nil {
            keepLastGap(isSent: false, time, limit)
            peerClosed = time
            ends.append(End(isSent: false, isReset: false, time: time, items: nextItem))
            hasPeerClosedFirst = !isWriteShut
            news.append((.peerClosed, 0, 0))
        }
        if fromLocal.hasEnded, fromPeer.hasEnded, closed == nil {
            closed = time
            news.append((.closed, 0, 0))
        }
    }

    private mutating func datagram(_ packet: ParsedPacket, _ isSent: Bool, _ time: MonotonicTime, _ limit: Int) {
        let count = packet.payload.count + packet.missing
        if isSent { counters.sent += 1 } else { counters.received += 1 }
        news.append(isSent ? (.datagramSent, count, 0) : (.datagramsReceived, 1, count))
        if isSent { sent += UInt64(count) } else { received += UInt64(count) }
        keep(Array(packet.payload), count, isSent: isSent, time, limit, from: isSent ? peer : local)
    }

    private mutating func keep(_ pieces: [StreamAssembler.Piece], isSent: Bool, _ time: MonotonicTime, _ limit: Int) {
        for piece in pieces {
            switch piece {
            case .differs(let count):
                differing += UInt64(count)
                news.append((.copiesDiffer, count, 0))
            case .gap(let count): gaps[isSent ? .sent : .received, default: 0] += count
            case .bytes(let bytes):
                if isSent { sent += UInt64(bytes.count) } else { received += UInt64(bytes.count) }
                news.append((isSent ? .writeDone : .readDone, bytes.count, 0))
                keep(bytes, bytes.count, isSent: isSent, time, limit, from: nil)
            }
        }
    }

    private mutating func keep(
        _ bytes: [UInt8], _ count: Int, isSent: Bool, _ time: MonotonicTime, _ limit: Int,
        from end: SyntheticPacket.End?
    ) {
        let direction: TrafficItem.Direction = isSent ? .sent : .received
        lastByte = time
        guard limit > 0 || collectsItems else {
            (nextItem, gaps[direction]) = (nextItem + 1, nil)
            return store.passOver(1)
        }
        var item = TrafficItem(
            sequence: nextItem, operation: OperationID(nextItem + 1), time: time, direction: direction, tag: 0,
            kind: isSent ? .write : .read(.available(limit: nil)), done: count, total: count,
            state: .complete(after: .zero), bytes: bytes, address: end.map { SocketAddress($0.ip, port: $0.port) })
        item.skipped = gaps.removeValue(forKey: direction) ?? 0
        nextItem += 1
        if collectsItems { passed.append(item) }
        guard limit > 0 else { return store.passOver(1) }
        store.append(item)
        store.makeRoom(limit)
    }

    /// The recorded traffic.
    package var traffic: TrafficSnapshot { TrafficSnapshot(items: store.items, dropped: store.dropped) }

    /// The value of ECONNRESET on Linux.
    private static let reset: Int32 = 104

    /// Its state, in the form of a live session.
    package var snapshot: SocketSnapshot {
        let target = SocketAddress(peer.ip, port: peer.port)
        let phase: SocketPhase = closed != nil ? .closed : connected != nil || !isStream ? .connected : .connecting
        var facts = SocketSnapshot.Facts(
            id: id, role: isStream ? .client : .datagram, phase: phase, target: target.description, opened: opened)
        (facts.local, facts.peer) = (SocketAddress(local.ip, port: local.port), target)
        (facts.connected, facts.sent, facts.received) = (connected, sent, received)
        facts.isWriteShut = isWriteShut
        facts.activity.lastByte = lastByte
        facts.activity.peerClosed = peerClosed
        if !isStream {
            var datagrams = DatagramSnapshot(mode: .continuous)
            datagrams.counters = counters
            facts.datagrams = datagrams
        }
        facts.closed = closed.map { closeRecord(at: $0, target) }
        return SocketSnapshot(facts)
    }

    /// How it ended, in the form of the client's session.
    private func closeRecord(at time: MonotonicTime, _ target: SocketAddress) -> CloseRecord {
        if let first = ends.first(where: \.isReset) {
            guard !first.isSent else { return CloseRecord(time: time, mode: .reset) }
            let error = SocketError(
                .system(errno: Self.reset), operation: "read", detail: "\(target): Connection reset by peer")
            return CloseRecord(time: time, error: error)
        }
        guard hasPeerClosedFirst else { return CloseRecord(time: time, mode: .now) }
        return CloseRecord(time: time, error: SocketError(.closedByPeer, operation: "read", detail: ""))
    }
}

extension ParsedPacket.TCPSegment {
    /// For a SYN or a SYN-ACK, the client's initial sequence number.
    fileprivate var firstOfClient: UInt32? {
        guard flags.contains(.syn) else { return nil }
        return flags.contains(.ack) ? acknowledges &- 1 : sequence
    }
}
