import SocketKit
import SocketTestSupport
import Testing

/// The end of a session is delivered after the next one began on the same handle. It ends what belongs to its own session,
/// and nothing else.
@Suite(.timeLimit(.minutes(10))) struct FormerSessionTests {
    private let engine = SocketEngine()
    private let tasks = TaskQueue()
    private let anywhere = Endpoint.tcp(host: "127.0.0.1", port: 0)

    /// Runs what ends one session and begins the next, and `body`, which waits within that, while the engine's queue is
    /// taken: nothing is delivered in between.
    private func inOneStep<R: Sendable>(
        _ step: @escaping @Sendable () throws -> Void, until isWaiting: @escaping @Sendable () -> Bool,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> Task<R, any Error> {
        let begun = Lock<Result<Task<R, any Error>, any Error>?>(nil)
        // On a thread of the queue's own, since those that tasks run on may be few.
        engine.queue.async { [tasks] in
            let result = Result {
                try step()
                let task = Task(executorPreference: tasks) { try await body() }
                let isBegun = eventually { isWaiting() }
                #expect(isBegun)
                return task
            }
            begun.withLock { $0 = result }
        }
        #expect(await eventually { begun.withLock { $0 != nil } })
        return try #require(begun.withLock { $0 }).get()
    }

    // MARK: Datagrams

    private func next(_ datagrams: Datagrams) async throws -> [UInt8]? {
        var iterator = datagrams.makeAsyncIterator()
        return try await iterator.next()?.bytes
    }

    @Test func datagramsOfTheNextSessionGoOn() async throws {
        let end = try DatagramEnd.bound(engine: engine, isReceiving: false)
        let (socket, former) = (end.socket, try end.socket.datagrams())
        let old = Task { try await next(former) }
        #expect(await eventually { socket.waiters == 1 })
        let new = try await rebind(socket, former)
        #expect(try await old.value == nil)
        Self.send([7], to: end.place)
        #expect(try await new.value == [7])
        #expect(end.recorder.calls == [.closed(nil)])
    }

    private static func send(_ bytes: [UInt8], to place: Endpoint) {
        let sender = DatagramEnd()
        sender.socket.send(bytes, to: place, tag: 1)
        #expect(eventually { sender.recorder.calls == [.sent(tag: 1)] })
    }

    private func rebind(
        _ socket: DatagramSocket, _ datagrams: Datagrams
    ) async throws -> Task<[UInt8]?, any Error> {
        try await inOneStep {
            socket.close()
            try socket.bind(to: .udp(host: "127.0.0.1", port: 0))
            _ = try socket.datagrams()
        } until: {
            socket.waiters == 2
        } _: {
            try await next(datagrams)
        }
    }

    /// What a task was given.
    private final class Heard: Sendable {
        let answers = Lock<[[UInt8]?]>([])
    }

    /// A bind that fails leaves no session, so nobody is told of an end.
    @Test func whoWaitsInASessionThatNeverWasIsAnswered() async throws {
        let taken = try DatagramEnd.bound()
        let socket = DatagramSocket(engine: engine)
        try socket.bind(to: .udp(host: "127.0.0.1", port: 0))
        let datagrams = try socket.datagrams()
        socket.close()
        engine.fence()
        // The session is there while its descriptor is prepared.
        let heard = Heard()
        socket.configuration.prepareDescriptor = { [weak socket, tasks] _ in
            Task(executorPreference: tasks) { @Sendable in
                let bytes = try await next(datagrams)
                heard.answers.withLock { $0.append(bytes) }
            }
            let isWaiting = eventually { socket?.waiters == 1 }
            #expect(isWaiting)
        }
        let place = taken.place
        let refused = Lock(false)
        engine.queue.async {
            #expect(throws: SocketError.self) { try socket.bind(to: place) }
            refused.withLock { $0 = true }
        }
        #expect(await eventually { refused.withLock { $0 } })
        #expect(await eventually { heard.answers.withLock { $0 } == [nil] })
    }

    // MARK: Listeners

    private func next(_ connections: SocketConnections) async throws -> AsyncSocket? {
        var iterator = connections.makeAsyncIterator()
        return try await iterator.next()
    }

    @Test func connectionsOfTheNextSessionGoOn() async throws {
        let recorder = Recorder()
        let listener = SocketListener(engine: engine, delegate: recorder)
        try listener.listen(on: anywhere)
        let old = Task { try await next(listener.connections) }
        #expect(await eventually { listener.waiters == 1 })
        let new = try await listenAgain(listener)
        #expect(try await old.value == nil)
        let client = try RawPeer(port: listener.localAddress?.port ?? 0)
        #expect(try await new.value != nil)
        #expect(recorder.calls == [.stopped])
        withExtendedLifetime(client) {}
    }

    private func listenAgain(_ listener: SocketListener) async throws -> Task<AsyncSocket?, any Error> {
        try await inOneStep { [anywhere] in
            listener.stop()
            try listener.listen(on: anywhere)
        } until: {
            listener.waiters == 2
        } _: {
            try await next(listener.connections)
        }
    }

    private func next(_ webSockets: WebSocketConnections) async throws -> WebSocket? {
        var iterator = webSockets.makeAsyncIterator()
        return try await iterator.next()
    }

    @Test func webSocketsOfTheNextSessionGoOn() async throws {
        let listener = WebSocketListener(engine: engine)
        try listener.listen(on: anywhere)
        let old = Task { try await next(listener.webSockets) }
        #expect(await eventually { listener.waiters == 1 })
        let new = try await listenAgain(listener)
        #expect(try await old.value == nil)
        let client = WebSocket(engine: engine)
        try client.connect(to: "ws://127.0.0.1:\(listener.localAddress?.port ?? 0)/")
        #expect(try await new.value != nil)
        withExtendedLifetime(client) {}
    }

    private func listenAgain(_ listener: WebSocketListener) async throws -> Task<WebSocket?, any Error> {
        try await inOneStep { [anywhere] in
            listener.stop()
            try listener.listen(on: anywhere)
        } until: {
            listener.waiters == 2
        } _: {
            try await next(listener.webSockets)
        }
    }

    /// Two tasks that iterate, though one at a time should: neither is left waiting.
    @Test func askedTwiceBothHearThatAListenerStopped() async throws {
        let listener = SocketListener(engine: engine)
        try listener.listen(on: anywhere)
        let tasks = [listener.connections, listener.connections].map { connections in
            Task { try await next(connections) }
        }
        #expect(await eventually { listener.waiters == 2 })
        listener.stop()
        for task in tasks { #expect(try await task.value == nil) }
    }

    @Test func askedTwiceBothHearThatAWebSocketListenerStopped() async throws {
        let listener = WebSocketListener(engine: engine)
        try listener.listen(on: anywhere)
        let tasks = [listener.webSockets, listener.webSockets].map { webSockets in
            Task { try await next(webSockets) }
        }
        #expect(await eventually { listener.waiters == 2 })
        listener.stop()
        for task in tasks { #expect(try await task.value == nil) }
    }

    // MARK: WebSockets

    private func next(_ messages: WebSocketMessages) async throws -> WebSocketMessage? {
        var iterator = messages.makeAsyncIterator()
        return try await iterator.next()
    }

    @Test func messagesOfTheNextSessionGoOn() async throws {
        let pair = try WebSocketPair(engine: engine)
        let client = pair.client
        let old = Task { try await next(client.messages) }
        #expect(await eventually { client.readers == 1 })
        let new = try await open(client, to: pair.listener.localAddress?.port ?? 0)
        #expect(try await old.value == nil)
        #expect(await eventually { pair.serverSide.webSockets.count == 2 })
        // What ended was the session before.
        #expect(client.closeReport == nil)
        let server = try #require(pair.serverSide.webSockets.last)
        server.write(.text("here"))
        #expect(try await new.value == .text("here"))
        #expect(pair.clientSide.endings == 1)
        #expect(try await client.ping() >= .zero)
    }

    private func open(_ client: WebSocket, to port: UInt16) async throws -> Task<WebSocketMessage?, any Error> {
        try await inOneStep {
            client.abort()
            try client.connect(to: "ws://127.0.0.1:\(port)/")
        } until: {
            client.readers == 2
        } _: {
            try await next(client.messages)
        }
    }

    @Test func askedTwiceBothReadersOfAWebSocketHearOfItsEnd() async throws {
        let pair = try WebSocketPair(engine: engine)
        let client = pair.client
        let tasks = [client.messages, client.messages].map { messages in Task { try await next(messages) } }
        #expect(await eventually { client.readers == 2 })
        await client.close()
        for task in tasks { #expect(try await task.value == nil) }
    }

    // MARK: Streams

    @Test func whoWaitsForTLSInTheNextSessionGoesOn() async throws {
        let recorder = Recorder()
        let listener = SocketListener(engine: engine, delegate: recorder)
        try listener.listen(on: anywhere, tls: .testServer().with { $0.handshakeTimeout = nil })
        let place = Endpoint.tcp(host: "127.0.0.1", port: listener.localAddress?.port ?? 0)
        let client = Recorder()
        let socket = AsyncSocket(engine: engine, delegate: client)
        try socket.connect(to: place)
        #expect(await eventually { client.calls == [.connected] })
        let secured = try await connectAgain(socket, to: place)
        try await secured.value
        #expect(socket.isSecure)
        #expect(client.calls.filter { $0 == .disconnected(nil) }.count == 1)
    }

    private func connectAgain(_ socket: AsyncSocket, to place: Endpoint) async throws -> Task<Void, any Error> {
        try await inOneStep {
            socket.disconnect()
            try socket.connect(to: place)
        } until: {
            socket.waitersForTLS == 1
        } _: {
            try await socket.secure(.testClient())
        }
    }
}
