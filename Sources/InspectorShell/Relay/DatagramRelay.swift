import Dispatch
import InspectorCore
import SocketKit
import SocketWorkshop

/// A port that forwards each client's datagrams to a target, and the target's answers back. Each client has its own
/// socket towards the target, its association. Runs on the engine's queue.
///
/// Releasing the relay ends it and every association.
package final class DatagramRelay: DatagramSocketDelegate, FaultTarget {
    private struct Association {
        let socket: DatagramSocket
        /// The relay's number, counted from 1.
        let number: UInt64
        /// The rules that apply to the association, or `nil` if none does.
        var faulted: FaultedAssociation?
    }

    private struct State {
        var table: AssociationTable
        var associations: [SocketAddress: Association] = [:]
        var clients: [ObjectIdentifier: SocketAddress] = [:]
        var isWaiting = false
        /// The number of associations so far.
        var came: UInt64 = 0
    }

    private let engine: SocketEngine
    private let request: RelayRequest
    private let listener: DatagramSocket
    private let state: Lock<State>
    private let control: FaultControl

    package init(
        engine: SocketEngine, request: RelayRequest, table: AssociationTable = AssociationTable(),
        control: FaultControl = FaultControl()
    ) {
        (self.engine, self.request, self.control) = (engine, request, control)
        var configuration = DatagramConfiguration()
        configuration.name = request.name
        listener = DatagramSocket(engine: engine, configuration: configuration)
        state = Lock(State(table: table))
    }

    /// Starts listening. Throws the error of the bind.
    package func start() throws(SocketError) {
        listener.delegate = self
        try listener.bind(to: request.listen)
        listener.show(as: OpenTarget.datagrams(request.listen).description)
        listener.show(state.withLock { $0.table.counts })
        try listener.beginReceiving()
        control.add(self)
    }

    /// The session that clients send to, or `nil` if there is none.
    package var session: SocketID? { listener.session }

    /// Ends the relay. Without its port no answer can be forwarded.
    package func stop() { listener.close() }

    // MARK: Socket callbacks

    package func datagramSocket(_ socket: DatagramSocket, didReceiveBatch batch: DatagramBatch) {
        guard socket === listener else { return answer(batch, by: socket) }
        for datagram in batch {
            guard let association = association(of: datagram.source) else { continue }
            if let faulted = faulted(datagram.source) {
                faulted.receive(datagram.bytes, .upstream)
            } else {
                association.send(datagram.bytes)
            }
        }
        show()
    }

    private func answer(_ batch: DatagramBatch, by socket: DatagramSocket) {
        let now = SystemClock().now
        let client = state.withLock { state -> SocketAddress? in
            guard let client = state.clients[ObjectIdentifier(socket)] else { return nil }
            state.table.answered(client, now: now)
            return client
        }
        guard let client, let there = Endpoint(client) else { return }
        if let faulted = faulted(client) {
            for datagram in batch { faulted.receive(datagram.bytes, .downstream) }
        } else {
            for datagram in batch { listener.send(datagram.bytes, to: there) }
        }
    }

    private func faulted(_ client: SocketAddress) -> FaultedAssociation? {
        state.withLock { $0.associations[client]?.faulted }
    }

    // MARK: Rules

    package func onQueue(_ body: @escaping @Sendable () -> Void) { engine.post(body) }

    /// Datagrams are never held.
    package var held: [any FaultedConnection] { [] }

    package func change(_ change: FaultChange) {
        for (client, association) in state.withLock({ $0.associations }) {
            switch change {
            case .added(let rules): begin(rules, client, association)
            case .removed(let number): faulted(client)?.remove(number)
            case .broke, .breakRemoved: break
            }
        }
    }

    /// Applies the rules that select an association to it.
    private func begin(_ rules: [NumberedFault], _ client: SocketAddress, _ association: Association) {
        let number = association.number
        let here = rules.filter {
            $0.rule.effect.concernsDatagrams && control.applies($0, to: number, client.ip)
        }
        guard !here.isEmpty, let there = Endpoint(client) else { return }
        let faulted =
            association.faulted
            ?? FaultedAssociation(
                number, association.socket, seed: control.seed, delayBuffer: control.delayBuffer, on: engine.queue
            ) { @Sendable [weak listener] in listener?.send($0, to: there) }
        for rule in here { faulted.add(rule) }
        state.withLock { $0.associations[client]?.faulted = faulted }
    }

    package func datagramSocket(_ socket: DatagramSocket, didNotConnect error: SocketError) {
        // No datagram of this client can be forwarded. Its row shows why.
        socket.close(because: error)
    }

    package func datagramSocket(_ socket: DatagramSocket, didClose error: SocketError?) {
        if socket === listener { return endAll() }
        state.withLock { state in
            guard let client = state.clients.removeValue(forKey: ObjectIdentifier(socket)) else { return }
            // Another association for the same client may exist by now.
            guard state.associations[client]?.socket === socket else { return }
            state.associations[client] = nil
            state.table.remove(client)
        }
        show()
    }

    // MARK: Associations

    /// Returns the socket that forwards this client's datagrams, or `nil` if it can't be opened; its row shows why.
    private func association(of client: SocketAddress) -> DatagramSocket? {
        let now = SystemClock().now
        let (known, evicted) = state.withLock { state -> (DatagramSocket?, DatagramSocket?) in
            switch state.table.heard(from: client, now: now) {
            case .known: return (state.associations[client]?.socket, nil)
            case .new(let oldest): return (nil, oldest.flatMap { state.associations.removeValue(forKey: $0)?.socket })
            }
        }
        evicted?.close(because: ended("longest idle when the client limit was reached"))
        return known ?? open(for: client)
    }

    private func open(for client: SocketAddress) -> DatagramSocket? {
        guard case .endpoint(let target) = request.target else { return nil }
        let socket = DatagramSocket(engine: engine, delegate: self)
        let association = state.withLock { state in
            state.came += 1
            let association = Association(socket: socket, number: state.came)
            state.associations[client] = association
            state.clients[ObjectIdentifier(socket)] = client
            return association
        }
        do throws(SocketError) {
            try socket.connect(to: target)
        } catch {
            state.withLock { state in
                (state.associations[client], state.clients[ObjectIdentifier(socket)]) = (nil, nil)
                state.table.remove(client)
            }
            return nil
        }
        socket.relay(for: client, of: listener)
        begin(control.rules, client, association)
        if let id = socket.session { engine.post(.read(id, .standing)) }
        expireLater()
        return socket
    }

    private func ended(_ why: String) -> SocketError {
        SocketError(.idleTimeout, operation: "relay", detail: why)
    }

    /// Schedules the end of associations that have been idle too long.
    private func expireLater() {
        let deadline = state.withLock { state -> MonotonicTime? in
            guard !state.isWaiting, let deadline = state.table.deadline else { return nil }
            state.isWaiting = true
            return deadline
        }
        guard let deadline else { return }
        let left = max(.zero, deadline - SystemClock().now).wholeNanoseconds
        engine.queue.asyncAfter(deadline: .now() + .nanoseconds(Int(left))) { @Sendable [weak self] in self?.expire() }
    }

    private func expire() {
        let now = SystemClock().now
        let (late, patience) = state.withLock { state in
            state.isWaiting = false
            let associations = state.associations
            let late = state.table.expire(now: now) { associations[$0]?.faulted?.isWaiting ?? false }
                .compactMap { state.associations.removeValue(forKey: $0)?.socket }
            return (late, state.table.patience)
        }
        for socket in late { socket.close(because: ended("no datagram for \(Format.duration(patience))")) }
        show()
        expireLater()
    }

    private func endAll() {
        let sockets = state.withLock { state in
            let sockets = state.associations.values.map(\.socket)
            (state.associations, state.clients) = ([:], [:])
            return sockets
        }
        for socket in sockets { socket.close() }
    }

    private func show() { listener.show(state.withLock { $0.table.counts }) }
}
