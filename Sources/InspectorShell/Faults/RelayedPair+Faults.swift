import InspectorCore
import SocketKit
import SocketWorkshop

/// The connection between a relayed pair and its faults. Everything runs on the engine's queue.
extension RelayedPair: FaultCarrier, FaultedConnection {
    package func write(_ bytes: [UInt8], to leg: RelayMachine.Leg, isOurs: Bool) {
        let socket = socket(leg)
        // A write by session is marked as not forwarded from the other leg.
        guard isOurs, let session = socket.session else { return _ = socket.write(bytes) }
        socket.engine.post(.write(session, WriteRequest(bytes)))
    }

    package func sendApart(_ leg: RelayMachine.Leg, _ isApart: Bool) { socket(leg).sendApart(isApart) }

    package func holdBack(_ leg: RelayMachine.Leg, _ holds: Bool) {
        if holds { socket(leg).holdBackAtOnce() } else { socket(leg).holdBack(false) }
    }

    package func recordFault(_ leg: RelayMachine.Leg, _ kind: SocketEvent.Kind, _ first: Int, _ second: Int) {
        socket(leg).recordFault(kind, first, second)
    }

    package func noteFaults() {
        guard let meter = faulted?.meter else { return }
        for session in knownSessions { client.engine.showFaults(meter, of: session) }
    }

    /// Finds the faults of the pair. Returns whether a breakpoint holds the new connection before anything is done with
    /// it.
    package func isHeldAtAccept() -> Bool {
        guard let faults = control.faults(of: number, outline, began: client.opened) else { return false }
        return use(faults).holdsAccept()
    }

    private func use(_ faults: RelayFaults) -> FaultedPair {
        let faulted = FaultedPair(faults, of: self, on: client.engine.queue)
        let (blocked, isConnecting) = state.withLock { state in
            state.faulted = faulted
            return (state.blocked, state.machine.isConnecting)
        }
        // The target is not connected yet, so no rule may take effect.
        if isConnecting { faulted.awaitConnect() }
        for leg in blocked {
            faulted.relayHolds(leg.other, true)
            faulted.becameWritable(leg, false)
        }
        showFaults()
        return faulted
    }

    /// Shows the faults on both legs, if they have sessions.
    package func showFaults() {
        guard let faulted else { return }
        client.showFaults(faulted.meter)
        target.showFaults(faulted.meter)
    }

    /// Called when the target is connected. Rules may take effect from now on.
    package func startFaults() { faulted?.connected() }

    /// The properties of the pair that a filter can match.
    private var outline: SocketSnapshot {
        var outline = SocketSnapshot(
            id: client.session ?? SocketID(0), role: .accepted, phase: .connected, target: "",
            opened: SystemClock().now)
        (outline.peer, outline.local) = (client.peerAddress, client.localAddress)
        return outline
    }

    package var session: SocketID? { client.session ?? state.withLock { $0.sessions[.client] } ?? target.session }

    /// Whether a leg has that session. Ended legs count too, because a breakpoint may hold their end.
    package func has(_ session: SocketID) -> Bool {
        client.session == session || target.session == session
            || state.withLock { $0.sessions.values.contains(session) }
    }

    /// Called when everything received from a leg has been forwarded.
    package func ended(_ leg: RelayMachine.Leg, isCut: Bool) {
        perform(state.withLock { $0.machine.ended(leg, isCut: isCut) })
    }

    package func resetBoth() {
        if isAwaited, target.session == nil { return giveUp() }
        client.resetAfterFlush()
        target.resetAfterFlush()
    }

    /// Called when rules or breakpoints are added or removed.
    package func change(_ change: FaultChange) {
        switch change {
        case .added(let rules):
            let here = rules.filter {
                $0.rule.effect.concernsStreams && control.applies($0, to: number, client.peerAddress?.ip)
            }
            if !here.isEmpty { faultedFromNow().add(here, after: client.exchanges) }
        case .broke(let breakpoint):
            if FaultControl.concerns(breakpoint, outline) { faultedFromNow().add(breakpoint) }
        case .removed(let number): faulted?.remove(rule: number)
        case .breakRemoved(let number): faulted?.remove(breakpoint: number)
        }
        guard let faulted, faulted.isIdle else { return }
        state.withLock { $0.faulted = nil }
    }

    private func faultedFromNow() -> FaultedPair {
        if let faulted { return faulted }
        let answered = UInt64(state.withLock { $0.answered })
        let toClient = client.queuedInAll
        let passed: [RelayMachine.Leg: UInt64] = [
            .client: target.queuedInAll, .target: toClient - min(answered, toClient),
        ]
        return use(control.noFaults(of: number, began: client.opened, passed: passed))
    }
}

extension Relay {
    package func onQueue(_ body: @escaping @Sendable () -> Void) { engine.post(body) }
}

extension AsyncSocket {
    /// Resets a connection that was just accepted, and records which rule caused it.
    package func refuse(by rule: NumberedFault) {
        let effect = rule.rule.effect
        var snapshot = FaultSnapshot()
        snapshot.rules = [FaultSnapshot.Rule(number: rule.number, effect: effect.name, text: "\(effect)", count: 1)]
        showFaults(FaultMeter(snapshot))
        recordFault(.faulted, rule.number, -1)
        disconnect(.reset)
    }
}

/// Stops a listener from accepting while a rule says so.
package final class AcceptGate: Sendable {
    private struct State {
        var rules: [NumberedFault] = []
        var timer: FaultTimer?
        var shown: FaultSnapshot?
    }

    private let engine: SocketEngine
    private let began = SystemClock().now
    private let state = Lock(State())

    package init(engine: SocketEngine) { self.engine = engine }

    /// Replaces the rules. Call it on the engine's queue.
    package func set(_ rules: [NumberedFault], on listener: SocketID?) {
        guard let listener else { return }
        state.withLock { ($0.rules, $0.timer) = (rules, nil) }
        apply(to: listener)
    }

    private func apply(to listener: SocketID) {
        let now = SystemClock().now
        let rules = state.withLock { $0.rules }
        var shown = FaultSnapshot()
        shown.rules = rules.filter { began + $0.rule.delay <= now }.map {
            FaultSnapshot.Rule(number: $0.number, effect: $0.rule.effect.name, text: "\($0.rule.effect)", count: 1)
        }
        let change = shown.rules.isEmpty ? nil : shown
        let isNew = state.withLock { state in
            defer { state.shown = change }
            return state.shown != change
        }
        if isNew { engine.shut(listener, by: change) }
        guard let next = rules.map({ began + $0.rule.delay }).filter({ $0 > now }).min() else { return }
        let timer = FaultTimer(engine.queue) { @Sendable [weak self] in self?.apply(to: listener) }
        timer.set(after: next - now)
        state.withLock { $0.timer = timer }
    }
}

extension FaultRule {
    /// The time of the rule's `after` condition.
    var delay: Duration {
        for case .afterTime(let time) in conditions { return time }
        return .zero
    }
}
