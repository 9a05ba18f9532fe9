import Glibc
import SocketTestSupport
import Testing

/// Under sudo and with --secure the program is no shell, and no way to read or write files.
@Suite("More rights than its user", .timeLimit(.minutes(10)))
struct SecureTests {
    private static let refusal = "files and editors are off under sudo and with --secure"

    /// The parser's tests have all of them.
    @Test("options that name a file are refused", arguments: ["--script", "--log", "--config", "--keylog", "--ca"])
    func options(_ option: String) throws {
        let folder = try Program.folder()
        let words = [option, "\(folder)/file", "connect", "tls://127.0.0.1:1"]
        let secure = try ChildProcess.run(
            [Program.path, "--secure"] + words, environment: Program.environment(folder))
        #expect(secure.status == 2 && secure.errors == "socktui: \(option): \(Self.refusal)\n")
        guard geteuid() == 0 else { return }
        var environment = Program.environment(folder)
        for user in ["65534", "what"] {
            environment["SUDO_UID"] = user
            let sudo = try ChildProcess.run([Program.path] + words, environment: environment)
            #expect(sudo.status == 2 && sudo.errors == "socktui: \(option): \(Self.refusal)\n", "\(user)")
        }
        #expect(access("\(folder)/file", F_OK) != 0)
    }

    @Test("a script from stdin runs, and opens and writes no file that it names")
    func script() throws {
        let folder = try Program.folder()
        for (line, what) in [
            ("dump \(folder)/file", "\(folder)/file"), ("connect unix:\(folder)/file", "\(folder)/file"),
            ("connect tls://127.0.0.1:1 keylog \(folder)/file", "\(folder)/file"),
            ("listen unix:\(folder)/file", "\(folder)/file"),
        ] {
            let steps = line.hasPrefix("dump") ? line : "\(line)\nwait 5s \(Self.refusal.prefix(12))"
            let outcome = try ChildProcess.run(
                [
                    "sh", "-c", "printf '%s\\ndump\\n' \"$1\" | $0 --secure --script - --size 200x24 demo",
                    Program.path, steps,
                ],
                environment: Program.environment(folder))
            #expect((outcome.errors + outcome.output).contains("\(what): \(Self.refusal)"), "\(outcome)")
            #expect(access("\(folder)/file", F_OK) != 0, "\(line)")
        }
    }

    @Test(
        "no editor starts, nothing is saved, and no history is kept",
        .enabled(if: Tmux.isUsable && Peer.isUsable("python3")))
    func screen() throws {
        let folder = try Program.folder()
        var environment = Program.environment(folder)
        environment["EDITOR"] = "touch \(folder)/edited;"
        // As sudo sets it for a user who is not root.
        if geteuid() == 0 { environment["SUDO_UID"] = "65534" }
        let (server, port) = try Peer.server { ["python3", "-m", "http.server", "-b", "127.0.0.1", "\($0)"] }
        let secure = geteuid() == 0 ? "" : "--secure"
        let tmux = try Tmux(
            "\(Program.path) \(secure) connect 127.0.0.1:\(port) --send hello; exec cat", width: 80, height: 24,
            environment: environment)
        try #require(try tmux.waitFor("> t"), tmux.picture)
        try tmux.keys("Escape")
        try #require(try tmux.waitFor("w writes here"), tmux.picture)
        try tmux.keys("e")
        #expect(try tmux.waitFor("files and editors are off"), tmux.picture)
        try tmux.keys("Escape", "Q", "y", "Q")
        #expect(access("\(folder)/edited", F_OK) != 0 && access("\(folder)/socktui", F_OK) != 0)
        #expect(!server.hasEnded)
    }
}
