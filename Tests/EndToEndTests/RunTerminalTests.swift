import SocketTestSupport
import Testing

/// A program with a terminal of its own, seen and typed into from another terminal.
@Suite("run --tty", .enabled(if: Tmux.isUsable, "tmux is missing"), .timeLimit(.minutes(10)))
struct RunTerminalTests {
    @Test("a shell prompts, ^C interrupts what it runs, and it has the size of its pane")
    func shell() throws {
        let tmux = try Program.start("run --tty -- bash --norc -i")
        try tmux.waitForScreen()
        try #require(try tmux.waitFor("all other keys go to the program"), tmux.picture)
        try #require(try tmux.waitFor("\nbash-"), tmux.picture)
        func enter(_ line: String, until text: String) throws {
            try tmux.type(line)
            try tmux.keys("Enter")
            try #require(try tmux.waitFor(text), tmux.picture)
        }
        try enter("tty; echo $TERM a$((1+1))", until: "dumb a2")
        #expect(try tmux.text().contains("/dev/pts/"))
        try enter("echo b$((1+1)); sleep 1000", until: "b2")
        try tmux.keys("C-c")
        try enter("echo c$((1+1)) $?", until: "c2 130")
        try tmux.resize(100, 30)
        try enter("until [ \"$(stty size)\" = '25 100' ]; do :; done; echo d$((1+1))", until: "d2")
        try tmux.keys("C-]", "1")
        try #require(try tmux.waitFor("[1 List]"), tmux.picture)
        try tmux.keys("5", "i")
        try enter("exit 7", until: "ended with status 7")
        try tmux.keys("q")
        try #require(try tmux.waitFor("[1 List]"), tmux.picture)
        try tmux.keys("q")
        try tmux.expectEnd(status: 7)
    }

    @Test(
        "without a screen, or with another input, there is none",
        arguments: [
            (["--json"], "socktui: --tty: needs a screen, which shows CMD's terminal\n"),
            (["--stdin", "/dev/null"], "socktui: --stdin: with --tty, CMD reads its terminal\n"),
        ])
    func refused(options: [String], sentence: String) throws {
        let outcome = try Program.run(["run", "--tty"] + options + ["--", "true"])
        #expect(outcome.status == 2 && outcome.errors == sentence, "\(outcome)")
    }
}
