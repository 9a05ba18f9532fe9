import SocketCore

/// Closing a session, and its snapshots.
extension DatagramSession {
    /// Closes as `mode` says, at once or when what it waits for is done.
    func askToClose(_ mode: CloseMode) {
        record(.closeRequested, CloseMode.allCases.firstIndex(of: mode) ?? 0)
        closeMode = mode
        switch mode {
        case .now, .reset: return close(error: nil, mode: mode)
        case .afterReading: closesWhenReceived = true
        case .afterWriting: closesWhenSent = true
        case .afterBoth: (closesWhenReceived, closesWhenSent) = (true, true)
        }
        finishStep()
    }

    /// Ends the session. Every datagram ends, then the descriptors are closed, and only then is the handle notified.
    func close(error: SocketError?, mode: CloseMode?) {
        guard !isClosed else { return }
        isClosed = true
        let cause = error ?? SocketError(.disconnected, operation: "close", detail: "closed locally")
        var writesLost = 0
        while queue.count > 0 {
            let entry = queue.takeFirst(engine.now)
            if !entry.isConnect { writesLost += 1 }
            fail(entry, cause)
        }
        var snapshot = snapshot(withKernel: true)
        snapshot.phase = .closed
        snapshot.descriptor = nil
        snapshot.flags = []
        snapshot.datagrams?.flags = []
        snapshot.kernel = nil
        snapshot.callbacks = nil
        snapshot.receiveRate = nil
        snapshot.sendRate = nil
        snapshot.reading.current = nil
        // Datagrams that a rule has delayed are no longer sent.
        snapshot.fault?.dropDelayed()
        snapshot.closed = CloseRecord(time: engine.now, error: error, mode: mode, writesLost: writesLost)
        end()
        engine.counters.closed += 1
        record(.closed)
        engine.closed.append(.whole(snapshot), traffic: takeTraffic())
        notify(.closed(error, of: id))
        handle.load(in: engine)?.sessionEnded(id, as: snapshot)
        detachHandle()
    }

    private func end() {
        // Removed first: once the descriptor is closed, another program may replace the file and receive there.
        if let path { _ = engine.kernel.removeSocketFile(path) }
        dropLinks()
        noteForViewers()
        engine.sessions[id] = nil
        engine.retire(self)
    }

    /// Closes descriptors. If user code may have duplicates, close(2) doesn't remove them from the reactor's set, so
    /// they are removed first.
    func dropLinks(where isLeaving: (Link) -> Bool = { _ in true }) {
        for link in links where mayLiveOn && link.watched != nil && isLeaving(link) {
            engine.reactor.remove(link.socket.descriptor)
        }
        links.removeAll(where: isLeaving)
    }

    /// Removes a session that began with a rejected call, as if it had never existed.
    func abandon() {
        isClosed = true
        end()
        engine.counters.opened -= 1
        if let answer = handle.load(in: engine)?.sessionVanished(id) { engine.outbox.append(.other(answer)) }
        detachHandle()
    }

    // MARK: Snapshots

    func snapshot(withKernel: Bool) -> SocketSnapshot {
        var snapshot = SocketSnapshot(id: id, role: .datagram, phase: phase, target: target, opened: opened)
        snapshot.name = configuration.name
        snapshot.local = links.first?.local
        snapshot.peer = peer
        snapshot.connected = connected
        snapshot.parent = association?.listener
        snapshot.fault = faults?.snapshot
        snapshot.descriptor = links.first?.socket.descriptor
        snapshot.flags = peer == nil ? [.socketStarted] : [.socketStarted, .connected]
        if links.contains(where: { !$0.isBlocked }) { snapshot.flags.insert(.socketCanAcceptBytes) }
        snapshot.isReadingPaused = reception.isHeld
        snapshot.reading = QueueSnapshot(current: currentRead, completed: counters.received)
        snapshot.writing = queue.snapshot
        snapshot.received = received
        snapshot.sent = sent
        let (receiveRate, sendRate) = measure()
        snapshot.receiveRate = receiveRate
        snapshot.sendRate = sendRate
        if withKernel { snapshot.kernel = askKernel() }
        snapshot.datagrams = facts
        snapshot.callbacks = handle.load(in: engine)?.callbacks(in: engine)
        return snapshot
    }

