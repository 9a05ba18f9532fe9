import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Statements 26 to 30: what surrounds the moment in which a connection stands.
@Suite(.timeLimit(.minutes(10))) struct ConnectedStatements {
    @Test func statement026_whatIsQueuedWhileConnectingRunsAfterTheConnectInOrder() throws {
        let accepting = Recorder(onAccept: { socket in
            socket.delegate = Returner.shared
            socket.read(ReadRequest(.length(4)))
        })
        let reception = try Reception(accepting: accepting)
        let recorder = Recorder()
        let socket = try reception.connect(recorder)
        socket.write(Array("ab".utf8), tag: 1)
        socket.read(ReadRequest(.length(3), tag: 2))
        socket.write(Array("cd".utf8), tag: 3)
        socket.read(ReadRequest(.length(1), tag: 4))
        #expect(eventually { recorder.calls.count == 5 })
        // The answer comes when all is written, so here even both directions have one order.
        #expect(
            recorder.calls == [
                .connected, .wrote(tag: 1), .wrote(tag: 3), .text("abc", tag: 2), .text("d", tag: 4),
            ])
    }

    @Test(arguments: ["", "lo", "127.0.0.1"])
    func statement027_ourEndIsBoundAsTheInterfaceTextSays(_ interface: String) throws {
        let reception = try Reception()
        let port = try Peer.freePort()
        var configuration = SocketConfiguration()
        configuration.interface = "\(interface):\(port)"
        let recorder = Recorder()
        let socket = try reception.connect(recorder, configuration: configuration)
        #expect(eventually { recorder.calls == [.connected] })
        #expect(socket.localAddress == .v4(host: "127.0.0.1", port: port))
        #expect(eventually { reception.accepting.sockets.first?.peerAddress?.port == port })
    }

    @Test func statement028_anAdoptedDescriptorIsConnectedAtOnce() throws {
        let pair = try ConnectedPair()
        #expect(pair.socket.isConnected)
        #expect(pair.socket.peerAddress == LinuxKernel().localAddress(pair.peer))
        pair.engine.fence()
        #expect(pair.recorder.calls == [.connected])
        // Nobody has to listen for it.
        let reception = try Reception()
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #expect(LinuxKernel().connect(descriptor, to: reception.address) == 0)
        let quiet = AsyncSocket(engine: pair.engine)
        try quiet.adopt(descriptor: descriptor)
        #expect(quiet.isConnected && quiet.peerAddress == reception.address)
    }

    @Test func statement029_anUnconnectedDescriptorIsRefusedAndLeftOpenAndAUnixOneIsTaken() throws {
        let engine = SocketEngine()
        let recorder = Recorder()
        let handle = AsyncSocket(engine: engine, delegate: recorder)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        let error = try #require(throws: SocketError.self) { try handle.adopt(descriptor: descriptor) }
        #expect(error.code == 8)
        #expect(fcntl(descriptor, F_GETFD) >= 0)
        #expect(handle.isDisconnected)
        engine.fence()
        #expect(recorder.calls == [])
        let unix = try ConnectedPair(.unix)
        #expect(unix.socket.isConnected && unix.socket.peerAddress == .unnamed)
    }

    @Test func aDescriptorOfAnotherSocketIsRefusedAndStaysWithItsOwner() throws {
        let pair = try ConnectedPair()
        let descriptor = try #require(pair.engine.snapshot().sockets.first?.descriptor)
        let other = AsyncSocket(engine: pair.engine)
        let error = try #require(throws: SocketError.self) { try other.adopt(descriptor: descriptor) }
        #expect(error.detail == "descriptor \(descriptor): another socket of this engine owns it")
        #expect(other.isDisconnected)
        pair.socket.write([1])
        #expect(try pair.peerReceives(1) == [1])
    }

    @Test func statement030_aReadCompletesBehindADidConnectThatTakesItsTime() throws {
        let goOn = DispatchSemaphore(value: 0)
        let recorder = Recorder(onCall: { _, call in if call == .connected { goOn.wait() } })
        let reception = try Reception(accepting: Recorder(onAccept: { $0.write(Array("early".utf8)) }))
        let socket = AsyncSocket(
            engine: reception.engine, delegate: recorder, delegateQueue: DispatchQueue(label: "delegate"))
        try socket.connect(toHost: "127.0.0.1", port: reception.port)
        socket.read(ReadRequest(.length(5), tag: 1))
        #expect(eventually { reception.engine.picture(of: socket.session)?.reading.completed == 1 })
        #expect(eventually { recorder.calls == [.connected] })
        goOn.signal()
        #expect(eventually { recorder.calls.count == 2 })
        #expect(recorder.calls == [.connected, .text("early", tag: 1)])
    }
}

/// Sends back what it reads.
private final class Returner: AsyncSocketDelegate {
    static let shared = Returner()

    func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], tag: Int) { socket.write(bytes) }
}
