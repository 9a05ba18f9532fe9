import SocketCore

/// The rates that a snapshot shows of a connection.
struct ConnectionRates {
    var receive: RateWindow
    var send: RateWindow
    /// The rate of bytes queued for writing.
    var queue: RateWindow
    var operations: RateWindow

    init(since opened: MonotonicTime, now: MonotonicTime) {
        let window = RateWindow(since: opened, now: now)
        (receive, send, queue, operations) = (window, window, window, window)
    }
}

extension ConnectionRates {
    /// Records that nothing happened until `time`.
    mutating func recordIdle(until time: MonotonicTime) {
        receive.recordIdle(until: time)
        send.recordIdle(until: time)
        queue.recordIdle(until: time)
        operations.recordIdle(until: time)
    }
}

extension Connection {
    /// Returns the session's current snapshot: the cached one if nothing has changed since. `aged` limits the age of a
    /// cached kernel state.
    func currentSnapshot(withKernel: Bool, aged: Duration) -> SocketSnapshot {
        guard let kept = rare?.cachedSnapshot,
            withKernel ? isCurrent(kept.kernel, aged) : kept.kernel == nil
        else {
            // Before the snapshot: a delegate that is set meanwhile then makes it outdated, not current.
            let hearing = handle.load(in: engine)?.hasInlineDelegate(in: engine)
            let made = snapshot(withKernel: withKernel)
            let rare = madeRare
            rare.cachedInlineDelegate = hearing
            rare.kernelAsked = engine.now
            let isKept = (!withKernel || aged > .zero) && !made.changesByItself && isSettled
            rare.cachedSnapshot = isKept ? made : nil
            return made
        }
        // Nothing reports that a delegate was released or its queue moved on.
        let handle = handle.load(in: engine)
        if let cachedInlineDelegate = rare?.cachedInlineDelegate,
            handle?.hasInlineDelegate(in: engine) == cachedInlineDelegate
        {
            return kept
        }
        guard handle?.callbacks(reading: kept.reading.current?.id, in: engine) != kept.callbacks else { return kept }
        rare?.cachedSnapshot = nil
        return currentSnapshot(withKernel: withKernel, aged: aged)
    }

    /// Whether a cached kernel state is young enough and can't have changed unnoticed. With empty queues only the peer
    /// can change it, which is an event if reads are watched for.
    private func isCurrent(_ kernel: KernelSnapshot?, _ age: Duration) -> Bool {
        guard let kernel, let asked = rare?.kernelAsked, engine.now - asked < age else { return false }
        return kernel.state == "ESTAB" && kernel.receiveQueue == 0 && kernel.sendQueue == 0
            && interest.registered?.contains(.read) == true
    }

    /// Makes a snapshot of the session now. `lists` includes the queued operations.
    func snapshot(withKernel: Bool, lists: Bool = true, isEnding: Bool = false) -> SocketSnapshot {
        countFetchedPieces()
        var snapshot = outline.facts(phase)
        snapshot.descriptor = socket?.descriptor
        snapshot.flags = flags
        snapshot.linked = linked
        snapshot.relay = relayFacts
        snapshot.fault = faultMeter?.snapshot
        let listing = lists ? QueueSnapshot.listingLimit : 0
        snapshot.reading = machine.readingSnapshot(listing: listing)
        snapshot.writing = machine.writingSnapshot(listing: listing)
        snapshot.prebuffered = machine.reading.prebuffered + bytesInPieces
        snapshot.tls = tls?.snapshot(machine.upgrade, isClosed: machine.isClosed)
        snapshot.reading.since = readsSince.value
        snapshot.writing.since = writesSince.value
        // A session that ends isn't sampled again, so don't start measuring it.
        if !isEnding || rates != nil { measure(&snapshot) }
        if machine.isOpen { snapshot.activity.lastByte = lastActivity }
        snapshot.callbacks = handle.load(in: engine)?.callbacks(reading: snapshot.reading.current?.id, in: engine)
        snapshot.webSocket = webSocket?.snapshot(isConnecting: machine.isConnecting) ?? tap?.picture
        if snapshot.webSocket == nil { snapshot.exchanges = exchangeFacts }
        snapshot.connect = connector?.snapshot(now: engine.now)
        if withKernel, let descriptor = socket?.descriptor {
            let isTCP = peer?.family.isIP ?? false
            snapshot.kernel = engine.kernel.describe(descriptor, isTCP: isTCP)
            // The only state of a connected socket that isn't TCP, as ss -x shows.
            if peer != nil, !isTCP { snapshot.kernel?.state = "ESTAB" }
        }
        return SocketSnapshot(snapshot)
    }

