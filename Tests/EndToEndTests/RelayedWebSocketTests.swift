import Glibc
import SocketTestSupport
import Testing

/// python's `websockets` on both ends, and the program between them.
@Suite(
    "A WebSocket of others, through the program",
    .enabled(if: python != nil || Peer.areRequired, "python's websockets is missing"), .timeLimit(.minutes(10)))
struct RelayedWebSocketTests {
    private static let server = """
        import asyncio, sys, websockets
        async def echo(ws, *_):
            async for message in ws: await ws.send(message)
        async def main():
            async with websockets.serve(echo, "127.0.0.1", int(sys.argv[1]), max_size=None, subprotocols=["chat"]):
                await asyncio.Future()
        asyncio.run(main())
        """

    /// What comes back is compared to the byte; then it waits for a line on stdin before it says Close.
    private static let client = """
        import asyncio, random, sys, websockets
        async def main():
            async with websockets.connect(f"ws://127.0.0.1:{sys.argv[1]}/room", max_size=None, subprotocols=["chat"]) as ws:
                noise = random.Random(7).randbytes(300000)
                for message in ("hello through the relay", "all work and no play " * 5000, noise):
                    await ws.send(message)
                    assert await ws.recv() == message
                await ws.send(["frag", "men", "ted"])
                assert await ws.recv() == "fragmented"
                await (await ws.ping(b"there?"))
                print("echoed", flush=True)
                await asyncio.to_thread(sys.stdin.readline)
                await ws.close(4000, "done")
                print("closed", ws.close_code, flush=True)
        asyncio.run(main())
        """

    private static func run(_ script: String, _ port: UInt16) -> [String] {
        [python ?? "python3", "-c", script, "\(port)"]
    }

    @Test("--json tells of both legs what was agreed on, what passed and who closed, and no byte is altered")
    func json() throws {
        let server = try Peer.server { Self.run(Self.server, $0) }
        let relay = try Peer.server {
            [Program.path, "relay", "127.0.0.1:\($0)", "127.0.0.1:\(server.port)", "--json"]
        }
        let client = try Peer(Self.run(Self.client, relay.port))
        try #require(eventually { client.text.contains("echoed") || client.hasEnded }, "\(client.complaints)")
        try client.write("\n")
        #expect(eventually { client.text.contains("closed 4000") }, "\(client.complaints)")
        func legs() throws -> [Value] {
            try Report(relay.peer.text).sockets.filter { $0["role"] != .string("listener") }
        }
        try #require(eventually { (try? legs().filter { $0["phase"] == .string("closed") }.count) == 2 })
        kill(relay.peer.process, SIGINT)
        #expect(eventually { relay.peer.hasEnded })
        for leg in try legs() {
            let facts = leg["websocket"]
            let isTarget = leg["role"] == .string("client")
            #expect(facts["role"] == .string(isTarget ? "client" : "server") && facts["stage"] == .string("closed"))
            #expect(facts["target"] == .string("/room") && facts["subprotocol"] == .string("chat"))
            #expect(facts["response"]["start_line"] == .string("HTTP/1.1 101 Switching Protocols"))
            #expect(facts["extensions"].array.first?.string?.hasPrefix("permessage-deflate") == true)
            #expect(facts["problem"] == .null && facts["observed"]["received_failure"] == .null)
            let client = facts[isTarget ? "sent" : "received"]
            let server = facts[isTarget ? "received" : "sent"]
            for counters in [client, server] {
                #expect(counters["messages"] == .number(4) && counters["compressed_messages"] == .number(4))
                #expect(counters["message_bytes"] == .number(23 + 105_000 + 300_000 + 10))
                #expect((counters["payload_bytes"].number ?? .infinity) < 310_000)
            }
            #expect(client["pings"] == .number(1) && server["pongs"] == .number(1))
            #expect(facts["close"]["initiated_by"] == .string(isTarget ? "local" : "peer"))
            #expect(facts["close"]["clean"] == .bool(true) && facts["close"]["code"] == .number(4000))
            #expect(facts["close"][isTarget ? "sent" : "received"]["reason"] == .string("done"))
        }
    }

    @Test("the screen shows its messages, its frames and its handshake", .enabled(if: Tmux.isUsable, "tmux is missing"))
    func screen() throws {
        let server = try Peer.server { Self.run(Self.server, $0) }
        let port = try Peer.freePort()
        let inspection = try Inspection(
            "relay 127.0.0.1:\(port) 127.0.0.1:\(server.port)", width: 100, height: 40)
        try inspection.wait(for: "waiting for connections")
        try inspection.send(":legs")
        let client = try Peer(Self.run(Self.client, port))
        try #require(eventually { client.text.contains("echoed") || client.hasEnded }, "\(client.complaints)")
        try inspection.wait(for: "4 messages")
        try inspection.send(":sort id")
        try inspection.tmux.keys("g", "j", "2")
        try inspection.wait(for: "text 10 B, 4 frames")
        try inspection.tmux.keys("3")
        try inspection.wait(for: "websocket open, relayed")
        try inspection.wait(for: "agreed permessage-deflate")
        try inspection.tmux.keys("1")
        try inspection.send("fws:compressed")
        try inspection.wait(for: "2 of 3")
        try client.write("\n")
        try inspection.wait(for: "client closed 4000")
    }
}

/// One that has the library; the system's own comes first.
let python = ["/usr/bin/python3", "python3"].first {
    (try? ChildProcess.run([$0, "-c", "import websockets"]))?.status == 0
}
