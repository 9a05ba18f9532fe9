import SocketCore

/// The sockets of the host as the rows of a snapshot. Each gets a number at first sight, which no other gets later.
package struct HostRows: Sendable {
    private struct Known {
        var id: SocketID
        var seen: MonotonicTime
        /// What was measured at the last look, for rates.
        var time: MonotonicTime
        var received: UInt64?
        var acknowledged: UInt64?
        /// As it was last listed, and whether the last look did not list it.
        var row: SocketSnapshot?
        var isMissing = false
        /// What the kernel told of it for the last time.
        var closing: HostSocket?
    }

    private var closings = HostClosings()
    /// Whether the kernel had no room for some closings before the last look.
    private var hasLost = false
    private var known: [UInt64: Known] = [:]
    private var lastNumber: UInt64 = 0
    /// The names of users, as far as they are known.
    private let userNames: [UInt32: String]

    package init(userNames: [UInt32: String] = [:]) { self.userNames = userNames }

    /// The number of a socket that was in a snapshot.
    package func id(of cookie: UInt64) -> SocketID? {
        known[cookie]?.id ?? closings.rows.last { $0.host?.key == cookie }?.id
    }

    /// Adds the events from this sequence number on.
    package func addEvents(from sequence: UInt64?, to snapshot: inout EngineSnapshot) {
        guard let sequence else { return }
        (snapshot.events, snapshot.eventsLost, snapshot.nextEvent) = closings.events(from: sequence)
    }

    /// What a look showed, as a snapshot; `found`: what the judge says of it.
    package mutating func snapshot(
        of look: HostLook, by judge: HostJudge, _ found: [HostVerdict], wallNanoseconds: Int64
    ) -> EngineSnapshot {
        var snapshot = EngineSnapshot(engine: "host", time: look.time, wallNanoseconds: wallNanoseconds)
        number(look)
        let rows = look.sockets.compactMap { row($0, judge) }
        end(look, judge)
        snapshot.sockets = (rows + closings.rows).sorted { $0.id < $1.id }
        (snapshot.counters.opened, snapshot.counters.closed) = (lastNumber, closings.count)
        remember(look, rows)
        for verdict in found { attach(verdict, to: &snapshot) }
        return snapshot
    }

    // MARK: Numbers and rates

    private mutating func number(_ look: HostLook) {
        for socket in look.sockets where known[socket.id] == nil {
            lastNumber += 1
            known[socket.id] = Known(id: SocketID(lastNumber), seen: socket.time, time: socket.time)
        }
    }

    private mutating func remember(_ look: HostLook, _ rows: [SocketSnapshot]) {
        for (socket, row) in zip(look.sockets, rows) {
            guard var entry = known[socket.id] else { continue }
            (entry.time, entry.received) = (socket.time, socket.tcp?.received)
            (entry.acknowledged, entry.row, entry.isMissing) = (socket.tcp?.acknowledged, row, false)
            known[socket.id] = entry
        }
    }

    /// Rows of sockets that are not listed any more. What the kernel says that it has destroyed is gone; what it only did
    /// not list is gone if it does not list it the next time either, since it passes one over now and then while others
    /// close.
    private mutating func end(_ look: HostLook, _ judge: HostJudge) {
        var unseen = 0
        for closing in look.closings where (known[closing.id]?.closing = closing) == nil {
            if !closings.release(closing.id) { unseen += 1 }
        }
        closings.count(unseen: unseen)
        // What was closed since the look before is told in this one at the latest.
        let isTold = look.closingsLost == 0 && !hasLost
        hasLost = look.closingsLost != 0
        let there = Set(look.sockets.map(\.id))
        for (cookie, entry) in known.filter({ !there.contains($0.key) }).sorted(by: { $0.value.id < $1.value.id }) {
            guard entry.closing != nil || entry.isMissing else {
                known[cookie]?.isMissing = true
                continue
            }
            known[cookie] = nil
            // The program of one in TIME-WAIT had closed it before.
            guard let row = entry.row, let last = row.host, last.state != .timeWait else { continue }
            if isTold, entry.closing == nil, let end = HostEnd(row, isResetByPeer: judge.wasResetByPeer(cookie)) {
                closings.hold(row, at: look.time, end)
                continue
            }
            let words = HostClosings.words(last, entry.closing, isReset: judge.wasReset(cookie))
            closings.append(row, entry.closing, at: look.time, words)
        }
    }

    /// Bytes a second since the last look; `nil` until measured twice.
    private static func rate(_ former: UInt64?, _ now: UInt64?, _ time: Duration) -> Double? {
        guard let former, let now, now >= former, time > .zero else { return nil }
        return Double(now - former) / time.inSeconds
    }

    // MARK: A row

    private func row(_ socket: HostSocket, _ judge: HostJudge) -> SocketSnapshot? {
        guard let former = known[socket.id] else { return nil }
        var facts = SocketSnapshot.Facts(
            id: former.id, role: socket.role(isServerSide: judge.isServerSide(socket.id)), phase: socket.phase,
            target: "",
            opened: former.seen)
        (facts.local, facts.peer) = (socket.local, socket.peer)
        if socket.transport.isUnix, facts.peer == nil, socket.peerInode != 0 { facts.peer = .unnamed }
        facts.isWriteShut = socket.isWriteShut
        facts.received = socket.tcp?.received ?? 0
        facts.sent = socket.tcp?.acknowledged ?? 0
        facts.receiveRate = Self.rate(former.received, socket.tcp?.received, socket.time - former.time)
        facts.sendRate = Self.rate(former.acknowledged, socket.tcp?.acknowledged, socket.time - former.time)
        facts.kernel = KernelSnapshot(socket)
        var host = HostSnapshot(socket)
        host.namespace = judge.namespace(of: socket)
        if let asking = judge.asking(of: socket.id) {
            facts.descriptor = asking.descriptor
            (host.process, host.others) = (asking.process?.number, asking.others)
            let owner = judge.owner(of: socket.id)
            (host.program, host.programUser) = (owner?.title, owner?.user)
            (host.cgroup, host.container) = (owner?.cgroup, owner?.cgroup.flatMap(ContainerName.text))
            host.owners = judge.owners(of: socket.id)
            let asks = judge.asks(of: socket.id)
            (host.asks, host.asksFor) = (asks.text == "-" ? nil : asks.text, asks.lasting)
            host.asksWords = asking.words.isEmpty ? nil : asking.words
            host.evidence = asking.proof.rawValue
            if let flags = judge.flags(asking) { (host.blocks, host.closesOnExec) = flags }
        }
        if let peer = judge.peer(of: socket.id) {
            host.peer = known[peer.id]?.id
            host.peerProgram = judge.owner(of: peer.id)?.text
        }
        host.userName = userNames[host.programUser ?? host.user]
        facts.host = host
        return SocketSnapshot(facts)
    }

    private func attach(_ verdict: HostVerdict, to snapshot: inout EngineSnapshot) {
        let about = verdict.sockets.compactMap(id)
        guard let first = about.first, let place = snapshot.position(of: first) else { return }
        var finding = HostFinding(
            verdict.lint, severity: verdict.severity.rawValue, verdict.sentence, evidence: verdict.evidence.rawValue)
        (finding.subject, finding.lasting, finding.next) = (verdict.subject, verdict.lasting, verdict.next)
        finding.others = Array(about.dropFirst())
        snapshot.sockets[place].host?.verdicts.append(finding)
    }
}

