import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Statements 31 to 40: listeners and the connections they take.
@Suite(.timeLimit(.minutes(10))) struct AcceptingStatements {
    @Test func statement031_aListenerOnEveryInterfaceTakesBothFamiliesOnOnePort() throws {
        let reception = try Reception(.tcp(host: "", port: 0))
        #expect(reception.port != 0)
        let recorders = ["127.0.0.1", "::1"].map { ($0, Recorder()) }
        for (host, recorder) in recorders { try reception.connect(recorder, host: host) }
        #expect(eventually { recorders.allSatisfy { $0.1.calls == [.connected] } })
        #expect(eventually { reception.accepting.calls == [.accepted, .accepted] })
        #expect(Set(reception.accepting.sockets.compactMap { $0.localAddress?.port }) == [reception.port])
    }

    @Test(arguments: [("127.0.0.1", "::1"), ("::1", "127.0.0.1")])
    func statement032_aFamilyThatIsOffIsNotServed(_ served: String, _ refused: String) throws {
        var configuration = SocketConfiguration()
        configuration.isIPv4Enabled = served == "127.0.0.1"
        configuration.isIPv6Enabled = served == "::1"
        let half = try HalfReception(on: "", refusing: refused, configuration: configuration)
        let (welcome, unwelcome) = (Recorder(), Recorder())
        try half.reception.connect(welcome, host: served)
        try half.reception.connect(unwelcome, host: refused)
        #expect(eventually { unwelcome.calls == [.disconnected(.system(errno: ECONNREFUSED))] })
        #expect(eventually { welcome.calls == [.connected] && half.reception.accepting.calls == [.accepted] })
        let child = try #require(half.reception.accepting.sockets.first)
        #expect(child.peerAddress?.host == served && child.localAddress?.host == served)
    }

    @Test func statement033_aPortInUseIsRefusedAndTheListenerMayTryAnother() throws {
        let reception = try Reception()
        let listener = SocketListener(engine: reception.engine)
        let error = try #require(throws: SocketError.self) {
            try listener.listen(on: .tcp(host: "127.0.0.1", port: reception.port))
        }
        #expect(error.reason == .system(errno: EADDRINUSE))
        #expect(listener.session == nil && listener.localAddress == nil)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        #expect(listener.localAddress?.port ?? 0 != 0)
    }

    @Test func statement034_aConnectionIsAskedForThenToldOnTheDelegateQueueAndIsConnected() throws {
        let queue = DispatchQueue(label: "delegate")
        let door = Door(queue)
        let engine = SocketEngine()
        let listener = SocketListener(engine: engine, delegate: door, delegateQueue: queue)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let client = AsyncSocket(engine: engine)
        try client.connect(toHost: "127.0.0.1", port: try #require(listener.localAddress?.port))
        #expect(eventually { door.calls.count == 2 && door.child.withLock { $0 } != nil })
        let own = try #require(client.localAddress)
        #expect(door.calls == ["engine for \(own)", "accepted \(own), connected"])
        let child = try #require(door.child.withLock { $0 })
        #expect(child.delegateQueue === queue && child.engine === engine)
        child.write([1], tag: 1)
        #expect(eventually { door.recorder.calls == [.wrote(tag: 1)] }, "and never a didConnectTo")
    }

    @Test func statement035_aConnectionThatNobodyKeepsCloses() throws {
        let careless = Careless()
        let engine = SocketEngine()
        let listener = SocketListener(engine: engine, delegate: careless)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: "127.0.0.1", port: try #require(listener.localAddress?.port))
        #expect(eventually { recorder.calls == [.connected, .disconnected(.closedByPeer)] })
        #expect(careless.accepted.withLock { $0 } == 1)
        #expect(eventually { engine.snapshot().sockets.filter { $0.phase != .closed }.map(\.role) == [.listener] })
    }

    @Test func statement036_twoHundredClientsAtOnceAreAllTaken() throws {
        let reception = try Reception()
        let recorders = (0..<200).map { _ in Recorder() }
        let sockets = try recorders.map { try reception.connect($0) }
        #expect(eventually { recorders.allSatisfy { $0.calls == [.connected] } })
        #expect(eventually { reception.accepting.calls.count >= 200 })
        #expect(reception.accepting.calls == [Recorder.Call](repeating: .accepted, count: 200))
        let ports = Set(reception.accepting.sockets.compactMap { $0.peerAddress?.port })
        #expect(ports == Set(sockets.compactMap { $0.localAddress?.port }) && ports.count == 200)
    }

    @Test func statement037_aReadInsideDidAcceptGetsWhatTheClientHasSentBefore() throws {
        let child = Recorder()
        let accepting = Recorder(onAccept: { socket in
            socket.delegate = child
            socket.read(ReadRequest(.length(5), tag: 1))
        })
        let reception = try Reception(accepting: accepting)
        // The kernel alone completes the connect and takes the bytes while the engine is held up.
        reception.engine.queue.suspend()
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(client) }
        let failure = LinuxKernel().connect(client, to: reception.address)
        let sent = send(client, "early", 5, Int32(MSG_NOSIGNAL))
        reception.engine.queue.resume()
        #expect(failure == 0 && sent == 5)
        #expect(eventually { child.calls == [.text("early", tag: 1)] })
    }

    @Test func statement038_whatAListenerTookOutlivesItAndThePortIsFreeAtOnce() throws {
        let reception = try Reception()
        let recorder = Recorder()
        let socket = try reception.connect(recorder)
        socket.read(ReadRequest(.length(5), tag: 1))
        #expect(eventually { reception.accepting.calls == [.accepted] })
        reception.listener.stop()
        #expect(reception.listener.session == nil)
        // Not at once only where a child of another test holds the descriptor between its fork and its exec.
        let endpoint = Endpoint.tcp(host: "127.0.0.1", port: reception.port)
        #expect(eventually { (try? reception.listener.listen(on: endpoint)) != nil })
        #expect(eventually { reception.accepting.calls == [.accepted, .stopped] })
        reception.accepting.sockets.first?.write(Array("still".utf8))
        #expect(eventually { recorder.calls == [.connected, .text("still", tag: 1)] })
        try reception.connect()
        #expect(eventually { reception.accepting.calls == [.accepted, .stopped, .accepted] })
    }

    @Test func statement039_aListenerIsNeitherIdleNorConnected() throws {
        let reception = try Reception()
        #expect(reception.listener.session != nil && reception.listener.localAddress == reception.address)
        let picture = try #require(reception.engine.picture(of: reception.listener.session))
        #expect(picture.phase == .listening && picture.peer == nil)
        #expect(picture.flags.contains(.socketStarted) && !picture.flags.contains(.connected))
        #expect(throws: SocketError.self) { try reception.listener.listen(on: .tcp(host: "127.0.0.1", port: 0)) }
        reception.listener.stop()
        // The address can still be read in didStop, and after it.
        #expect(reception.listener.session == nil && reception.listener.localAddress == reception.address)
    }

    @Test func statement040_aConnectionLivesOnTheEngineThatTheHookNames() throws {
        let (engine, other) = (SocketEngine(), SocketEngine())
        let door = Door(other: other)
        let listener = SocketListener(engine: engine, delegate: door)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let recorder = Recorder()
        let client = AsyncSocket(engine: engine, delegate: recorder)
        try client.connect(toHost: "127.0.0.1", port: try #require(listener.localAddress?.port))
        client.read(ReadRequest(.length(1), tag: 2))
        #expect(eventually { door.child.withLock { $0 } != nil })
        let child = try #require(door.child.withLock { $0 })
        #expect(child.engine === other)
        child.write([1], tag: 1)
        #expect(eventually { recorder.calls == [.connected, .read([1], tag: 2)] })
        #expect(eventually { door.recorder.calls == [.wrote(tag: 1)] })
        #expect(
            eventually { door.places.flags.withLock { $0 } == [true] }, "its callbacks come on the other engine's queue"
        )
        #expect(other.snapshot().counters.sent == 1 && engine.snapshot().counters.sent == 0)
    }
}

