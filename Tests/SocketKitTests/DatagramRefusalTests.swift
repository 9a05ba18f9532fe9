import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// Datagrams that can't leave, on a socket that has no descriptor whose readiness would bring it back.
@Suite(.timeLimit(.minutes(10))) struct DatagramRefusalTests {
    @Test("every one of many refused datagrams completes", arguments: [40, 5_000])
    func everyRefusalCompletes(count: Int) throws {
        let client = DatagramEnd()
        for tag in 0..<count { client.socket.send([1], tag: tag) }
        #expect(eventually { client.recorder.failures.count == count })
        #expect(client.recorder.failures.map(\.tag) == Array(0..<count))
        #expect(client.socket.pendingCount == 0)
        let server = try DatagramEnd.bound()
        client.socket.send([9], to: server.place, tag: -1)
        #expect(eventually { server.payloads == [[9]] })
        client.socket.closeAfterSending()
        #expect(eventually { client.recorder.calls.last == .closed(nil) })
    }

    @Test func outOfDescriptorsEachDatagramFailsAndTheSocketLivesOn() throws {
        let kernel = FaultyKernel()
        let server = try DatagramEnd.bound()
        let engine = SocketEngine.with(kernel: kernel)
        let client = DatagramEnd(engine: engine)
        kernel.fail(.openDatagram, with: Array(repeating: EMFILE, count: 40))
        for tag in 0..<41 { client.socket.send([1], to: server.place, tag: tag) }
        #expect(eventually { client.recorder.calls.count == 41 })
        #expect(client.recorder.failures.map(\.error.reason) == Array(repeating: .system(errno: EMFILE), count: 40))
        #expect(client.recorder.calls.last == .sent(tag: 40))
        #expect(eventually { server.payloads == [[1]] })
        #expect(engine.snapshot().counters.descriptorsRefused == 40)
    }

    @Test func namesThatDoNotResolveFailOneByOne() {
        let client = DatagramEnd(engine: SocketEngine.with(resolver: ScriptedResolver([:])))
        for tag in 0..<40 { client.socket.send([1], to: .udp(host: "nosuch.test", port: 9), tag: tag) }
        #expect(eventually { client.recorder.failures.count == 40 })
    }

    /// A bind that fails takes the descriptor away for which the queue waited.
    @Test func whatWaitedForADescriptorThatABindTookAwayIsSentByAnother() throws {
        let kernel = FaultyKernel()
        let server = try DatagramEnd.bound()
        let client = DatagramEnd(engine: SocketEngine.with(kernel: kernel))
        let errors = Lock<[SocketError]>([])
        client.engine.queue.sync {
            kernel.fail(.sendDatagrams, with: [EAGAIN])
            client.socket.send([1], to: server.place, tag: 1)
            client.engine.fence(in: client.socket)
            do throws(SocketError) {
                try client.socket.bind(to: server.place)
            } catch {
                errors.withLock { $0.append(error) }
            }
        }
        #expect(errors.withLock { $0.map(\.reason) } == [.system(errno: EADDRINUSE)])
        #expect(eventually { server.payloads == [[1]] })
        #expect(eventually { client.recorder.calls == [.sent(tag: 1)] })
    }

    /// Connecting to a peer of the other family opens a descriptor each time.
    @Test func aSessionMayOpenAnyNumberOfDescriptorsInItsLife() throws {
        let client = DatagramEnd()
        try client.engine.queue.sync {
            for round in 0..<66_000 {
                try client.socket.connect(to: .udp(host: round.isMultiple(of: 2) ? "127.0.0.1" : "::1", port: 9))
                client.socket.disconnect()
            }
        }
        #expect(!client.socket.isConnected)
        let server = try DatagramEnd.bound()
        client.socket.send([7], to: server.place, tag: 1)
        #expect(eventually { server.payloads == [[7]] })
    }
}

extension SocketEngine {
    /// On the engine's queue: carries out what was posted, and tries what it queued.
    fileprivate func fence(in socket: DatagramSocket) { _ = socket.pendingCount }
}
