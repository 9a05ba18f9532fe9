import InspectorCore
import SocketKit
import SocketTestSupport
import Testing

@testable import InspectorShell
@testable import SockTUI

/// Other programs that talk through a relay of ours.
@Suite("Programs through the relay", .timeLimit(.minutes(10)))
struct RelayedProgramsTests {
    /// A relay on a free port.
    private final class Through {
        let engine: SocketEngine
        let relay: Relay
        let port: UInt16

        convenience init(to port: UInt16) throws {
            try self.init(.endpoint(.tcp(host: "127.0.0.1", port: port)))
        }

        convenience init(_ target: RelayRequest.Target) throws {
            try self.init(RelayRequest(listen: .tcp(host: "127.0.0.1", port: 0), target: target))
        }

        init(_ request: RelayRequest) throws {
            var configuration = EngineConfiguration()
            configuration.capturesTraffic = true
            engine = SocketEngine(configuration)
            relay = Relay(engine: engine, request: request)
            try relay.start()
            let listener = engine.snapshot().sockets.first { $0.role == .listener }
            self.port = try #require(listener?.local?.port)
        }
    }

    private static func nginx(serving folder: TemporaryFolder) throws -> (peer: Peer, port: UInt16) {
        try Peer.server(keeping: folder) { port in
            let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            folder.write(
                """
                daemon off; master_process off; pid pid; user root;
                events {}
                http {
                    access_log off; sendfile on;
                    \(places.map { "\($0)_temp_path temp;" }.joined(separator: " "))
                    server { listen 127.0.0.1:\(port); root .; }
                }
                """, to: "nginx.conf")
            return ["nginx", "-e", "stderr", "-p", folder.path, "-c", "nginx.conf"]
        }
    }

