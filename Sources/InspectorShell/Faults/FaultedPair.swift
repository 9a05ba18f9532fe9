import Dispatch
import InspectorCore
import SocketKit
import SocketWorkshop

/// What the faults of a connection act on: the two legs of a relayed one, or one of our own connections and the
/// program, which is then the other leg. Called on the engine's queue.
package protocol FaultCarrier: AnyObject, Sendable {
    /// Sends bytes to the peer of a leg. `isOurs` is set if the user wrote them here.
    func write(_ bytes: [UInt8], to leg: RelayMachine.Leg, isOurs: Bool)
    /// Sets whether each write to the peer of a leg gets its own system call, instead of one for several.
    func sendApart(_ leg: RelayMachine.Leg, _ isApart: Bool)
    /// Pauses or resumes reading from a leg.
    func holdBack(_ leg: RelayMachine.Leg, _ holds: Bool)
    /// Called when everything received from a leg has been forwarded.
    func ended(_ leg: RelayMachine.Leg, isCut: Bool)
    /// Continues with the delayed end of a leg.
    func lost(_ leg: RelayMachine.Leg, _ loss: RelayMachine.Loss)
    func resetBoth()
    /// Continues with a connection that was held when it was accepted.
    func connectOn()
    func recordFault(_ leg: RelayMachine.Leg, _ kind: SocketEvent.Kind, _ first: Int, _ second: Int)
    /// Called when the meter has changed.
    func noteFaults()
}

