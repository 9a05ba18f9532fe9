import SocketKit
import SocketTestSupport
import Testing

/// Statements 1 to 14: what is refused at the call, and what is not.
@Suite(.timeLimit(.minutes(10))) struct PreconditionStatements {
    @Test func statement001_aSocketWithoutADelegateConnectsAndTalks() throws {
        let child = Recorder()
        let accepting = Recorder(onAccept: { socket in
            socket.delegate = child
            socket.read(ReadRequest(.length(2), tag: 1))
        })
        let reception = try Reception(accepting: accepting)
        let socket = try reception.connect()
        socket.write(Array("hi".utf8))
        #expect(eventually { child.calls == [.text("hi", tag: 1)] })
        #expect(socket.isConnected)
    }

    @Test func statement002_withoutADelegateQueueCallbacksComeOnTheEnginesQueue() throws {
        let engine = SocketEngine()
        let places = Lock<[Bool]>([])
        let note: @Sendable () -> Void = { places.withLock { $0.append(engine.isOnQueue) } }
        let reception = try Reception(engine: engine, accepting: Recorder(onAccept: { _ in note() }))
        let recorder = Recorder(onCall: { _, _ in note() })
        let socket = try reception.connect(recorder)
        socket.write([1], tag: 1)
        #expect(eventually { places.withLock { $0 } == [true, true, true] })
        #expect(recorder.calls == [.connected, .wrote(tag: 1)])
    }

    @Test func statement003_anEmptyHostIsRefusedBeforeAnythingElseIsLookedAt() throws {
        let engine = SocketEngine()
        var wrong = SocketConfiguration()
        wrong.isIPv4Enabled = false
        wrong.isIPv6Enabled = false
        wrong.interface = "nosuch0"
        for configuration in [SocketConfiguration(), wrong] {
            let recorder = Recorder()
            let socket = AsyncSocket(engine: engine, delegate: recorder, configuration: configuration)
            let error = try #require(throws: SocketError.self) { try socket.connect(toHost: "", port: 80) }
            #expect(error.code == 2 && error.detail.contains("host"))
            #expect(socket.session == nil)
            engine.fence()
            #expect(recorder.calls == [])
        }
        #expect(engine.snapshot().counters.opened == 0)
    }

    @Test func statement004_aSocketWithASessionRefusesAnotherAndKeepsTheOneItHas() throws {
        let reception = try Reception(accepting: Recorder(onAccept: { $0.write([7]) }))
        let hole = try BlackHole()
        let recorder = Recorder()
        let connected = try reception.connect(recorder)
        connected.read(ReadRequest(.length(1), tag: 1))
        #expect(eventually { recorder.calls == [.connected, .read([7], tag: 1)] })
        let connecting = AsyncSocket(engine: reception.engine)
        try connecting.connect(toHost: "127.0.0.1", port: hole.port)
        for socket in [connected, connecting] {
            let session = socket.session
            let error = try #require(throws: SocketError.self) {
                try socket.connect(toHost: "127.0.0.1", port: reception.port)
            }
            #expect(error.code == 1 && error.detail.contains("already"))
            #expect(socket.session == session && !socket.isDisconnected)
        }
        let error = try #require(throws: SocketError.self) {
            try reception.listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        }
        #expect(error.code == 1)
        #expect(reception.listener.localAddress == reception.address)
        #expect(connected.isConnected && recorder.calls.count == 2)
    }

    @Test func statement005_withBothFamiliesOffNothingConnectsAndNothingListens() throws {
        let engine = SocketEngine()
        var configuration = SocketConfiguration()
        configuration.isIPv4Enabled = false
        configuration.isIPv6Enabled = false
        let socket = AsyncSocket(engine: engine, configuration: configuration)
        let listener = SocketListener(engine: engine, configuration: configuration)
        let errors = [
            try #require(throws: SocketError.self) { try socket.connect(toHost: "localhost", port: 80) },
            try #require(throws: SocketError.self) { try listener.listen(on: .tcp(host: "", port: 0)) },
        ]
        #expect(errors.map(\.code) == [1, 1])
        #expect(engine.snapshot().counters.opened == 0)
    }

    @Test func statement006_aNumericAddressOfAFamilyThatIsOffIsRefused() throws {
        let engine = SocketEngine()
        var configuration = SocketConfiguration()
        configuration.isIPv4Enabled = false
        let socket = AsyncSocket(engine: engine, configuration: configuration)
        let error = try #require(throws: SocketError.self) { try socket.connect(toHost: "127.0.0.1", port: 80) }
        #expect(error.code == 2 && error.detail.contains("127.0.0.1"))
        #expect(socket.isDisconnected)
    }

    /// Addresses are typed, so the one thing that can be too short or too long is their text.
    @Test(arguments: ["0:0:0:0:0:0:1", "0:0:0:0:0:0:0:0:1", "127.0.0.0.1"])
    func statement007_aMalformedAddressIsNeverTakenForOne(_ host: String) throws {
        let engine = SocketEngine.with(resolver: ScriptedResolver([:]))
        let listener = SocketListener(engine: engine)
        let error = try #require(throws: SocketError.self) { try listener.listen(on: .tcp(host: host, port: 0)) }
        #expect(error.code == 2 && error.detail.contains(host))
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: host, port: 80)
        #expect(eventually { recorder.calls == [.disconnected(.resolver(code: -2))] })
        #expect(recorder.lastError?.attempts.isEmpty == true)
        if host.contains(":") { #expect(throws: EndpointError.self) { try Endpoint.parse("[\(host)]:80") } }
    }

    @Test func statement008_anInterfaceThatThereIsNotIsRefused() throws {
        let engine = SocketEngine()
        var configuration = SocketConfiguration()
        configuration.interface = "nosuch0"
        let socket = AsyncSocket(engine: engine, configuration: configuration)
        let listener = SocketListener(engine: engine)
        let errors = [
            try #require(throws: SocketError.self) { try socket.connect(toHost: "127.0.0.1", port: 80) },
            try #require(throws: SocketError.self) { try listener.listen(on: .tcp(host: "nosuch0", port: 0)) },
        ]
        #expect(errors.map(\.code) == [2, 2])
        #expect(errors.allSatisfy { $0.detail.contains("nosuch0") })
    }

    @Test func statement009_aListenerOnLocalhostIsReachedByLoopbackOnly() throws {
        let reception = try Reception(.tcp(host: "localhost", port: 0))
        #expect(reception.address.host == "127.0.0.1")
        for host in ["127.0.0.1", "::1"] { try reception.connect(host: host) }
        #expect(eventually { reception.accepting.calls == [.accepted, .accepted] })
        // Neither another loopback address nor one of a network, where there is one, is what it listens on.
        let own = SystemResolver().addresses(ofInterface: "eth0").filter { $0.host?.hasPrefix("fe80") != true }
        for host in ["127.0.0.2"] + own.compactMap(\.host) {
            let recorder = Recorder()
            try reception.connect(recorder, host: host)
            #expect(eventually { recorder.calls == [.disconnected(.system(errno: 111))] }, "\(host)")
        }
        #expect(reception.accepting.calls.count == 2)
    }

    @Test func statement010_aConnectThatWorksLeavesNoErrorAnywhere() async throws {
        let reception = try Reception()
        let recorder = Recorder()
        let socket = try reception.connect(recorder)
        #expect(await eventually { recorder.calls == [.connected] })
        #expect(recorder.lastError == nil)
        let picture = try #require(reception.engine.picture(of: socket.session))
        #expect(picture.closed == nil && picture.connect?.attempts.map(\.outcome) == [.won])
        let awaited = try await AsyncSocket.connect(
            to: .tcp(host: "127.0.0.1", port: reception.port), on: reception.engine)
        #expect(awaited.isConnected)
    }
}
