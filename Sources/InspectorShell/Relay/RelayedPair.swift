import Glibc
import InspectorCore
import SocketKit
import SocketWorkshop

/// A relayed connection and its leg to the target. It forwards bytes, and performs what `RelayMachine` decides.
///
/// All of it runs on the engine's queue, where its sockets call it. A leg with TLS counts as connected when its
/// handshake is complete. From then on close_notify is its FIN. A truncated stream is forwarded as truncated if both
/// legs have TLS; otherwise, and after an alert, see `RelayMachine`.
package final class RelayedPair: AsyncSocketDelegate {
    package struct State {
        package var machine: RelayMachine
        /// The legs whose peers can't keep up.
        package var blocked: Set<RelayMachine.Leg> = []
        /// The sessions of client and target, which also report what they lost after they ended.
        package var sessions: [RelayMachine.Leg: SocketID] = [:]
        /// The number of bytes that could not be delivered to the peer of each leg.
        package var lost: [RelayMachine.Leg: Int] = [:]
        /// When the client's proxy request must be complete.
        package var deadline: ContinuousClock.Instant?
        /// The proxy handshake, from the client's request until its answer is sent.
        package var handshake: ProxyHandshake?
        /// The bytes that the client sent after its request, before the answer.
        package var early: [UInt8] = []
        /// The number of bytes that the relay itself sent to the client during the handshake.
        package var answered = 0
        /// Which of the client's bytes still belong to its one forwarded request, or `nil` if all bytes are forwarded.
        package var request: HTTPRequestBody?
        /// The rules and breakpoints of this pair, or `nil` if none applies and bytes are forwarded directly.
        package var faulted: FaultedPair?
        /// Notices TLS inside another protocol, or `nil` once that is decided.
        var upgrade: TLSUpgradeWatch? = TLSUpgradeWatch()
        /// Learns how the connect to the target went, before there is a client. It is `nil` from then on, and for a
        /// client that was accepted.
        var awaited: (@Sendable (TargetOutcome) -> Void)?
    }

    /// How the connect to a target went.
    package enum TargetOutcome: Sendable {
        /// The value is the address that the target's leg has here.
        case connected(SocketAddress?)
        /// The value is `nil` if the user ended it.
        case failed(SocketError?)
    }

    package let client: AsyncSocket
    package let target: AsyncSocket
    private let request: RelayRequest
    /// How long a client may take to send its proxy request, and to receive a refusal.
    private let patience: Duration
    package let state: Lock<State>
    /// The pair's number on its listener, counted from 1.
    package let number: UInt64
    package let control: FaultControl
    private let finished: @Sendable (RelayedPair) -> Void

    package init(
        client: AsyncSocket, target: AsyncSocket, request: RelayRequest, patience: Duration, number: UInt64,
        control: FaultControl, awaited: (@Sendable (TargetOutcome) -> Void)? = nil,
        finished: @escaping @Sendable (RelayedPair) -> Void
    ) {
        self.client = client
        self.target = target
        self.request = request
        self.patience = patience
        (self.number, self.control) = (number, control)
        self.finished = finished
        var secure: Set<RelayMachine.Leg> = []
        if request.listenTLS != nil { secure.insert(.client) }
        if request.targetTLS != nil { secure.insert(.target) }
        var state = State(machine: RelayMachine(secure: secure))
        state.awaited = awaited
        self.state = Lock(state)
    }

    /// Called once the client is connected, and secured if requested. Opens the target, unless a breakpoint holds the
    /// pair.
    package func begin() {
        if !isHeldAtAccept() { connectOn() }
    }

    package func connectOn() {
        switch request.target {
        case .endpoint(let endpoint): open(endpoint)
        case .proxy(let kind): negotiate(ProxyHandshake(kind))
        }
    }

    /// Starts connecting to the target. Nothing is read from the client until that is done.
    private func open(_ endpoint: Endpoint, early: [UInt8] = []) {
        do throws(SocketError) {
            if let settings = request.targetTLS {
                try target.connect(to: endpoint, timeout: request.timeout, tls: settings)
            } else {
                try target.connect(to: endpoint, timeout: request.timeout)
            }
            client.link(to: target)
            target.watchForWebSocket(as: .client)
            state.withLock { state in
                state.early = early
                state.sessions[.client] = client.session
                state.sessions[.target] = target.session
            }
            showFaults()
            guard !early.isEmpty else { return }
            pass(early, from: .client)
        } catch {
            targetFailed(error)
        }
    }

    // MARK: The handshake of a proxy

    /// Asks the client for its target.
    private func negotiate(_ handshake: ProxyHandshake) {
        state.withLock { state in
            state.handshake = handshake
            state.deadline = .now + patience
        }
        readRequest()
    }

    /// Continues reading. All reads of a handshake share one deadline, or a client could prolong it with single bytes.
    private func readRequest() {
        let left = state.withLock { $0.deadline.map { $0 - .now } ?? patience }
        client.read(ReadRequest(.available(limit: 4_096), timeout: max(.zero, left)))
    }

    private func heard(_ bytes: [UInt8]) {
        let step = state.withLock { $0.handshake?.receive(bytes) ?? .wait }
        switch step {
        case .wait: readRequest()
        case .reply(let bytes):
            answer(bytes)
            heard([])
        case .open(let endpoint, let early): open(endpoint, early: early)
        case .forward(let request, let early): forward(request, early: early)
        case .refuse(let bytes):
            if !bytes.isEmpty { client.write(bytes, timeout: patience) }
            client.disconnect(.afterWriting)
        }
    }

    private func answer(_ bytes: [UInt8]) {
        state.withLock { $0.answered += bytes.count }
        client.write(bytes)
    }

    /// Forwards a request with the head rewritten for its server.
    private func forward(_ request: HTTPForwardedRequest, early: [UInt8]) {
        var body = request.body
        let own = early.prefix(body.absorb(early))
        state.withLock { $0.request = body }
        open(request.endpoint, early: request.head + own)
        client.markHeadRewritten(to: target, came: request.length, sent: request.head.count)
        if own.count < early.count { omit(early.count - own.count) }
    }

    /// Forwards the bytes that belong to the client's request. A second request on a proxy connection may be for
    /// another server, so it is not forwarded. The server gets FIN, and the end of its answer ends the connection.
    private func passRequest(_ bytes: [UInt8]) {
        let count = state.withLock { $0.request?.absorb(bytes) } ?? bytes.count
        if count > 0 { pass(count < bytes.count ? Array(bytes[..<count]) : bytes, from: .client) }
        if count < bytes.count { omit(bytes.count - count) }
    }

    private func omit(_ count: Int) {
        lose(count, of: .target)
        if let faulted { return faulted.end(.client, isCut: false) }
        perform(state.withLock { $0.machine.ended(.client) })
    }

    /// Reports to the client that the target is unavailable, in its proxy protocol or by a reset.
    private func targetFailed(_ error: SocketError) {
        announce(.failed(error))
        let answer = state.withLock { state -> [UInt8]? in
            defer { state.handshake = nil }
            return state.handshake?.failed(error.proxyFailure)
        }
        if let answer { client.write(answer, timeout: patience) }
        perform(state.withLock { $0.machine.lost(.target, answer == nil ? .reset : .closed, pending: 0, lost: 0) })
    }

    // MARK: Socket callbacks

    private func leg(_ socket: AsyncSocket) -> RelayMachine.Leg { socket === client ? .client : .target }
    package func socket(_ leg: RelayMachine.Leg) -> AsyncSocket { leg == .client ? client : target }

    package func socket(_ socket: AsyncSocket, didConnectTo address: SocketAddress) {
        if isAwaited { awaitClient() } else if request.targetTLS == nil { targetIsThere() }
    }

    package func socketDidSecure(_ socket: AsyncSocket) {
        if socket === client { begin() } else { targetIsThere() }
    }

    /// Leaves the target's certificate for the user to verify, if the settings ask about it at all.
    package func socket(_ socket: AsyncSocket, didReceive trust: TLSTrust) -> TrustVerdict { .later }

    package func targetIsThere() {
        let (answer, early) = state.withLock { state in
            defer { (state.handshake, state.early) = (nil, []) }
            return (state.handshake?.connected, state.early)
        }
        if let answer, !answer.isEmpty { self.answer(answer) }
        client.watchForWebSocket(as: .server, after: early)
        startFaults()
        perform(state.withLock { $0.machine.targetConnected() })
    }

    /// Where the bytes received on a leg go.
    private enum Way {
        case handshake, request, across, faulted(FaultedPair), nowhere

        var isHandshake: Bool { if case .handshake = self { true } else { false } }
    }

    private static func way(of leg: RelayMachine.Leg, _ state: State) -> Way {
        if leg == .client, state.handshake != nil { return .handshake }
        if state.machine.isAlone(leg) { return .nowhere }
        if leg == .client, state.request != nil { return .request }
        return state.faulted.map { .faulted($0) } ?? .across
    }

    package func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        let leg = leg(socket)
        let (way, isWatched) = state.withLock { state -> (Way, Bool) in
            (Self.way(of: leg, state), state.upgrade != nil)
        }
        if isWatched, !way.isHandshake { watchUpgrade(bytes, from: leg) }
        switch way {
        case .handshake: heard(bytes)
        case .request: passRequest(bytes)
        case .across: self.socket(leg.other).write(bytes)
        case .faulted(let faulted): faulted.receive(bytes, from: leg)
        case .nowhere:
            lose(bytes.count, of: leg.other)
            perform(state.withLock { $0.machine.receivedForNobody(leg) })
        }
    }

    /// Called when a leg ends with an error. Forwards bytes that had already arrived, as far as the other leg accepts
    /// them.
    package func socket(_ socket: AsyncSocket, willDisconnect error: SocketError, unread: [UInt8]) {
        let leg = leg(socket)
        guard !unread.isEmpty, state.withLock({ $0.handshake == nil }) else { return }
        if leg == .client, state.withLock({ $0.request != nil }) { return passRequest(unread) }
        pass(unread, from: leg)
    }

    /// Forwards bytes received on a leg.
    package func pass(_ bytes: [UInt8], from leg: RelayMachine.Leg) {
        if let faulted = faulted { return faulted.receive(bytes, from: leg) }
        socket(leg.other).write(bytes)
    }

    package var faulted: FaultedPair? { state.withLock { $0.faulted } }

    /// The sessions of both legs, including ended ones.
    package var knownSessions: [SocketID] {
        state.withLock { state in
            [(RelayMachine.Leg.client, client), (.target, target)].compactMap { state.sessions[$0] ?? $1.session }
        }
    }

    package func socket(_ socket: AsyncSocket, didBecomeWritable isWritable: Bool) {
        state.withLock { state in
            if isWritable { state.blocked.remove(leg(socket)) } else { state.blocked.insert(leg(socket)) }
        }
        faulted?.becameWritable(leg(socket), isWritable)
        perform(state.withLock { $0.machine.becameWritable(leg(socket), isWritable) })
    }

    package func socket(_ socket: AsyncSocket, didWriteWithTag tag: Int) {
        let leg = leg(socket)
        guard state.withLock({ $0.machine.isDoomed(leg) }), socket.pendingWriteBytes == 0 else { return }
        perform(state.withLock { $0.machine.drained(leg) })
    }

    /// Called for a write that was not sent in full because its session ended or had already ended.
    package func socket(_ socket: AsyncSocket, didFail operation: FailedOperation) {
        guard operation.kind == .write, let total = operation.total else { return }
        lose(total - operation.done, of: leg(socket))
    }

    /// Counts bytes for the peer of a leg that will never be sent.
    package func lose(_ count: Int, of leg: RelayMachine.Leg) {
        let session = state.withLock { state in
            state.lost[leg, default: 0] += count
            return state.sessions[leg]
        }
        if let session { client.engine.addLost(count, of: session) }
    }

    package func socketDidCloseReadStream(_ socket: AsyncSocket) {
        let isCut = socket.wasCutOff
        if let faulted { return faulted.end(leg(socket), isCut: isCut) }
        perform(state.withLock { $0.machine.ended(leg(socket), isCut: isCut) })
    }

    package func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        if socket === target { announce(.failed(error)) }
        if socket === target, let error, state.withLock({ $0.handshake != nil }) { return targetFailed(error) }
        let leg = leg(socket)
        let loss = Self.loss(error)
        if faulted?.keeps(leg, loss) != true {
            if loss != .finished { faulted?.abandon { lose($1, of: $0.other) } }
            lost(leg, loss)
        }
    }

    /// Handles the end of a leg, and informs the other one.
    package func lost(_ leg: RelayMachine.Leg, _ loss: RelayMachine.Loss) {
        let pending = socket(leg.other).pendingWriteBytes
        perform(
            state.withLock { state in
                state.machine.lost(leg, loss, pending: pending, lost: state.lost[leg] ?? 0)
            })
    }

    private static func loss(_ error: SocketError?) -> RelayMachine.Loss {
        switch error?.reason {
        case nil: .closed
        case .closedByPeer: .finished
        case .tls: .cut
        default: .reset
        }
    }

    package func perform(_ actions: [RelayMachine.Action]) {
        for action in actions {
            switch action {
            case .begin:
                for leg in [client, target] { leg.read(ReadRequest(.available(limit: nil), isStanding: true)) }
            case .hold(let leg, let hold):
                if let faulted { faulted.relayHolds(leg, hold) } else { socket(leg).holdBack(hold) }
            case .shutWrite(let leg, isCut: true): socket(leg).cutOff()
            case .shutWrite(let leg, isCut: false): socket(leg).halfClose()
            case .close(let leg): end(leg) { $0.disconnect(.afterWriting) }
            case .reset(let leg): end(leg) { $0.resetAfterFlush() }
            case .finished:
                faulted?.abandon { lose($1, of: $0.other) }
                finished(self)
            }
        }
    }

    /// Ends a leg. One that never had a session can't end, so it counts as ended at once.
    private func end(_ leg: RelayMachine.Leg, _ close: (AsyncSocket) -> Void) {
        let socket = socket(leg)
        guard socket.session == nil else { return close(socket) }
        perform(state.withLock { $0.machine.lost(leg, .closed, pending: 0, lost: 0) })
    }
}

extension SocketError {
    /// The error as a proxy failure.
    fileprivate var proxyFailure: ProxyHandshake.Failure {
        switch reason {
        case .system(ECONNREFUSED): .refused
        case .system(ENETUNREACH): .networkUnreachable
        case .system(EHOSTUNREACH): .hostUnreachable
        case .system(ETIMEDOUT): .timedOut
        case .system: .other
        case .connectTimeout: .timedOut
        case .resolver: .hostUnreachable
        case .tls, .sendTimeout, .badConfiguration, .badParameter, .readTimeout, .writeTimeout, .idleTimeout,
            .readMaxedOut,
            .closedByPeer,
            .disconnected, .cancelled, .notConnected, .webSocket, .other:
            .other
        }
    }
}
