import Dispatch
import InspectorCore
import SocketKit
import SocketWorkshop

/// One of our own connections with rules or breakpoints. The socket is one leg, and what is typed and read here is the
/// other. Everything runs on the engine's queue.
package final class OwnFaults: FaultCarrier, FaultedConnection {
    private struct State {
        weak var socket: AsyncSocket?
        var faulted: FaultedPair?
        /// The tag of the last write, which its pieces share.
        var tag = 0
    }

    package let id: SocketID
    /// Our side. `peers` is the peer's.
    package let ours: RelayMachine.Leg
    package var peers: RelayMachine.Leg { ours.other }
    private let state: Lock<State>

    package init(_ socket: AsyncSocket, _ id: SocketID, isClient: Bool, _ faults: RelayFaults) {
        self.id = id
        ours = isClient ? .client : .target
        state = Lock(State(socket: socket))
        let faulted = FaultedPair(faults, of: self, on: socket.engine.queue)
        state.withLock { $0.faulted = faulted }
        socket.showFaults(faulted.meter)
        let leg = ours.other
        socket.setIntake(
            Intake(
                receive: { @Sendable [weak self] in self?.faulted?.receive($0, from: leg) },
                end: { @Sendable [weak self] in self?.faulted?.end(leg, isCut: false) }))
    }

    package var faulted: FaultedPair? { state.withLock { $0.faulted } }
    private var socket: AsyncSocket? { state.withLock { $0.socket } }

    package var session: SocketID? { id }

    package func has(_ session: SocketID) -> Bool { session == id }

    /// Sends a local write, subject to the rules.
    package func send(_ request: WriteRequest) {
        state.withLock { $0.tag = request.tag }
        faulted?.receive(request.bytes, from: ours)
    }

    /// Called when the connection has ended. Bytes queued here are lost.
    package func end() { faulted?.abandon { _, _ in } }

    /// Sends FIN after everything that was sent.
    package func finish() { faulted?.end(ours, isCut: false) }

    // MARK: FaultCarrier

    package func write(_ bytes: [UInt8], to leg: RelayMachine.Leg, isOurs: Bool) {
        guard let socket else { return }
        if isOurs { socket.recordFault(.injected, bytes.count, 0) }
        guard leg == peers else { return socket.deliver(bytes) }
        socket.write(bytes, tag: state.withLock { $0.tag })
    }

    package func sendApart(_ leg: RelayMachine.Leg, _ isApart: Bool) {
        if leg == peers { socket?.sendApart(isApart) }
    }

    /// Local writes wait in the pipeline anyway.
    package func holdBack(_ leg: RelayMachine.Leg, _ holds: Bool) {
        guard leg == peers, let socket else { return }
        if holds { socket.holdBackAtOnce() } else { socket.holdBack(false) }
    }

    package func ended(_ leg: RelayMachine.Leg, isCut: Bool) {
        if leg == peers { socket?.deliverEnd() } else { socket?.halfClose() }
    }

    package func lost(_ leg: RelayMachine.Leg, _ loss: RelayMachine.Loss) {}
    package func connectOn() {}
    package func resetBoth() { socket?.disconnect(.reset) }
    package func noteFaults() {
        if let meter = faulted?.meter { socket?.engine.showFaults(meter, of: id) }
    }

    package func recordFault(_ leg: RelayMachine.Leg, _ kind: SocketEvent.Kind, _ first: Int, _ second: Int) {
        socket?.recordFault(kind, first, second)
    }
}

