import Glibc
import SocketKit
import SocketTestSupport
import Testing

extension Soak {
    @Suite(.enabled(if: Peer.isUsable("python3"), "python3 is missing"), .timeLimit(.minutes(10)))
    struct ScaleTests {
        @Test func thousandsOfConnectionsAtOnceAreAllEchoedByteForByte() async throws {
            let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                try echoToManyClients()
            }
            print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self), terminator: "")
        }
    }

    private static let connections = isFull ? 9_000 : 200
    private static let rounds = 3
    private static let size = 64

    /// This process is the echo server, and python3 all its clients.
    fileprivate static func echoToManyClients() throws {
        let limit = raiseDescriptorLimit()
        try #require(limit > connections + 100, "\(limit) descriptors at most")
        let engine = SocketEngine()
        let server = QuietServer(echoes: true)
        var configuration = SocketConfiguration()
        configuration.options.backlog = 4_096
        let listener = SocketListener(engine: engine, delegate: server, configuration: configuration)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let port = try #require(listener.localAddress?.port)
        let before = (restingDescriptors(), residentKiB())
        let start = ContinuousClock.now
        let client = try Peer(["python3", "-c", manyClients, "\(port)", "\(connections)", "\(rounds)", "\(size)"])
        // Both ends say so themselves: all connections stand at once before the first byte is sent.
        try #require(
            eventually { client.hasEnded || server.count == connections }, "\(client.complaints)")
        let connected = seconds(since: start)
        let perConnection = ((residentKiB() - before.1) << 10) / connections
        try client.write("go\n")
        try #require(eventually(within: .seconds(120)) { client.hasEndedOutput }, "\(client.complaints)")
        #expect(String(decoding: client.output, as: UTF8.self) == "echoed \(connections * rounds * size)\n")
        #expect(client.complaints == "")
        #expect(eventually { server.count == 0 })
        #expect(engine.snapshot().counters.received == UInt64(connections * rounds * size))
        #expect(eventually { client.hasEnded })
        // The line to the client, and what it complained to, are still open.
        #expect(eventually { openDescriptors() == before.0 + 2 }, "\(openDescriptors()), \(before.0) before")
        print(
            "scale: \(connections) connections stood after \(connected), all echoed \(rounds) times and closed after",
            "\(seconds(since: start)); \(perConnection) bytes each")
        fflush(nil)
    }

    /// Opens all connections, then sends random bytes on each and compares what comes back, round after round.
    private static let manyClients = """
        import random, resource, select, socket, sys
        port, connections, rounds, size = map(int, sys.argv[1:])
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        source = random.Random(1)
        poll = select.epoll()
        sockets = {}
        for _ in range(connections):
            client = socket.create_connection(("127.0.0.1", port), 30)
            client.setblocking(False)
            poll.register(client, select.EPOLLIN)
            sockets[client.fileno()] = client
        sys.stdin.readline()
        echoed = 0
        for _ in range(rounds):
            missing = {number: source.randbytes(size) for number in sockets}
            for number, message in missing.items():
                if sockets[number].send(message) != size:
                    sys.exit("a short send")
            while missing:
                events = poll.poll(30)
                if not events:
                    sys.exit(f"{len(missing)} connections got no echo")
                for number, _ in events:
                    got = sockets[number].recv(65536)
                    rest = missing.get(number, b"")
                    if not got or not rest.startswith(got):
                        sys.exit(f"{got} in place of {rest}")
                    echoed += len(got)
                    missing[number] = rest[len(got):]
                    if not missing[number]:
                        del missing[number]
        print("echoed", echoed, flush=True)
        """
}
