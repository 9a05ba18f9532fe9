import Glibc
import SocketTestSupport
import Testing

/// socktui looks at another program: here at one of its own kind, which uses SocketKit as any program does.
@Suite("Attaching", .timeLimit(.minutes(10)))
struct AttachTests {
    /// A program that listens and, as its environment asks, lets itself be inspected.
    private final class Watched {
        let folder: TemporaryFolder
        let program: Peer
        let port: UInt16
        var environment: [String: String?] {
            Program.environment(folder.path).merging(["XDG_RUNTIME_DIR": folder.path]) { $1 }
        }

        init(_ rights: String = "watch") throws {
            let folder = try TemporaryFolder()
            self.folder = folder
            (program, port) = try Peer.server(keeping: folder) { port in
                [
                    "env", "XDG_RUNTIME_DIR=\(folder.path)", "SOCKETKIT_INSPECT=\(rights)", Program.path, "listen",
                    "127.0.0.1:\(port)", "--no-read", "--json",
                ]
            }
            try #require(eventually { folder.contains("socktui") })
        }
    }

    @Test("without an argument it lists what can be attached to, or says how to make a program so")
    func listing() throws {
        let watched = try Watched("payload")
        let list = try ChildProcess.run([Program.path, "attach"], environment: watched.environment)
        #expect(list.status == 0)
        #expect(list.output.hasPrefix("PID "))
        #expect(list.output.contains("\(watched.program.process)  socktui") && list.output.contains("payload"))
        let empty = try TemporaryFolder()
        let none = try ChildProcess.run([Program.path, "attach"], environment: ["XDG_RUNTIME_DIR": empty.path])
        #expect(none.status == 4 && none.errors.contains("SOCKETKIT_INSPECT=1"))
        let missing = try ChildProcess.run(
            [Program.path, "attach", "2147483647", "--json"], environment: ["XDG_RUNTIME_DIR": empty.path])
        #expect(missing.status == 4 && missing.errors.contains("there is no process 2147483647"))
    }

    @Test("a socket's name reaches the list without its control characters")
    func hostileName() throws {
        let watched = try Watched()
        let folder = watched.folder.path + "/socktui"
        let name = try #require(
            eventually { try ChildProcess.run(["ls", folder]).output.contains(".sock\n") }
                ? try ChildProcess.run(["ls", folder]).output.split(separator: "\n").first : nil)
        try #require(rename("\(folder)/\(name)", "\(folder)/x\u{1B}]0;title\u{07}\u{1B}[2J\u{9B}31m.sock") == 0)
        let list = try ChildProcess.run([Program.path, "attach"], environment: watched.environment)
        #expect(list.status == 0 && list.output.contains("/x\\x1b]0;title\\x07\\x1b[2J\\x9b31m.sock\n"), "\(list)")
        #expect(!list.output.unicodeScalars.contains { $0 != "\n" && $0.properties.generalCategory == .control })
    }

    @Test(
        "its connections are on the screen, a queue that starves is named, and its end is told",
        .enabled(if: Tmux.isUsable, "tmux is missing"))
    func screen() throws {
        let watched = try Watched()
        let tmux = try Tmux(
            "\(Program.path) attach \(watched.program.process)", environment: watched.environment)
        #expect(try tmux.waitFor("socktui[\(watched.program.process)]"))
        #expect(try tmux.waitFor("LISTEN"))
        let client = try Peer(["nc", "-N", "127.0.0.1", "\(watched.port)"])
        try client.write("nobody reads this\n")
        #expect(try tmux.waitFor("read-starved"), tmux.picture)
        #expect(try tmux.text().contains("unread 18 B"))
        // Watching gives no right to close.
        try tmux.keys("k")
        try tmux.keys("j")
        try tmux.keys("x")
        #expect(try tmux.waitFor("is read-only; changes need SOCKETKIT_INSPECT=control"), tmux.picture)
        watched.program.kill()
        #expect(try tmux.waitFor("ENDED"), tmux.picture)
        #expect(try tmux.waitFor("has ended"))
    }

    @Test("with --json its connections come as JSON Lines, and the stream ends with it")
    func lines() throws {
        let watched = try Watched()
        let viewer = try Peer([
            "env", "XDG_RUNTIME_DIR=\(watched.folder.path)", Program.path, "attach", "\(watched.program.process)",
            "--json",
        ])
        #expect(eventually { String(decoding: viewer.output, as: UTF8.self).contains("\"role\":\"listener\"") })
        watched.program.kill()
        #expect(eventually { viewer.hasEnded })
        #expect(String(decoding: viewer.output, as: UTF8.self).contains("\"type\":\"end\""))
    }
}
