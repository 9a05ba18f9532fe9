import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

@Suite struct DelegateTests {
    @Test func callbacksComeOnTheDelegateQueueInTheEnginesOrder() throws {
        let queue = DispatchQueue(label: "delegate")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let strays = Lock(0)
        let recorder = Recorder(onCall: { _, _ in
            if DispatchQueue.getSpecific(key: key) == nil { strays.withLock { $0 += 1 } }
        })
        let pair = try ConnectedPair(recorder: recorder)
        pair.socket.delegateQueue = queue
        for tag in 1...200 { pair.socket.read(ReadRequest(.length(1), tag: tag)) }
        try pair.peerSends([UInt8](repeating: 65, count: 200))
        pair.closePeer()
        #expect(eventually { recorder.isDisconnected })
        let reads = recorder.calls.compactMap { if case .read(_, let tag) = $0 { tag } else { nil } }
        #expect(reads == Array(1...200))
        #expect(recorder.calls.last == .disconnected(.closedByPeer))
        #expect(strays.withLock { $0 } <= 1, "only didConnectTo was decided before the queue was set")
    }

    @Test func aDelegateMayEnterTheEngineFromWithinACallback() throws {
        let recorder = Recorder(onCall: { socket, call in
            guard case .read(let bytes, let tag) = call else { return }
            // Getters and disconnect wait for the queue elsewhere; here they must not.
            guard socket.isConnected, socket.peerAddress != nil else { return }
            socket.write(bytes, tag: tag)
            socket.read(ReadRequest(.length(1), tag: tag + 1))
            if tag == 3 { socket.disconnect() }
        })
        let pair = try ConnectedPair(recorder: recorder)
        pair.socket.read(ReadRequest(.length(1), tag: 1))
        try pair.peerSends("abc")
        #expect(try pair.peerReceives(3) == Array("abc".utf8))
        #expect(eventually { recorder.calls.last == .disconnected(nil) })
        // On the queue, too, what was asked first happens first: the write of tag 3 before the disconnect.
        let writes = recorder.calls.compactMap { if case .wrote(let tag) = $0 { tag } else { nil } }
        #expect(writes == [1, 2, 3])
    }

    /// A handle whose last holder is the engine goes behind all callbacks; what it kept may ask for more then.
    @Test func whatAHandleKeptMayCloseAnotherSocketAsItGoes() throws {
        let engine = SocketEngine()
        let other = try ConnectedPair(engine: engine)
        let (ours, peer) = try ConnectedPair.tcpPair()
        defer { close(peer) }
        let held = Lock<AsyncSocket?>(nil)
        let dropping = Recorder(onCall: { _, call in
            if case .read = call { held.withLock { $0 = nil } }
        })
        try held.withLock { held in
            let socket = AsyncSocket(engine: engine, delegate: dropping)
            socket.userData = Leaver(other.socket)
            try socket.adopt(descriptor: ours)
            socket.read(ReadRequest(.length(1)))
            held = socket
        }
        var byte: UInt8 = 1
        #expect(send(peer, &byte, 1, 0) == 1)
        #expect(eventually { other.recorder.calls.last == .disconnected(nil) })
    }

    /// Reads that complete at once, with bytes that are here, come in their order, and to whoever is the delegate then.
    @Test func readsQueuedFromWithinCallbacksTakeWhatIsHereInOrder() throws {
        let second = Recorder()
        let recorder = Recorder(onCall: { socket, call in
            guard case .read(_, let tag) = call else { return }
            socket.read(ReadRequest(.delimiter([10], limit: nil), tag: tag + 1))
            socket.read(ReadRequest(.length(2), tag: tag + 2))
            if tag == 1 { socket.delegate = second }
        })
        let pair = try ConnectedPair(recorder: recorder)
        let socket = pair.socket
        socket.read(ReadRequest(.length(3), tag: 1))
        try pair.peerSends("abcline\nxyrest")
        #expect(eventually { second.calls.count == 2 })
        #expect(recorder.calls.suffix(1) == [.read(Array("abc".utf8), tag: 1)])
        #expect(second.calls == [.read(Array("line\n".utf8), tag: 2), .read(Array("xy".utf8), tag: 3)])
        let picture = pair.engine.snapshot().sockets.first
        #expect(picture?.prebuffered == 4 && picture?.reading.completed == 3 && picture?.reading.current == nil)
    }

    /// What a batch of callbacks asks for is carried out together, but never waits for a callback that waits for it.
    @Test func whatACallbackAskedForHappensWhileItBlocks() throws {
        let isAnswered = DispatchSemaphore(value: 0)
        let stuck = Lock(0)
        let recorder = Recorder(onCall: { socket, call in
            guard case .read(let bytes, _) = call else { return }
            socket.read(ReadRequest(.length(1)))
            socket.write(bytes)
            if isAnswered.wait(timeout: .now() + 30) == .timedOut { stuck.withLock { $0 += 1 } }
        })
        let pair = try ConnectedPair(recorder: recorder)
        pair.socket.delegateQueue = DispatchQueue(label: "delegate")
        pair.socket.read(ReadRequest(.length(1)))
        for _ in 0..<100 {
            try pair.peerSends("a")
            #expect(try pair.peerReceives(1) == Array("a".utf8))
            isAnswered.signal()
        }
        #expect(stuck.withLock { $0 } == 0)
    }
}

/// Closes a socket when it goes.
private final class Leaver: Sendable {
    private let socket: AsyncSocket

    init(_ socket: AsyncSocket) {
        self.socket = socket
    }

    deinit { socket.disconnect() }
}
