import Glibc
import SocketTestSupport
import Testing

/// Recordings of each kind of run, as tshark, tcpdump and capinfos read them.
@Suite("Recorded runs", .timeLimit(.minutes(10)), .enabled(if: Peer.isUsable("tshark", "tcpdump", "python3", "socat")))
struct RecordedRunTests {
    @Test("the demo, which has both ends of its connections")
    func demo() throws {
        let run = try RecordedRun("demo")
        // On a busy machine the first connection closes before anything else has passed; tcpdump reads no file without packets.
        #expect(eventually { run.size > 10_000 })
        try run.end(afterClosing: 1)
        try run.expectReadable(resets: true)
        // Opened again, each socket has the addresses that it really has.
        let opened = try Program.run("open", run.file, "--once", "--json")
        #expect(opened.status == 0 && opened.output.contains("127.0.0.1:") && !opened.output.contains("127.128."))
        #expect(!opened.output.contains(#""type":"lost""#), "its events are all in the file")
    }

    @Test("a relayed redis conversation", .enabled(if: Peer.isUsable("redis-server", "redis-cli")))
    func redis() throws {
        let redis = try Peer.redis()
        let run = try RecordedRun(relayingTo: redis.port)
        _ = try ChildProcess.run(["redis-cli", "-p", "\(run.port)", "SET", "key", "value"])
        try run.end(afterClosing: 2)
        try run.expectReadable()
        for stream in 0...1 {
            let (client, server) = try run.followed(stream)
            #expect(client == Array("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n".utf8))
            #expect(server == Array("+OK\r\n".utf8))
        }
        let named = try run.tshark("-d", "tcp.port==\(run.port),resp", "-Y", "resp")
        #expect(named.contains("SET key value") && named.contains("OK"), "\(named)")
    }

    @Test("WebSockets with compression through a relay", .enabled(if: python != nil || Peer.areRequired))
    func webSockets() throws {
        let server = """
            import asyncio, sys, websockets
            async def echo(ws, *_):
                async for message in ws: await ws.send(message)
            async def main():
                async with websockets.serve(echo, "127.0.0.1", int(sys.argv[1])): await asyncio.Future()
            asyncio.run(main())
            """
        let client = """
            import asyncio, sys, websockets
            async def main():
                async with websockets.connect(f"ws://127.0.0.1:{sys.argv[1]}/room") as ws:
                    await ws.send("compressed " * 50)
                    await ws.recv()
            asyncio.run(main())
            """
        let python = python ?? "python3"
        let peer = try Peer.server { [python, "-c", server, "\($0)"] }
        let run = try RecordedRun(relayingTo: peer.port)
        let ended = try ChildProcess.run([python, "-c", client, "\(run.port)"])
        #expect(ended.status == 0, "\(ended)")
        try run.end(afterClosing: 2)
        try run.expectReadable()
        let ports = ["-d", "tcp.port==\(run.port),http"]
        let named = try run.tshark(ports[0], ports[1], "-Y", "http || websocket", "-V")
        for text in ["GET /room HTTP/1.1", "permessage-deflate", "compressed compressed", "Connection Close"] {
            #expect(named.contains(text), "\(text)")
        }
    }

