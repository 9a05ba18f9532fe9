import Dispatch
import SocketKit
import SocketTestSupport
import Testing

/// An engine on a queue of its user's.
@Suite(.timeLimit(.minutes(10))) struct QueueTests {
    private static let mark = DispatchSpecificKey<String>()

    private func queue(_ name: String, target: DispatchQueue? = nil) -> DispatchQueue {
        let queue = DispatchQueue(label: name, target: target)
        queue.setSpecific(key: Self.mark, value: name)
        return queue
    }

    private func engine(on queue: DispatchQueue) -> SocketEngine {
        var configuration = EngineConfiguration()
        configuration.queue = queue
        return SocketEngine(configuration)
    }

    @Test func callbacksWithoutAQueueOfTheirOwnComeOnTheUsersQueue() throws {
        let names = Lock<[String]>([])
        let recorder = Recorder(onCall: { _, _ in
            names.withLock { $0.append(DispatchQueue.getSpecific(key: Self.mark) ?? "none") }
        })
        let pair = try ConnectedPair(engine: engine(on: queue("mine")), recorder: recorder)
        pair.socket.read(ReadRequest(.length(3), tag: 1))
        try pair.peerSends("abc")
        #expect(eventually { recorder.calls.contains(.text("abc", tag: 1)) })
        #expect(Set(names.withLock { $0 }) == ["mine"])
    }

    @Test func anEngineIsMadeAndAskedOnTheQueueItself() throws {
        let queue = queue("mine")
        let isConnected = try queue.sync {
            let pair = try ConnectedPair(engine: engine(on: queue))
            #expect(pair.engine.isOnQueue)
            pair.socket.write(Array("abc".utf8))
            return pair.socket.isConnected
        }
        #expect(isConnected)
    }

    @Test func twoEnginesShareAQueue() throws {
        let queue = queue("mine")
        let first = try ConnectedPair(engine: engine(on: queue))
        let second = try ConnectedPair(engine: engine(on: queue))
        #expect(queue.sync { first.socket.isConnected && second.socket.isConnected })
        first.socket.write(Array("one".utf8))
        second.socket.write(Array("two".utf8))
        #expect(try first.peerReceives(3) == Array("one".utf8))
        #expect(try second.peerReceives(3) == Array("two".utf8))
    }

    @Test func theQueueOutlivesItsEngine() throws {
        let queue = queue("mine")
        var pair: ConnectedPair? = try ConnectedPair(engine: engine(on: queue))
        weak let former = pair?.engine
        pair = nil
        #expect(eventually { former == nil })
        let next = try ConnectedPair(engine: engine(on: queue))
        #expect(queue.sync { next.socket.isConnected })
    }

    @Test func aMarkedTargetCountsAsTheQueue() throws {
        let target = queue("target")
        let pair = try ConnectedPair(engine: engine(on: queue("mine", target: target)))
        pair.engine.mark(target: target, true)
        #expect(target.sync { pair.socket.isConnected })
        pair.engine.mark(target: target, false)
        #expect(!target.sync { pair.engine.isOnQueue })
        #expect(pair.socket.isConnected)
    }

    @Test func workIsDoneOnTheQueueAndWaitedFor() throws {
        let pair = try ConnectedPair()
        #expect(pair.engine.perform { pair.engine.isOnQueue && pair.socket.isConnected })
        #expect(pair.engine.perform { pair.engine.perform { 7 } } == 7)
        #expect(throws: CancellationError.self) { try pair.engine.perform { throw CancellationError() } }
    }
}