extension HostSocket {
    func role(isServerSide: Bool) -> SocketRole {
        if isListening { return .listener }
        if !transport.isStream { return .datagram }
        return isServerSide ? .accepted : .client
    }

    var phase: SocketPhase {
        switch state {
        case .listening: .listening
        case .synSent, .synReceived, .newSynReceived: .connecting
        case .closed: .open
        case .established, .closeWait: .connected
        case .finWait1, .finWait2, .timeWait, .lastAck, .closing: .lingering
        }
    }

    var isWriteShut: Bool {
        switch state {
        case .finWait1, .finWait2, .timeWait, .lastAck, .closing: true
        default: shutdown & 2 != 0
        }
    }
}

extension HostState {
    /// As `ss` writes it.
    package var word: String {
        switch self {
        case .established: "ESTAB"
        case .synSent: "SYN-SENT"
        case .synReceived, .newSynReceived: "SYN-RECV"
        case .finWait1: "FIN-WAIT-1"
        case .finWait2: "FIN-WAIT-2"
        case .timeWait: "TIME-WAIT"
        case .closed: "UNCONN"
        case .closeWait: "CLOSE-WAIT"
        case .lastAck: "LAST-ACK"
        case .listening: "LISTEN"
        case .closing: "CLOSING"
        }
    }
}

extension KernelSnapshot {
    /// What sock_diag(7) said of a socket.
    init(_ socket: HostSocket) {
        self.init()
        (receiveQueue, sendQueue) = (socket.receiveQueue.map(Int.init), socket.sendQueue.map(Int.init))
        state = socket.state.word
        notSent = socket.tcp?.notSent.map(Int.init)
        roundTripTime = socket.tcp?.roundTrip
        congestionWindow = socket.tcp?.congestionWindow.map(Int.init)
        retransmits = socket.tcp?.retransmitted.map(Int.init)
        bytesReceived = socket.tcp?.received
        bytesSent = socket.tcp?.sent
        drops = socket.transport.isStream ? nil : socket.memory.map { UInt64($0.drops) }
        receiveBuffer = socket.memory.map { Int($0.receiveBuffer) }
    }
}