    @Test("TLS, as plaintext", .enabled(if: Peer.isUsable("openssl") && Certificates.problem == nil))
    func secure() throws {
        let openssl = try Peer.server { port in
            [
                "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert", Certificates.path("server.crt"),
                "-key", Certificates.path("server.key"), "-www",
            ]
        }
        let run = try RecordedRun(
            "connect", "tls://localhost:\(openssl.port)", "--ca", Certificates.path("ca.crt"), "--send",
            #"GET / HTTP/1.0\r\n\r\n"#)
        try run.end(afterClosing: 1)
        try run.expectReadable()
        let named = try run.tshark("-d", "tcp.port==\(openssl.port),http", "-Y", "http")
        #expect(named.contains("GET / HTTP/1.0") && named.contains("HTTP/1.0 200 ok"), "\(named)")
        #expect(named.contains("127.128.0.1"), "plaintext has an address of its own\n\(named)")
    }

    @Test(
        "TLS with the secrets that --keylog asks for",
        .enabled(if: Peer.isUsable("openssl") && Certificates.problem == nil))
    func secrets() throws {
        let openssl = try Peer.server { port in
            [
                "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert", Certificates.path("server.crt"),
                "-key", Certificates.path("server.key"), "-www",
            ]
        }
        let run = try RecordedRun(
            "connect", "tls://localhost:\(openssl.port)", "--ca", Certificates.path("ca.crt"), "--send",
            #"GET / HTTP/1.0\r\n\r\n"#, "--keylog", try Program.folder() + "/keys")
        try run.end(afterClosing: 1)
        try run.expectReadable()
        let ports = (tls: "tcp.port==\(openssl.port),tls", http: "tls.port==\(openssl.port),http")
        let named = try run.tshark("-d", ports.tls, "-d", ports.http, "-Y", "ip.addr==127.0.0.1 && (tls || http)")
        for text in ["Client Hello", "Server Hello", "GET / HTTP/1.0", "Close Notify"] {
            #expect(named.contains(text), "\(text)\n\(named)")
        }
        let followed = try run.tshark("-d", ports.tls, "-q", "-z", "follow,tls,ascii,0")
        #expect(followed.contains("GET / HTTP/1.0") && followed.contains("HTTP/1.0 200 ok"), "\(followed)")
        let plain = try run.tshark("-d", "tcp.port==\(openssl.port),http", "-Y", "ip.addr==127.128.0.1 && http")
        #expect(plain.contains("GET / HTTP/1.0") && plain.contains("200 ok"), "\(plain)")
    }

    @Test("Unix-domain sockets")
    func unix() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/s"
        let peer = try Peer(["socat", "-d", "-d", "UNIX-LISTEN:\(path)", "PIPE"])
        try #require(eventually { peer.complaints.contains("listening on") })
        let run = try RecordedRun("connect", "unix:\(path)", "--send", "hello", "--expect", "hello")
        try #require(eventually { run.program.hasEnded })
        try run.expectReadable()
        #expect(try run.followed(0) == (Array("hello".utf8), Array("hello".utf8)))
        let facts = try ChildProcess.run(["capinfos", run.file])
        #expect(facts.output.contains("Description = client unix:\(path)"), "\(facts)")
        _ = peer
    }

    @Test("datagrams")
    func datagrams() throws {
        let port = try Peer.freePort()
        let peer = try Peer(["socat", "UDP-RECVFROM:\(port),bind=127.0.0.1", "PIPE"])
        try #require(eventually { ProcessFacts.isBound(port) })
        let run = try RecordedRun("connect", "udp://127.0.0.1:\(port)", "--send", "ping", "--expect", "ping")
        try #require(eventually { run.program.hasEnded })
        try run.expectReadable()
        let fields = try run.tshark("-T", "fields", "-e", "udp.dstport", "-e", "data")
        #expect(fields.split(separator: "\n").first == "\(port)\t70696e67", "\(fields)")
        #expect(fields.split(separator: "\n").last?.hasSuffix("\t70696e67") == true, "\(fields)")
        _ = peer
    }
}

/// Recordings that have no room.
@Suite("Recordings without room", .timeLimit(.minutes(10)), .enabled(if: Peer.isUsable("capinfos", "python3")))
struct RecordingRoomTests {
    /// Sends so many bytes, and then "done\n".
    private static func flood(_ size: Int) throws -> (peer: Peer, port: UInt16) {
        let server = """
            import socket, sys
            s = socket.create_server(('127.0.0.1', int(sys.argv[1])))
            while True:
                c, _ = s.accept(); c.sendall(b'x' * \(size) + b'done\\n'); c.recv(1); c.close()
            """
        return try Peer.server { ["python3", "-c", server, "\($0)"] }
    }

