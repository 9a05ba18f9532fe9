import Glibc
import SocketKit
import SocketTestSupport
import Testing

@Suite final class ConnectingTests {
    private let engine = SocketEngine()
    /// A listener that nobody holds stops, and a connection that no delegate keeps closes.
    private var held: [(SocketListener, Recorder)] = []

    private func listen(
        _ endpoint: Endpoint = .tcp(host: "127.0.0.1", port: 0), recorder: Recorder = Recorder()
    ) throws -> SocketListener {
        let listener = SocketListener(engine: engine, delegate: recorder)
        try listener.listen(on: endpoint)
        held.append((listener, recorder))
        return listener
    }

    @Test(arguments: ["127.0.0.1", "::1", "localhost"])
    func bothEndsMeetAndTalk(_ host: String) throws {
        let accepting = Recorder(onAccept: { $0.read(ReadRequest(.length(2), tag: 1)) })
        let listener = try listen(.tcp(host: host, port: 0), recorder: accepting)
        let port = try #require(listener.localAddress?.port)
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: host, port: port)
        socket.write(Array("hi".utf8), tag: 5)
        #expect(eventually { recorder.calls == [.connected, .wrote(tag: 5)] })
        #expect(eventually { accepting.sockets.first?.isConnected == true })
        #expect(socket.peerAddress?.port == port)
        #expect(accepting.sockets.first?.peerAddress == socket.localAddress)
        let child = try #require(engine.snapshot().sockets.first { $0.role == .accepted })
        #expect(child.parent == listener.session)
        #expect(eventually { engine.snapshot().sockets.first { $0.id == child.id }?.received == 2 })
    }

    @Test(arguments: [Endpoint.unix(path: ""), .abstract(name: "socktui-test-\(getpid())")])
    func unixSocketsMeetAndTalk(_ template: Endpoint) throws {
        let folder = try TemporaryFolder()
        let endpoint = if case .unix = template { Endpoint.unix(path: folder.path + "/s") } else { template }
        let accepting = Recorder()
        let listener = try listen(endpoint, recorder: accepting)
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(to: endpoint)
        #expect(eventually { recorder.calls == [.connected] && accepting.sockets.count == 1 })
        let child = try #require(accepting.sockets.first)
        child.write(Array("over unix".utf8))
        socket.read(ReadRequest(.length(9)))
        #expect(eventually { recorder.received == Array("over unix".utf8) })
        listener.stop()
        #expect(child.isConnected)
        #expect(!folder.contains("s"))
    }

    @Test func aStaleSocketFileIsReplacedAndAnythingElseIsLeftAlone() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/s"
        let stale = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #expect(LinuxKernel().bind(stale, to: .unix(path: path)) == 0)
        close(stale)
        #expect(folder.contains("s"))
        let listener = try listen(.unix(path: path))
        let error = #expect(throws: SocketError.self) { try listen(.unix(path: path)) }
        #expect(error?.reason == .system(errno: EADDRINUSE))
        listener.stop()
        folder.write("important", to: "s")
        #expect(throws: SocketError.self) { try listen(.unix(path: path)) }
        #expect(folder.contains("s"))
    }

    @Test func aRefusedConnectSaysWhichAddressRefused() throws {
        let listener = try listen()
        let port = try #require(listener.localAddress?.port)
        listener.stop()
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: "127.0.0.1", port: port)
        #expect(eventually { recorder.isDisconnected })
        #expect(recorder.calls == [.disconnected(.system(errno: ECONNREFUSED))])
        #expect(recorder.lastError?.detail == "127.0.0.1:\(port): Connection refused")
        #expect(recorder.lastError?.attempts.count == 1)
        #expect(socket.isDisconnected)
        let kept = try #require(engine.snapshot().sockets.last)
        #expect(kept.phase == .closed && kept.closed?.error == recorder.lastError)
    }

    @Test func aNameWithADeadFirstAddressConnectsToTheSecondAtOnce() throws {
        let listener = try listen(.tcp(host: "::1", port: 0))
        let port = try #require(listener.localAddress?.port)
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: "localhost", port: port)
        #expect(eventually { recorder.calls == [.connected] })
        let how = try #require(engine.snapshot().sockets.first { $0.id == socket.session }?.connect)
        #expect(how.attempts.map(\.outcome) == [.failed(errno: ECONNREFUSED), .won])
        #expect(how.resolvedIn != nil)
    }

    @Test func aConnectThatNobodyAnswersTimesOut() throws {
        // A listener whose backlog is full neither accepts nor refuses.
        let full = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(full) }
        let kernel = LinuxKernel()
        #expect(kernel.bind(full, to: .v4(host: "127.0.0.1", port: 0)) == 0)
        #expect(kernel.listen(full, backlog: 0) == 0)
        let address = try #require(kernel.localAddress(full))
        let filler = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(filler) }
        #expect(kernel.connect(filler, to: address) == 0)
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: "127.0.0.1", port: try #require(address.port), timeout: .milliseconds(200))
        socket.read(ReadRequest(.length(1), tag: 8))
        #expect(engine.snapshot().sockets.first?.phase == .connecting)
        #expect(eventually { recorder.isDisconnected })
        #expect(recorder.calls == [.failed(tag: 8, .connectTimeout, done: 0), .disconnected(.connectTimeout)])
    }

    @Test func anUnresolvableNameEndsInTheResolversOwnWords() throws {
        let engine = SocketEngine(
            EngineConfiguration(), kernel: LinuxKernel(), clock: SystemClock(), reactor: EpollReactor(),
            resolver: ScriptedResolver([:]))
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: "nowhere.example", port: 80)
        #expect(eventually { recorder.isDisconnected })
        #expect(recorder.lastError?.domain == "kCFStreamErrorDomainNetDB")
        #expect(recorder.lastError?.detail.contains("nowhere.example") == true)
    }

    @Test func disconnectingWhileConnectingIsFinalAndTheSocketConnectsAgain() throws {
        let listener = try listen()
        let port = try #require(listener.localAddress?.port)
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        for _ in 0..<100 {
            try socket.connect(toHost: "localhost", port: port)
            socket.disconnect()
        }
        try socket.connect(toHost: "localhost", port: port)
        #expect(eventually { recorder.calls.last == .connected })
        #expect(recorder.calls.filter { $0 == .disconnected(nil) }.count == 100)
    }

    @Test func callsThatMakeNoSenseAreRefusedWithTheArgument() throws {
        let socket = AsyncSocket(engine: engine)
        #expect(throws: SocketError.self) { try socket.connect(toHost: "", port: 80) }
        #expect(throws: SocketError.self) { try socket.connect(toHost: "localhost", port: 0) }
        var configuration = SocketConfiguration()
        configuration.isIPv4Enabled = false
        socket.configuration = configuration
        let family = #expect(throws: SocketError.self) { try socket.connect(toHost: "127.0.0.1", port: 80) }
        #expect(family?.reason == .badParameter)
        configuration.isIPv6Enabled = false
        socket.configuration = configuration
        let both = #expect(throws: SocketError.self) { try socket.connect(toHost: "localhost", port: 80) }
        #expect(both?.reason == .badConfiguration)
        let path = String(repeating: "p", count: 108)
        let long = #expect(throws: SocketError.self) { try socket.connect(to: .unix(path: path)) }
        #expect(long?.detail.contains("at most 107") == true)
        #expect(engine.snapshot().sockets.isEmpty)
    }

    @Test func aConnectedSocketRefusesToConnectAgainAndStaysConnected() throws {
        let listener = try listen()
        let port = try #require(listener.localAddress?.port)
        let socket = AsyncSocket(engine: engine)
        try socket.connect(toHost: "127.0.0.1", port: port)
        let error = #expect(throws: SocketError.self) { try socket.connect(toHost: "127.0.0.1", port: port) }
        #expect(error?.reason == .badConfiguration)
        #expect(eventually { socket.isConnected })
    }

    @Test func releasingTheHandleClosesTheConnection() throws {
        let accepting = Recorder()
        let listener = try listen(recorder: accepting)
        let port = try #require(listener.localAddress?.port)
        var socket: AsyncSocket? = AsyncSocket(engine: engine)
        try socket?.connect(toHost: "127.0.0.1", port: port)
        #expect(eventually { accepting.sockets.count == 1 && socket?.isConnected == true })
        let child = try #require(accepting.sockets.first)
        child.delegate = accepting
        socket = nil
        #expect(eventually { accepting.calls.last == .disconnected(.closedByPeer) })
    }

    @Test func aListenerOnEveryInterfaceTakesBothFamiliesOnOnePort() throws {
        let accepting = Recorder()
        let listener = try listen(.tcp(host: "", port: 0), recorder: accepting)
        let port = try #require(listener.localAddress?.port)
        let sockets = try ["127.0.0.1", "::1"].map { host in
            let socket = AsyncSocket(engine: engine)
            try socket.connect(toHost: host, port: port)
            return socket
        }
        #expect(eventually { accepting.sockets.count == 2 && sockets.allSatisfy(\.isConnected) })
    }

    @Test func thePortIsFreeAgainInsideDidStop() throws {
        let listener = try listen()
        let endpoint = Endpoint.tcp(host: "127.0.0.1", port: try #require(listener.localAddress?.port))
        listener.stop()
        #expect(throws: Never.self) { try listener.listen(on: endpoint) }
    }
}
