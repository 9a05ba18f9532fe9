import SocketKit

/// Tasks that open and accept WebSockets, send and receive messages, ping, wait for room, and close.
final class WebSocketTasks: AwaitingPlay {
    struct Held: Sendable {
        let webSocket: WebSocket
        /// The port of the connecting side, which names the connection.
        let port: UInt16
        /// 0: it connected; 1: it was accepted.
        let end: Int
        var isReceiving = false
        var isDrained = false
    }

    /// What passed over one connection, by the end that sent it.
    struct Line: Sendable {
        var sent = [SentPieces<[UInt8]>(), SentPieces<[UInt8]>()]
        var completed = [Set<Int>(), Set<Int>()]
        var received: [[[UInt8]]] = [[], []]
    }

    struct State {
        var held: [Held] = []
        var lines: [UInt16: Line] = [:]
        var accepted: [UInt16] = []
        var isOver = false
        var listener: WebSocketListener?
    }

    static let port: UInt16 = 7_300
    unowned let stage: Stage
    let state: Lock<State>

    init(engine: SocketEngine, stage: Stage) {
        self.stage = stage
        let listener = WebSocketListener(engine: engine, configuration: Self.configuration(stage))
        _ = listener.webSockets
        try? listener.listen(on: .tcp(host: Network.host, port: Self.port))
        state = Lock(State(listener: listener))
    }

    private static func configuration(_ stage: Stage) -> WebSocketConfiguration {
        var configuration = WebSocketConfiguration()
        configuration.socket.options.backlog = 8
        configuration.settings.watermarks = Watermarks(low: 64, high: 256)
        configuration.settings.closeTimeout = .milliseconds(stage.chance.within(50...2_000))
        configuration.openTimeout = .milliseconds(stage.chance.within(500...10_000))
        if stage.chance.oneIn(2) { configuration.compression = nil }
        if stage.chance.oneIn(2) {
            configuration.socket.prepareDescriptor = { [unowned stage] _, _ in stage.cancelAtTimes() }
        }
        return configuration
    }

    // MARK: Acting

    func act() {
        switch stage.chance.below(16) {
        case 0, 1: open()
        case 2, 3: accept()
        case 4 where stage.chance.oneIn(16): state.withLock { $0.listener }?.stop()
        default: actOnOne()
        }
    }

    private func actOnOne() {
        let all = state.withLock { $0.held }
        // Sometimes one whose session has ended.
        let held = all.indices.filter { all[$0].webSocket.session != nil || stage.chance.oneIn(20) }
        guard !held.isEmpty else { return stage.chance.oneIn(2) ? open() : accept() }
        let index = stage.chance.pick(held)
        switch stage.chance.below(24) {
        case 0..<9: send(index)
        case 9..<15: receive(index, isLast: stage.chance.oneIn(2))
        case 15..<18: ping(index)
        case 18..<22: waitForRoom(index)
        case 22: finish(index)
        default: if stage.chance.oneIn(6) { state.withLock { $0.held[index].webSocket }.abort() }
        }
    }

    private func open() {
        guard let engine = stage.pickEngine(), state.withLock({ $0.held.count }) < 8 else { return }
        let host = stage.chance.pick([Network.host, Network.host, Network.host, "a.test"])
        let configuration = Self.configuration(stage)
        stage.awaits.start(.openWebSocket) { [self] _ in
            do throws(SocketError) {
                let url = "ws://\(host):\(Self.port)/"
                let webSocket = try await WebSocket.connect(to: url, on: engine, configuration: configuration)
                hold(webSocket, port: webSocket.localAddress?.port, end: 0)
                return .value
            } catch {
                return Awaits.Outcome(error)
            }
        }
    }

    private func accept() {
        guard let listener = state.withLock({ $0.listener }) else { return }
        stage.awaits.start(.acceptWebSocket) { [self] _ in
            var webSockets = listener.webSockets.makeAsyncIterator()
            do throws(SocketError) {
                guard let webSocket = try await webSockets.next(isolation: nil) else {
                    return Task.isCancelled ? .cancelled : .value
                }
                state.withLock { $0.accepted.append(webSocket.peerAddress?.port ?? 0) }
                hold(webSocket, port: webSocket.peerAddress?.port, end: 1)
                return .value
            } catch {
                return Awaits.Outcome(error)
            }
        }
    }

    private func hold(_ webSocket: WebSocket, port: UInt16?, end: Int) {
        stage.trace("  a task has \(webSocket.session?.description ?? "-") of port \(port ?? 0)")
        let isOver = state.withLock { state in
            state.held.append(Held(webSocket: webSocket, port: port ?? 0, end: end))
            if let port, state.lines[port] == nil { state.lines[port] = Line() }
            return state.isOver
        }
        if isOver { webSocket.abort() }
    }

    // MARK: Ending

    func drain() {
        for index in state.withLock({ $0.held.indices }) {
            if !state.withLock({ $0.held[index].isReceiving }) { receive(index, isLast: true) }
        }
        for _ in 0..<20 { accept() }
    }

    func leave() {
        let (webSockets, listener) = state.withLock { state in
            state.isOver = true
            defer { state.listener = nil }
            return (state.held.map(\.webSocket), state.listener)
        }
        for webSocket in webSockets { webSocket.abort() }
        listener?.stop()
    }
}
