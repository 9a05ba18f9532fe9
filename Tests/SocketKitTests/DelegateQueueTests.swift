import Dispatch
import SocketTestSupport
import Testing

@testable import SocketKit

/// Sockets that share a pump share the way to its queue.
@Suite(.timeLimit(.minutes(10))) struct DelegateQueueTests {
    private func pump(_ socket: AsyncSocket) -> DelegatePump? { socket.state.withLock { $0.pump } }

    @Test func aConnectionThatIsGivenItsListenersQueueKeepsItsListenersPump() throws {
        let queue = DispatchQueue(label: "delegates")
        let accepted = Lock<AsyncSocket?>(nil)
        let recorder = Recorder(onAccept: { socket in accepted.withLock { $0 = socket } })
        let reception = try Reception(accepting: recorder, delegateQueue: queue)
        let client = AsyncSocket(engine: reception.engine)
        try client.connect(toHost: "127.0.0.1", port: reception.port)
        #expect(eventually { accepted.withLock { $0 } != nil })
        let child = try #require(accepted.withLock { $0 })
        let first = try #require(pump(child))
        child.delegateQueue = queue
        #expect(pump(child) === first)
        child.delegateQueue = DispatchQueue(label: "another")
        #expect(pump(child) !== first && pump(child) != nil)
        child.delegateQueue = nil
        #expect(pump(child) == nil)
    }
}
