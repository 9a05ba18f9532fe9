import SocketKit
import SocketTestSupport
import Testing

/// What a user gives to a handle may be an object that acts as it dies. It must die where no lock is held.
@Suite(.timeLimit(.minutes(10))) struct DyingValueTests {
    /// Runs a closure as it dies.
    private final class Mortal: Sendable {
        private let act: @Sendable () -> Void
        init(_ act: @escaping @Sendable () -> Void) { self.act = act }
        deinit { act() }

        /// Keeps it alive for the sake of the closure that holds it.
        func touch() {}
    }

    private let engine = SocketEngine()
    private let deaths = Deaths()

    /// How many have died.
    private final class Deaths: Sendable {
        private let number = Lock(0)
        var count: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }

    /// Makes objects that take the lock of a handle, and wait for the engine, as they die.
    private func maker(_ act: @escaping @Sendable () -> Void) -> @Sendable () -> Mortal {
        { [deaths] in
            Mortal {
                act()
                deaths.add()
            }
        }
    }

    @Test func valuesOfAStreamSocketDieOutsideItsLock() {
        let socket = AsyncSocket(engine: engine)
        let make = maker { [weak socket] in
            _ = socket?.session
            socket?.disconnect()
        }
        socket.userData = make()
        socket.userData = make()
        socket.userData = nil
        socket.configuration = Self.configuration(make())
        socket.configuration = SocketConfiguration()
        #expect(deaths.count == 3)
    }

    private static func configuration(_ mortal: Mortal) -> SocketConfiguration {
        var configuration = SocketConfiguration()
        configuration.prepareDescriptor = { _, _ in mortal.touch() }
        return configuration
    }

    @Test func valuesOfAListenerDieOutsideItsLock() {
        let listener = SocketListener(engine: engine)
        let make = maker { [weak listener] in
            _ = listener?.session
            listener?.stop()
        }
        listener.configuration = Self.configuration(make())
        listener.configuration = SocketConfiguration()
        #expect(deaths.count == 1)
    }

    @Test func valuesOfADatagramSocketDieOutsideItsLock() {
        let socket = DatagramSocket(engine: engine)
        let make = maker { [weak socket] in
            _ = socket?.session
            socket?.close()
        }
        socket.userData = make()
        socket.userData = nil
        socket.sendFilter = Self.sendFilter(make())
        socket.sendFilter = nil
        socket.receiveFilter = Self.receiveFilter(make())
        socket.receiveFilter = nil
        socket.configuration = Self.datagramConfiguration(make())
        socket.configuration = DatagramConfiguration()
        #expect(deaths.count == 4)
    }

    private static func sendFilter(_ mortal: Mortal) -> DatagramSendFilter {
        DatagramSendFilter { _, _, _ in
            mortal.touch()
            return true
        }
    }

    private static func receiveFilter(_ mortal: Mortal) -> DatagramReceiveFilter {
        DatagramReceiveFilter { _ in
            mortal.touch()
            return .drop
        }
    }

    private static func datagramConfiguration(_ mortal: Mortal) -> DatagramConfiguration {
        var configuration = DatagramConfiguration()
        configuration.prepareDescriptor = { _ in mortal.touch() }
        return configuration
    }

    @Test func valuesOfAWebSocketAndItsListenerDieOutsideTheirLocks() {
        let webSocket = WebSocket(engine: engine)
        let make = maker { [weak webSocket] in
            _ = webSocket?.agreement
            webSocket?.close()
        }
        webSocket.userData = make()
        webSocket.userData = nil
        webSocket.configuration = Self.webSocketConfiguration(make())
        webSocket.configuration = WebSocketConfiguration()
        let listener = WebSocketListener(engine: engine)
        let makeOther = maker { [weak listener] in
            _ = listener?.openingCount
            listener?.stop()
        }
        listener.configuration = Self.webSocketConfiguration(makeOther())
        listener.configuration = WebSocketConfiguration()
        #expect(deaths.count == 3)
    }

    private static func webSocketConfiguration(_ mortal: Mortal) -> WebSocketConfiguration {
        var configuration = WebSocketConfiguration()
        configuration.answer = { _ in
            mortal.touch()
            return .upgrade()
        }
        return configuration
    }

    /// A batch holds the contexts of all its datagrams until the last of them is fetched.
    @Test func contextsOfAReceiveFilterDieOutsideTheLock() async throws {
        let end = try DatagramEnd.bound(engine: engine, isReceiving: false)
        let socket = end.socket
        let make = maker { [weak socket] in _ = socket?.session }
        let sender = DatagramEnd()
        for number in UInt8(0)..<4 { sender.socket.send([number], to: end.place, tag: 1) }
        #expect(await eventually { sender.recorder.calls.count == 4 })
        socket.receiveFilter = DatagramReceiveFilter { _ in .pass(context: make()) }
        var iterator = try socket.datagrams().makeAsyncIterator()
        for number in UInt8(0)..<4 {
            let bytes = try await iterator.next()?.bytes
            #expect(bytes == [number])
        }
        #expect(await eventually { deaths.count == 4 })
    }
}
