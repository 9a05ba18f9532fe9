import Glibc
import SocketTestSupport
import Testing

@Suite("The first minute", .enabled(if: Tmux.isUsable, "tmux is missing"), .timeLimit(.minutes(10)))
struct FirstMinuteTests {
    @Test(
        "a ping to redis is answered on the screen",
        .enabled(if: Peer.isUsable("redis-server"), "redis-server is missing"))
    func ping() throws {
        let redis = try Peer.redis()
        let inspection = try Inspection("connect 127.0.0.1:\(redis.port)")
        try inspection.wait(for: "Enter send")
        try inspection.send("PING")
        try inspection.wait(for: "+PONG")
        #expect(try inspection.tmux.text().contains("PING\n"))
    }

    @Test(
        "with --no-read the answer waits in the kernel until a read is queued by hand",
        .enabled(if: Peer.isUsable("redis-server", "ss"), "redis-server or ss is missing"))
    func noRead() throws {
        let redis = try Peer.redis()
        let inspection = try Inspection("connect 127.0.0.1:\(redis.port) --no-read")
        try inspection.wait(for: "Enter send")
        try inspection.send("PING")
        try inspection.wait(for: "7 B not read here")
        #expect(try !inspection.tmux.text().contains("+PONG"))
        #expect(try inspection.statistics(peerPort: redis.port)?.receiveQueue == 7)
        try inspection.tmux.keys("Escape")
        try inspection.wait(for: "r read")
        try inspection.tmux.keys("r")
        try inspection.wait(for: "queue a read on #1")
        // The kind is chosen by its first letter; until CRLF is what it offers.
        try inspection.tmux.keys("u")
        try inspection.wait(for: "(*) until")
        try inspection.wait(for: "\\r\\n")
        try inspection.tmux.keys("Enter")
        try inspection.wait(for: "+PONG")
        try inspection.wait(for: "until CRLF, 7 B")
        #expect(try inspection.statistics(peerPort: redis.port)?.receiveQueue == 0)
        #expect(try !inspection.tmux.text().contains("not read here"))
    }

    @Test(
        "a peer that connects can be talked with, and its close is shown with its reason", arguments: ["nc", "socat"])
    func listen(program: String) throws {
        guard Peer.isUsable(program) else { return }
        let (inspection, port) = try Peer.listening()
        let peer = try Peer(
            program == "nc" ? ["nc", "127.0.0.1", "\(port)"] : ["socat", "-", "TCP4:127.0.0.1:\(port)"])
        // What is pressed until `w` are commands.
        try inspection.wait(for: "w write")
        try inspection.tmux.keys("j", "j")
        try peer.write("said by the peer\n")
        try inspection.wait(for: "said by the peer")
        try inspection.tmux.keys("2")
        try inspection.write()
        try inspection.send("typed on the screen")
        #expect(eventually { peer.output == Array("typed on the screen\r\n".utf8) })
        peer.kill()
        try inspection.wait(for: "peer closed its side (FIN)")
        try inspection.tmux.keys("M-1")
        try inspection.wait(for: "[1 List]")
        let row = try inspection.rows().first { $0.contains("closed") && $0.contains("127.0.0.1:") }
        #expect(try #require(row).contains("peer closed its side (FIN)"), inspection.tmux.picture)
    }
}

@Suite("Without a terminal", .timeLimit(.minutes(10)))
struct HeadlessTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func run(_ arguments: String...) throws -> ChildProcess.Outcome {
        try ChildProcess.run([Program.path] + arguments, environment: Program.environment(folder.path))
    }

    @Test(
        "a script talks with redis and dumps the screen",
        .enabled(if: Peer.isUsable("redis-server"), "redis-server is missing"))
    func script() throws {
        let redis = try Peer.redis()
        folder.write(
            """
            wait Enter send
            type PING
            key Enter
            wait +PONG
            dump
            dump \(folder.path)/picture
            key Esc
            key 3
            wait rx 7 B
            wait tx 6 B
            """, to: "script")
        let outcome = try run("connect", "127.0.0.1:\(redis.port)", "--script", folder.path + "/script")
        #expect(outcome.status == 0, "\(outcome)")
        let rows = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(rows.count == 25)
        #expect(rows.contains { $0.hasPrefix("  +PONG") })
        #expect(ProcessFacts.text(folder.path + "/picture") == outcome.output)
    }

    @Test("a script that waits in vain shows what was on the screen")
    func inVain() throws {
        folder.write("wait 0.3 +PONG\n", to: "script")
        let outcome = try run("listen", "127.0.0.1:0", "--script", folder.path + "/script")
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("waiting for connections"))
        #expect(outcome.errors.contains("script:1: waited 0.3 seconds for \"+PONG\""))
    }
}
