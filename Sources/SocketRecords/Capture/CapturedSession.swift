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
    /// A reset that its receiver takes only if nothing follows, because its number is in the window but not the next.
    private var doubtful: Reset?
    /// The number of resets that their receivers did not take.
    package private(set) var ignoredResets: UInt64 = 0
    /// The window scale that the SYN of each end offers, or `nil` if no SYN was captured.
    private var scales: (local: Offer?, peer: Offer?)
    /// The text of the reset that ended it, which is its reason (RFC 1122, 4.2.2.12).
    private var resetText = ""
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
    var store = TrafficStore()
    private var nextItem: UInt64 = 0
    /// The events since the last call of `takeNews`.
    private var news: [(kind: SocketEvent.Kind, first: Int, second: Int)] = []
    /// The bytes missing before the next item of each direction.
    private var gaps: [TrafficItem.Direction: Gap] = [:]
    /// When each end first acknowledged bytes of the other that are still missing.
    private var lacks: [TrafficItem.Direction: MonotonicTime] = [:]
    /// Whether the items are also collected for `takeItems`, and those since its last call.
    var collectsItems = false
    private var passed: [TrafficItem] = []
    /// Its questions and answers, from its first byte on.
    @Rare private var tally: ExchangeTally? = nil
    @Rare private var times: AnswerTimes? = nil
    /// When the last byte passed.
    private var lastByte: MonotonicTime?

    init(_ id: SocketID, local: SyntheticPacket.End, peer: SyntheticPacket.End, isStream: Bool, at time: MonotonicTime)
    {
        (self.id, self.local, self.peer, self.isStream) = (id, local, peer, isStream)
        (opened, latest) = (time, time)
    }

    private struct Offer { var scale: UInt8? }

    /// A number of missing bytes, and when that was noticed.
    private struct Gap {
        var count: UInt64
        var time: MonotonicTime
    }

    /// A reset, by one end.
    private struct Reset {
        var isSent: Bool
        var time: MonotonicTime
        var text: String
    }

    /// Whether the capture has no SYN of a TCP connection, so that it began before.
    package var beganBefore: Bool { isStream && !fromLocal.hasSYN && !fromPeer.hasSYN }

    /// The stream of the end that sent a packet.
    private func stream(of packet: ParsedPacket) -> StreamAssembler { packet.source == local ? fromLocal : fromPeer }

    /// Returns whether a segment with SYN belongs to this connection: it has the initial number of that end (RFC 9293,
    /// 3.4.1), or is that end's first segment. In a simultaneous open both ends send a SYN.
    func accepts(syn segment: ParsedPacket.TCPSegment, of packet: ParsedPacket) -> Bool {
        let length = packet.payload.count + packet.missing
        guard stream(of: packet).begins(after: segment.sequence, length) else { return false }
        return closed == nil || segment.flags.contains(.ack)
    }

    /// Returns how far a segment is from the next ones that this connection expects.
    func distance(to segment: ParsedPacket.TCPSegment, of packet: ParsedPacket) -> Int64 {
        let (mine, theirs) = packet.source == local ? (fromLocal, fromPeer) : (fromPeer, fromLocal)
        let acknowledged = segment.flags.contains(.ack) ? theirs.distance(to: segment.acknowledges) : 0
        return mine.distance(to: segment.sequence) + acknowledged
    }

    /// Processes a packet of this session, and returns what it adds to its stream.
    mutating func absorb(_ packet: ParsedPacket, at time: MonotonicTime, limit: Int) -> [StreamAssembler.Piece] {
        latest = max(latest, time)
        let isSent = packet.source == local
        guard case .tcp(let segment) = packet.content else {
            datagram(packet, isSent, time, limit)
            return []
        }
        if segment.flags.contains(.reset) {
            reset(Reset(isSent: isSent, time: time, text: Self.text(packet.payload)), segment)
            return []
        }
        // Its receiver answered the reset, or its sender did not mean it.
        if doubtful != nil { (doubtful, ignoredResets) = (nil, ignoredResets + 1) }
        if segment.flags.contains(.syn) {
            if isSent { scales.local = Offer(scale: segment.scale) } else { scales.peer = Offer(scale: segment.scale) }
        } else if connected == nil {
            connected = time
            news.append((.connected, 0, 0))
        }
        if segment.flags.contains(.ack) {
            let window = window(of: segment, isSent: isSent)
            let acknowledged =
                isSent
                ? fromPeer.otherSide(acknowledges: segment.acknowledges, window: window)
                : fromLocal.otherSide(acknowledges: segment.acknowledges, window: window)
            keep(acknowledged, isSent: !isSent, time, limit)
        }
        let pieces =
            isSent
            ? fromLocal.absorb(segment, packet.payload, missing: packet.missing)
            : fromPeer.absorb(segment, packet.payload, missing: packet.missing)
        keep(pieces, isSent: isSent, time, limit)
        noteEnds(time, limit)
        noteLack(of: fromLocal, .sent, time)
        noteLack(of: fromPeer, .received, time)
        return pieces
    }

    private mutating func noteLack(
        of stream: StreamAssembler, _ direction: TrafficItem.Direction, _ time: MonotonicTime
    ) {
        guard stream.lacksAcknowledged || !lacks.isEmpty else { return }
        lacks[direction] = stream.lacksAcknowledged ? lacks[direction] ?? time : nil
    }

    /// Returns the window that a segment announces, in bytes. Without the SYNs its scale is not known, so the largest
    /// is assumed.
    private func window(of segment: ParsedPacket.TCPSegment, isSent: Bool) -> Int? {
        guard let window = segment.window else { return nil }
        if segment.flags.contains(.syn) { return Int(window) }
        guard let local = scales.local, let peer = scales.peer else { return Int(window) << 14 }
        guard let local = local.scale, let peer = peer.scale else { return Int(window) }
        return Int(window) << (isSent ? local : peer)
    }

    /// The longest text of a reset that is kept.
    private static let textLimit = 256

    private static func text(_ payload: ArraySlice<UInt8>) -> String {
        String(decoding: payload.prefix(textLimit), as: UTF8.self)
    }

    /// Ends the connection if the receiver of a reset takes it.
    private mutating func reset(_ reset: Reset, _ segment: ParsedPacket.TCPSegment) {
        let (mine, theirs) = reset.isSent ? (fromLocal, fromPeer) : (fromPeer, fromLocal)
        // Before there is a connection, it must answer the SYN.
        let answersSYN = theirs.hasSYN && !mine.hasBegun
        let verdict: StreamAssembler.ResetVerdict =
            !answersSYN
            ? mine.verdict(onReset: segment.sequence)
            : segment.flags.contains(.ack) && theirs.wasSent(before: segment.acknowledges) ? .exact : .outside
        switch verdict {
        case .exact: take(reset)
        case .inWindow where doubtful == nil && closed == nil: doubtful = reset
        case .inWindow, .outside: ignoredResets += 1
        }
    }

    private mutating func take(_ reset: Reset) {
        doubtful = nil
        if closed == nil { news.append((.closed, 0, 0)) }
        if !ends.contains(where: \.isReset) {
            ends.append(End(isSent: reset.isSent, isReset: true, time: reset.time, items: nextItem))
            resetText = reset.text
        }
        closed = closed ?? reset.time
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
    /// The number of segments outside every window.
    var outside: UInt64 { fromLocal.outside + fromPeer.outside }

    /// Delivers the waiting bytes without those before them.
    mutating func giveUp(at time: MonotonicTime, limit: Int) {
        keep(fromLocal.giveUp(), isSent: true, time, limit)
        keep(fromPeer.giveUp(), isSent: false, time, limit)
        noteEnds(time, limit)
    }

    /// Delivers the waiting bytes at the end of the file.
    mutating func finish(limit: Int) {
        if let doubtful { take(doubtful) }
        let closed = (local: fromLocal.hasFIN, peer: fromPeer.hasFIN)
        keep(fromLocal.finish(otherHasClosed: closed.peer), isSent: true, latest, limit)
        keep(fromPeer.finish(otherHasClosed: closed.local), isSent: false, latest, limit)
        noteEnds(latest, limit)
        keepLastGap(isSent: true, limit)
        keepLastGap(isSent: false, limit)
    }

    /// Records the bytes that are missing at the end of a stream, where no item follows: when that was noticed, or at
    /// the item before.
    private mutating func keepLastGap(isSent: Bool, _ limit: Int) {
        guard let gap = gaps[isSent ? .sent : .received] else { return }
        keep([], 0, isSent: isSent, max(gap.time, lastByte ?? opened), limit, from: nil)
    }

    private mutating func noteEnds(_ time: MonotonicTime, _ limit: Int) {
        if fromLocal.hasEnded, !isWriteShut {
            keepLastGap(isSent: true, limit)
            isWriteShut = true
            ends.append(End(isSent: true, isReset: false, time: time, items: nextItem))
            news.append((.halfClosed, 0, 0))
        }
        if fromPeer.hasEnded, peerClosed == nil {
            keepLastGap(isSent: false, limit)
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
            case .keepAlive: news.append((.keepAlive, isSent ? 0 : 1, 0))
            case .gap(let count):
                let direction: TrafficItem.Direction = isSent ? .sent : .received
                gaps[direction, default: Gap(count: 0, time: lacks[direction] ?? time)].count += count
            case .bytes(let bytes):
                if isSent { sent += UInt64(bytes.count) } else { received += UInt64(bytes.count) }
                news.append((isSent ? .writeDone : .readDone, bytes.count, 0))
                keep(bytes, bytes.count, isSent: isSent, time, limit, from: nil)
                count(bytes, isSent: isSent, time)
            }
        }
    }

    private mutating func count(_ bytes: [UInt8], isSent: Bool, _ time: MonotonicTime) {
        if tally == nil { tally = ExchangeTally(client: .sent, isJoined: beganBefore) }
        guard let step = tally?.pass(isSent ? .sent : .received, bytes.count, at: time) else { return }
        switch step {
        case .more, .overlapped: return
        case .asked: if TalkNature.isTLS(bytes) { tally?.hide() }
        case .answered, .answeredRest: if TalkNature.isUpgrade(bytes) { tally?.hide() }
        }
        if step == .answered, let took = tally?.answerTime {
            if times == nil { times = AnswerTimes() }
            times?.add(took)
        }
        guard tally?.wantsQuestion == true else { return }
        let items = store.items
        tally?.judge(items)
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
        item.skipped = gaps.removeValue(forKey: direction)?.count ?? 0
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
        if isStream { facts.exchanges = tally.map { $0.snapshot(times) } ?? ExchangeSnapshot() }
        if !isStream {
            var datagrams = DatagramSnapshot(mode: .continuous)
            datagrams.counters = counters
            facts.datagrams = datagrams
        }
        facts.closed = closed.map(closeRecord)
        return SocketSnapshot(facts)
    }

    /// How it ended, in the form of the client's session. The detail of a reset is its own text.
    private func closeRecord(at time: MonotonicTime) -> CloseRecord {
        if let first = ends.first(where: \.isReset) {
            guard first.isSent else {
                return CloseRecord(
                    time: time, error: SocketError(.system(errno: Self.reset), operation: "read", detail: resetText))
            }
            let error = resetText.isEmpty ? nil : SocketError(.disconnected, operation: "close", detail: resetText)
            return CloseRecord(time: time, error: error, mode: .reset)
        }
        guard hasPeerClosedFirst else { return CloseRecord(time: time, mode: .now) }
        return CloseRecord(time: time, error: SocketError(.closedByPeer, operation: "read", detail: ""))
    }
}
