import Dispatch
import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// What one WebSocket may take up, and how the peer and the user feel it.
@Suite(.timeLimit(.minutes(10))) struct LimitTests {
    @Test("L1: each limit holds, and is told by name")
    func l1Limits() throws {
        var small = WebSocketConfiguration()
        small.settings.limits = WebSocketLimits(
            frameBytes: 1_000, messageBytes: 2_000, sendQueueBytes: 5_000, queuedControls: 2)
        small.headLimit = 512
        small.compression = nil
        let pair = try WebSocketPair(client: small, server: small)
        let tooMuch = pair.client.write([UInt8](repeating: 0, count: 5_001))
        let tooLong = pair.client.writePing([UInt8](repeating: 0, count: 126))
        #expect(eventually { pair.clientSide.errors.count == 2 })
        #expect(
            pair.clientSide.calls.dropFirst() == [
                .failed(tooMuch, .webSocket(.notSent(.queueFull(bytes: 5_001, queued: 0, limit: 5_000)))),
                .failed(tooLong, .webSocket(.notSent(.payloadTooLong(126)))),
            ])
        #expect(pair.client.readyState == .open)
        pair.client.write([UInt8](repeating: 0, count: 1_001))
        #expect(eventually { pair.clientSide.endings == 1 })
        #expect(pair.clientSide.report?.received?.code == .messageTooBig)
        let peer = try RawPeer(port: pair.listener.localAddress?.port ?? 0)
        try peer.send("GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: 600))
        #expect(peer.receiveHead().hasPrefix("HTTP/1.1 431 "))
    }

    @Test("L2: what is queued is counted, above the high mark senders wait, and the drain is told")
    func l2Watermarks() async throws {
        var configuration = WebSocketConfiguration()
        configuration.settings.watermarks = Watermarks(low: 1_000, high: 1 << 20)
        configuration.compression = nil
        let listener = try RawListener()
        let recorder = WebSocketRecorder()
        let client = WebSocket(engine: SocketEngine(), delegate: recorder, configuration: configuration)
        try client.connect(to: "ws://127.0.0.1:\(listener.port)")
        let (peer, _) = try listener.acceptWebSocket()
        #expect(await eventually { client.readyState == .open })
        try await client.waitUntilWritable()
        let bytes = [UInt8](repeating: 1, count: 20 << 20)
        client.write(bytes)
        #expect(client.bufferedAmount > 1 << 20)
        let waiter = Task { try await client.waitUntilWritable() }
        let cancelled = Task { try await client.waitUntilWritable() }
        cancelled.cancel()
        await #expect(throws: SocketError.self) { try await cancelled.value }
        #expect(!recorder.calls.contains(.writable))
        #expect(peer.receive(bytes.count + 14).count == bytes.count + 14)
        try await waiter.value
        #expect(await eventually { recorder.calls.contains(.writable) })
        #expect(client.bufferedAmount == 0)
    }

    @Test("L3: what nobody reads stays with the kernel, and the peer feels it", arguments: [true, false])
    func l3DemandDriven(isWhole: Bool) async throws {
        var configuration = WebSocketConfiguration()
        configuration.settings.delivery = isWhole ? .whole : .chunks
        let engine = SocketEngine()
        let listener = try RawListener()
        let webSocket = WebSocket(engine: engine, configuration: configuration)
        try webSocket.connect(to: "ws://127.0.0.1:\(listener.port)")
        let (peer, _) = try listener.acceptWebSocket()
        let frame = RawPeer.frame(2, [UInt8](repeating: 5, count: 60_000))
        let sender = Flood(peer, frame, count: 500)
        #expect(await eventually { webSocket.picture?.undeliveredBytes ?? 0 > 128 << 10 && sender.isStuck })
        let picture = try #require(engine.picture(of: webSocket.session))
        #expect(picture.isHeldBack)
        #expect(try #require(picture.webSocket).undeliveredBytes < 2 << 20)
        var total = 0
        if isWhole {
            for try await message in webSocket.messages {
                total += message.bytes.count
                if total == 500 * 60_000 { break }
            }
        } else {
            for try await chunk in webSocket.chunks {
                total += chunk.bytes.count
                if total == 500 * 60_000 { break }
            }
        }
        #expect(total == 500 * 60_000)
        sender.join()
    }

    /// Sends a frame again and again on a thread of its own.
    private final class Flood: Sendable {
        private let sent = Lock(0)
        private let seen = Lock(-1)
        private let isDone = Lock(false)

        init(_ peer: RawPeer, _ frame: [UInt8], count: Int) {
            DispatchQueue(label: "flood").async { [self] in
                for _ in 0..<count {
                    try? peer.send(frame)
                    sent.withLock { $0 += 1 }
                }
                isDone.withLock { $0 = true }
            }
        }

        /// Whether nothing was sent since this was last asked, some milliseconds ago.
        var isStuck: Bool {
            let now = sent.withLock { $0 }
            return seen.withLock { seen in
                defer { seen = now }
                return seen == now && now > 0
            }
        }

        func join() { #expect(eventually { isDone.withLock { $0 } }) }
    }

    @Test("L4: an idle WebSocket takes up little: both ends of many are measured")
    func l4IdleMemory() async {
        await #expect(processExitsWith: .success) { try Self.measureIdle() }
    }

    /// In a process of its own, since the memory is that of the whole process.
    private static func measureIdle() throws {
        let recorder = WebSocketRecorder()
        let engine = SocketEngine()
        let listener = WebSocketListener(engine: engine, delegate: recorder)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let url = "ws://127.0.0.1:\(listener.localAddress?.port ?? 0)"
        func open(_ count: Int) throws -> [WebSocket] {
            let clients = (0..<count).map { _ in WebSocket(engine: engine) }
            for client in clients { try client.connect(to: url) }
            #expect(eventually { clients.allSatisfy { $0.readyState == .open } })
            return clients
        }
        let warm = try open(50)
        let before = try #require(ProcessFacts.residentBytes(getpid()))
        let clients = try open(200)
        let each = (try #require(ProcessFacts.residentBytes(getpid())) - before) / 400
        print("an idle WebSocket takes up \(each) bytes of memory, its handle and agreement included")
        // Generous; zlib's state alone would be 300 KiB.
        #expect(each < 100_000)
        withExtendedLifetime((warm, clients)) {}
    }

    @Test("messages that are half there have a limit in all, and give back what they took")
    func unfinishedMessagesOfAnEngine() throws {
        var settings = EngineConfiguration()
        settings.unfinishedMessageBytes = 1 << 20
        let engine = SocketEngine(settings)
        for _ in 0..<3 {
            let pair = try WebSocketPair(engine: engine)
            let stream = pair.client.stream(.binary)
            stream.write([UInt8](repeating: 0, count: 2 << 20))
            #expect(eventually { pair.clientSide.endings == 1 })
            #expect(pair.clientSide.report?.code == .tryAgainLater, "\(String(describing: pair.clientSide.report))")
            #expect(eventually { pair.serverSide.endings == 1 })
        }
        #expect(engine.snapshot().counters.messagesWithoutRoom == 3)
        #expect(engine.snapshot().counters.unfinishedMessageBytes == 0)
        let pair = try WebSocketPair(engine: engine)
        pair.client.write([UInt8](repeating: 0, count: 1 << 20))
        #expect(eventually { pair.serverSide.messages.first?.bytes.count == 1 << 20 })
        // All may be kept of a message that ends, or of one that is cut off with its connection.
        let stream = pair.client.stream(.binary)
        stream.write([UInt8](repeating: 0, count: 1 << 20))
        #expect(eventually { pair.server.picture?.traffic?.receiving?.bytes == 1 << 20 })
        // Without the first 64 KiB, which do not count.
        #expect(engine.snapshot().counters.unfinishedMessageBytes == (1 << 20) - (1 << 16))
        pair.client.abort()
        #expect(eventually { pair.serverSide.endings == 1 })
        #expect(engine.snapshot().counters.unfinishedMessageBytes == 0)
        let last = try WebSocketPair(engine: engine)
        last.client.write([UInt8](repeating: 0, count: 1 << 20))
        #expect(eventually { last.serverSide.messages.count == 1 })
    }

    @Test("a message that is never ended ends its WebSocket")
    func unfinishedMessageTimesOut() throws {
        var server = WebSocketConfiguration()
        server.settings.messageTimeout = .milliseconds(50)
        let pair = try WebSocketPair(server: server)
        let stream = pair.client.stream(.text)
        stream.write(Array("half".utf8))
        #expect(eventually { pair.clientSide.report?.code == .policyViolation })
        #expect(eventually { pair.serverSide.report?.failure == .messageTimeout(.milliseconds(50)) })
    }

    @Test("an answer of plain HTTP that nobody reads holds no connection")
    func unreadAnswer() throws {
        var settings = WebSocketConfiguration()
        settings.openTimeout = nil
        settings.settings.closeTimeout = .milliseconds(100)
        settings.socket.options.sendBuffer = 65_536
        let body = [UInt8](repeating: 0x78, count: 2_000_000)
        settings.answer = { @Sendable _ in .http(HTTPResponse(status: 200, body: body)) }
        let recorder = WebSocketRecorder()
        let listener = WebSocketListener(engine: SocketEngine(), delegate: recorder, configuration: settings)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let port = listener.localAddress?.port ?? 0
        let silent = try RawPeer(port: port)
        try silent.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(eventually { recorder.calls == [.refused(.writeTimeout)] }, "\(recorder.calls)")
        #expect(listener.openingCount == 0)
        let reader = try RawPeer(port: port)
        try reader.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = reader.receiveHead()
        #expect(reader.receiveAll().count == body.count)
    }

    @Test("L5: a cancelled reader closes with 1001, and no descriptor is left")
    func l5CancelledReader() async throws {
        let kernel = FaultyKernel()
        do {
            let engine = SocketEngine.with(kernel: kernel)
            let recorder = WebSocketRecorder()
            let listener = WebSocketListener(engine: engine, delegate: recorder)
            try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
            let port = listener.localAddress?.port ?? 0
            let task = Task {
                let client = try await WebSocket.connect(to: "ws://127.0.0.1:\(port)", on: engine)
                for try await _ in client.messages {}
            }
            #expect(await eventually { recorder.webSockets.count == 1 })
            task.cancel()
            _ = await task.result
            #expect(await eventually { recorder.endings == 1 })
            listener.stop()
            recorder.releaseAll()
        }
        #expect(await eventually { kernel.openDescriptors.isEmpty })
    }

    @Test("G6: a message of any length passes in chunks, sent and received, and takes up no memory")
    func g6StreamedMessage() async throws {
        var chunked = WebSocketConfiguration()
        chunked.settings.delivery = .chunks
        chunked.compression = nil
        let serverSide = WebSocketRecorder(keepsChunks: false)
        let pair = try WebSocketPair(serverSide: serverSide, client: chunked, server: chunked)
        let stream = pair.client.stream(.binary)
        let part = [UInt8](repeating: 9, count: 64 << 10)
        for _ in 0..<512 { try await stream.send(part) }
        stream.finish()
        #expect(await eventually { serverSide.chunkBytes == 32 << 20 })
        #expect(await eventually { serverSide.calls.contains(.chunk([], isFinal: true)) })
        #expect(await eventually { pair.clientSide.sent == [stream.operation] })
        #expect(pair.server.picture?.traffic?.received.messages == 1)
    }

    @Test("L6: messages of every size come back, and how fast is told")
    func l6EchoSpeed() throws {
        var plain = WebSocketConfiguration()
        plain.compression = nil
        for (size, count) in [(16, 500), (1 << 10, 500), (64 << 10, 50), (1 << 20, 5)] {
            let pair = try WebSocketPair(serverSide: .echo(), client: plain, server: plain)
            let began = ContinuousClock.now
            let message = [UInt8](repeating: 1, count: size)
            for _ in 0..<count { pair.client.write(message) }
            #expect(eventually { pair.clientSide.messages.count == count })
            print("echo of \(size) bytes, masked one way, unoptimised build: \((ContinuousClock.now - began) / count)")
        }
    }
}
