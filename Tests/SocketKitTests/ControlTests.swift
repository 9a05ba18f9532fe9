import Glibc
import SocketKit
import SocketTestSupport
import Testing

@Suite struct ControlTests {
    @Test func aCancelledReadGivesBackWhatItHadAndTheNextOneGoesOn() throws {
        let pair = try ConnectedPair()
        let first = pair.socket.read(ReadRequest(.length(10), tag: 1))
        let second = pair.socket.read(ReadRequest(.length(10), tag: 2))
        pair.socket.read(ReadRequest(.length(3), tag: 3))
        try pair.peerSends("abc")
        #expect(eventually { pair.recorder.calls.contains(.readPartial(3, tag: 1)) })
        pair.socket.cancel(.operation(second))
        pair.socket.cancel(.operation(first))
        pair.socket.cancel(.operation(first))
        try pair.peerSends("def")
        #expect(eventually { pair.recorder.received == Array("abc".utf8) })
        #expect(pair.recorder.failures.map(\.tag) == [2, 1])
        #expect(pair.recorder.failures.allSatisfy { $0.bytes.isEmpty })
        #expect(pair.recorder.failures.allSatisfy { $0.error.reason == .cancelled })
    }

    @Test func cancellingEveryWriteLeavesTheOneThatHasBegunWhole() throws {
        let pair = try ConnectedPair(.unix)
        let first = [UInt8](repeating: 1, count: 4_000_000)
        pair.socket.write(first, tag: 1)
        for tag in 2...4 { pair.socket.write([2], tag: tag) }
        #expect(eventually { pair.recorder.calls.contains { if case .wrotePartial = $0 { true } else { false } } })
        pair.socket.cancel(.writes)
        pair.socket.write([3], tag: 5)
        #expect(try pair.peerReceives(first.count + 1) == first + [3])
        #expect(Set(pair.recorder.failures.map(\.tag)) == [2, 3, 4])
    }

