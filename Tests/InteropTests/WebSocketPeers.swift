import Glibc
import SocketKit
import SocketTestSupport
import Testing

/// WebSocket programs of others, as servers that send back each message and as clients that check that ours does.
enum WebSocketPeer: String, CaseIterable, CustomTestStringConvertible {
    case websockets, aiohttp, node

    var testDescription: String { rawValue }

    /// How to run its interpreter; nil: it, or its library, is missing.
    private static func interpreter(_ peer: WebSocketPeer) -> [String]? {
        switch peer {
        case .websockets, .aiohttp:
            ["/usr/bin/python3", "python3"].first { runs([$0, "-c", "import \(peer.rawValue)"]) }.map { [$0] }
        case .node:
            [["node"], ["env", "NODE_PATH=/usr/share/nodejs", "node"]].first { runs($0 + ["-e", "require('ws')"]) }
        }
    }

    private static func runs(_ words: [String]) -> Bool { (try? ChildProcess.run(words))?.status == 0 }

    private static let interpreters = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { peer in interpreter(peer).map { (peer, $0) } })

    /// Those that are here.
    static let available = allCases.filter { interpreters[$0] != nil }
    /// Why some are not; empty: all are. With REQUIRE_PEERS=1 that is a failure.
    static let missing = allCases.filter { interpreters[$0] == nil }

    private func words(_ script: String, _ folder: TemporaryFolder, _ arguments: [String]) -> [String] {
        let name = self == .node ? "script.js" : "script.py"
        folder.write(script, to: name)
        return (Self.interpreters[self] ?? []) + [folder.path + "/" + name] + arguments
    }

    /// Starts its server.
    func serve() throws -> (peer: Peer, port: UInt16) {
        let folder = try TemporaryFolder()
        return try Peer.server(keeping: folder) { words(server, folder, ["\($0)"]) }
    }

    /// Runs its client against this port to its end; it says `ok` when all was as it should be.
    func call(_ port: UInt16) throws -> ChildProcess.Outcome {
        let folder = try TemporaryFolder()
        return try ChildProcess.run(words(client, folder, ["\(port)"]))
    }

    private var server: String {
        switch self {
        case .websockets:
            """
            import asyncio, sys, websockets
            async def echo(ws, *_):
                async for message in ws:
                    await ws.send(message)
            async def main():
                async with websockets.serve(echo, "127.0.0.1", int(sys.argv[1]), max_size=None, subprotocols=["chat"]):
                    await asyncio.Future()
            asyncio.run(main())
            """
        case .aiohttp:
            """
            import sys
            from aiohttp import web, WSMsgType
            async def echo(request):
                ws = web.WebSocketResponse(max_msg_size=0, protocols=["chat"])
                await ws.prepare(request)
                async for message in ws:
                    if message.type == WSMsgType.TEXT: await ws.send_str(message.data)
                    elif message.type == WSMsgType.BINARY: await ws.send_bytes(message.data)
                return ws
            app = web.Application()
            app.router.add_get("/{rest:.*}", echo)
            web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)
            """
        case .node:
            """
            const { WebSocketServer } = require('ws');
            const server = new WebSocketServer({ host: '127.0.0.1', port: +process.argv[2], maxPayload: 1 << 30,
                perMessageDeflate: true, handleProtocols: () => 'chat' });
            server.on('connection', ws => ws.on('message', (data, isBinary) => ws.send(data, { binary: isBinary })));
            """
        }
    }

    private var client: String {
        switch self {
        case .websockets:
            """
            import asyncio, sys, websockets
            async def main():
                async with websockets.connect(f"ws://127.0.0.1:{sys.argv[1]}/", max_size=None, subprotocols=["chat"]) as ws:
                    assert ws.subprotocol == "chat"
                    for size in (0, 1, 125, 126, 65535, 65536, 1000000):
                        for message in ("\\u00e4" * size, bytes(size)):
                            await ws.send(message)
                            assert await ws.recv() == message
                    await asyncio.wait_for(await ws.ping(b"there?"), 10)
                    await ws.send(["frag", "men", "ted"])
                    assert await ws.recv() == "fragmented"
                    await ws.close(4000, "done")
                    assert ws.close_code == 4000, ws.close_code
                print("ok")
            asyncio.run(main())
            """
        case .aiohttp:
            """
            import asyncio, sys, aiohttp
            async def main():
                async with aiohttp.ClientSession() as session:
                    ws = await session.ws_connect(f"ws://127.0.0.1:{sys.argv[1]}/", protocols=["chat"], max_msg_size=0,
                        compress=15)
                    assert ws.protocol == "chat"
                    for size in (0, 1, 125, 126, 65535, 65536, 1000000):
                        await ws.send_str("\\u00e4" * size)
                        assert (await ws.receive()).data == "\\u00e4" * size
                        await ws.send_bytes(bytes(size))
                        assert (await ws.receive()).data == bytes(size)
                    await ws.ping(b"there?")
                    await ws.close(code=4000, message=b"done")
                    assert ws.close_code == 4000, ws.close_code
                print("ok")
            asyncio.run(main())
            """
        case .node:
            """
            const { WebSocket } = require('ws');
            const ws = new WebSocket(`ws://127.0.0.1:${process.argv[2]}/`, ['chat'], { perMessageDeflate: true });
            const queue = [0, 1, 125, 126, 65535, 65536, 1000000].flatMap(n => ['\\u00e4'.repeat(n), Buffer.alloc(n)]);
            const fail = why => { console.log(why); process.exit(1); };
            const next = () => queue.length ? ws.send(queue[0]) : ws.ping('there?');
            ws.on('open', () => ws.protocol == 'chat' ? next() : fail('protocol ' + ws.protocol));
            ws.on('message', (data, isBinary) => {
                const sent = queue.shift();
                if (isBinary != (typeof sent != 'string') || !data.equals(Buffer.from(sent))) fail('another message');
                next();
            });
            ws.on('pong', data => data == 'there?' ? ws.close(4000, 'done') : fail('pong ' + data));
            ws.on('close', code => code == 4000 ? console.log('ok') : fail('closed ' + code));
            """
        }
    }
}