    /// Whether the snapshot stays valid until a change is noted. No change is noted when a task fetches a piece.
    var isSettled: Bool { hasMeasuredAll && (rare?.handed.map { $0.counted == $0.pieces.ends.count } ?? true) }

    /// Whether the rates cover everything so far. A sample that comes too soon is left to the next one.
    var hasMeasuredAll: Bool {
        guard let rates else { return false }
        return rates.receive.total == received && rates.send.total == sent
            && rates.queue.total == sent &+ UInt64(machine.pendingWriteBytes)
            && rates.operations.total == machine.reading.completed &+ machine.writing.completed
    }

    private func measure(_ snapshot: inout SocketSnapshot.Facts) {
        let completed = snapshot.reading.completed &+ snapshot.writing.completed
        let queued = sent &+ UInt64(snapshot.writing.pendingBytes)
        // A connection from another engine has counted since it was connected there.
        let start = min(opened, connected.value ?? opened)
        let measured = madeRare.rates.change(ConnectionRates(since: start, now: engine.now)) { rates in
            rates.receive.sample(total: received, now: engine.now)
            rates.send.sample(total: sent, now: engine.now)
            rates.operations.sample(total: completed, now: engine.now)
            rates.queue.sample(total: queued, now: engine.now)
            return rates
        }
        snapshot.receiveRate = measured.receive.perSecond
        snapshot.sendRate = measured.send.perSecond
        snapshot.activity.operationRate = measured.operations.perSecond
        snapshot.activity.queueRate = measured.queue.perSecond
    }

    /// The facts that a snapshot shows of every connection.
    var outline: ConnectionOutline {
        ConnectionOutline(
            id: id, origin: origin.facts, local: local, peer: peer, opened: opened, connected: connected,
            received: received, sent: sent,
            isReadingPaused: machine.reading.isPausedByHand, isHeldBack: isHeldBack || isHeldByLink,
            isWriteShut: machine.isWriteShut, isAboveHighMark: isAboveHighMark, watermarks: watermarks,
            reads: machine.reading.completed, writes: machine.writing.completed, readsSince: readsSince,
            writesSince: writesSince, unreadSince: interest.unreadSince, peerClosed: interest.peerClosedSince)
    }

    /// Whether the outline is all there is to show once the session has ended.
    var isPlain: Bool {
        layers.isEmpty && connector == nil
            && (rare == nil
                || tap == nil && linked == nil && faultMeter == nil && rates == nil && rare?.exchanges == nil)
            && machine.pendingWriteBytes == 0
    }

    private var phase: SocketPhase {
        if machine.isConnecting { return connector?.plan == nil ? .resolving : .connecting }
        if machine.isLingering { return .lingering }
        return machine.isClosed ? .closed : .connected
    }

    /// GCDAsyncSocket's flags, as its own code would have set them.
    private var flags: SocketFlags {
        var flags: SocketFlags = [.socketStarted]
        let isUsable = machine.isOpen || machine.isLingering
        if isUsable { flags.insert(.connected) }
        if !machine.drain.isEmpty { flags.insert(.forbidReadsWrites) }
        if machine.drain.contains(.reads) { flags.insert(.disconnectAfterReads) }
        if machine.drain.contains(.writes) { flags.insert(.disconnectAfterWrites) }
        if machine.reading.isAsking { flags.insert(.readsPaused) }
        if machine.writing.isAsking { flags.insert(.writesPaused) }
        if isUsable, !interest.isWriteBlocked, !interest.isSendBudgetSpent { flags.insert(.socketCanAcceptBytes) }
        if isUsable, interest.registered?.contains(.read) != true { flags.insert(.readSourceSuspended) }
        if isUsable, interest.registered?.contains(.write) != true { flags.insert(.writeSourceSuspended) }
        if let tls {
            flags.insert(.queuedTLS)
            if machine.upgrade.isPending {
                if machine.reading.isEmpty, isUsable { flags.insert(.startingReadTLS) }
                if machine.writing.isEmpty, isUsable { flags.insert(.startingWriteTLS) }
            }
            if tls.facts != nil { flags.insert(.socketSecure) }
        }
        if machine.hasEndOfStream { flags.insert(.socketHasReadEOF) }
        if machine.hasReportedEndOfStream { flags.insert(.readStreamClosed) }
        return flags
    }
}
