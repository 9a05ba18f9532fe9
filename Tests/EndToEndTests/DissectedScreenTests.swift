import Glibc
import SocketTestSupport
import Testing

/// What tshark says of a connection, on the screen, and when its process ends.
@Suite(
    "Dissected screens", .enabled(if: Tmux.isUsable && Peer.isUsable("tshark", "python3"), "tmux or tshark is missing"),
    .timeLimit(.minutes(10)))
struct DissectedScreenTests {
    /// The children of a process by that name, dead ones that nobody has waited for included.
    private static func children(of parent: pid_t, named name: String) throws -> [pid_t] {
        let listed = try ChildProcess.run(["ps", "-eo", "pid=,ppid=,comm="]).output
        return listed.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count > 2, words[1] == "\(parent)", words[2].hasPrefix(name) else { return nil }
            return pid_t(words[0])
        }
    }

    private static func exists(_ process: pid_t) -> Bool { access("/proc/\(process)", F_OK) == 0 }

    @Test("a redis conversation, live; its process ends with the view", .enabled(if: Peer.isUsable("redis-server")))
    func redis() throws {
        let redis = try Peer.redis()
        let inspection = try Inspection("connect 127.0.0.1:\(redis.port)", width: 120, height: 35)
        try inspection.wait(for: "tag 1")
        try inspection.send("SET key value")
        try inspection.wait(for: "+OK")
        try inspection.tmux.keys("Escape")
        try inspection.wait(for: "w writes here")
        try inspection.send(":decode-as tcp.port==\(redis.port),resp")
        try inspection.send(":view dissected")
        try inspection.wait(for: "RESP  ")
        let first = try Self.children(of: inspection.process, named: "tshark")
        #expect(first.count == 1)
        // Live, by the same process.
        try inspection.tmux.keys("w")
        try inspection.send("GET nothing")
        #expect(try eventually { try inspection.rows().count { $0.contains("RESP  ") } >= 3 })
        #expect(try Self.children(of: inspection.process, named: "tshark") == first)
        try inspection.tmux.keys("Escape")
        try inspection.wait(for: "w writes here")
        try inspection.tmux.keys("Enter")
        try inspection.wait(for: "REdis Serialization Protocol")
        try inspection.send(":view auto")
        #expect(try eventually { try Self.children(of: inspection.process, named: "tshark").isEmpty })
    }

    @Test("an HTTP conversation of an opened file; tshark ends by itself, since the connection has")
    func http() throws {
        let server = try Peer.server { ["python3", "-m", "http.server", "-b", "127.0.0.1", "\($0)"] }
        let file = try Program.folder() + "/r.pcapng"
        let recorded = try ChildProcess.run([
            Program.path, "connect", "127.0.0.1:\(server.port)", "--send", #"GET /nothing HTTP/1.0\r\n\r\n"#,
            "--json", "--record", file,
        ])
        #expect(recorded.status == 0, "\(recorded)")
        let inspection = try Inspection("open \(file)", width: 120, height: 60)
        try inspection.wait(for: "#1")
        try inspection.tmux.keys("Enter")
        // The server's port may be one that tshark takes for another protocol's.
        try inspection.send(":decode-as tcp.port==\(server.port),http")
        try inspection.send(":view dissected")
        try inspection.wait(for: "HTTP  GET /nothing HTTP/1.0")
        try inspection.wait(for: "404 File not found")
        #expect(try eventually { try Self.children(of: inspection.process, named: "tshark").isEmpty })
        try inspection.tmux.keys("Enter")
        try inspection.wait(for: "Hypertext Transfer Protocol")
        #expect(try eventually { try Self.children(of: inspection.process, named: "tshark").isEmpty })
    }

    @Test("tshark ends when the program is killed", arguments: [SIGTERM, SIGKILL])
    func killed(_ signal: Int32) throws {
        let (echo, port) = try Peer.server { ["socat", "TCP-LISTEN:\($0),bind=127.0.0.1", "PIPE"] }
        let inspection = try Inspection("connect 127.0.0.1:\(port) --send hello", width: 100, height: 30)
        try inspection.wait(for: "hello")
        try inspection.tmux.keys("Escape")
        try inspection.wait(for: "w writes here")
        try inspection.send(":view dissected")
        try inspection.wait(for: "TCP  ")
        let dissector = try #require(try Self.children(of: inspection.process, named: "tshark").first)
        kill(inspection.process, signal)
        #expect(eventually { !Self.exists(dissector) })
        _ = echo
    }

    @Test("with --secure no program is started, and the view says why")
    func secure() throws {
        let (echo, port) = try Peer.server { ["socat", "TCP-LISTEN:\($0),bind=127.0.0.1", "PIPE"] }
        let inspection = try Inspection("--secure connect 127.0.0.1:\(port) --send hello", width: 100, height: 30)
        try inspection.wait(for: "hello")
        try inspection.tmux.keys("Escape")
        try inspection.wait(for: "w writes here")
        try inspection.send(":view dissected")
        try inspection.wait(for: "tshark is not started under sudo or with --secure")
        #expect(try Self.children(of: inspection.process, named: "tshark").isEmpty)
        _ = echo
    }
}