/// Applies rules and breakpoints to one connection. Everything runs on the engine's queue, and nothing here waits.
package final class FaultedPair: Sendable {
    private struct State {
        var faults: RelayFaults
        /// The legs that are not read from, because the other leg can't keep up or because of a rule.
        var relayHolds: Set<RelayMachine.Leg> = []
        var faultHolds: Set<RelayMachine.Leg> = []
        /// The legs whose FIN arrived without the close_notify of their TLS.
        var cut: Set<RelayMachine.Leg> = []
        /// The legs whose FIN has arrived.
        var ended: Set<RelayMachine.Leg> = []
        /// The legs that have ended while bytes from them are still queued here.
        var kept: [RelayMachine.Leg: RelayMachine.Loss] = [:]
        /// The legs whose writes are sent one by one.
        var apart: Set<RelayMachine.Leg> = []
    }

    private let reference: Lock<Reference>
    private struct Reference { weak var carrier: (any FaultCarrier)? }
    private let state: Lock<State>
    private let alarm: FaultAlarm
    package let meter = FaultMeter()
    private let clock = SystemClock()

    package init(_ faults: RelayFaults, of carrier: any FaultCarrier, on queue: DispatchQueue) {
        reference = Lock(Reference(carrier: carrier))
        state = Lock(State(faults: faults))
        alarm = FaultAlarm(queue)
    }

    private var carrier: (any FaultCarrier)? { reference.withLock { $0.carrier } }

    package var heldSince: MonotonicTime? { state.withLock { $0.faults.heldSince } }
    package var isHeld: Bool { state.withLock { $0.faults.isHeld } }
    package var isIdle: Bool { state.withLock { $0.faults.isIdle } }

    package func heldBytes(_ most: Int) -> [UInt8] { state.withLock { $0.faults.heldBytes(nil, most) } }

    // MARK: Events

    private func change(_ change: (inout RelayFaults, MonotonicTime) -> [RelayFaults.Action]) {
        let now = clock.now
        perform(state.withLock { change(&$0.faults, now) }, now)
    }

    package func start() { change { $0.start($1) } }
    /// Called once the connection is established. `isAccepted` is set if it was also accepted just now, for
    /// breakpoints.
    package func connected(isAccepted: Bool = false) { change { $0.connected($1, isAccepted: isAccepted) } }
    /// Forwards nothing before `connected`.
    package func awaitConnect() { state.withLock { $0.faults.awaitConnect() } }
    /// Called when an operation on one of our own connections has timed out.
    package func timedOut() { change { $0.timedOut($1) } }
    /// The number of bytes not delivered yet.
    package var pendingBytes: Int { state.withLock { $0.faults.pendingBytes } }
    package func receive(_ bytes: [UInt8], from leg: RelayMachine.Leg) { change { $0.receive(bytes, from: leg, $1) } }
    package func becameWritable(_ leg: RelayMachine.Leg, _ isWritable: Bool) {
        change { $0.becameWritable(leg, isWritable, $1) }
    }

    package func end(_ leg: RelayMachine.Leg, isCut: Bool) {
        state.withLock { state in
            state.ended.insert(leg)
            if isCut { state.cut.insert(leg) }
        }
        change { $0.end(leg, $1) }
    }

    /// Adds rules. `former` are the connection's exchanges until now, or `nil` if they are not known.
    package func add(_ rules: [NumberedFault], after former: ExchangeSnapshot? = nil) {
        change { faults, now in
            for rule in rules { faults.add(rule, after: former) }
            return faults.start(now)
        }
    }

    package func add(_ breakpoint: NumberedBreak) {
        change { faults, now in
            faults.add(breakpoint)
            return faults.start(now)
        }
    }

    package func remove(rule number: Int) {
        change { faults, now in
            faults.remove(rule: number)
            return faults.start(now)
        }
        let together = state.withLock { state -> Set<RelayMachine.Leg> in
            guard !state.faults.cutsApart else { return [] }
            defer { state.apart = [] }
            return state.apart
        }
        for leg in together { carrier?.sendApart(leg, false) }
    }

    package func remove(breakpoint number: Int) { change { $0.remove(breakpoint: number, $1) } }

    package func release(_ release: BreakRelease, _ direction: FaultDirection?) {
        change { $0.release(release, direction, $1) }
    }

    /// Whether a breakpoint holds the new connection before anything is done with it.
    package func holdsAccept() -> Bool { keep { $0.holdAccept($1) } }

    private func keep(_ body: (inout RelayFaults, MonotonicTime) -> [RelayFaults.Action]?) -> Bool {
        let now = clock.now
        guard let actions = state.withLock({ body(&$0.faults, now) }) else { return false }
        perform(actions, now)
        return true
    }

    private func wake() { change { $0.wake($1) } }

    /// Whether the end of a leg is delayed, until its bytes are delivered or until a breakpoint releases it. A leg
    /// whose other direction had already ended is over with its FIN, which is then not reported.
    package func keeps(_ leg: RelayMachine.Leg, _ loss: RelayMachine.Loss) -> Bool {
        switch loss {
        case .finished where state.withLock({ $0.faults.passes(from: leg) }):
            let isTold = state.withLock { state in
                state.kept[leg] = loss
                return state.ended.contains(leg)
            }
            if !isTold { end(leg, isCut: false) }
            return true
        case .reset where keep({ $0.holdLoss(of: leg, $1) }):
            state.withLock { $0.kept[leg] = loss }
            return true
        case .finished, .reset, .closed, .cut: return false
        }
    }

    /// Called when the connection has ended. Bytes queued here are lost. `lose` gets the leg that sent them.
    package func abandon(_ lose: (RelayMachine.Leg, Int) -> Void) {
        var lost: [(RelayMachine.Leg, Int)] = []
        state.withLock { $0.faults.abandon { lost.append(($0, $1)) } }
        for (leg, count) in lost { lose(leg, count) }
        if let carrier { measure(carrier) }
    }

    /// Sets whether the relay holds back reading from a leg because the other one can't keep up.
    package func relayHolds(_ leg: RelayMachine.Leg, _ holds: Bool) {
        hold(leg) { if holds { $0.relayHolds.insert(leg) } else { $0.relayHolds.remove(leg) } }
    }

    private func hold(_ leg: RelayMachine.Leg, _ change: (inout State) -> Void) {
        let holds = state.withLock { state in
            change(&state)
            return state.relayHolds.contains(leg) || state.faultHolds.contains(leg)
        }
        carrier?.holdBack(leg, holds)
    }

    // MARK: Actions

    private func perform(_ actions: [RelayFaults.Action], _ now: MonotonicTime) {
        guard let carrier else { return }
        for action in actions { perform(action, on: carrier, now) }
        measure(carrier)
    }

    private func perform(_ action: RelayFaults.Action, on carrier: any FaultCarrier, _ now: MonotonicTime) {
        switch action {
        case .write(let leg, let bytes, let isApart, let isOurs):
            // A piece may still be queued elsewhere after its rule is removed.
            if isApart, state.withLock({ $0.faults.cutsApart && $0.apart.insert(leg).inserted }) {
                carrier.sendApart(leg, true)
            }
            carrier.write(bytes, to: leg, isOurs: isOurs)
        case .hold(let leg, let holds):
            hold(leg) { if holds { $0.faultHolds.insert(leg) } else { $0.faultHolds.remove(leg) } }
        case .ended(let leg):
            let (isCut, kept) = state.withLock { ($0.cut.contains(leg), $0.kept.removeValue(forKey: leg)) }
            carrier.ended(leg, isCut: isCut)
            if let kept { carrier.lost(leg, kept) }
        case .reset: carrier.resetBoth()
        case .begin: carrier.connectOn()
        case .lose(let leg):
            if let loss = state.withLock({ $0.kept.removeValue(forKey: leg) }) { carrier.lost(leg, loss) }
        case .wake(let time): alarm.set(time, now) { @Sendable [weak self] in self?.wake() }
        case .report(let leg, let report): record(report, leg, carrier)
        }
    }

    private func record(_ report: FaultReport, _ leg: RelayMachine.Leg, _ carrier: any FaultCarrier) {
        switch report.kind {
        case .happened:
            carrier.recordFault(leg, .faulted, report.number, report.offset.map { Int(clamping: $0) } ?? -1)
        case .held: carrier.recordFault(leg, .held, report.number, report.amount)
        case .released: carrier.recordFault(leg, .released, report.number, report.amount)
        }
    }

    /// Publishes the counts so far.
    private func measure(_ carrier: any FaultCarrier) {
        guard meter.show(state.withLock { $0.faults.snapshot }) else { return }
        carrier.noteFaults()
    }
}
