import SocketCore

/// How bytes go through the stages.
extension FaultPipeline {
    /// The most that one turn may cost: the bytes that enter or leave a stage, and this much more for each piece.
    static let (turnLimit, pieceCost) = (2 << 20, 512)

    mutating func run(_ now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        guard !isOver else {
            discard()
            return actions
        }
        guard !isAwaiting else {
            settle(now, &actions)
            return actions
        }
        (budget, isInterrupted) = (Self.turnLimit, false)
        for index in stages.indices { stages[index].tick(now) }
        while !isOver, !isReceiverBlocked, let item = pull(stages.count - 1, now) {
            switch item {
            case .bytes(let bytes, let marks):
                delivered += UInt64(bytes.count)
                actions.append(.deliver(Array(bytes), isApart: marks.isApart, isOurs: marks.isOurs))
            case .end:
                actions.append(.end)
                isOver = true
            case .reset:
                actions.append(.reset)
                isOver = true
            }
        }
        // A reset overtakes everything that can't go out now.
        if !isOver, stages.contains(where: \.isResetting) {
            actions.append(.reset)
            isOver = true
        }
        if isOver {
            for index in stages.indices { stages[index].abandon() }
            discard()
        }
        // Reports precede the actions they are about, because a reset ends the connection.
        var reports: [Action] = []
        report(now, &reports)
        actions.insert(contentsOf: reports, at: 0)
        for stage in stages where stage.isDone && stage.kind != .gate { discarded += stage.dropped }
        stages.removeAll { $0.isDone && $0.kind != .gate }
        let past = pastBreaks
        while let end = reads.first, end <= past { reads.removeFirst() }
        settle(now, &actions)
        return actions
    }

    /// Ends the connection.
    /// - Returns: The number of bytes that will not be delivered, or 0 if it was already abandoned.
    package mutating func abandon() -> Int {
        guard !isAbandoned else { return 0 }
        (isAbandoned, isOver) = (true, true)
        return pendingBytes
    }

    /// Stops delivery, because the other direction has reset the connection.
    package mutating func close() { isOver = true }

    /// Counts everything that arrives after the end as dropped.
    private mutating func discard() {
        while let item = source.first {
            source.removeFirst()
            if case .bytes(let bytes, _) = item { discarded += UInt64(bytes.count) }
        }
        sourceBytes = 0
        reads = FaultQueue()
    }

    /// Returns the next item from a stage, which pulls what it needs from the stages before it.
    private mutating func pull(_ index: Int, _ now: MonotonicTime) -> FaultStage.Item? {
        guard index >= 0 else { return next() }
        while true {
            guard budget > 0 else {
                isInterrupted = true
                return nil
            }
            if let item = stages[index].output(now) {
                budget -= item.cost
                return item
            }
            guard stages[index].accepts, let item = pull(index - 1, now) else { return nil }
            if case .reset = item { return item }
            stages[index].absorb(item, now)
        }
    }

    private mutating func next() -> FaultStage.Item? {
        guard let item = source.first else { return nil }
        source.removeFirst()
        if case .bytes(let bytes, _) = item { sourceBytes -= bytes.count }
        return item
    }

    private mutating func report(_ now: MonotonicTime, _ actions: inout [Action]) {
        if isReleased { actions.append(.report(FaultReport(number: 0, kind: .released, offset: nil))) }
        isReleased = false
        for index in stages.indices where !stages[index].reports.isEmpty {
            for report in stages[index].reports { actions.append(.report(report)) }
            stages[index].reports = []
        }
        let isHeld = heldStage != nil
        if isHeld, heldSince == nil { heldSince = now }
        if !isHeld, heldSince != nil {
            heldSince = nil
            actions.append(.report(FaultReport(number: 0, kind: .released, offset: nil)))
        }
    }

    /// Asks the caller to stop or resume reading from the sender, and to wake it.
    private mutating func settle(_ now: MonotonicTime, _ actions: inout [Action]) {
        let isStopped = !isAwaiting && (isReceiverBlocked || isInterrupted || !stages.allSatisfy(\.takesFromSender))
        let holds = !isOver && (sourceBytes > 0 || isStopped)
        if holds != isHolding {
            isHolding = holds
            actions.append(.hold(holds))
        }
        guard !isOver, !isAwaiting else { return }
        // Due items wait for a later stage, which requests its own time. A reset doesn't wait for the receiver.
        let times = isReceiverBlocked ? stages.compactMap(\.resetDue) : stages.compactMap(\.due)
        let later = times.filter { $0 > now && $0 != .distantFuture }.min()
        let due = isInterrupted && !isReceiverBlocked ? now : later
        if let due, wakes.map({ due < $0 }) ?? true {
            wakes = due
            actions.append(.wake(at: max(due, now)))
        }
    }
}

extension FaultStage.Item {
    /// What it costs of a turn's budget.
    fileprivate var cost: Int {
        switch self {
        case .bytes(let bytes, _): FaultPipeline.pieceCost + bytes.count
        case .end, .reset: 0
        }
    }
}
