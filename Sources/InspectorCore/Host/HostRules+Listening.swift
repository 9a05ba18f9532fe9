import SocketCore

/// Listeners with waiting connections.
extension HostRules {
    /// Why connections wait to be accepted.
    enum Queue { case full, stuck, loop }
    typealias Found = (queue: Queue, verdict: Verdict)

    mutating func unaccepted(_ queue: Queue) -> [Verdict] {
        let found = listening ?? judgeListeners()
        listening = found
        return found.filter { $0.queue == queue }.map(\.verdict)
    }

    private mutating func judgeListeners() -> [Found] {
        guard notable.contains(where: \.isListening) else { return [] }
        var groups: [Group: [HostSocket]] = [:]
        for listener in sockets where listener.isListening { groups[Group(listener), default: []].append(listener) }
        return groups.values.sorted { $0[0].id < $1[0].id }.compactMap { group in
            let waiting = group.filter { $0.receiveQueue ?? 0 > 0 }
            return Self.joined(waiting.compactMap { judge($0) }, of: group.count)
        }
    }

    /// Joins the verdicts about listeners on one address (SO_REUSEPORT) into the worst of them.
    private static func joined(_ found: [Found], of count: Int) -> Found? {
        guard var worst = found.max(by: { $0.verdict.severity < $1.verdict.severity }), count > 1 else {
            return found.first
        }
        let words = "\(found.count) of \(count) listeners on this address"
        worst.verdict.reason = [words, worst.verdict.reason].compactMap { $0 }.joined(separator: ": ")
        worst.verdict.sockets = found.flatMap(\.verdict.sockets)
        worst.verdict.processes = found.flatMap(\.verdict.processes).reduce(into: []) {
            if !$0.contains($1) { $0.append($1) }
        }
        return worst
    }

    /// Listeners between which the kernel chooses.
    private struct Group: Hashable {
        var transport: HostTransport
        var address: SocketAddress?
        var interface: UInt32
        var namespace: UInt16
        /// Set for Unix-domain sockets, which can't share a name.
        var id: UInt64?

        init(_ listener: HostSocket) {
            (transport, address, interface) = (listener.transport, listener.local, listener.interface)
            namespace = listener.namespace
            id = listener.transport.isUnix ? listener.id : nil
        }
    }

    private mutating func judge(_ listener: HostSocket) -> Found? {
        guard let waiting = listener.receiveQueue, let limit = listener.sendQueue, let asking = facts.steady(listener),
            // An accepting thread may be late, but it exists.
            asking.kind != .asks || !asking.isWaiting
        else { return nil }
        let children = children(of: listener)
        // A queue that moves is not a hang, however full it is.
        let stay = children.filter { facts.ledger.ownerAge($0) >= Self.longEnough }
        guard !stay.isEmpty, stay.count * 2 >= min(Int(waiting), children.count) else { return nil }
        let oldest = stay.map(age).max() ?? .zero
        let isFull = waiting > limit && wasFull(listener)
        guard isFull || oldest >= time(.acceptStuck), facts.isConfirmed(listener) else {
            undecided.insert(listener.id)
            return nil
        }
        let running = running(listener, asking)
        let isProven = running.map { min($0, oldest) >= time(.acceptStuck) } ?? false
        if running != nil, !isProven { undecided.insert(listener.id) }
        let isKnown = isProven || (asking.kind != .stopped && asking.kind != .hidden && asking.kind != .unseen)
        let severity: Severity = isKnown && asking.proof == .arguments ? .critical : .note
        var verdict = verdict(listener, asking, oldest, severity)
        if isProven, let running { verdict.reason?.append(" without pausing for \(Format.duration(running))") }
        verdict.ends += clients(stay)
        return (isFull ? .full : isProven || asking.kind == .stuck ? .loop : .stuck, verdict)
    }

    /// Returns how long a listener's program has run without a pause, or `nil` if it has paused or accepted meanwhile.
    private func running(_ listener: HostSocket, _ asking: HostAsking) -> Duration? {
        guard asking.kind == .hidden, let thread = asking.process.flatMap({ scene.programs[$0.number]?.running }),
            let time = facts.ledger.running(thread)
        else { return nil }
        let hasAccepted = sockets.contains { child in
            child.inode != 0 && !child.isListening && child.transport == listener.transport
                && facts.ledger.ownerAge(child) < time && child.local?.port == listener.local?.port
                && (!listener.transport.isUnix || child.local == listener.local)
        }
        return hasAccepted ? nil : time
    }

    /// Returns the local programs whose connections wait, each once.
    private func clients(_ children: [HostSocket]) -> [Verdict.End] {
        var told: Set<HostProcess.ID> = []
        return children.compactMap { child in
            guard let peer = child.transport.isUnix ? child : scene.peer(of: child), peer.inode != 0,
                case let asking = owner(peer),
                let process = asking.process, told.insert(process).inserted
            else { return nil }
            let words = asking.words.isEmpty ? "" : "; \(asking.words)"
            return Verdict.End(
                name: scene.name(asking, of: peer), descriptor: asking.descriptor,
                words: "is waiting to be accepted" + words
            )
        }
    }

    private func verdict(
        _ listener: HostSocket, _ asking: HostAsking, _ oldest: Duration, _ severity: Severity
    ) -> Verdict {
        let waiting = listener.receiveQueue ?? 0
        let count = Format.count(Int(clamping: waiting), "connection")
        let verb = waiting == 1 ? "waits" : "wait"
        var reason = "\(count) \(verb), the backlog is \(listener.sendQueue ?? 0)"
        if let drops = listener.memory?.drops, drops > 0 { reason += ", \(drops) dropped" }
        if !asking.words.isEmpty { reason += "; \(asking.words)" }
        let place = listener.local.map { $0.port.map { ":\($0)" } ?? HostScene.safe("\($0)") } ?? "its listener"
        var verdict = Verdict(
            "\(title(asking, listener)) has accepted nothing on \(place)", because: reason, for: oldest,
            on: [listener], by: asking, atMost: severity, evidence: asking.proof)
        verdict.next = next(asking)
        verdict.ends = [
            Verdict.End(
                name: scene.name(asking, of: listener), descriptor: asking.descriptor,
                words: asking.words.isEmpty ? "-" : asking.words)
        ]
        return verdict
    }

    private static let longEnough = Duration.milliseconds(900)

    private func wasFull(_ listener: HostSocket) -> Bool {
        guard let former = facts.ledger[listener.id]?.former, let waited = former.receiveQueue,
            let limit = former.sendQueue
        else { return false }
        return waited > limit
    }

    /// Returns the connections waiting to be accepted, which have no inode yet. Unix-domain ones are not listed until
    /// then, but the ends that connected are.
    private func children(of listener: HostSocket) -> [HostSocket] {
        if listener.transport.isUnix { return scene.queued(at: listener) }
        return notable.filter { child in
            guard child.inode == 0, child.transport == listener.transport, child.namespace == listener.namespace,
                child.state == .established || child.state == .closeWait
            else { return false }
            guard let local = listener.local?.unmapped, child.local?.port == local.port else { return false }
            return local.isWildcard || child.local?.unmapped.host == local.host
        }
    }

    /// Returns how long it has waited: as we have seen, or since the last byte or acknowledgment arrived.
    private func age(_ child: HostSocket) -> Duration {
        let seen = facts.ledger.ownerAge(child)
        guard let received = child.tcp?.lastReceived, let acknowledged = child.tcp?.lastAcknowledged else {
            return seen
        }
        return max(seen, min(received, acknowledged))
    }
}
