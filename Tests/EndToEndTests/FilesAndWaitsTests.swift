import Glibc
import SocketTestSupport
import Testing

/// Files that block or have no end, patterns that never do, and what a script waits for.
@Suite("Files, patterns and waits", .timeLimit(.minutes(10)))
struct FilesAndWaitsTests {
    private static func shell(_ line: String, limit: Duration = .seconds(60)) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            ["bash", "-c", line, Program.path], environment: Program.environment(try Program.folder()), limit: limit)
    }

    @Test(
        "a pipe in the place of a certificate is refused at once",
        arguments: ["connect tls://127.0.0.1:1 --ca", "listen tls://127.0.0.1:0 --cert"])
    func pipes(words: String) throws {
        let folder = try Program.folder()
        try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
        let outcome = try Self.shell("exec \"$0\" \(words) \(folder)/pipe --once")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("\(folder)/pipe: is not a regular file"), "\(outcome)")
    }

    @Test("a pipe named in a command refuses that command, and the program goes on")
    func pipeInCommand() throws {
        let folder = try Program.folder()
        try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
        let script = "connect tls://127.0.0.1:1 ca \(folder)/pipe\nwait /pipe: is not\nkey ^C\n"
        let outcome = try Self.shell("printf '%s' '\(script)' | exec \"$0\" demo --script -")
        #expect(outcome.errors.isEmpty && outcome.status == 0, "\(outcome)")
    }

    @Test(
        "a file without an end or a form is refused",
        arguments: [
            ("--script /dev/full", "socktui: /dev/full: is not a regular file\n"),
            ("config --config /dev/zero", "socktui: /dev/zero: is not a regular file\n"),
            ("--script <(head -c 3000000 /dev/zero)", "is longer than 1024 KiB\n"),
            ("--script <(head -c 300 /dev/zero)", "contains NUL bytes, so it is not text\n"),
            ("config --config <(echo)", "is not a regular file\n"),
        ])
    func endless(words: String, end: String) throws {
        let outcome = try Self.shell("exec \"$0\" \(words)")
        #expect(outcome.status == 2)
        #expect(outcome.errors.hasSuffix(end), "\(outcome)")
    }

    @Test("a key of very many parts is refused where it goes too deep")
    func deepKey() throws {
        let folder = try Program.folder()
        let make = "python3 -c \"print('a' + '.a' * 100000 + ' = 1')\" > \(folder)/config"
        let outcome = try Self.shell("\(make); exec \"$0\" config --config \(folder)/config")
        #expect(outcome.errors.hasSuffix(":1:17: a key can have at most 8 parts\n"), "\(outcome)")
    }

    @Test("a recent target of any time is listed")
    func recent() throws {
        let folder = try Program.folder()
        let write =
            "mkdir -p \(folder)/socktui; printf '%s\\t%s\\n' -9223372036854775808 x:1 > \(folder)/socktui/recent"
        let script = "printf 'wait x:1\\nkey ^C\\n'"
        let outcome = try Self.shell("\(write); export XDG_STATE_HOME=\(folder); \"$0\" --script <(\(script))")
        #expect(outcome.status == 0, "\(outcome)")
    }

    @Test("what a script sent does not satisfy its wait")
    func ownInput() throws {
        let (peer, port) = try Peer.server { ["nc", "-l", "127.0.0.1", "\($0)"] }
        defer { peer.kill() }
        let script = "send SET a +PONG\\\\r\\\\n\\ntalk\\nwait 500ms +PONG\\n"
        let line = "\"$0\" connect 127.0.0.1:\(port) --no-read --script <(printf '\(script)')"
        let outcome = try Self.shell(line)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("waited 0.5 seconds for \"+PONG\""), "\(outcome)")
    }

    @Test("a wait for a connection that was refused ends when that is known")
    func refused() throws {
        let outcome = try Self.shell(
            "\"$0\" --script <(printf 'connect 127.0.0.1:1\\nwait 300 connected\\n')", limit: .seconds(50))
        #expect(outcome.status == 1)
        #expect(
            outcome.errors.contains("\"connected\" can no longer appear: every connection is closed (#1 127.0.0.1:1"),
            "\(outcome)")
    }

    @Test("who has an address is said where it is in use")
    func inUse() throws {
        let (peer, port) = try Peer.server { ["nc", "-l", "127.0.0.1", "\($0)"] }
        defer { peer.kill() }
        let outcome = try Self.shell("exec \"$0\" listen :\(port) --once")
        #expect(outcome.status == 1)
        #expect(
            outcome.errors.contains("Address already in use: nc") && outcome.errors.contains("[\(peer.process)] uses "),
            "\(outcome)")
    }

    @Test(
        "a pattern that has no end is refused or answered, and never waited for",
        arguments: ["(([a-z.:0-9])+)+!", "(a*)*b", "^(.*)(.*)(.*)!$"])
    func patterns(pattern: String) throws {
        let script = "connect abcdefghijklmnopqrstuvwxyzabcdefghij:1\\nfilter /\(pattern)/\\nkey ^C\\n"
        let outcome = try Self.shell("\"$0\" --script <(printf '\(script)')", limit: .seconds(50))
        #expect(outcome.status == 0, "\(outcome)")
    }

    @Test(
        "rules with patterns that cannot be matched in bounded time are refused",
        arguments: [#"/^(.*)(.*)(.*)\1\2\3!$/"#, "/" + String(repeating: "(", count: 900) + "/", "/(.*+++++(x+))/"])
    func rules(pattern: String) throws {
        let outcome = try Program.run("listen", "127.0.0.1:0", "--once", "--reply", "when \(pattern) send x")
        #expect(outcome.status == 2, "\(outcome)")
        #expect(outcome.errors.contains("--reply: "), "\(outcome)")
    }
}
