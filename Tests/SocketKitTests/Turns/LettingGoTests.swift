import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Values of the user that act on sockets while they are destroyed.
@Suite(.timeLimit(.minutes(10))) struct LettingGoTests {
    /// Closes another socket as it goes, as one leg of a relay does.
    private final class Companion: Sendable {
        let other: AsyncSocket
        init(_ other: AsyncSocket) { self.other = other }
        deinit { other.disconnect() }
    }

    /// Does something as it goes.
    private final class LastAct: Sendable {
        private let act: @Sendable () -> Void
        init(_ act: @escaping @Sendable () -> Void) { self.act = act }
        deinit { act() }
    }

    /// Holds a socket until it hears of a failure.
    private final class Holder: AsyncSocketDelegate {
        private let kept = Lock<AsyncSocket?>(nil)
        var socket: AsyncSocket? { kept.withLock { $0 } }

        convenience init(_ engine: SocketEngine, closing other: AsyncSocket) throws {
            try self.init(engine, keeping: Companion(other))
        }

        init(_ engine: SocketEngine, keeping value: any Sendable) throws {
            let (ours, theirs) = try ConnectedPair.tcpPair()
            peer = theirs
            let socket = AsyncSocket(engine: engine, delegate: self)
            try socket.adopt(descriptor: ours)
            socket.userData = value
            kept.withLock { $0 = socket }
        }

        deinit { close(peer) }

        private let peer: Int32

        func socket(_ socket: AsyncSocket, didFail operation: FailedOperation) {
            _ = kept.withLock { $0.take() }
        }
    }

    /// Both hear of something in one turn, so that both handles are held at its end; one of them goes then.
    private func failBoth(_ holder: Holder, _ other: AsyncSocket) {
        other.engine.queue.sync {
            guard let socket = holder.socket else { return }
            let mine = socket.read(ReadRequest(.length(1)))
            let theirs = other.read(ReadRequest(.length(1), tag: 2))
            other.read(ReadRequest(.length(1), tag: 3))
            socket.cancel(.operation(mine))
            other.cancel(.operation(theirs))
        }
    }

    @Test func whatLooksAtAllSocketsAsItGoesKeepsNoneOfThem() throws {
        let engine = SocketEngine()
        let other = try ConnectedPair(engine: engine)
        let holder = try Holder(engine, keeping: LastAct { [weak engine] in _ = engine?.snapshot() })
        engine.fence()
        failBoth(holder, other.socket)
        #expect(eventually { holder.socket == nil && engine.isAtRest })
    }

    @Test func whatWritesAsItGoesBehindACallIsSentAtOnce() throws {
        let engine = SocketEngine()
        let other = try ConnectedPair(engine: engine)
        let writer = other.socket
        let socket = DatagramSocket(engine: engine)
        setPreparation(of: socket, holding: LastAct { writer.write([7]) })
        try socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        // From then on the session alone has it.
        socket.configuration = DatagramConfiguration()
        try socket.setBroadcastEnabled(true)
        #expect(try other.peerReceives(1) == [7])
    }

    private func setPreparation(of socket: DatagramSocket, holding value: LastAct) {
        socket.configuration.prepareDescriptor = { _ in withExtendedLifetime(value) {} }
    }

    @Test func aSocketThatIsClosedByWhatAnotherKeptHearsOfItsEnd() throws {
        let engine = SocketEngine()
        let other = try ConnectedPair(engine: engine)
        let holder = try Holder(engine, closing: other.socket)
        engine.fence()
        failBoth(holder, other.socket)
        #expect(eventually { other.recorder.calls.contains(.disconnected(nil)) })
        #expect(other.recorder.calls.contains(.failed(tag: 3, .disconnected, done: 0)))
        #expect(holder.socket == nil)
    }

    @Test func anAwaitedReadEndsThatWayToo() async throws {
        let engine = SocketEngine()
        let other = try ConnectedPair(engine: engine)
        let socket = other.socket
        let reading = Task { @Sendable () -> SocketError.Reason? in
            do throws(SocketError) {
                _ = try await socket.read(ReadRequest(.length(1)))
                return nil
            } catch {
                return error.reason
            }
        }
        #expect(await eventually { other.picture?.reading.current != nil })
        let holder = try Holder(engine, closing: socket)
        engine.fence()
        failBoth(holder, socket)
        #expect(await reading.value == .disconnected)
    }

    @Test func whatAConfigurationKeptGoesWhenTheTurnIsOver() throws {
        let engine = SocketEngine()
        let other = try ConnectedPair(engine: engine)
        let companion = Companion(other.socket)
        var configuration = SocketConfiguration()
        configuration.prepareDescriptor = { [companion] _, _ in withExtendedLifetime(companion) {} }
        var pair: ConnectedPair? = try ConnectedPair(engine: engine, configuration: configuration)
        configuration.prepareDescriptor = nil
        try Self.forget(&pair)
        withExtendedLifetime(companion) {}
        #expect(engine.snapshot().sockets.count == 2)
    }

    private static func forget(_ pair: inout ConnectedPair?) throws { pair = nil }
}
