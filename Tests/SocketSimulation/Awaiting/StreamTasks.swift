import SocketKit

/// Tasks that connect, accept, secure, write and read. The listener's connections go to tasks alone.
final class StreamTasks: AwaitingPlay {
    /// A connected socket, and what a task does with it now.
    struct Held: Sendable {
        let socket: AsyncSocket
        /// The port of the connecting side, which names the connection.
        let port: UInt16
        /// 0: it connected; 1: it was accepted.
        let end: Int
        /// Bytes pass: it needs no TLS, or has it.
        var isOpen: Bool
        var isSecuring = false
        var isReading = false
        /// A task reads whatever comes until all is over.
        var isDrained = false
        var hasEnded = false
    }

    /// What passed over one connection, by the end that sent it.
    struct Line: Sendable {
        var sent = [SentPieces<[UInt8]>(), SentPieces<[UInt8]>()]
        /// Pieces of which the kernel had all.
        var completed = [Set<Int>(), Set<Int>()]
        var read: [[UInt8]] = [[], []]
    }

    struct State {
        var held: [Held] = []
        var lines: [UInt16: Line] = [:]
        var accepted: [UInt16] = []
        var isOver = false
        var listener: SocketListener?
    }

    static let port: UInt16 = 7_200
    unowned let stage: Stage
    let isSecured: Bool
    let state: Lock<State>

    init(engine: SocketEngine, stage: Stage, isSecured: Bool) {
        self.stage = stage
        self.isSecured = isSecured
        var configuration = SocketConfiguration()
        configuration.options.backlog = 8
        configuration.writeWatermarks = Watermarks(low: 64, high: 256)
        let listener = SocketListener(engine: engine, configuration: configuration)
        // Connections come to tasks from the first one on.
        _ = listener.connections
        try? listener.listen(on: .tcp(host: Network.host, port: Self.port))
        state = Lock(State(listener: listener))
    }

    // MARK: Acting

    func act() {
        switch stage.chance.below(16) {
        case 0, 1: connect()
        case 2, 3: accept()
        case 4 where stage.chance.oneIn(30): state.withLock { $0.listener }?.stop()
        default: actOnOne()
        }
    }

    private func actOnOne() {
        let all = state.withLock { $0.held }
        // Sometimes one whose session has ended.
        let held = all.indices.filter { !all[$0].hasEnded && (all[$0].socket.session != nil || stage.chance.oneIn(20)) }
        guard !held.isEmpty else { return stage.chance.oneIn(2) ? connect() : accept() }
        let index = stage.chance.pick(held)
        let one = state.withLock { $0.held[index] }
        guard one.isOpen else { return one.isSecuring ? () : secure(index) }
        switch stage.chance.below(24) {
        case 0..<9: write(index)
        case 9..<18: one.isReading ? write(index) : read(index)
        case 18..<21: waitForRoom(index)
        case 21: move(one.socket)
        case 22 where stage.chance.oneIn(4): close(index, stage.chance.pick(CloseMode.allCases))
        default: return
        }
    }

    private func connect() {
        guard let engine = stage.pickEngine(), state.withLock({ $0.held.count }) < 8 else { return }
        var configuration = SocketConfiguration()
        configuration.writeWatermarks = Watermarks(low: 64, high: 256)
        if stage.chance.oneIn(2) {
            configuration.prepareDescriptor = { [unowned stage] _, _ in stage.cancelAtTimes() }
        }
        let host = stage.chance.pick([Network.host, Network.host, Network.host, "a.test"])
        let endpoint = Endpoint.tcp(host: host, port: Self.port)
        let timeout: Duration? = stage.chance.oneIn(4) ? .milliseconds(stage.chance.within(1...600)) : nil
        let isSecure = isSecured && stage.chance.oneIn(2)
        stage.awaits.start(isSecure ? .connectSecurely : .connect) { [self, configuration] _ in
            do throws(SocketError) {
                let socket =
                    isSecure
                    ? try await AsyncSocket.connect(
                        to: endpoint, on: engine, timeout: timeout, configuration: configuration,
                        tls: SimulatedIdentity.client)
                    : try await AsyncSocket.connect(
                        to: endpoint, on: engine, timeout: timeout, configuration: configuration)
                // Bytes of a peer that is not ours are not in these books.
                let isOurs = socket.peerAddress == .v4(host: Network.host, port: Self.port)
                let port = isOurs ? socket.localAddress?.port : nil
                hold(socket, port: port, end: 0, isOpen: isSecure || !isSecured)
                return .value
            } catch {
                return Awaits.Outcome(error)
            }
        }
    }

    private func accept() {
        guard let listener = state.withLock({ $0.listener }) else { return }
        stage.awaits.start(.accept) { [self] _ in
            var connections = listener.connections.makeAsyncIterator()
            do throws(SocketError) {
                guard let socket = try await connections.next(isolation: nil) else {
                    return Task.isCancelled ? .cancelled : .value
                }
                took(socket)
                if stage.mutation.strikes(.doublesAConnection) { took(socket) }
                return .value
            } catch {
                return Awaits.Outcome(error)
            }
        }
    }

    private func took(_ socket: AsyncSocket) {
        let port = socket.peerAddress?.port ?? 0
        state.withLock { $0.accepted.append(port) }
        hold(socket, port: port, end: 1, isOpen: !isSecured)
    }

    private func hold(_ socket: AsyncSocket, port: UInt16?, end: Int, isOpen: Bool) {
        stage.trace("  a task has \(socket.session?.description ?? "-") of port \(port ?? 0)")
        let (isOver, index) = state.withLock { state in
            state.held.append(Held(socket: socket, port: port ?? 0, end: end, isOpen: isOpen))
            if let port, state.lines[port] == nil { state.lines[port] = Line() }
            return (state.isOver, state.held.count - 1)
        }
        if isOver { return socket.disconnect() }
        if !isOpen, !stage.chance.oneIn(4) { secure(index) }
    }

    /// Moves to the other engine. Between its steps, another thread cancels tasks.
    private func move(_ socket: AsyncSocket) {
        let former = socket.engine
        guard let other = stage.stations.compactMap(\.engine).first(where: { $0 !== former }) else { return }
        former.interleave { [stage] in
            for _ in 0..<stage.chance.below(3) { stage.awaits.cancelOne() }
        }
        try? socket.move(to: other)
        former.interleave(nil)
    }

    private func close(_ index: Int, _ mode: CloseMode) {
        let socket = state.withLock { state in
            state.held[index].hasEnded = true
            return state.held[index].socket
        }
        mode == .now ? socket.disconnect() : socket.disconnect(mode)
    }

    // MARK: Ending

    func drain() {
        for index in state.withLock({ $0.held.indices }) {
            let one = state.withLock { $0.held[index] }
            if one.isOpen, !one.isReading { read(index, isLast: true) }
        }
        drainListener()
    }

    /// Takes connections until no more come.
    private func drainListener() {
        for _ in 0..<20 { accept() }
    }

    func leave() {
        let (sockets, listener) = state.withLock { state in
            state.isOver = true
            defer { state.listener = nil }
            return (state.held.map(\.socket), state.listener)
        }
        for socket in sockets { socket.disconnect() }
        listener?.stop()
    }
}
