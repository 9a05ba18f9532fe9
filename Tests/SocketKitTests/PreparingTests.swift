import SocketKit
import SocketTestSupport
import Testing

/// User code that prepares a descriptor of a datagram socket, and asks the same socket for something.
@Suite(.timeLimit(.minutes(10))) struct PreparingTests {
    private let target = DatagramEnd()

    /// How often a descriptor was prepared, and what was refused meanwhile.
    private final class Notes: Sendable {
        private let list = Lock<[SocketError.Reason?]>([])
        var all: [SocketError.Reason?] { list.withLock { $0 } }

        /// Notes one, and says whether it is the first.
        func add(_ refused: SocketError.Reason? = nil) -> Bool {
            list.withLock { list in
                list.append(refused)
                return list.count == 1
            }
        }
    }

    private func end(_ prepare: @escaping @Sendable (DatagramSocket, Notes) -> Void) throws -> (DatagramEnd, Notes) {
        let (end, notes) = (DatagramEnd(), Notes())
        end.socket.configuration.prepareDescriptor = { [weak socket = end.socket] _ in
            if let socket { prepare(socket, notes) }
        }
        try target.socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        try target.socket.beginReceiving()
        return (end, notes)
    }

    @Test func whatItSendsWaitsForTheDescriptor() throws {
        let place = Lock<Endpoint?>(nil)
        let (end, notes) = try end { socket, notes in
            guard notes.add(), let place = place.withLock({ $0 }) else { return }
            socket.send([2], to: place, tag: 2)
            _ = socket.pendingCount
        }
        place.withLock { $0 = target.place }
        end.socket.send([1], to: target.place, tag: 1)
        #expect(eventually { target.payloads == [[1], [2]] })
        #expect(eventually { end.recorder.calls == [.sent(tag: 1), .sent(tag: 2)] })
        #expect(notes.all.count == 1)
    }

    @Test func whatItSentIsToldThoughTheBindIsRefused() throws {
        let place = Lock<Endpoint?>(nil)
        let (end, _) = try end { socket, notes in
            guard notes.add(), let place = place.withLock({ $0 }) else { return }
            socket.send([9], to: place, tag: 9)
            _ = socket.pendingCount
        }
        place.withLock { $0 = target.place }
        #expect(throws: SocketError.self) { try end.socket.bind(to: target.place) }
        #expect(eventually { target.payloads == [[9]] })
        #expect(eventually { end.recorder.calls == [.sent(tag: 9)] })
    }

    @Test func aDatagramThatItTakesBackIsNotSent() throws {
        let operation = Lock<OperationID?>(nil)
        let (end, notes) = try end { socket, notes in
            guard notes.add(), let operation = operation.withLock({ $0 }) else { return }
            socket.cancel(operation)
            _ = socket.pendingCount
        }
        end.engine.queue.sync {
            let name = end.socket.send([1], to: target.place, tag: 1)
            operation.withLock { $0 = name }
        }
        #expect(eventually { end.recorder.calls == [.notSent(tag: 1, .cancelled)] })
        end.socket.send([2], to: target.place, tag: 2)
        #expect(eventually { target.payloads == [[2]] })
        #expect(notes.all.count == 1)
    }

    @Test func aConnectThatItEndsByClosingIsToldBeforeTheEnd() throws {
        let (end, _) = try end { socket, _ in socket.close() }
        let port = try #require(target.place.port)
        try end.socket.connect(to: .udp(host: "localhost", port: port))
        #expect(eventually { end.recorder.calls == [.notConnected(.disconnected), .closed(nil)] })
    }

    @Test func itCannotChangeDescriptors() throws {
        let (end, notes) = try end { socket, notes in
            let calls: [() throws -> Void] = [
                { try socket.bind(to: .udp(host: "127.0.0.1", port: 0)) },
                { try socket.connect(to: .udp(host: "127.0.0.1", port: 9)) },
                { try socket.setBroadcastEnabled(true) },
            ]
            for call in calls {
                do {
                    try call()
                    _ = notes.add(nil)
                } catch {
                    _ = notes.add((error as? SocketError)?.reason)
                }
            }
        }
        try end.socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        #expect(notes.all == [.badConfiguration, .badConfiguration, .badConfiguration])
        #expect(end.socket.localAddresses.count == 1)
    }
}
