import SocketCore

/// Writers that make no progress: rings, and the ends of chains.
extension HostRules {
    mutating func judgeBlocking(_ edges: HostEdges) {
        for writer in edges.farWriters { judgeZeroWindow(writer) }
        var rings: Set<Set<Int32>> = []
        var chains: [(end: UInt64, paths: [[HostEdge]])] = []
        var places: [UInt64: Int] = [:]
        for edge in edges.all {
            handled.insert(edge.reader.id)
            guard edge.reading.kind != .unaccepted else { continue }
            switch edges.follow(edge) {
            case .ring(let ring):
                let processes = Set(ring.compactMap { $0.writing.process?.number })
                if rings.insert(processes).inserted { judgeRing(ring, processes) }
            case .chain(let path):
                guard let end = path.last?.reader.id else { continue }
                if let place = places[end] {
                    chains[place].paths.append(path)
                } else {
                    places[end] = chains.count
                    chains.append((end, [path]))
                }
            }
        }
        for chain in chains { judgeChain(chain.paths) }
    }

    // MARK: Rings

    private mutating func judgeRing(_ ring: [HostEdge], _ processes: Set<Int32>) {
        guard ring.allSatisfy({ facts.isReadingStalled($0.reader) && isConfirmed($0) }),
            let lasting = ring.map({ min(facts.unread($0.reader), facts.unsent($0.writer)) }).min(),
            lasting >= time("deadlock")
        else {
            for edge in ring { undecided.formUnion([edge.reader.id, edge.writer.id]) }
            return
        }
        ringed.formUnion(processes)
        let titles = ring.map { title($0.writing, $0.writer) }
        var verdict = HostVerdict(
            "deadlock", ringSeverity(ring), Self.ringClaim(titles), for: lasting,
            on: ring.flatMap { [$0.writer, $0.reader] },
            evidence: ring.map(\.writing.proof).max(by: isStronger) ?? .queues)
        verdict.sockets = verdict.sockets.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        verdict.processes = ring.compactMap(\.writing.process)
        verdict.subject = titles.joined(separator: " and ")
        verdict.next = next(ring[0].writing)
        verdict.sides = ring.indices.map { ringSide(ring[$0], unreadIn: ring[($0 + ring.count - 1) % ring.count]) }
        tell(verdict)
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
        case 2: "\(titles[0]) and \(titles[1]) both write and neither reads"
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
    private func ringSide(_ edge: HostEdge, unreadIn before: HostEdge) -> HostVerdict.Side {
        let unread = "\(Self.size(before.reader.unread)) unread in its own receive queue"
        let other = before.reader.id == edge.writer.id ? "" : " of fd \(before.reading.descriptor ?? -1)"
        return HostVerdict.Side(
            name: scene.name(edge.writing, of: edge.writer), descriptor: edge.writing.descriptor,
            words: "\(writes(edge)); \(unread)\(other)\(scene.namespaceSuffix(of: edge.writer))")
    }

    /// Returns `in send of 47.7M`, or the known facts about a writer that waits in another way.
    func writes(_ edge: HostEdge) -> String {
        let holders = edge.writing.process.map { facts.holders(of: $0.number) } ?? []
        let holder = holders.first { $0.socket.id == edge.writer.id }
        let unsent = "\(Self.size(edge.writer.unsent)) unsent"
        switch holder?.wait {
        case .call?, .ready?: return holder?.thread.map { "in \($0.words)" } ?? "waits for room to write, \(unsent)"
        case .edge?: return "registered for room to write (epoll ET), \(unsent)"
        case .hidden?, nil: return unsent
        }
    }

    // MARK: Chains

    /// Reports the reader at the end of a chain, and every process that waits for it.
    private mutating func judgeChain(_ paths: [[HostEdge]]) {
        guard let longest = paths.max(by: { $0.count < $1.count }), let last = longest.last else { return }
        let (reader, asking) = (last.reader, last.reading)
        // A reader that is itself blocked is reported at the end of its own chain.
        guard [.edge, .stuck, .unasked, .stopped].contains(asking.kind), !facts.isHeldUp(asking),
            asking.process.map({ ringed.contains($0.number) }) != true, facts.isReadingStalled(reader)
        else { return }
        let lasting = facts.unread(reader)
        let lint = Self.lint(asking.kind) ?? "write-blocked"
        guard lasting >= time(lint), facts.isConfirmed(reader) else {
            undecided.insert(reader.id)
            undecided.formUnion(paths.joined().map(\.writer.id))
            return
        }
        let severity: Severity = asking.kind != .stopped && asking.proof.provesSilence ? .warning : .note
        let waiters = paths.map { $0[0] }.sorted { $0.writer.id < $1.writer.id }
        var verdict = HostVerdict(
            lint, severity, chainClaim(reader, asking), because: chainReason(asking, waiters), for: lasting,
            on: [reader] + waiters.map(\.writer), by: asking, evidence: asking.proof)
        verdict.next = next(asking)
        for process in waiters.compactMap(\.writing.process) where !verdict.processes.contains(process) {
            verdict.processes.append(process)
        }
        verdict.sides = [chainEnd(reader, asking)] + waiters.map(waiterSide)
        tell(verdict)
    }

    static func lint(_ kind: HostAsking.Kind) -> String? {
        switch kind {
        case .edge: "edge-unread"
        case .stuck: "loop-stuck"
        default: nil
        }
    }

    private func chainClaim(_ reader: HostSocket, _ asking: HostAsking) -> String {
        let who = title(asking, reader) + (asking.kind == .stopped ? " is \(asking.words) and" : "")
        return "\(who) does not read \(Self.size(reader.unread))"
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
        let more = waiters.count > 4 ? ["\(waiters.count - 4) more wait"] : []
        return (how + told + more).joined(separator: "; ")
    }

    /// Says how it is visible that a socket's bytes are not requested.
    static func how(_ asking: HostAsking) -> String {
        switch asking.kind {
        case .edge: "epoll reported it once, edge-triggered, and it has not been read since"
        case .stuck: "the event loop listens for it, but no thread has waited in that loop since (\(asking.words))"
        case .unseen, .stopped: asking.words
        default:
            asking.words.hasPrefix("epoll")
                ? asking.words
                : "no thread or event loop is reading this socket"
                    + (asking.words.isEmpty || asking.words.hasSuffix(" -") ? "" : " (\(asking.words))")
        }
    }

    private func chainEnd(_ reader: HostSocket, _ asking: HostAsking) -> HostVerdict.Side {
        let unread = Self.size(reader.unread)
        let does = asking.words.isEmpty ? "does not read" : asking.words
        return HostVerdict.Side(
            name: scene.name(asking, of: reader), descriptor: asking.descriptor,
            words: "\(does); \(unread) unread\(scene.namespaceSuffix(of: reader))")
    }

    private func waiterSide(_ edge: HostEdge) -> HostVerdict.Side {
        HostVerdict.Side(
            name: scene.name(edge.writing, of: edge.writer), descriptor: edge.writing.descriptor,
            words: writes(edge) + scene.namespaceSuffix(of: edge.writer))
    }

    // MARK: Peers that are not visible

    private mutating func judgeZeroWindow(_ writer: HostSocket) {
        guard writer.transport == .tcp, writer.inode != 0, writer.state != .synSent, writer.tcp?.sendWindow == 0 else {
            return
        }
        // A longer call by the thread doesn't show since when the window is closed.
        let lasting = facts.ledger.writeStall(writer)
        guard lasting >= time("zero-window") else {
            undecided.insert(writer.id)
            return
        }
        let (who, peer) = (owner(writer), writer.peer.map { "\($0)" } ?? "the peer")
        let unsent = Self.size(writer.unsent)
        var verdict = HostVerdict(
            "zero-window", .warning, "\(peer) has kept \(title(who, writer)) from sending",
            because: "its window is 0, \(unsent) unsent" + Self.timer(writer), for: lasting, on: [writer], by: who,
            evidence: .queues)
        verdict.subject = peer
        tell(verdict)
    }

    /// `, try 3, next in 2.1s`
    static func timer(_ socket: HostSocket) -> String {
        let tries = max(socket.retransmits, socket.tcp?.tries ?? 0, socket.tcp?.probes ?? 0)
        let next = socket.timerExpires.map { ", next in \(Format.duration($0))" } ?? ""
        return tries > 0 ? ", try \(tries)\(next)" : ""
    }
}