    private func measure() -> (receive: Double?, send: Double?) {
        let window = RateWindow(since: opened, now: engine.now)
        var measured = rates ?? (window, window)
        measured.receive.sample(total: received, now: engine.now)
        measured.send.sample(total: sent, now: engine.now)
        rates = measured
        return (measured.receive.perSecond, measured.send.perSecond)
    }

    func recordIdle() {
        rates?.receive.recordIdle(until: engine.now)
        rates?.send.recordIdle(until: engine.now)
    }

    /// Whether the rates are up to date and nothing else changes unnoticed, as the counters of rules do.
    var isSettled: Bool {
        guard faults == nil, let rates else { return false }
        return rates.receive.total == received && rates.send.total == sent
    }

    private var phase: SocketPhase {
        if peer != nil { return .connected }
        return queue.isConnecting ? .connecting : .open
    }

    /// What the session waits for, expressed as a read: the next datagram, or all that arrive.
    private var currentRead: OperationSnapshot? {
        guard reception.mode != .paused else { return nil }
        return OperationSnapshot(
            id: OperationID(0), kind: .read(.available(limit: nil)), isStanding: reception.mode == .continuous,
            started: opened)
    }

    /// Returns the sum over all descriptors.
    private func askKernel() -> KernelSnapshot {
        var answer = KernelSnapshot()
        for link in links {
            let one = engine.kernel.describeDatagrams(link.socket.descriptor)
            answer.receiveQueue = Self.sum(answer.receiveQueue, one.receiveQueue)
            answer.sendQueue = Self.sum(answer.sendQueue, one.sendQueue)
            answer.receiveBuffer = Self.sum(answer.receiveBuffer, one.receiveBuffer)
            answer.drops = Self.sum(answer.drops, one.drops)
        }
        if let drops = answer.drops, drops != kernelDrops {
            kernelDrops = drops
            noteForViewers()
        }
        answer.state = peer == nil ? "UNCONN" : "ESTAB"
        return answer
    }

    private static func sum<Number: AdditiveArithmetic>(_ one: Number?, _ other: Number?) -> Number? {
        guard let one, let other else { return one ?? other }
        return one + other
    }

    private var facts: DatagramSnapshot {
        var facts = DatagramSnapshot(mode: reception.mode)
        facts.flags = flags
        facts.locals = links.compactMap(\.local)
        facts.groups = groups.map(\.name)
        facts.counters = counters
        facts.kernelDrops = kernelDrops
        facts.peers = peers.busiest(DatagramSnapshot.peerLimit)
        facts.peerCount = peers.count
        facts.peersForgotten = peers.forgotten
        facts.client = association?.client
        facts.associations = associations
        return facts
    }

    /// GCDAsyncUdpSocket's flags, as its own code would have set them.
    private var flags: DatagramFlags {
        var flags: DatagramFlags = []
        if !links.isEmpty { flags.insert(.didCreateSockets) }
        if isBound || counters.sent > 0 { flags.insert(.didBind) }
        if queue.isConnecting { flags.insert(.connecting) }
        if peer != nil { flags.insert(.didConnect) }
        switch reception.mode {
        case .paused: break
        case .once: flags.insert(.receiveOnce)
        case .continuous: flags.insert(.receiveContinuous)
        }
        if closesWhenSent { flags.insert(.closeAfterSends) }
        let isSettled = isBound || peer != nil
        for family in [false, true] {
            let link = links.first { $0.family.family == (family ? .v6 : .v4) }
            guard let link else {
                if isSettled { flags.insert(family ? .ipv6Deactivated : .ipv4Deactivated) }
                continue
            }
            let watched = link.watched ?? []
            if !watched.contains(.write) { flags.insert(family ? .send6SourceSuspended : .send4SourceSuspended) }
            if !watched.contains(.read) { flags.insert(family ? .receive6SourceSuspended : .receive4SourceSuspended) }
            if !link.isBlocked { flags.insert(family ? .sock6CanAcceptBytes : .sock4CanAcceptBytes) }
        }
        return flags
    }
}