    @Test func cancellingWhileConnectingEndsWhatIsHeldBack() throws {
        let engine = SocketEngine(
            EngineConfiguration(), kernel: LinuxKernel(), clock: SystemClock(), reactor: EpollReactor(),
            resolver: SilentResolver())
        let recorder = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: recorder)
        try socket.connect(toHost: "silent.example", port: 1)
        socket.read(ReadRequest(.length(1), tag: 1))
        socket.write([1], tag: 2)
        socket.cancel(.reads)
        #expect(eventually { recorder.failures.map(\.tag) == [1] })
        #expect(engine.snapshot().sockets.first?.writing.pendingCount == 1)
    }

    @Test func aSocketMayFailOnlyTheReadThatTimedOut() throws {
        var configuration = SocketConfiguration()
        configuration.timeoutVerdict = .failOperation
        let engine = SocketEngine()
        let pair = try ConnectedPair(engine: engine, configuration: configuration)
        pair.socket.delegate = nil
        pair.socket.read(ReadRequest(.length(1), timeout: .milliseconds(10), tag: 1))
        #expect(eventually { engine.snapshot().sockets.first?.reading.current == nil })
        #expect(pair.socket.isConnected)
    }

    @Test func anEndInAnErrorHandsOverWhatNobodyRead() throws {
        let listening = Unread()
        let engine = SocketEngine()
        let pair = try ConnectedPair(engine: engine)
        pair.socket.delegate = listening
        pair.socket.read(ReadRequest(.delimiter([10], limit: 4), tag: 1))
        try pair.peerSends("abcdefgh")
        #expect(eventually { listening.unread != nil })
        #expect(listening.unread == Array("efgh".utf8))
        #expect(listening.order == ["fail", "will", "did"])
    }

    @Test func anIdleConnectionEndsWithItsOwnReason() throws {
        var configuration = SocketConfiguration()
        configuration.idleTimeout = .milliseconds(30)
        let pair = try ConnectedPair(configuration: configuration)
        #expect(eventually { pair.recorder.lastError?.reason == .idleTimeout })
    }

    @Test func thePeersFINBehindUnreadBytesIsToldWithoutTakingThem() throws {
        let pair = try ConnectedPair()
        let listening = Unread()
        pair.socket.delegate = listening
        try pair.peerSends("unread")
        #expect(eventually { pair.engine.snapshot().sockets.first?.flags.contains(.readSourceSuspended) == true })
        pair.peerShutsWrite()
        #expect(eventually { listening.order == ["peer"] })
        #expect(pair.engine.snapshot(SnapshotRequest(kernel: .all)).sockets.first?.kernel?.receiveQueue ?? 0 >= 6)
        pair.socket.read(ReadRequest(.length(6)))
        #expect(eventually { listening.order.last == "did" })
    }

    @Test func crossingTheWatermarksIsToldOnceEachWay() throws {
        var configuration = SocketConfiguration()
        configuration.writeWatermarks = .init(low: 1_000, high: 100_000)
        let pair = try ConnectedPair(.unix, configuration: configuration)
        let listening = Unread()
        pair.socket.delegate = listening
        let bytes = [UInt8](repeating: 1, count: 2_000_000)
        pair.socket.write(bytes)
        #expect(eventually { listening.order == ["full"] })
        #expect(try pair.peerReceives(bytes.count).count == bytes.count)
        #expect(eventually { listening.order == ["full", "room"] })
    }

    @Test func optionsReachTheDescriptor() throws {
        var configuration = SocketConfiguration()
        configuration.options.noDelay = true
        configuration.options.keepAlive = .init(idle: .seconds(77), interval: .seconds(5), count: 3)
        let prepared = Lock<[Int32]>([])
        configuration.prepareDescriptor = { descriptor, _ in prepared.withLock { $0.append(descriptor) } }
        let engine = SocketEngine()
        let accepting = Recorder()
        let listener = SocketListener(engine: engine, delegate: accepting, configuration: configuration)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let socket = AsyncSocket(engine: engine, configuration: configuration)
        try socket.connect(toHost: "127.0.0.1", port: try #require(listener.localAddress?.port))
        #expect(eventually { accepting.sockets.count == 1 && socket.isConnected })
        let descriptors = engine.snapshot().sockets.filter { $0.role != .listener }.compactMap(\.descriptor)
        #expect(Set(prepared.withLock { $0 }) == Set(descriptors))
        for descriptor in descriptors {
            #expect(option(Int32(IPPROTO_TCP), TCP_NODELAY, of: descriptor) == 1)
            #expect(option(SOL_SOCKET, SO_KEEPALIVE, of: descriptor) == 1)
            #expect(option(Int32(IPPROTO_TCP), TCP_KEEPIDLE, of: descriptor) == 77)
            #expect(option(Int32(IPPROTO_TCP), TCP_KEEPCNT, of: descriptor) == 3)
        }
    }

    private func option(_ level: Int32, _ name: Int32, of descriptor: Int32) -> Int32 {
        var value: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, level, name, &value, &length)
        return value
    }
}

/// A delegate that notes the calls which end or hold up a session.
private final class Unread: AsyncSocketDelegate {
    private let state = Lock<(order: [String], unread: [UInt8]?)>(([], nil))

    var order: [String] { state.withLock { $0.order } }
    var unread: [UInt8]? { state.withLock { $0.unread } }

    private func note(_ word: String) {
        state.withLock { $0.order.append(word) }
    }

    func socket(_ socket: AsyncSocket, didFail operation: FailedOperation) { note("fail") }
    func socketPeerDidClose(_ socket: AsyncSocket) { note("peer") }
    func socket(_ socket: AsyncSocket, didBecomeWritable isWritable: Bool) { note(isWritable ? "room" : "full") }
    func socket(_ socket: AsyncSocket, didDisconnect error: SocketError?) { note("did") }

    func socket(_ socket: AsyncSocket, willDisconnect error: SocketError, unread: [UInt8]) {
        state.withLock { $0.unread = unread }
        note("will")
    }
}

/// A resolver that never answers.
private final class SilentResolver: Resolver {
    func resolve(
        host: String, port: UInt16, answer: @escaping @Sendable (Result<[SocketAddress], SocketError>) -> Void
    ) {}
}
