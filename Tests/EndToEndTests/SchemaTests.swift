import Glibc
import SocketTestSupport
import Testing

/// What is written in every kind of run is what `docs/socktui.schema.json` and `docs/json.md` say.
@Suite("The documented form of --json", .timeLimit(.minutes(10)))
struct SchemaTests {
    private static let checker =
        #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/docs/check-json.py"

    /// The interpreter that has the validator; nil: none has.
    private static let python = ["python3", "/usr/bin/python3"].first { name in
        (try? ChildProcess.run([name, "-c", "import jsonschema"]).status) == 0
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func start(_ arguments: String...) throws -> Peer {
        try Peer(
            ["env", "XDG_RUNTIME_DIR=\(folder.path)", "SOCKETKIT_INSPECT=watch", Program.path] + arguments + ["--json"]
                + (arguments[0] == "attach" ? [] : ["--payload", "4"]))
    }

    /// Writes what a run has printed to a file, and gives the path.
    private func keep(_ peer: Peer, _ index: Int) throws -> String {
        let path = "\(folder.path)/\(index).json"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let bytes = peer.output
        try #require(write(descriptor, bytes, bytes.count) == bytes.count)
        return path
    }

    @Test(
        "every name that is written is in the schema, and every name of the schema is in the page",
        .enabled(if: Peer.areRequired || python != nil, "python3-jsonschema is missing"))
    func schema() throws {
        let ports = try (0..<5).map { _ in try Peer.freePort() }
        let certificate = Certificates.path("server.pem")
        let listeners = [
            try start("listen", "tls://127.0.0.1:\(ports[0])", "--cert", certificate),
            try start("listen", "udp://127.0.0.1:\(ports[1])"), try start("listen", "ws://127.0.0.1:\(ports[2])/"),
            try start("listen", "unix:\(folder.path)/u"),
            try start("listen", "127.0.0.1:\(ports[3])", "--no-read"),
            try start("relay", "127.0.0.1:\(ports[4])", "127.0.0.1:\(ports[3])"),
        ]
        #expect(eventually { listeners.allSatisfy { $0.text.contains("\"role\":\"") } })
        let clients = [
            try start("connect", "tls://127.0.0.1:\(ports[0])", "--insecure", "--send", "hello\\r\\n"),
            try start("connect", "udp://127.0.0.1:\(ports[1])", "--send", "x"),
            try start("connect", "ws://127.0.0.1:\(ports[2])/", "--send", "hi"),
            try start("connect", "unix:\(folder.path)/u", "--send", "x"),
            try start("connect", "127.0.0.1:\(ports[4])", "--send", "abc"),
            try start("connect", "127.0.0.1:\(try Peer.freePort())"),
        ]
        let viewer = try start("attach", "\(listeners[4].process)")
        let all = [viewer] + clients + listeners
        // All are read from meanwhile: one that cannot write has no last line when the signal comes.
        func isTold(_ text: String) -> Bool { all.map(\.text)[0].contains(text) }
        #expect(eventually { isTold("\"role\":\"accepted\"") })
        #expect(eventually { isTold("\"lint\":\"read-starved\"") })
        for peer in all where !peer.hasEnded { kill(peer.process, SIGINT) }
        #expect(eventually { all.map { $0.text.contains("\"type\":\"end\"") }.allSatisfy { $0 } })
        let files = try all.enumerated().map { try keep($1, $0) }
        let outcome = try ChildProcess.run([Self.python ?? "python3", Self.checker] + files)
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        let seen = Set(outcome.output.split { $0 == " " || $0 == "\n" }.map(String.init))
        let wanted = [
            "hello", "program", "event", "socket", "payload", "warning", "engine", "end", "kernel", "tls", "datagrams",
            "websocket", "watermarks", "closed", "peer_end",
        ]
        #expect(seen.isSuperset(of: wanted), "\(outcome.output)")
        let accepted = try Report(viewer.text).lines("socket").filter { $0["role"].string == "accepted" }
        #expect(accepted.contains { $0["kernel"]["state"].string == "ESTAB" && $0["kernel"]["recv_q"].number == 3 })
    }

    @Test("after SIGINT the last lines say how each connection ended, close_notify counted")
    func farewell() throws {
        let port = try Peer.freePort()
        let listener = try start(
            "listen", "tls://127.0.0.1:\(port)", "--cert", Certificates.path("server.pem"))
        try #require(eventually { listener.text.contains("\"phase\":\"listening\"") })
        let client = try start("connect", "tls://127.0.0.1:\(port)", "--insecure")
        try #require(eventually { client.text.contains("\"phase\":\"secure\"") })
        kill(client.process, SIGINT)
        try #require(eventually { client.text.contains("\"type\":\"end\"") })
        let report = try Report(client.text)
        let row = try #require(report.sockets.first)
        #expect(row["closed"]["reason"].string == "local_close")
        #expect(row["tls"]["close_notify_sent"] == .bool(true))
        #expect(report.lines.last?["closed"] == .number(1))
    }
}
