/// Both directions of one connection with the rules and breakpoints that concern it: what its two legs say in, what is to
/// be done with them out. The client's leg sends upstream.
package struct RelayFaults: Sendable {
    package typealias Leg = RelayMachine.Leg

    package enum Action: Equatable, Sendable {
        /// Send these to the peer of that leg, apart from others if so. `isOurs`: a person wrote them here.
        case write(Leg, [UInt8], isApart: Bool, isOurs: Bool)
        /// Take nothing more from that leg (true), or go on (false).
        case hold(Leg, Bool)
        /// What that leg had to say has been handed over, and its FIN is next.
        case ended(Leg)
        /// End both legs with RST.
        case reset
        /// Go on with the connection, which was held when it was accepted.
        case begin
        /// Go on with the end of that leg, which was held.
        case lose(Leg)
        case wake(at: MonotonicTime)
        case report(Leg, FaultReport)
    }

    /// What is kept back besides bytes while a breakpoint holds.
    private enum Kept: Equatable {
        case accept
        case loss(Leg)
    }

    private var upstream: FaultPipeline
    private var downstream: FaultPipeline
    private let began: MonotonicTime
    private var breaks: [NumberedBreak] = []
    /// The rules that concern it, for what is shown.
    private var rules: [NumberedFault] = []
    private var kept: [Kept] = []
    private var keptSince: (breakpoint: Int, since: MonotonicTime)?
    /// The directions that are held, as far as that was reported, and the breakpoint by which the first one was.
    private var heldLegs: Set<Leg> = []
    private var reported: (breakpoint: Int, since: MonotonicTime)?
    /// After so long what is held is released; `nil`: never.
    private let holdLimit: Duration?

    /// A connection that nothing concerns yet.
    /// - Parameter passed: how many bytes each leg has sent to the other one before.
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

    /// Whether nothing concerns it, and bytes can go straight across.
    package var isIdle: Bool { rules.isEmpty && breaks.isEmpty && kept.isEmpty && upstream.isIdle && downstream.isIdle }

    /// Whether a rule sends pieces apart.
    package var cutsApart: Bool {
        rules.contains { if case .slice = $0.rule.effect { true } else { false } }
    }

    // MARK: What concerns it

    /// No effect where the connection has it already, since it began after the rule was written down.
    package mutating func add(_ rule: NumberedFault) {
        guard !rules.contains(where: { $0.number == rule.number }) else { return }
        rules.append(rule)
        for leg in Self.legs { self[leg].add(rule) }
    }

    package mutating func add(_ breakpoint: NumberedBreak) {
        guard !breaks.contains(where: { $0.number == breakpoint.number }) else { return }
        breaks.append(breakpoint)
        for leg in Self.legs { self[leg].add(breakpoint) }
    }

    package mutating func remove(rule number: Int) {
        rules.removeAll { $0.number == number }
        for leg in Self.legs { self[leg].remove(rule: number) }
    }

    package mutating func remove(breakpoint number: Int, _ now: MonotonicTime) -> [Action] {
        breaks.removeAll { $0.number == number }
        for leg in Self.legs { self[leg].remove(breakpoint: number) }
        let kept = keptSince?.breakpoint == number ? releaseKept(now) : []
        return kept + act([(.client, upstream.start(now)), (.target, downstream.start(now))], now)
    }

    // MARK: What happens

    /// Looks at what takes effect without a byte.
    package mutating func start(_ now: MonotonicTime) -> [Action] {
        act(.client, upstream.start(now), now) + act(.target, downstream.start(now), now)
    }

    package mutating func receive(_ bytes: [UInt8], from leg: Leg, _ now: MonotonicTime) -> [Action] {
        act(leg, self[leg].receive(bytes, now), now)
    }

    /// That leg's peer sent FIN.
    package mutating func end(_ leg: Leg, _ now: MonotonicTime) -> [Action] { act(leg, self[leg].end(now), now) }

    /// The peer of that leg takes no more for now, or does again.
    package mutating func becameWritable(_ leg: Leg, _ isWritable: Bool, _ now: MonotonicTime) -> [Action] {
        var actions = act(leg.other, self[leg.other].blockReceiver(!isWritable, now), now)
        if !isWritable { actions += hit(.writeBlocked, from: leg.other, now) }
        return actions
    }

    /// The time that was asked for has come.
    package mutating func wake(_ now: MonotonicTime) -> [Action] {
        let isLimitReached = holdLimit.flatMap { limit in heldSince.map { $0 + limit <= now } } ?? false
        let released = isLimitReached ? release(.all, nil, now) : []
        return released + act(.client, upstream.wake(now), now) + act(.target, downstream.wake(now), now) + limitHold()
    }

    /// The connection was accepted; whether it is held before anything else is done.
    package mutating func holdAccept(_ now: MonotonicTime) -> [Action]? {
        guard let breakpoint = breaks.first(where: { $0.breakpoint.point == .accept }) else { return nil }
        return keep(.accept, for: breakpoint.number, .client, now)
    }

    /// Both legs are connected. `isAccepted`: and a side was accepted in the same instant.
    package mutating func connected(_ now: MonotonicTime, isAccepted: Bool = false) -> [Action] {
        for leg in Self.legs { self[leg].isAwaiting = false }
        return (isAccepted ? hit(.accept, from: .client, now) : []) + hit(.connect, from: .client, now) + start(now)
    }

    /// Lets nothing pass, and no rule take effect, before `connected`.
    package mutating func awaitConnect() {
        for leg in Self.legs { self[leg].isAwaiting = true }
    }

    /// An operation has timed out.
    package mutating func timedOut(_ now: MonotonicTime) -> [Action] { hit(.timeout, from: .client, now) }

    /// The connection is over. Calls `lose` with each leg whose bytes wait here, and how many.
    package mutating func abandon(_ lose: (Leg, Int) -> Void) {
        for leg in Self.legs {
            let count = self[leg].abandon()
            if count > 0 { lose(leg, count) }
        }
        (kept, keptSince, heldLegs, reported) = ([], nil, [], nil)
    }

    /// Bytes that are not delivered yet.
    package var pendingBytes: Int { upstream.pendingBytes + downstream.pendingBytes }

    /// That leg was reset; whether that is kept from the other one for now.
    package mutating func holdLoss(of leg: Leg, _ now: MonotonicTime) -> [Action]? {
        let way: FaultDirection = leg == .client ? .upstream : .downstream
        guard
            let breakpoint = breaks.first(where: {
                $0.breakpoint.point == .reset && ($0.breakpoint.direction ?? way) == way
            })
        else { return nil }
        return keep(.loss(leg), for: breakpoint.number, leg, now)
    }

    /// Whether what that leg sent, or its end, can still be handed over.
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

    /// A point that is not in the stream has come.
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

    /// Turns what one direction asks for into what its legs do. A breakpoint for both directions that was hit in one
    /// holds the other too.
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

    /// The same for what both directions ask for at once. What was released counts as such before what one direction runs
    /// into next holds both again, and that comes after whatever the other one asked for.
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

    /// Reports that the connection is released, when nothing of it is held any more.
    private mutating func noteReleased(_ now: MonotonicTime) -> [Action] {
        guard let reported, heldLegs.isEmpty, kept.isEmpty else { return [] }
        self.reported = nil
        var report = FaultReport(number: reported.breakpoint, kind: .released, offset: nil)
        report.amount = Int((now - reported.since).wholeNanoseconds / 1_000_000)
        return [.report(.client, report)]
    }

    // MARK: Held

    /// Since when a breakpoint holds it; `nil`: none does.
    package var heldSince: MonotonicTime? {
        [upstream.held?.since, downstream.held?.since, keptSince?.since].compactMap { $0 }.min()
    }

    private func limitHold() -> [Action] {
        guard let holdLimit, let since = heldSince else { return [] }
        return [.wake(at: since + holdLimit)]
    }

    package var isHeld: Bool { heldSince != nil }

    /// Does to held bytes what was decided, in one direction or in each that is held. With `all`, both go on.
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

    /// What a release of both directions does to one of them: where bytes of the other are edited, or a read of it is let
    /// pass, one without bytes goes on, or waits.
    private func release(_ release: BreakRelease, here leg: Leg) -> BreakRelease? {
        guard self[leg].held?.bytes == 0, let other = self[leg.other].held, other.bytes > 0 else { return release }
        return switch release {
        case .edit: .all
        case .read: nil
        case .all, .bytes, .drop: release
        }
    }

    /// The bytes that are held, the next ones first: in that direction, or in the one that has any.
    package func heldBytes(_ direction: FaultDirection?, _ most: Int) -> [UInt8] {
        switch direction {
        case .upstream: upstream.heldBytes(most)
        case .downstream: downstream.heldBytes(most)
        case nil:
            upstream.held.map { $0.bytes > 0 } ?? false ? upstream.heldBytes(most) : downstream.heldBytes(most)
        }
    }

    // MARK: Facts

    /// What is shown of it.
    package var snapshot: FaultSnapshot {
        var snapshot = FaultSnapshot()
        let tallies = upstream.tallies + downstream.tallies
        snapshot.rules = rules.map { fault in
            let effect = fault.rule.effect
            return FaultSnapshot.Rule(
                number: fault.number, effect: effect.name, text: "\(effect)",
                count: tallies.reduce(0) { $0 + ($1.number == fault.number ? $1.count : 0) })
        }
        snapshot.delayedBytes = upstream.delayedBytes + downstream.delayedBytes
        snapshot.droppedBytes = upstream.droppedBytes + downstream.droppedBytes
        snapshot.isLimitedByBuffer = upstream.isLimitedByBuffer || downstream.isLimitedByBuffer
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
