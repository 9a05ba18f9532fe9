import SocketCore

/// Writers that make no progress: rings, and the ends of chains.
extension HostRules {
    // MARK: Rings

    mutating func deadlocks(_ after: Duration) -> [Verdict] {
        edges.rings.compactMap { ring in
            if let lasting = lasting(ring, after) { return deadlock(ring, lasting) }
            for edge in ring { undecided.formUnion([edge.reader.id, edge.writer.id]) }
            return nil
        }
    }

    /// Returns how long a ring has been stalled, or `nil` if it is not sure or shorter.
    func lasting(_ ring: [HostEdge], _ after: Duration) -> Duration? {
        guard ring.allSatisfy({ facts.isReadingStalled($0.reader) && isConfirmed($0) }),
            let shortest = ring.map({ min(facts.unread($0.reader), facts.unsent($0.writer)) }).min(),
            case let lasting = shortest - distance(of: ring.flatMap { [$0.reader, $0.writer] }), lasting >= after
        else { return nil }
        return lasting
    }

    /// How much older the oldest of these looks is than the latest. Hosts are not looked at at one moment.
    private func distance(of sockets: [HostSocket]) -> Duration {
        let times = Set(sockets.map(\.host)).count > 1 ? sockets.map(\.time) : []
        return times.min().flatMap { first in times.max().map { $0 - first } } ?? .zero
    }

    private func deadlock(_ ring: [HostEdge], _ lasting: Duration) -> Verdict {
        let titles = ring.map { title($0.writing, $0.writer) }
        var verdict = Verdict(
            Self.ringClaim(titles), for: lasting, on: ring.flatMap { [$0.writer, $0.reader] },
            atMost: ringSeverity(ring), evidence: ring.map(\.writing.proof).max(by: isStronger) ?? .queues)
        verdict.sockets = verdict.sockets.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        verdict.processes = ring.compactMap(\.writing.process)
        verdict.subject = titles.joined(separator: " and ")
        verdict.next = next(ring[0].writing)
        verdict.ends = ring.indices.map { ringEnd(ring[$0], unreadIn: ring[($0 + ring.count - 1) % ring.count]) }
        return verdict
    }

    private func isConfirmed(_ edge: HostEdge) -> Bool {
        facts.isConfirmed(edge.reader) && facts.isConfirmed(edge.writer)
    }

    /// Compares evidence. A verdict has the weakest evidence of its parts.
    private func isStronger(_ left: Evidence, _ right: Evidence) -> Bool {
        let order = Evidence.allCases
        return order.firstIndex(of: left) ?? 0 < order.firstIndex(of: right) ?? 0
    }

    private static func ringClaim(_ titles: [String]) -> String {
        switch titles.count {
        case 1: "\(titles[0]) writes to itself and does not read"
        case 2: "\(titles[0]) and \(titles[1]) are both writing, and neither reads"
        default:
            titles.dropLast().joined(separator: ", ") + " and \(titles.last ?? "") write in a ring and none reads"
        }
    }

    /// A call that writes is certain, and waiting for room nearly so. An edge-triggered set is always registered for
    /// room.
    private func ringSeverity(_ ring: [HostEdge]) -> Severity {
        let waits = ring.map { edge -> HostFacts.Holder.Wait in
            let holders = edge.writing.process.map { facts.holders(of: $0.number) } ?? []
            return holders.first { $0.socket.id == edge.writer.id }?.wait ?? .hidden
        }
        guard ring.allSatisfy({ $0.writing.proof == .arguments && $0.reading.proof == .arguments }) else {
            return .note
        }
        if waits.allSatisfy({ $0 == .call }) { return .critical }
        return waits.allSatisfy { $0 == .call || $0 == .ready } ? .warning : .note
    }

    /// Describes one process of a ring: what it does, and what it leaves unread.
    private func ringEnd(_ edge: HostEdge, unreadIn before: HostEdge) -> Verdict.End {
        let unread = "\(Self.size(before.reader.unread)) unread in its own receive queue"
        let other = before.reader.id == edge.writer.id ? "" : " of fd \(before.reading.descriptor ?? -1)"
        return Verdict.End(
            name: scene.name(edge.writing, of: edge.writer), descriptor: edge.writing.descriptor,
            words: "\(writes(edge)); \(unread)\(other)\(scene.namespaceSuffix(of: edge.writer))")
    }

    /// Returns `in send of 47.7M`, or the known facts about a writer that waits in another way.
    func writes(_ edge: HostEdge) -> String {
        let holders = edge.writing.process.map { facts.holders(of: $0.number) } ?? []
        let holder = holders.first { $0.socket.id == edge.writer.id }
        let unsent = "\(Self.size(edge.writer.unsent)) unsent"
        switch holder?.wait {
        case .call?, .ready?: return holder?.thread.map { "in \($0.words)" } ?? "waiting for room to write, \(unsent)"
        case .edge?: return "registered for EPOLLOUT (epoll ET), \(unsent)"
        case .hidden?, nil: return unsent
        }
    }

    // MARK: Chains

    /// Reports the readers of these kinds at the ends of chains, and every process that waits for them.
    mutating func chains(_ kinds: Set<HostAsking.Kind>, _ after: Duration) -> [Verdict] {
        edges.chains.compactMap { paths in
            guard let longest = paths.max(by: { $0.count < $1.count }), let last = longest.last,
                kinds.contains(last.reading.kind)
            else { return nil }
            return chain(paths, last, after)
        }
    }

