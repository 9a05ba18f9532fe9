import SocketCore

/// Both directions of one connection with their rules and breakpoints. Takes in what happens on the two legs and
/// returns what to do with them. The client's leg sends upstream.
package struct RelayFaults: Sendable {
    package typealias Leg = RelayMachine.Leg

    package enum Action: Equatable, Sendable {
        /// Send these bytes to this leg's peer, as a separate piece if `isApart`. If `isOurs`, the user wrote them.
        case write(Leg, [UInt8], isApart: Bool, isOurs: Bool)
        /// Stop reading from this leg (`true`), or resume (`false`).
        case hold(Leg, Bool)
        /// Everything this leg sent has been handed over, and its FIN is next.
        case ended(Leg)
        /// End both legs with RST.
        case reset
        /// Continue with the connection, which was held when it was accepted.
        case begin
        /// Continue with the loss of this leg, which was held.
        case lose(Leg)
        case wake(at: MonotonicTime)
        case report(Leg, FaultReport)
    }

    /// What a breakpoint holds in addition to bytes.
    private enum Kept: Equatable {
        case accept
        case loss(Leg)
    }

    private var upstream: FaultPipeline
    private var downstream: FaultPipeline
    private let began: MonotonicTime
    private var breaks: [NumberedBreak] = []
    /// The rules that apply to the connection.
    private var rules: [NumberedFault] = []
    /// The questions and answers, if a rule applies to some of them.
    private var talk: FaultTalk?
    private var kept: [Kept] = []
    private var keptSince: (breakpoint: Int, since: MonotonicTime)?
    /// The directions that are held, as far as reported, and the breakpoint and time of the first hold.
    private var heldLegs: Set<Leg> = []
    private var reported: (breakpoint: Int, since: MonotonicTime)?
    /// How long a hold lasts before it is released automatically, or `nil` for no limit.
    private let holdLimit: Duration?

    /// Creates a connection without rules or breakpoints.
    /// - Parameter passed: The number of bytes that each leg has sent to the other one before.
    package init(
        seed: UInt64, connection: UInt64, began: MonotonicTime, delayBuffer: Int, holdLimit: Duration? = nil,
        passed: [Leg: UInt64] = [:]
    ) {
        func pipeline(_ direction: FaultDirection, _ leg: Leg) -> FaultPipeline {
            let place = FaultPlace(seed: seed, connection: connection, direction: direction, began: began)
            return FaultPipeline(place, delayBuffer: delayBuffer, passed: passed[leg] ?? 0)
        }
        (upstream, downstream) = (pipeline(.upstream, .client), pipeline(.downstream, .target))
        (self.began, self.holdLimit) = (began, holdLimit)
    }

    private subscript(_ leg: Leg) -> FaultPipeline {
        get { leg == .client ? upstream : downstream }
        _modify {
            if leg == .client { yield &upstream } else { yield &downstream }
        }
    }

    private static let legs: [Leg] = [.client, .target]

    /// Whether no rule or breakpoint applies and nothing is held, so that bytes can go straight across.
    package var isIdle: Bool { rules.isEmpty && breaks.isEmpty && kept.isEmpty && upstream.isIdle && downstream.isIdle }

    /// Whether a rule applies to some exchanges only.
    private var choosesExchanges: Bool { rules.contains { $0.rule.conditions.contains(where: \.choosesExchanges) } }

    /// Whether a rule sends bytes in separate pieces.
    package var cutsApart: Bool {
        rules.contains { if case .slice = $0.rule.effect { true } else { false } }
    }

    // MARK: Rules and breakpoints

    /// Adds a rule. Has no effect if the connection already has it, because it began after the rule was recorded.
    /// - Parameter former: The exchanges of a connection that is under way, or `nil` if they are not known.
    package mutating func add(_ rule: NumberedFault, after former: ExchangeSnapshot? = nil) {
        guard !rules.contains(where: { $0.number == rule.number }) else { return }
        rules.append(rule)
        if talk == nil, choosesExchanges {
            talk = FaultTalk(isUnderWay: upstream.sent > 0 || downstream.sent > 0, former)
        }
        for leg in Self.legs { self[leg].add(rule) }
    }

    package mutating func add(_ breakpoint: NumberedBreak) {
        guard !breaks.contains(where: { $0.number == breakpoint.number }) else { return }
        breaks.append(breakpoint)
        for leg in Self.legs { self[leg].add(breakpoint) }
    }

    package mutating func remove(rule number: Int) {
        rules.removeAll { $0.number == number }
        if !choosesExchanges { talk = nil }
        for leg in Self.legs { self[leg].remove(rule: number) }
    }

    package mutating func remove(breakpoint number: Int, _ now: MonotonicTime) -> [Action] {
        breaks.removeAll { $0.number == number }
        for leg in Self.legs { self[leg].remove(breakpoint: number) }
        let kept = keptSince?.breakpoint == number ? releaseKept(now) : []
        return kept + act([(.client, upstream.start(now)), (.target, downstream.start(now))], now)
    }

    // MARK: Events

    /// Applies effects that need no byte.
    package mutating func start(_ now: MonotonicTime) -> [Action] {
        act(.client, upstream.start(now), now) + act(.target, downstream.start(now), now)
    }

    package mutating func receive(_ bytes: [UInt8], from leg: Leg, _ now: MonotonicTime) -> [Action] {
        let place = talk?.pass(leg, bytes, now) ?? FaultTalk.Place()
        return act(leg, self[leg].receive(bytes, of: place, now), now)
    }

    /// Handles the FIN of this leg's peer.
    package mutating func end(_ leg: Leg, _ now: MonotonicTime) -> [Action] { act(leg, self[leg].end(now), now) }

    /// Handles a change in whether the peer of this leg accepts bytes.
    package mutating func becameWritable(_ leg: Leg, _ isWritable: Bool, _ now: MonotonicTime) -> [Action] {
        var actions = act(leg.other, self[leg.other].blockReceiver(!isWritable, now), now)
        if !isWritable { actions += hit(.writeBlocked, from: leg.other, now) }
        return actions
    }

    /// Handles the time requested with `Action.wake`.
    package mutating func wake(_ now: MonotonicTime) -> [Action] {
        let isLimitReached = holdLimit.flatMap { limit in heldSince.map { $0 + limit <= now } } ?? false
        let released = isLimitReached ? release(.all, nil, now) : []
        return released + act(.client, upstream.wake(now), now) + act(.target, downstream.wake(now), now) + limitHold()
    }

    /// Handles the accepted connection. Returns `nil` unless a breakpoint holds it before anything else is done.
    package mutating func holdAccept(_ now: MonotonicTime) -> [Action]? {
        guard let breakpoint = breaks.first(where: { $0.breakpoint.point == .accept }) else { return nil }
        return keep(.accept, for: breakpoint.number, .client, now)
    }

    /// Handles both legs being connected. `isAccepted` means that a side was accepted at the same instant.
    package mutating func connected(_ now: MonotonicTime, isAccepted: Bool = false) -> [Action] {
        for leg in Self.legs { self[leg].isAwaiting = false }
        return (isAccepted ? hit(.accept, from: .client, now) : []) + hit(.connect, from: .client, now) + start(now)
    }

    /// Lets nothing pass, and no rule take effect, until `connected` is called.
    package mutating func awaitConnect() {
        for leg in Self.legs { self[leg].isAwaiting = true }
    }

    /// Handles an operation that timed out.
    package mutating func timedOut(_ now: MonotonicTime) -> [Action] { hit(.timeout, from: .client, now) }

    /// Ends the connection. Calls `lose` with each leg that has undelivered bytes, and their number.
    package mutating func abandon(_ lose: (Leg, Int) -> Void) {
        for leg in Self.legs {
            let count = self[leg].abandon()
            if count > 0 { lose(leg, count) }
        }
        (kept, keptSince, heldLegs, reported) = ([], nil, [], nil)
    }

    /// Bytes that are not delivered yet.
    package var pendingBytes: Int { upstream.pendingBytes + downstream.pendingBytes }

    /// Handles a reset of this leg. Returns `nil` unless a breakpoint keeps it from the other leg for now.
    package mutating func holdLoss(of leg: Leg, _ now: MonotonicTime) -> [Action]? {
        let way: FaultDirection = leg == .client ? .upstream : .downstream
        guard
            let breakpoint = breaks.first(where: {
                $0.breakpoint.point == .reset && ($0.breakpoint.direction ?? way) == way
            })
        else { return nil }
        return keep(.loss(leg), for: breakpoint.number, leg, now)
    }

    /// Whether what this leg sent, or its end, can still be handed over.
    package func passes(from leg: Leg) -> Bool { !self[leg].isOver }

    private mutating func keep(_ what: Kept, for breakpoint: Int, _ leg: Leg, _ now: MonotonicTime) -> [Action] {
        kept.append(what)
        keptSince = keptSince ?? (breakpoint, now)
        return noteHeld(by: breakpoint, now)
    }

    private mutating func releaseKept(_ now: MonotonicTime) -> [Action] {
        guard !kept.isEmpty else { return [] }
        let actions: [Action] = kept.map {
            switch $0 {
            case .accept: .begin
            case .loss(let leg): .lose(leg)
            }
        }
        (kept, keptSince) = ([], nil)
        return actions + noteReleased(now)
    }

    /// Handles a breakpoint's point that is not in the stream.
    private mutating func hit(_ point: Breakpoint.Point, from leg: Leg, _ now: MonotonicTime) -> [Action] {
        let way: FaultDirection = leg == .client ? .upstream : .downstream
        var actions: [Action] = []
        for breakpoint in breaks where breakpoint.breakpoint.point == point {
            let direction = breakpoint.breakpoint.direction
            let isOfBoth = point == .connect || point == .accept || point == .timeout
            guard isOfBoth || (direction ?? way) == way else { continue }
            let held: [Leg] = direction.map { [$0 == .upstream ? .client : .target] } ?? Self.legs
            for leg in held { actions += hold(leg, for: breakpoint.number, now) }
            if held.contains(where: { self[$0].held != nil }) { actions += noteHeld(by: breakpoint.number, now) }
        }
        return actions
    }

    private mutating func hold(_ leg: Leg, for breakpoint: Int, _ now: MonotonicTime) -> [Action] {
        guard self[leg].held == nil else { return [] }
        let actions = act(leg, self[leg].hold(for: breakpoint, now), now)
        if self[leg].held != nil { heldLegs.insert(leg) }
        return actions
    }

    /// Turns the actions of one direction into those of the legs. A breakpoint for both directions that is hit in one
    /// also holds the other.
    private mutating func act(_ leg: Leg, _ actions: [FaultPipeline.Action], _ now: MonotonicTime) -> [Action] {
        var done: [Action] = []
        for action in actions {
            switch action {
            case .deliver(let bytes, let isApart, let isOurs):
                done.append(.write(leg.other, bytes, isApart: isApart, isOurs: isOurs))
            case .hold(let holds): done.append(.hold(leg, holds))
            case .end: done.append(.ended(leg))
            case .reset:
                done.append(.reset)
                self[leg.other].close()
                heldLegs.remove(leg.other)
            case .wake(let time): done.append(.wake(at: time))
            case .report(let report):
                switch report.kind {
                case .happened: done.append(.report(leg, report))
                case .held:
                    heldLegs.insert(leg)
                    let isBoth = breaks.first { $0.number == report.number }?.breakpoint.direction == nil
                    if isBoth { done += hold(leg.other, for: report.number, now) }
                    done += noteHeld(by: report.number, now)
                case .released:
                    heldLegs.remove(leg)
                    done += noteReleased(now)
                }
            }
        }
        return done
    }

    /// Turns simultaneous actions of both directions into those of the legs. Releases count first, because the next hit
    /// in one direction can hold both again. Holds come last, after everything else that either direction requested.
    private mutating func act(_ steps: [(Leg, [FaultPipeline.Action])], _ now: MonotonicTime) -> [Action] {
        func turn(_ action: FaultPipeline.Action) -> Int {
            guard case .report(let report) = action else { return 1 }
            return switch report.kind {
            case .released: 0
            case .happened: 1
            case .held: 2
            }
        }
        var done: [Action] = []
        for place in 0...2 {
            for (leg, step) in steps { done += act(leg, step.filter { turn($0) == place }, now) }
        }
        return done
    }

    /// Reports that the connection is held, once until it is released.
    private mutating func noteHeld(by breakpoint: Int, _ now: MonotonicTime) -> [Action] {
        guard reported == nil else { return limitHold() }
        reported = (breakpoint, now)
        var report = FaultReport(number: breakpoint, kind: .held, offset: nil)
        report.amount = (upstream.held?.bytes ?? 0) + (downstream.held?.bytes ?? 0)
        return [.report(.client, report)] + limitHold()
    }

    /// Reports that the connection is released, once nothing of it is held.
    private mutating func noteReleased(_ now: MonotonicTime) -> [Action] {
        guard let reported, heldLegs.isEmpty, kept.isEmpty else { return [] }
        self.reported = nil
        var report = FaultReport(number: reported.breakpoint, kind: .released, offset: nil)
        report.amount = Int((now - reported.since).wholeNanoseconds / 1_000_000)
        return [.report(.client, report)]
    }

    // MARK: Held

    /// Since when a breakpoint holds the connection, or `nil` if none does.
    package var heldSince: MonotonicTime? {
        [upstream.held?.since, downstream.held?.since, keptSince?.since].compactMap { $0 }.min()
    }

    private func limitHold() -> [Action] {
        guard let holdLimit, let since = heldSince else { return [] }
        return [.wake(at: since + holdLimit)]
    }

    package var isHeld: Bool { heldSince != nil }

    /// Applies a decision to the held bytes of one direction, or of each that is held. `all` also releases a held
    /// accept or loss.
    package mutating func release(
        _ release: BreakRelease, _ direction: FaultDirection? = nil, _ now: MonotonicTime
    ) -> [Action] {
        var actions: [Action] = []
        if case .all = release { actions += releaseKept(now) }
        let releases = Self.legs.compactMap { leg -> (Leg, BreakRelease)? in
            guard direction.map({ ($0 == .upstream) == (leg == .client) }) ?? true, self[leg].held != nil else {
                return nil
            }
            return (direction == nil ? self.release(release, here: leg) : release).map { (leg, $0) }
        }
        return actions + act(releases.map { ($0, self[$0].release($1, now)) }, now) + limitHold()
    }

    /// Returns what a release of both directions does to one, or `nil` if it stays held. If only the other one holds
    /// bytes, editing them releases this one, and passing a read leaves it held.
    private func release(_ release: BreakRelease, here leg: Leg) -> BreakRelease? {
        guard self[leg].held?.bytes == 0, let other = self[leg.other].held, other.bytes > 0 else { return release }
        return switch release {
        case .edit: .all
        case .read: nil
        case .all, .bytes, .drop: release
        }
    }

    /// Returns up to `most` of the held bytes, the next ones first. Without a direction, upstream's if it has any,
    /// otherwise downstream's.
    package func heldBytes(_ direction: FaultDirection?, _ most: Int) -> [UInt8] {
        switch direction {
        case .upstream: upstream.heldBytes(most)
        case .downstream: downstream.heldBytes(most)
        case nil:
            upstream.held.map { $0.bytes > 0 } ?? false ? upstream.heldBytes(most) : downstream.heldBytes(most)
        }
    }

    // MARK: Facts

    /// A snapshot of the rules, counts and hold.
    package var snapshot: FaultSnapshot {
        var snapshot = FaultSnapshot()
        let tallies = upstream.tallies + downstream.tallies
        snapshot.rules = rules.map { fault in
            FaultSnapshot.Rule(
                number: fault.number, effect: fault.rule.effect.name, text: fault.rule.aimedEffect,
                count: tallies.reduce(0) { $0 + ($1.number == fault.number ? $1.count : 0) })
        }
        snapshot.delayedBytes = upstream.delayedBytes + downstream.delayedBytes
        snapshot.droppedBytes = upstream.droppedBytes + downstream.droppedBytes
        snapshot.isLimitedByBuffer = upstream.isLimitedByBuffer || downstream.isLimitedByBuffer
        snapshot.overlaps = talk?.isOver ?? false
        let breakpoint = upstream.held?.breakpoint ?? downstream.held?.breakpoint ?? keptSince?.breakpoint
        if let breakpoint, let since = heldSince {
            let text = breaks.first { $0.number == breakpoint }.map { "\($0.breakpoint.point)" } ?? ""
            snapshot.hold = FaultSnapshot.Hold(
                breakpoint: breakpoint, text: text, since: since, upstreamBytes: upstream.held?.bytes ?? 0,
                downstreamBytes: downstream.held?.bytes ?? 0)
            snapshot.hold?.upstreamNext = upstream.heldBytes(FaultSnapshot.Hold.preview)
            snapshot.hold?.downstreamNext = downstream.heldBytes(FaultSnapshot.Hold.preview)
        }
        return snapshot
    }
}