/// A listener's delegate that keeps nothing.
private final class Careless: SocketListenerDelegate {
    let accepted = Lock(0)

    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) { accepted.withLock { $0 += 1 } }
}

/// Where callbacks came.
private final class Places: Sendable {
    let flags = Lock<[Bool]>([])

    func note(_ engine: SocketEngine?) {
        flags.withLock { $0.append(engine?.isOnQueue ?? false) }
    }
}

/// A listener's delegate that keeps one connection and notes in words what it was asked and told.
private final class Door: SocketListenerDelegate {
    private let other: SocketEngine?
    private let words = Lock<[String]>([])
    private let key = DispatchSpecificKey<Bool>()
    let child = Lock<AsyncSocket?>(nil)
    /// For each callback of the child: whether it came on the other engine's queue.
    let places = Places()
    let recorder: Recorder

    init(_ queue: DispatchQueue? = nil, other: SocketEngine? = nil) {
        self.other = other
        recorder = Recorder(onCall: { [places] _, _ in places.note(other) })
        queue?.setSpecific(key: key, value: true)
    }

    var calls: [String] { words.withLock { $0 } }

    private var stray: String { DispatchQueue.getSpecific(key: key) == nil ? " elsewhere" : "" }

    func listener(_ listener: SocketListener, engineFor address: SocketAddress) -> SocketEngine? {
        words.withLock { $0.append("engine for \(address)") }
        return other
    }

    func listener(_ listener: SocketListener, didAccept socket: AsyncSocket) {
        socket.delegate = recorder
        let address = socket.peerAddress.map(\.description) ?? "nowhere"
        words.withLock { $0.append("accepted \(address)\(socket.isConnected ? ", connected" : "")\(stray)") }
        child.withLock { $0 = socket }
    }
}
