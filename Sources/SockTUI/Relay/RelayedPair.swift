import Glibc
import InspectorCore
import SocketKit

/// One relayed connection and its leg to the target: it hands bytes over, and performs what `RelayMachine` decides.
///
/// All of it runs on the engine's queue, where its sockets call it. A leg with TLS counts as connected when its handshake
/// is done; from then on it differs in nothing: close_notify is its FIN, and a stream that is cut off, or an alert, is a
/// failure, which the other leg is told by a reset.
final class RelayedPair: AsyncSocketDelegate {
    private struct State {
        var machine = RelayMachine()
        /// While the client says where it wants to go, and until it is told how that went.
        var handshake: ProxyHandshake?
        /// What the client sent behind that, ahead of the answer.
        var early: [UInt8] = []
    }

    private let client: AsyncSocket
    private let target: AsyncSocket
    private let request: RelayRequest
    private let state = Lock(State())
    private let finished: @Sendable (RelayedPair) -> Void

    /// A client that does not say in time where it wants to go.
    private static let patience = Duration.seconds(30)

    init(
        client: AsyncSocket, target: AsyncSocket, request: RelayRequest,
        finished: @escaping @Sendable (RelayedPair) -> Void
    ) {
        self.client = client
        self.target = target
        self.request = request
        self.finished = finished
    }

    /// The client is there, and secured where that is asked for: now it is its target's turn.
    func begin() {
        switch request.target {
        case .endpoint(let endpoint): open(endpoint)
        case .proxy(let kind): negotiate(ProxyHandshake(kind))
        }
    }

    /// Begins to connect to the target. Until that is done nothing is taken from the client.
    private func open(_ endpoint: Endpoint, early: [UInt8] = []) {
        do throws(SocketError) {
            if let settings = request.targetTLS {
                try target.connect(to: endpoint, timeout: request.timeout, tls: settings)
            } else {
                try target.connect(to: endpoint, timeout: request.timeout)
            }
            client.link(to: target)
            target.watchForWebSocket(as: .client)
            state.withLock { $0.early = early }
            if !early.isEmpty { target.write(early) }
        } catch {
            targetFailed(error)
        }
    }

    // MARK: The handshake of a proxy

    /// Asks the client where it wants to go.
    private func negotiate(_ handshake: ProxyHandshake) {
        state.withLock { $0.handshake = handshake }
        readRequest()
    }

    private func readRequest() {
        client.read(ReadRequest(.available(limit: 4_096), timeout: Self.patience))
    }

    private func heard(_ bytes: [UInt8]) {
        let step = state.withLock { $0.handshake?.receive(bytes) ?? .wait }
        switch step {
        case .wait: readRequest()
        case .reply(let bytes):
            client.write(bytes)
            heard([])
        case .open(let endpoint, let early): open(endpoint, early: early)
        case .refuse(let bytes):
            if !bytes.isEmpty { client.write(bytes) }
            client.disconnect(.afterWriting)
        }
    }

    /// The target could not be had: the client is told in the words of its protocol, or by a reset.
    private func targetFailed(_ error: SocketError) {
        let answer = state.withLock { state -> [UInt8]? in
            defer { state.handshake = nil }
            return state.handshake?.failed(error.proxyFailure)
        }
        if let answer { client.write(answer) }
        perform(state.withLock { $0.machine.lost(.target, failed: answer == nil, pending: 0) })
    }

    // MARK: What the sockets tell

    private func leg(_ socket: AsyncSocket) -> RelayMachine.Leg { socket === client ? .client : .target }
    private func socket(_ leg: RelayMachine.Leg) -> AsyncSocket { leg == .client ? client : target }

    func socket(_ socket: AsyncSocket, didConnectTo address: SocketAddress) {
        if request.targetTLS == nil { targetIsThere() }
    }

    func socketDidSecure(_ socket: AsyncSocket) {
        if socket === client { begin() } else { targetIsThere() }
    }

    /// A person judges the target's certificate, if it is asked about at all.
    func socket(_ socket: AsyncSocket, didReceive trust: TLSTrust) -> TrustVerdict { .later }

    private func targetIsThere() {
        let (answer, early) = state.withLock { state in
            defer { (state.handshake, state.early) = (nil, []) }
            return (state.handshake?.connected, state.early)
        }
        if let answer { client.write(answer) }
        client.watchForWebSocket(as: .server, behind: early)
        perform(state.withLock { $0.machine.targetConnected() })
    }

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) {
        if socket === client, state.withLock({ $0.handshake != nil }) { return heard(bytes) }
        self.socket(leg(socket).other).write(bytes)
    }

    func socket(_ socket: AsyncSocket, didBecomeWritable isWritable: Bool) {
        perform(state.withLock { $0.machine.becameWritable(leg(socket), isWritable) })
    }

    func socket(_ socket: AsyncSocket, didWriteWithTag tag: Int) {
        let leg = leg(socket)
        guard state.withLock({ $0.machine.isDoomed(leg) }), socket.pendingWriteBytes == 0 else { return }
        perform(state.withLock { $0.machine.drained(leg) })
    }

    func socketDidCloseReadStream(_ socket: AsyncSocket) {
        perform(state.withLock { $0.machine.ended(leg(socket)) })
    }

    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) {
        if socket === target, let error, state.withLock({ $0.handshake != nil }) { return targetFailed(error) }
        let leg = leg(socket)
        let failed = error.map { $0.reason != .closedByPeer } ?? false
        let pending = self.socket(leg.other).pendingWriteBytes
        perform(state.withLock { $0.machine.lost(leg, failed: failed, pending: pending) })
    }

    private func perform(_ actions: [RelayMachine.Action]) {
        for action in actions {
            switch action {
            case .begin:
                for leg in [client, target] { leg.read(ReadRequest(.available(limit: nil), isStanding: true)) }
            case .hold(let leg, let hold): socket(leg).holdBack(hold)
            case .shutWrite(let leg): socket(leg).closeWrite()
            case .close(let leg): close(leg, .afterWriting)
            case .reset(let leg): close(leg, .reset)
            case .finished: finished(self)
            }
        }
    }

    /// A leg that never had a session cannot end, so it counts as over at once.
    private func close(_ leg: RelayMachine.Leg, _ mode: CloseMode) {
        let socket = socket(leg)
        guard socket.session == nil else { return socket.disconnect(mode) }
        perform(state.withLock { $0.machine.lost(leg, failed: false, pending: 0) })
    }
}

extension SocketError {
    /// In the words that proxies have for it.
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
