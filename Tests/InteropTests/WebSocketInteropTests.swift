import SocketKit
import SocketTestSupport
import Testing

/// WebSockets with programs of others, with compression, in both roles.
@Suite(.timeLimit(.minutes(10))) struct WebSocketInteropTests {
    private static let sizes = [0, 1, 125, 126, 65_535, 65_536, 1_000_000]

    @Test("every peer is here", .enabled(if: Peer.areRequired)) func peers() {
        #expect(WebSocketPeer.missing.isEmpty)
    }

    @Test("our client, their server", arguments: WebSocketPeer.available)
    func client(peer: WebSocketPeer) async throws {
        let server = try peer.serve()
        defer { server.peer.kill() }
        try await converse(port: server.port)
    }

    @Test("our server, their client", arguments: WebSocketPeer.available)
    func server(peer: WebSocketPeer) throws {
        let recorder = WebSocketRecorder.echo()
        let listener = try listen(recorder)
        let outcome = try peer.call(listener.localAddress?.port ?? 0)
        #expect(outcome.output == "ok\n", "\(outcome.output) \(outcome.errors)")
        #expect(eventually { recorder.endings == 1 })
        #expect(recorder.report?.received == WebSocketCloseFrame(code: .init(rawValue: 4_000), reason: "done"))
        #expect(recorder.report?.wasClean == true)
        #expect(recorder.agreement?.extensions.first?.hasPrefix("permessage-deflate") == true)
    }

    @Test("through nginx as a reverse proxy", .enabled(if: Peer.isUsable("nginx"), "nginx is missing"))
    func nginx() async throws {
        let recorder = WebSocketRecorder.echo()
        let listener = try listen(recorder)
        let folder = try TemporaryFolder()
        let nginx = try Peer.server(keeping: folder) { port in
            folder.write(Self.nginxConfiguration(port, to: listener.localAddress?.port ?? 0), to: "nginx.conf")
            return ["nginx", "-e", "stderr", "-p", folder.path, "-c", "nginx.conf"]
        }
        defer { nginx.peer.kill() }
        try await converse(port: nginx.port)
        #expect(recorder.agreement?.request.values(of: "x-seen-by") == ["nginx"])
    }

    private func listen(_ recorder: WebSocketRecorder) throws -> WebSocketListener {
        var configuration = WebSocketConfiguration()
        configuration.subprotocols = ["chat"]
        let listener = WebSocketListener(engine: SocketEngine(), delegate: recorder, configuration: configuration)
        try listener.listen(on: .tcp(host: "127.0.0.1", port: 0))
        return listener
    }

    /// All sizes of both types, a ping, and an orderly end.
    private func converse(port: UInt16) async throws {
        var configuration = WebSocketConfiguration()
        configuration.opening.subprotocols = ["chat"]
        configuration.opening.requiresSubprotocol = true
        let webSocket = try await WebSocket.connect(
            to: "ws://127.0.0.1:\(port)/", on: SocketEngine(), configuration: configuration)
        #expect(webSocket.subprotocol == "chat")
        #expect(webSocket.agreement?.extensions.first?.hasPrefix("permessage-deflate") == true)
        var messages = webSocket.messages.makeAsyncIterator()
        for size in Self.sizes {
            for message in [
                WebSocketMessage.text(String(repeating: "ä", count: size)), .binary([UInt8](repeating: 7, count: size)),
            ] {
                try await webSocket.send(message)
                #expect(try await messages.next() == message)
            }
        }
        #expect(try await webSocket.ping() > .zero)
        let report = await webSocket.close(.normal, reason: "done")
        #expect(report?.wasClean == true)
        #expect(report?.code == .normal)
    }

    private static func nginxConfiguration(_ port: UInt16, to target: UInt16) -> String {
        """
        daemon off; master_process off; pid pid;
        events {}
        http {
            access_log off;
            \(["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path temp;" }.joined(separator: " "))
            server {
                listen 127.0.0.1:\(port);
                location / {
                    proxy_pass http://127.0.0.1:\(target);
                    proxy_http_version 1.1;
                    proxy_set_header Upgrade $http_upgrade;
                    proxy_set_header Connection upgrade;
                    proxy_set_header X-Seen-By nginx;
                    proxy_buffering off;
                    # A test that waits its turn is silent for longer than nginx allows by itself.
                    proxy_read_timeout 5m;
                    proxy_send_timeout 5m;
                }
            }
        }
        """
    }
}