/// The streams opened by this program, with the rules and breakpoints that apply to them. Everything except `perform`
/// and `faults(of:)` is called on the engine's queue.
package final class OwnConnections: FaultTarget {
    private struct Known {
        weak var socket: AsyncSocket?
        var number: UInt64
        var isClient: Bool
        var isConnected: Bool
        var faults: OwnFaults?
    }

    private struct State {
        var known: [SocketID: Known] = [:]
        var last: UInt64 = 0
        var engine: SocketEngine?
    }

    private let control: FaultControl
    private let state = Lock(State())

    package init(_ control: FaultControl) { self.control = control }

    /// Numbers a connection, and finds its faults. If `isClient` is not set, it was accepted and is already
    /// established.
    package func add(_ socket: AsyncSocket, isClient: Bool) {
        guard let id = socket.session else { return }
        let number = state.withLock { state in
            if state.engine == nil {
                state.engine = socket.engine
                control.add(self)
            }
            state.last += 1
            state.known[id] = Known(socket: socket, number: state.last, isClient: isClient, isConnected: !isClient)
            return state.last
        }
        if let faults = control.faults(of: number, outline(of: socket, id), began: socket.opened) {
            let own = OwnFaults(socket, id, isClient: isClient, faults)
            state.withLock { $0.known[id]?.faults = own }
            if isClient { own.faulted?.awaitConnect() } else { own.faulted?.connected(isAccepted: true) }
        }
    }

    private func outline(of socket: AsyncSocket, _ id: SocketID) -> SocketSnapshot {
        var outline = SocketSnapshot(
            id: id, role: .client, phase: .connected, target: "", opened: SystemClock().now)
        (outline.peer, outline.local) = (socket.peerAddress, socket.localAddress)
        return outline
    }

    package func connected(_ id: SocketID) {
        state.withLock { $0.known[id]?.isConnected = true }
        faults(of: id)?.faulted?.connected()
    }

    package func timedOut(_ id: SocketID) { faults(of: id)?.faulted?.timedOut() }

    /// Called when the connection has ended. Removes all its state.
    package func remove(_ id: SocketID) {
        let known = state.withLock { $0.known.removeValue(forKey: id) }
        known?.faults?.end()
    }

    package func faults(of id: SocketID) -> OwnFaults? { state.withLock { $0.known[id]?.faults } }

    /// Writes subject to the rules of a connection. Returns `false` if no rule applies to it.
    package func write(_ bytes: [UInt8], to id: SocketID) -> Bool {
        guard let own = faults(of: id) else { return false }
        own.send(WriteRequest(bytes))
        return true
    }

    /// Performs a command on a connection with faults. Commands for other connections go to `post`.
    package func perform(_ command: SocketCommand, _ post: @escaping @Sendable (SocketCommand) -> Void) {
        guard let engine = state.withLock({ $0.known[command.socket]?.faults == nil ? nil : $0.engine }) else {
            return post(command)
        }
        engine.post { @Sendable [self] in
            switch (command.action, faults(of: command.socket)) {
            case (.write(let request), let own?): own.send(request)
            case (.halfClose, let own?): own.finish()
            default: post(command)
            }
        }
    }

    // MARK: FaultTarget

    package func onQueue(_ body: @escaping @Sendable () -> Void) {
        if let engine = state.withLock({ $0.engine }) { engine.post(body) } else { body() }
    }

    package var held: [any FaultedConnection] {
        state.withLock { $0.known.values.compactMap(\.faults) }.filter { $0.faulted?.isHeld == true }
            .sorted { $0.id < $1.id }
    }

    package func change(_ change: FaultChange) {
        for (id, known) in state.withLock({ $0.known }).sorted(by: { $0.value.number < $1.value.number }) {
            guard let socket = known.socket else { continue }
            switch change {
            case .added(let rules):
                let here = rules.filter {
                    $0.rule.effect.concernsStreams
                        && control.applies($0, to: known.number, socket.peerAddress?.ip)
                }
                if !here.isEmpty { concern(id, socket, known)?.add(here, after: socket.exchanges) }
            case .broke(let breakpoint):
                if FaultControl.concerns(breakpoint, outline(of: socket, id)) {
                    concern(id, socket, known)?.add(breakpoint)
                }
            case .removed(let number): known.faults?.faulted?.remove(rule: number)
            case .breakRemoved(let number): known.faults?.faulted?.remove(breakpoint: number)
            }
        }
    }

    private func concern(_ id: SocketID, _ socket: AsyncSocket, _ known: Known) -> FaultedPair? {
        if let faults = known.faults { return faults.faulted }
        let ours: RelayMachine.Leg = known.isClient ? .client : .target
        let passed = [ours: socket.queuedInAll, ours.other: socket.receivedInAll]
        let faults = control.noFaults(of: known.number, began: socket.opened, passed: passed)
        let own = OwnFaults(socket, id, isClient: known.isClient, faults)
        if !known.isConnected { own.faulted?.awaitConnect() }
        state.withLock { $0.known[id]?.faults = own }
        return own.faulted
    }
}