    private mutating func chain(_ paths: [[HostEdge]], _ last: HostEdge, _ after: Duration) -> Verdict? {
        let (reader, asking) = (last.reader, last.reading)
        // A reader that is itself blocked is reported at the end of its own chain.
        guard !facts.isHeldUp(asking), asking.process.map({ ringed.contains($0.number) }) != true,
            facts.isReadingStalled(reader)
        else { return nil }
        let lasting = facts.unread(reader)
        guard lasting >= after, facts.isConfirmed(reader) else {
            undecided.insert(reader.id)
            undecided.formUnion(paths.joined().map(\.writer.id))
            return nil
        }
        let severity: Severity = asking.kind != .stopped && asking.proof.provesSilence ? .critical : .note
        let waiters = paths.map { $0[0] }.sorted { $0.writer.id < $1.writer.id }
        var verdict = Verdict(
            chainClaim(reader, asking), because: chainReason(asking, waiters), for: lasting,
            on: [reader] + waiters.map(\.writer), by: asking, atMost: severity, evidence: asking.proof)
        verdict.next = next(asking)
        for process in waiters.compactMap(\.writing.process) where !verdict.processes.contains(process) {
            verdict.processes.append(process)
        }
        verdict.ends = [chainEnd(reader, asking)] + waiters.map(waiterEnd)
        return verdict
    }

    private func chainClaim(_ reader: HostSocket, _ asking: HostAsking) -> String {
        let who = title(asking, reader) + (asking.kind == .stopped ? " is \(asking.words) and" : "")
        return "\(who) has left \(Self.size(reader.unread)) unread"
    }

    /// Says how its sockets are requested, and which processes wait because of it.
    private func chainReason(_ asking: HostAsking, _ waiters: [HostEdge]) -> String {
        let how = asking.kind == .stopped ? [] : [Self.how(asking)]
        let told = waiters.prefix(4).map { edge in
            let who = title(edge.writing, edge.writer)
            let call = scene.programs[edge.writing.process?.number ?? 0]?.writer(to: edge.writing.descriptor ?? -1)
            let unsent = Self.size(edge.writer.unsent)
            return call.map { "\(who) is stuck in \($0.words)" } ?? "\(who) has \(unsent) unsent"
        }
        let more = waiters.count > 4 ? ["\(waiters.count - 4) more are waiting"] : []
        return (how + told + more).joined(separator: "; ")
    }

    /// Says how it is visible that a socket's bytes are not requested.
    static func how(_ asking: HostAsking) -> String {
        switch asking.kind {
        case .edge: "epoll (edge-triggered) reported it once, and it has not been read since"
        case .stuck: "an event loop watches it, but no thread has waited in that loop since (\(asking.words))"
        case .unseen, .stopped: asking.words
        default:
            asking.words.hasPrefix("epoll")
                ? asking.words
                : "no thread or event loop is reading this socket"
                    + (asking.words.isEmpty || asking.words.hasSuffix(" -") ? "" : " (\(asking.words))")
        }
    }

    private func chainEnd(_ reader: HostSocket, _ asking: HostAsking) -> Verdict.End {
        let unread = Self.size(reader.unread)
        let does = asking.words.isEmpty ? "does not read" : asking.words
        return Verdict.End(
            name: scene.name(asking, of: reader), descriptor: asking.descriptor,
            words: "\(does); \(unread) unread\(scene.namespaceSuffix(of: reader))")
    }

    private func waiterEnd(_ edge: HostEdge) -> Verdict.End {
        Verdict.End(
            name: scene.name(edge.writing, of: edge.writer), descriptor: edge.writing.descriptor,
            words: writes(edge) + scene.namespaceSuffix(of: edge.writer))
    }

    // MARK: Peers that are not visible

    mutating func closedWindows(_ after: Duration) -> [Verdict] {
        edges.farWriters.compactMap { closedWindow($0, after) }
    }

    private mutating func closedWindow(_ writer: HostSocket, _ after: Duration) -> Verdict? {
        guard writer.transport == .tcp, writer.inode != 0, writer.state != .synSent, writer.tcp?.sendWindow == 0 else {
            return nil
        }
        // A longer call by the thread doesn't show since when the window is closed.
        let lasting = facts.ledger.writeStall(writer)
        guard lasting >= after else {
            undecided.insert(writer.id)
            return nil
        }
        let (who, peer) = (owner(writer), writer.peer.map { "\($0)" } ?? "the peer")
        var verdict = Verdict(
            "\(peer) has blocked \(title(who, writer)) from sending",
            because: "its window is 0, \(Self.size(writer.unsent)) unsent" + Self.timer(writer), for: lasting,
            on: [writer], by: who)
        verdict.subject = peer
        return verdict
    }

    /// `, try 3, next in 2.1s`
    static func timer(_ socket: HostSocket) -> String {
        let tries = max(socket.retransmits, socket.tcp?.tries ?? 0, socket.tcp?.probes ?? 0)
        let next = socket.timerExpires.map { ", next in \(Format.duration($0))" } ?? ""
        return tries > 0 ? ", try \(tries)\(next)" : ""
    }
}