    @Test("redis-benchmark gets all its answers", .enabled(if: Peer.isUsable("redis-server", "redis-benchmark")))
    func redis() throws {
        let redis = try Peer.redis()
        let through = try Through(to: redis.port)
        let outcome = try ChildProcess.run(
            [
                "redis-benchmark", "-p", "\(through.port)", "-n", "2000", "-c", "20", "-P", "4", "-d", "3000", "-t",
                "set,get", "--csv",
            ])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("\"SET\"") && outcome.output.contains("\"GET\""), "\(outcome)")
        #expect(eventually { through.engine.snapshot().sockets.allSatisfy { $0.phase != .connected } })
    }

    @Test(
        "a download with a slow reader comes byte for byte, and only so much of it waits here",
        .enabled(if: Peer.isUsable("nginx", "python3")))
    func slowDownload() throws {
        let folder = try TemporaryFolder()
        let made = try ChildProcess.run(
            ["sh", "-c", "head -c 33554432 /dev/urandom > '\(folder.path)/big'; sha256sum < '\(folder.path)/big'"])
        let nginx = try Self.nginx(serving: folder)
        let through = try Through(to: nginx.port)
        let reader = """
            import hashlib, select, socket, sys
            s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
            s.sendall(b'GET /big HTTP/1.0\\r\\n\\r\\n')
            f = s.makefile('rb')
            while f.readline() not in (b'\\r\\n', b''): pass
            h = hashlib.sha256()
            sys.stdin.readline()
            while True:
                piece = f.read(1 << 20)
                if not piece: break
                h.update(piece); select.select([], [], [], 0.02)
            print(h.hexdigest() + '  -')
            """
        let peer = try Peer(["python3", "-c", reader, "\(through.port)"])
        var most = 0
        func look() { most = max(most, through.engine.snapshot().sockets.map(\.writing.pendingBytes).max() ?? 0) }
        // The kernel's buffers fill first, and then the relay's queue, however slow the relay is.
        #expect(
            eventually {
                look()
                return most > 0
            })
        try peer.write("\n")
        #expect(
            eventually(within: .seconds(300)) {
                look()
                return peer.hasEnded
            })
        #expect(String(decoding: peer.output, as: UTF8.self) == made.output)
        #expect(most <= Relay.highWatermark + (17 << 16))
    }

    @Test("a WebSocket is echoed", .enabled(if: Self.python != nil, "python's websockets is missing"))
    func webSocket() throws {
        let server = """
            import asyncio, sys, websockets
            async def echo(ws):
                async for message in ws: await ws.send(message)
            async def main():
                async with websockets.serve(echo, '127.0.0.1', int(sys.argv[1])): await asyncio.Future()
            asyncio.run(main())
            """
        let client = """
            import asyncio, sys, websockets
            async def main():
                async with websockets.connect('ws://127.0.0.1:' + sys.argv[1]) as ws:
                    for size in (0, 1, 125, 126, 65535, 65536, 900000):
                        await ws.send(b'x' * size)
                        assert await ws.recv() == b'x' * size
                    print('echoed')
            asyncio.run(main())
            """
        let python = try #require(Self.python)
        let peer = try Peer.server { [python, "-c", server, "\($0)"] }
        let through = try Through(to: peer.port)
        let outcome = try ChildProcess.run([python, "-c", client, "\(through.port)"])
        #expect(outcome.output == "echoed\n", "\(outcome.errors)")
    }

    /// One that has the library; the system's own comes first.
    private static let python = ["/usr/bin/python3", "python3"].first {
        (try? ChildProcess.run([$0, "-c", "import websockets"]))?.status == 0
    }

    @Test(
        "curl goes through by SOCKS 5, by name and by address, and by CONNECT",
        .enabled(if: Peer.isUsable("nginx", "curl")))
    func proxies() throws {
        let folder = try TemporaryFolder()
        folder.write("through\n", to: "page")
        let nginx = try Self.nginx(serving: folder)
        let socks = try Through(.proxy(.socks5))
        let http = try Through(.proxy(.http))
        for (proxy, host) in [
            ("socks5h://127.0.0.1:\(socks.port)", "localhost"), ("socks5://127.0.0.1:\(socks.port)", "127.0.0.1"),
            ("http://127.0.0.1:\(http.port)", "127.0.0.1"),
        ] {
            let outcome = try ChildProcess.run(
                [
                    "curl", "-sS", "--noproxy", "", "--proxytunnel", "--proxy", proxy,
                    "http://\(host):\(nginx.port)/page",
                ])
            #expect(outcome.output == "through\n", "\(proxy): \(outcome.errors)")
        }
        let refused = try ChildProcess.run(
            ["curl", "-sS", "--noproxy", "", "--proxy", "socks5h://127.0.0.1:\(socks.port)", "http://127.0.0.1:1/"])
        #expect(refused.status == 97)
    }

    @Test(
        "curl speaks TLS with the relay, and the relay with openssl's server; each half is checked by itself",
        .enabled(if: Peer.isUsable("openssl", "curl") && Certificates.problem == nil))
    func secured() throws {
        let (openssl, port) = try Peer.server {
            [
                "openssl", "s_server", "-accept", "127.0.0.1:\($0)", "-cert", Certificates.path("server.crt"), "-key",
                Certificates.path("server.key"), "-www",
            ]
        }
        var choices = TLSChoices()
        choices.certificate = Certificates.path("server.pem")
        choices.authority = Certificates.path("ca.crt")
        let through = try Through(RelayRequest.parse("tls://127.0.0.1:0", to: "tls://localhost:\(port)", choices))
        let words = ["curl", "-sS", "--noproxy", "*", "https://localhost:\(through.port)/"]
        let outcome = try ChildProcess.run(words + ["--cacert", Certificates.path("ca.crt")])
        #expect(outcome.output.contains("Ciphers supported in s_server binary"), "\(outcome.errors)")
        let legs = through.engine.snapshot().sockets.filter { $0.linked != nil }
        #expect(legs.map { $0.tls?.version } == ["TLSv1.3", "TLSv1.3"])
        #expect(legs.compactMap { $0.tls?.serverName } == ["localhost", "localhost"])
        let refused = try ChildProcess.run(words + ["--cacert", Certificates.path("other.crt")])
        #expect(refused.status == 60, "curl does not trust the relay: \(refused.errors)")
        withExtendedLifetime(openssl) {}
    }

    @Test("half-closes pass both ways, with socat on either side", .enabled(if: Peer.isUsable("socat")))
    func halfCloses() throws {
        let (server, port) = try Peer.server {
            ["socat", "-d", "-d", "-t", "30", "-", "TCP4-LISTEN:\($0),bind=127.0.0.1,reuseaddr"]
        }
        let through = try Through(to: port)
        let client = try Peer(["socat", "-d", "-d", "-t", "30", "-", "TCP4:127.0.0.1:\(through.port)"])
        try client.write("all that I say")
        client.endInput()
        #expect(eventually { server.output == Array("all that I say".utf8) && server.complaints.contains("is at EOF") })
        #expect(!client.hasEnded)
        try server.write("and my answer")
        server.endInput()
        #expect(eventually { client.output == Array("and my answer".utf8) })
        #expect(eventually { client.hasEnded && server.hasEnded })
    }
}
