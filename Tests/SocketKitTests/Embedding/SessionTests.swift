import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// What a façade of another API asks of one socket.
@Suite(.timeLimit(.minutes(10))) struct SessionTests {
    /// Writes down which operation completed how.
    private final class Names: AsyncSocketDelegate {
        let calls = Lock<[(OperationID, String)]>([])

        private func note(_ operation: OperationID, _ what: String) {
            calls.withLock { $0.append((operation, what)) }
        }

        func socket(_ socket: AsyncSocket, didRead bytes: [UInt8], operation: OperationID, tag: Int) {
            note(operation, "read \(bytes.count)")
        }

        func socket(_ socket: AsyncSocket, didReadPartialOf count: Int, operation: OperationID, tag: Int) {
            note(operation, "part \(count)")
        }

        func socket(_ socket: AsyncSocket, didWrite operation: OperationID, tag: Int) { note(operation, "wrote") }
    }

    @Test func completionsNameTheirOperation() throws {
        let pair = try ConnectedPair()
        let names = Names()
        pair.socket.delegate = names
        let first = pair.socket.read(ReadRequest(.length(4), tag: 7))
        let second = pair.socket.read(ReadRequest(.length(2), tag: 7))
        let written = pair.socket.write([1], tag: 7)
        try pair.peerSends("ab")
        #expect(eventually { names.calls.withLock { $0.contains { $0 == (first, "part 2") } } })
        try pair.peerSends("cdef")
        #expect(eventually { names.calls.withLock { $0.contains { $0 == (second, "read 2") } } })
        #expect(names.calls.withLock { $0.contains { $0 == (first, "read 4") } })
        #expect(names.calls.withLock { $0.contains { $0 == (written, "wrote") } })
    }

    @Test func aDelegateThatWantsNoNamesGetsNone() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.length(4), tag: 7))
        pair.socket.write([1], tag: 8)
        try pair.peerSends("ab")
        #expect(eventually { pair.recorder.calls.contains(.readPartial(2, tag: 7)) })
        try pair.peerSends("cd")
        #expect(eventually { pair.recorder.calls.contains(.text("abcd", tag: 7)) })
        #expect(eventually { pair.recorder.calls.contains(.wrote(tag: 8)) })
    }

    @Test func halfOpenCanBeChangedWhileTheConnectionStands() throws {
        let pair = try ConnectedPair()
        pair.socket.setAllowsHalfOpen(true)
        pair.peerShutsWrite()
        #expect(eventually { pair.recorder.calls.contains(.closedReadStream) })
        pair.socket.write(Array("still".utf8))
        #expect(try pair.peerReceives(5) == Array("still".utf8))
        #expect(pair.socket.configuration.allowsHalfOpen)
    }

    @Test func halfOpenSwitchedOffEndsAtThePeersFIN() throws {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = true
        let pair = try ConnectedPair(configuration: configuration)
        pair.socket.setAllowsHalfOpen(false)
        pair.peerShutsWrite()
        #expect(eventually { pair.recorder.calls.contains(.disconnected(.closedByPeer)) })
    }

    @Test func aReasonIsToldToEverybody() throws {
        let pair = try ConnectedPair()
        pair.socket.read(ReadRequest(.length(4), tag: 3))
        pair.socket.disconnect(because: SocketError(.other, operation: "parse", detail: "no such command"))
        #expect(pair.socket.isDisconnected)
        #expect(eventually { pair.recorder.lastError?.detail == "no such command" })
        #expect(pair.recorder.calls.contains(.failed(tag: 3, .other, done: 0)))
        #expect(pair.socket.closeRecord?.error?.operation == "parse")
        pair.socket.disconnect(because: SocketError(.other, operation: "parse", detail: "too late"))
        #expect(pair.recorder.lastError?.detail == "no such command")
    }

    @Test func aSnapshotIsOfOneSocketAndStaysAfterItsEnd() throws {
        let pair = try ConnectedPair()
        #expect(AsyncSocket(engine: pair.engine).snapshot() == nil)
        pair.socket.read(ReadRequest(.length(10), tag: 5))
        try pair.peerSends("abcd")
        #expect(eventually { pair.socket.snapshot()?.reading.current?.done == 4 })
        #expect(pair.socket.snapshot()?.reading.current?.total == 10)
        #expect(pair.socket.snapshot(withKernel: true)?.kernel != nil)
        pair.socket.disconnect()
        #expect(pair.socket.snapshot()?.phase == .closed)
    }

    @Test func aListenersQueueCanBeChanged() throws {
        let mark = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "later")
        queue.setSpecific(key: mark, value: true)
        let engine = SocketEngine()
        let places = Lock<[Bool]>([])
        let recorder = Recorder(onAccept: { _ in
            places.withLock { $0.append(DispatchQueue.getSpecific(key: mark) ?? false) }
        })
        let listener = SocketListener(engine: engine, delegate: recorder)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let port = try #require(listener.localAddress?.port)
        let first = AsyncSocket(engine: engine)
        try first.connect(toHost: "127.0.0.1", port: port)
        #expect(eventually { recorder.sockets.count == 1 })
        listener.delegateQueue = queue
        let second = AsyncSocket(engine: engine)
        try second.connect(toHost: "127.0.0.1", port: port)
        #expect(eventually { recorder.sockets.count == 2 })
        #expect(eventually { places.withLock { $0 } == [false, true] })
        #expect(recorder.sockets[1].delegateQueue === queue)
    }

    @Test func aListenerShowsItsDescriptorsAndItself() throws {
        let engine = SocketEngine()
        let listener = SocketListener(engine: engine)
        #expect(listener.withDescriptors { $0 } == [])
        #expect(listener.snapshot() == nil)
        try listener.listen(on: .tcp(host: "localhost", port: 0))
        #expect(listener.withDescriptors { $0.count } == 2)
        #expect(listener.localAddresses.map(\.family) == [.v4, .v6])
        #expect(listener.snapshot()?.phase == .listening)
        listener.stop()
        #expect(listener.localAddresses.isEmpty)
        #expect(listener.snapshot()?.phase == .closed)
    }

    @Test func aDatagramSocketShowsItselfAndClosesWithAReason() throws {
        let recorder = DatagramRecorder()
        let socket = DatagramSocket(engine: SocketEngine(), delegate: recorder)
        #expect(socket.snapshot() == nil)
        try socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        #expect(socket.snapshot()?.local?.port != 0)
        socket.close(because: SocketError(.other, operation: "parse", detail: "enough"))
        #expect(socket.isClosed)
        #expect(socket.closeRecord?.error?.detail == "enough")
    }

    @Test func theNextAddressIsTriedAfterTheDelay() throws {
        let time = ManualTime()
        let (hole, other) = (try BlackHole(), try BlackHole())
        let engine = SocketEngine.with(
            time: time, resolver: ScriptedResolver(["two.test": [hole.address, other.address]]))
        var configuration = SocketConfiguration()
        configuration.attemptDelay = .seconds(2)
        let socket = AsyncSocket(engine: engine, configuration: configuration)
        try socket.connect(toHost: "two.test", port: hole.port)
        #expect(eventually { socket.snapshot()?.connect?.attempts.count == 1 })
        time.pass(.milliseconds(1_999))
        engine.fence()
        #expect(socket.snapshot()?.connect?.attempts.count == 1)
        time.pass(.milliseconds(1))
        #expect(eventually { socket.snapshot()?.connect?.attempts.count == 2 })
        configuration.attemptDelay = .seconds(-1)
        let refused = AsyncSocket(engine: engine, configuration: configuration)
        #expect(throws: SocketError.self) { try refused.connect(toHost: "127.0.0.1", port: 1) }
    }
}
