import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Arguments and descriptors that are refused before a session begins, and ports that take more than one attempt.
@Suite(.timeLimit(.minutes(10))) struct OpeningFaultTests {
    private let engine = SocketEngine()

    @Test("a socket that is no stream is not adopted, and stays the caller's", arguments: [SOCK_DGRAM, SOCK_SEQPACKET])
    func notAStream(kind: __socket_type) throws {
        var pair: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(kind.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
        defer { for descriptor in pair { close(descriptor) } }
        let socket = AsyncSocket(engine: engine)
        let error = #expect(throws: SocketError.self) { try socket.adopt(descriptor: pair[0]) }
        #expect(error?.detail.contains("not a stream socket") == true)
        #expect(socket.isDisconnected && fcntl(pair[0], F_GETFL) & O_NONBLOCK == 0)
    }

    @Test("a NUL byte is refused where the kernel would read a part of the text")
    func nulBytes() throws {
        let folder = try TemporaryFolder()
        for path in ["\0name", folder.path + "/x\0y"] {
            let refusals = [
                #expect(throws: SocketError.self) {
                    try SocketListener(engine: engine).listen(on: .unix(path: path))
                },
                #expect(throws: SocketError.self) { try AsyncSocket(engine: engine).connect(to: .unix(path: path)) },
                #expect(throws: SocketError.self) { try DatagramSocket(engine: engine).bind(to: .unix(path: path)) },
                #expect(throws: SocketError.self) {
                    try DatagramSocket(engine: engine).connect(to: .unix(path: path))
                },
            ]
            for refusal in refusals { #expect(refusal?.reason == .badParameter, "\(refusal?.detail ?? "-")") }
        }
        #expect(!folder.contains("x"))
        let host = "127.0.0.1\0.example.org"
        #expect(throws: SocketError.self) { try SocketListener(engine: engine).listen(on: .tcp(host: host, port: 0)) }
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: host, port: 9)
        #expect(eventually { recorder.isDisconnected })
        #expect(recorder.lastError?.reason == .resolver(code: EAI_NONAME))
        let datagrams = try DatagramEnd.bound("")
        #expect(throws: SocketError.self) { try datagrams.socket.joinGroup("239.1.2.3", interface: "lo\0x") }
    }

    @Test("times that make no sense are refused", arguments: [Duration.zero, .seconds(-1)])
    func times(idle: Duration) throws {
        var configuration = SocketConfiguration()
        configuration.idleTimeout = idle
        let socket = AsyncSocket(engine: engine, configuration: configuration)
        let error = #expect(throws: SocketError.self) { try socket.connect(toHost: "127.0.0.1", port: 9) }
        #expect(error?.reason == .badParameter && error?.detail.contains("idleTimeout") == true)
        #expect(throws: SocketError.self) { try ConnectedPair(configuration: configuration) }
        let listener = SocketListener(engine: engine, configuration: configuration)
        #expect(throws: SocketError.self) { try listener.listen(on: .tcp(host: "127.0.0.1", port: 0)) }
        configuration.idleTimeout = nil
        configuration.lingerTime = .seconds(-1)
        socket.configuration = configuration
        #expect(throws: SocketError.self) { try socket.connect(toHost: "127.0.0.1", port: 9) }
        #expect(socket.isDisconnected)
    }

    @Test("of a port for both families, another is tried where the second family has it in use")
    func sharedPort() throws {
        let kernel = FaultyKernel()
        let listener = SocketListener(engine: SocketEngine.with(kernel: kernel))
        kernel.fail(.bind, with: [0, EADDRINUSE, 0, EADDRINUSE])
        try listener.listen(on: .tcp(host: "localhost", port: 0))
        #expect(kernel.count(.bind) == 6 && kernel.openDescriptors.count == 2)
        let taken = SocketListener(engine: SocketEngine.with(kernel: kernel))
        kernel.fail(.bind, with: [0, EADDRINUSE])
        let port = try #require(Self.freePort())
        #expect(throws: SocketError.self) { try taken.listen(on: .tcp(host: "localhost", port: port)) }
        #expect(kernel.openDescriptors.count == 2)
    }

    private static func freePort() -> UInt16? {
        let probe = SocketListener(engine: SocketEngine())
        try? probe.listen(on: .tcp(host: "localhost", port: 0))
        defer { probe.stop() }
        return probe.localAddress?.port
    }

    @Test func aLingeringConnectionThatIsHungUpReadsAllThatIsLeft() throws {
        let kernel = FaultyKernel()
        kernel.limitReceives(to: 100)
        var configuration = SocketConfiguration()
        configuration.lingerTime = .seconds(600)
        let pair = try ConnectedPair(engine: SocketEngine.with(kernel: kernel), configuration: configuration)
        try pair.peerSends([UInt8](repeating: 1, count: 50_000))
        pair.peerShutsWrite()
        pair.socket.write([1, 2, 3])
        pair.socket.disconnect(.afterWriting)
        #expect(eventually { pair.recorder.isDisconnected })
        #expect(try pair.peerReceives(4) == [1, 2, 3], "no reset has destroyed what was written")
    }
}

/// Lent items go where callbacks go at that moment.
@Suite(.timeLimit(.minutes(10))) struct LentElsewhereTests {
    private final class Borrower: AsyncSocketDelegate {
        private struct State {
            var here: [Bool] = []
            var lines = 0
        }
        private let state = Lock(State())
        let queue = DispatchQueue(label: "elsewhere")
        let engine: SocketEngine
        init(engine: SocketEngine) { self.engine = engine }

        var here: [Bool] { state.withLock { $0.here } }

        private func note(_ socket: AsyncSocket) {
            let count = state.withLock { state in
                state.here.append(engine.isOnQueue)
                return state.here.count
            }
            if count == 2 { socket.delegateQueue = queue }
        }

        func socket(_ socket: AsyncSocket, didBorrow bytes: RawSpan, tag: Int) { note(socket) }
    }

    @Test func itemsAfterAChangeOfTheDelegatesQueueComeOnTheNewOne() throws {
        let pair = try ConnectedPair()
        let borrower = Borrower(engine: pair.engine)
        pair.socket.delegate = borrower
        pair.socket.read(.borrowing(upTo: [10], limit: 100))
        try pair.peerSends("1\n2\n3\n4\n5\n")
        #expect(eventually { borrower.here.count == 5 })
        #expect(borrower.here == [true, true, false, false, false])
    }
}