    @Test("a limit keeps the latest, in two files that are each complete")
    func ring() throws {
        let flood = try Self.flood(3_000_000)
        let run = try RecordedRun(
            "connect", "127.0.0.1:\(flood.port)", "--expect", "done", "--record-limit", "2M", "--keep", "64K")
        try #require(eventually { run.program.hasEnded })
        for file in [run.file, run.file + ".1"] {
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_size < 1_600_000, "\(status.st_size)")
            for words in [["capinfos", file], [Program.path, "open", file, "--once"]] {
                let outcome = try ChildProcess.run(words)
                #expect(outcome.status == 0 && !outcome.output.isEmpty, "\(outcome)")
            }
        }
        let last = try run.tshark("-T", "fields", "-e", "tcp.payload")
        #expect(last.contains("646f6e650a"), "the latest bytes are in the current file")
    }

    @Test("a reader that takes nothing holds nothing up, and what it misses is counted")
    func stuckReader() throws {
        let flood = try Self.flood(30_000_000)
        let program = try Peer([
            Program.path, "connect", "127.0.0.1:\(flood.port)", "--expect", "done", "--record", "-", "--keep", "64K",
        ])
        try #require(eventually { program.hasEnded })
        #expect(program.complaints.contains("reads and writes are missing from the file"), "\(program.complaints)")
        #expect(program.exitStatus == 1)
    }

    @Test(
        "a full disk ends the recording with a sentence; the program goes on, and the file is whole",
        .enabled(if: (try? ChildProcess.run(["unshare", "-rm", "true"]))?.status == 0, "no mount namespaces"))
    func fullDisk() throws {
        let flood = try Self.flood(3_000_000)
        let folder = try Program.folder()
        let outcome = try ChildProcess.run([
            "unshare", "-rm", "sh", "-c",
            """
            mount -t tmpfs -o size=256k none \(folder) && cd \(folder) || exit 99
            "$0" connect 127.0.0.1:\(flood.port) --expect done --record r.pcapng; echo "ended $?"
            capinfos r.pcapng >/dev/null && "$0" open r.pcapng --once >/dev/null && echo whole
            """, Program.path,
        ])
        #expect(outcome.errors.contains("the recording ended: r.pcapng: No space left on device"), "\(outcome)")
        #expect(outcome.output.contains("ended 1") && outcome.output.contains("whole"), "\(outcome)")
        #expect(outcome.output.contains("closed"), "\(outcome)")
    }
}

/// Recording that begins and ends while the screen is there.
@Suite("Recording by command", .enabled(if: Tmux.isUsable, "tmux is missing"), .timeLimit(.minutes(10)))
struct RecordingCommandTests {
    @Test("record begins it, the header shows it, record off ends it", .enabled(if: Peer.isUsable("capinfos")))
    func command() throws {
        let folder = try TemporaryFolder()
        let inspection = try Inspection("demo")
        try inspection.wait(for: "LIVE")
        try inspection.send(":record \(folder.path)/r.pcapng")
        try inspection.wait(for: "REC ")
        try inspection.send(":record \(folder.path)/other")
        try inspection.wait(for: "is already being written")
        try inspection.send(":record off")
        try inspection.wait(for: "recorded ")
        #expect(try ChildProcess.run(["capinfos", folder.path + "/r.pcapng"]).status == 0)
        try inspection.send(":record \(folder.path)/r.pcapng")
        try inspection.wait(for: "it exists")
    }

    @Test("with --secure it is refused")
    func refused() throws {
        let folder = try TemporaryFolder()
        let inspection = try Inspection("demo --secure")
        try inspection.wait(for: "LIVE")
        try inspection.send(":record \(folder.path)/r.pcapng")
        try inspection.wait(for: "files and editors are off")
        #expect(folder.names.isEmpty)
    }
}
