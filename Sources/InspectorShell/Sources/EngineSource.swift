import Glibc
import InspectorCore
import SocketKit

/// This program's engine, and the handles of all sockets that the user opened on it.
///
/// Work for the engine runs on its queue, so no caller waits. After a socket is opened it is driven by commands. A
/// handle here only keeps its session alive until it ends.
package final class EngineSource: OpeningSource {
    package let engine: SocketEngine
    private let keeper: StreamKeeper
    private let datagrams: DatagramKeeper
    package let webSockets: WebSocketKeeper
    package let control: FaultControl
    private let quiet: QuietLook

    /// `asks` says whether a user is present to verify a certificate. `received` gets what the sockets receive.
    /// `limits` bounds the kept traffic.
    package init(
        asks: Bool = true, received: ReceivedBytes? = nil, keeping limits: TrafficLimits = TrafficLimits(),
        control: FaultControl = FaultControl(), quiet: QuietLook = QuietLook()
    ) {
        (self.control, self.quiet) = (control, quiet)
        keeper = StreamKeeper(asksAboutTrust: asks, received, faults: OwnConnections(control))
        datagrams = DatagramKeeper(received)
        webSockets = WebSocketKeeper(received)
        var configuration = EngineConfiguration()
        configuration.name = "socktui"
        configuration.capturesTraffic = true
        (configuration.trafficLimit, configuration.totalTrafficLimit) = (limits.each, limits.all)
        // Thousands of connections may come between two looks.
        configuration.eventCapacity = 1 << 14
        // Users come back to see why a connection ended. At least 512 closed ones are kept in any case.
        configuration.closedRetention = .seconds(3_600)
        engine = SocketEngine(configuration)
    }

    // MARK: SocketSource

    package func info(ordinal: Int) -> ProgramInfo {
        ProgramInfo(ordinal: ordinal, name: "socktui", process: Int(getpid()), rights: .control, isOurs: true)
    }

    package func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot?) -> Void) {
        // Runs after earlier requests to open sockets, which run as callbacks do.
        engine.post { @Sendable [engine, quiet] in
            if let same = quiet.answer(request, engine.nextEvent, SystemClock().now) { return then(same) }
            let snapshot = engine.snapshot(request)
            quiet.keep(snapshot, for: request)
            then(snapshot)
        }
    }

    package var isAwaited: Bool { false }

    package var hasAnswered: Bool { true }

    package func perform(_ command: SocketCommand) {
        keeper.faults.perform(command) { @Sendable [engine] in engine.post($0) }
    }

    package func requestTraffic(
        of sockets: [SocketID], then: @escaping @Sendable ([SocketID: TrafficSnapshot]?) -> Void
    ) {
        engine.requestTraffic(of: sockets) { @Sendable in then($0) }
    }

    package func takeNotices() -> [String] { [] }

    // MARK: Sending and opening

    package func write(_ request: WriteRequest, to id: SocketID) async throws(SocketError) {
        guard let socket = engine.socket(for: id) else {
            throw SocketError(.notConnected, operation: "write", detail: "the connection is closed")
        }
        guard let own = keeper.faults.faults(of: id) else { return try await socket.inject(request) }
        perform(SocketCommand(id, .write(request)))
        // Limits the bytes queued in rules and breakpoints to what may also be in transit.
        while own.faulted.map({ $0.pendingBytes > Self.mostWaiting }) ?? false, socket.isConnected {
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    private static let mostWaiting = 1 << 20

    package func setReplies(_ id: SocketID, _ rules: [ReplyRule], then: @escaping @Sendable (SocketError?) -> Void) {
        if let problem = AutoReplies.problem(rules) {
            return then(SocketError(.badParameter, operation: "reply", detail: problem))
        }
        engine.post { @Sendable [keeper] in
            guard keeper.setReplies(rules, of: id) else {
                let detail = "auto-reply works only for open sockets that were opened here"
                return then(SocketError(.other, operation: "reply", detail: detail))
            }
            then(nil)
        }
    }

    package func connect(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        let endpoint: Endpoint
        switch request.target {
        case .stream(let target, _): endpoint = target
        case .datagrams: return datagrams.open(request, on: engine, connects: true, then: then)
        case .webSocket(let url):
            return onQueue(reading: settings(of: request), refused: { then(.failure($0)) }) { @Sendable [self] in
                then(Self.result("connect") { () throws(SocketError) in try connect(request, url) })
            }
        }
        onQueue(reading: settings(of: request), refused: { then(.failure($0)) }) { @Sendable [engine, keeper] in
            let socket = AsyncSocket(engine: engine, delegate: keeper, configuration: Self.configuration(request))
            then(
                Self.result("connect", ended: { socket.closeRecord }) { () throws(SocketError) in
                    if let settings = request.tls {
                        try socket.connect(
                            to: endpoint, timeout: request.timeout, tls: keeper.judged(settings))
                    } else {
                        try socket.connect(to: endpoint, timeout: request.timeout)
                    }
                    keeper.keep(socket)
                    if request.standingRead { socket.read(.standing) }
                    if !request.greeting.isEmpty, let id = socket.session,
                        !keeper.faults.write(request.greeting, to: id)
                    {
                        socket.write(request.greeting)
                    }
                    return socket.session
                })
        }
    }

    package func listen(_ request: OpenRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        let endpoint: Endpoint
        let listening = request.tls.map { [$0] } ?? []
        switch request.target {
        case .stream(let target, _): endpoint = target
        case .datagrams: return datagrams.open(request, on: engine, connects: false, then: then)
        case .webSocket(let url):
            return onQueue(reading: listening, refused: { then(.failure($0)) }) { @Sendable [self] in
                then(Self.result("listen") { () throws(SocketError) in try listen(request, url) })
            }
        }
        onQueue(reading: listening, refused: { then(.failure($0)) }) { @Sendable [engine, keeper] in
            let listener = SocketListener(
                engine: engine, delegate: keeper, configuration: Self.configuration(request))
            keeper.keep(listener, standingRead: request.standingRead)
            let result = Self.result("listen") { () throws(SocketError) in
                try listener.listen(on: endpoint, tls: request.tls)
                return listener.session
            }
            if case .failure = result { keeper.drop(listener) }
            then(result)
        }
    }

    package func startTLS(_ id: SocketID, _ settings: TLSSettings, then: @escaping @Sendable (SocketError?) -> Void) {
        let settings = judged(settings)
        onQueue(reading: [settings], refused: then) { @Sendable [engine] in
            do throws(SocketError) {
                try engine.startTLS(id, settings)
                then(nil)
            } catch {
                then(error)
            }
        }
    }

    package func relay(_ request: RelayRequest, then: @escaping @Sendable (Result<SocketID, SocketError>) -> Void) {
        var request = request
        request.targetTLS = request.targetTLS.map(keeper.judged)
        let settings = [request.listenTLS, request.targetTLS].compactMap { $0 }
        onQueue(reading: settings, refused: { then(.failure($0)) }) { @Sendable [engine, keeper, request, control] in
            then(
                Self.result("listen") { () throws(SocketError) in
                    if request.isDatagrams {
                        let relay = DatagramRelay(engine: engine, request: request, control: control)
                        try relay.start()
                        keeper.keep(relay)
                        return relay.session
                    }
                    let relay = Relay(engine: engine, request: request, control: control)
                    try relay.start()
                    keeper.keep(relay)
                    return relay.session
                })
        }
    }

    package func connectRelay(timeout: Duration?) -> ConnectRelay? {
        ConnectRelay(engine: engine, timeout: timeout, control: control)
    }

    func makeRoomForEndings() { engine.makeRoomForEndings() }

    /// Stops every listener, so that no socket file remains. What is then closed is listed whole, however much it is.
    package func close() {
        makeRoomForEndings()
        keeper.stopListeners()
        webSockets.stopListeners()
        datagrams.closeAll()
    }

    package func startDemo(then: @escaping @Sendable (SocketError?) -> Void) {
        engine.post { @Sendable [engine, keeper] in
            do throws(SocketError) {
                if !keeper.hasDemo { keeper.keep(try Demo(engine: engine)) }
                then(nil)
            } catch {
                then(error)
            }
        }
    }

    /// Returns a client's settings, with or without a user to ask.
    package func judged(_ settings: TLSSettings) -> TLSSettings { keeper.judged(settings) }

    private static func configuration(_ request: OpenRequest) -> SocketConfiguration {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = request.allowsHalfOpen
        configuration.startsWithAcceptingPaused = request.holdsConnections
        return configuration
    }

    /// Returns the session that `open` began. If that session is over already, the failure is what ended it: `ended`.
    package static func result(
        _ operation: String, ended: () -> CloseRecord? = { nil }, _ open: () throws(SocketError) -> SocketID?
    ) -> Result<SocketID, SocketError> {
        Result { () throws(SocketError) in
            guard let session = try open() else {
                throw ended()?.error ?? SocketError(.other, operation: operation, detail: "it was closed immediately")
            }
            return session
        }
    }
}

extension ReadRequest {
    /// A standing read that accepts any bytes.
    package static let standing = ReadRequest(.available(limit: nil), isStanding: true)
}
