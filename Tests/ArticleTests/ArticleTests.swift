import SocketKit
import SocketTestSupport
import Synchronization
import Testing

/// The code of the articles does what they say.
@Suite("Articles", .timeLimit(.minutes(10))) struct ArticleTests {
    private func silentPeer() async throws {
        let pair = try ConnectedPair(.unix)
        let serving = Task { [socket = pair.socket] in try await echo(socket, silence: .milliseconds(50)) }
        try pair.peerSends([1, 2, 3])
        #expect(try pair.peerReceives(9) == [1, 2, 3] + Array("idle\r\n".utf8))
        pair.closePeer()
        try await serving.value
    }

    private func endpoint(_ listener: SocketListener) -> Endpoint {
        .tcp(host: "localhost", port: listener.localAddress?.port ?? 0)
    }

    @Test("a client with a delegate gets its answer")
    func gettingStarted() async throws {
        let engine = SocketEngine()
        try await withServer { endpoint in
            let client = Client()
            let socket = try begin(client, at: endpoint, on: engine)
            #expect(await eventually { client.answer.withLock { $0 } == "hello\r\n" })
            try await socket.waitUntilClosed()
        }
    }

    @Test("delegates with a lock and actors keep what comes")
    func isolation() async throws {
        let pair = try ConnectedPair(.unix)
        let counter = Counter()
        pair.socket.delegate = counter
        func readForDelegate() { pair.socket.read(ReadRequest(.length(3))) }
        readForDelegate()
        try pair.peerSends([1, 2, 3])
        #expect(await eventually { counter.bytes.withLock { $0 } == 3 })
        let transcript = Transcript()
        let socket = pair.socket
        let recording = Task { try await transcript.record(socket) }
        try pair.peerSends([4])
        #expect(await eventually { pair.picture?.received == 4 })
        pair.closePeer()
        try await recording.value
        #expect(await transcript.bytes == [4])
    }

    @Test("a line that is late goes on where it was, and cancellation is Swift's own")
    func timeouts() async throws {
        try await silentPeer()
        var configuration = SocketConfiguration()
        configuration.timeoutVerdict = .failOperation
        let pair = try ConnectedPair(.unix, configuration: configuration)
        pair.socket.delegate = nil
        try pair.peerSends([97])
        #expect(try await line(from: pair.socket, within: .milliseconds(20)) == nil)
        try pair.peerSends([13, 10])
        #expect(try await line(from: pair.socket, within: .seconds(60)) == [97, 13, 10])
        let socket = pair.socket
        let waiting = Task { try await firstByte(of: socket) }
        #expect(await eventually { pair.picture?.reading.current != nil })
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        await run(pair.engine) {}
        #expect(pair.socket.session == nil)
    }

    @Test("a secure server shows a certificate, and a renewed one", .enabled(if: Certificates.problem == nil))
    func securing() async throws {
        let engine = SocketEngine()
        let listener = try secureServer(Certificates.identity("server"), on: engine)
        // Retains what comes in.
        let connections = listener.connections
        defer { withExtendedLifetime(connections) {} }
        let authority = Certificates.path("ca.crt")
        let socket = try await secureClient(endpoint(listener), authority: authority, on: engine)
        #expect(socket.tls != nil)
        try renew(Certificates.identity("expired"), of: listener)
        await #expect(throws: SocketError.self) {
            try await secureClient(endpoint(listener), authority: authority, on: engine)
        }
    }

    @Test("a test's server echoes, and events are counted and logged")
    func testing() async throws {
        let engine = SocketEngine()
        final class Lines: Sendable { let count = Mutex(0) }
        let lines = Lines()
        let observation = log(engine) { _ in lines.count.withLock { $0 += 1 } }
        let echoed = try await withServer { endpoint in
            try await AsyncSocket.withConnection(to: endpoint, on: engine) { socket in
                try await socket.send([7])
                return try await socket.read(ReadRequest(.length(1)))
            }
        }
        #expect(echoed == [7])
        #expect(events(of: engine, .readDone) == 1)
        #expect(await eventually { lines.count.withLock { $0 } > 3 })
        observation.cancel()
    }

    @Test("a message with a length before it is two reads")
    func messages() async throws {
        let pair = try ConnectedPair(.unix)
        try pair.peerSends([0, 2, 8, 9, 0, 0])
        #expect(try await message(from: pair.socket) == [8, 9])
        #expect(try await message(from: pair.socket) == [])
    }
}
