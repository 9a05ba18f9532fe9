import Glibc
import SocketTestSupport
import Testing

@testable import SockTUI

@Suite("The command line", .timeLimit(.minutes(10)))
struct UsageTests {
    @Test(
        "a mistake gets one line that names it, and status 2",
        arguments: [
            (["--sise", "80x24"], "socktui: --sise: no such option; did you mean --size?\n"),
            (["listn", ":80"], "socktui: listn: no such command; did you mean listen?\n"),
            (["connect"], "socktui: connect: an address is missing, as in socktui connect localhost:6379\n"),
            (["open"], "socktui: open: a file is missing, as in socktui open session.pcapng\n"),
            (["connect", "localhost:99999"], "socktui: localhost:99999: the port must be 1 to 65535\n"),
            ([], "socktui: stdout is not a terminal; name what to open, as in socktui connect localhost:80\n"),
            (["--script", "/nonexistent"], "socktui: /nonexistent: No such file or directory\n"),
        ])
    func mistakes(arguments: [String], line: String) throws {
        let outcome = try ChildProcess.run([Program.path] + arguments)
        #expect(outcome.status == 2)
        #expect(outcome.errors == line)
        #expect(outcome.output.isEmpty)
    }

    @Test("--help and --version go to stdout")
    func help() throws {
        let help = try Program.run("--help")
        #expect(help.status == 0)
        #expect(help.output.contains("listen ADDRESS..."))
        #expect(try Program.run("help").output == help.output)
        #expect(try Program.run("help", "keys").output.contains("redraw the screen"))
        let listen = try Program.run("help", "listen").output
        #expect(try Program.run("listen", "--help").output == listen)
        #expect(try Program.run("--version").output == "socktui \(CommandTable.version)\n")
    }

    @Test(
        "a terminal that cannot be used is refused in one line, untouched",
        .enabled(if: Tmux.isUsable, "tmux is missing"), arguments: ["dumb", "nonexistent"])
    func unusable(type: String) throws {
        let tmux = try Tmux("TERM=\(type) \(Program.path); echo ended $?; exec cat")
        #expect(try tmux.waitFor("ended 2"))
        #expect(try tmux.text().hasPrefix("socktui: "))
        #expect(try tmux.text().contains("TERM=\(type)"))
        #expect(try tmux.format("#{alternate_on} #{cursor_flag}") == "0 1")
    }

    @Test("the installer says where it cannot write before it builds anything")
    func installer() throws {
        let script = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/script/install"
        let outcome = try ChildProcess.run([script, "--prefix", "/dev/null/x"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("script/install: cannot write to /dev/null, where /dev/null/x/bin belongs"))
        #expect(!outcome.errors.contains("building"), "\(outcome.errors)")
    }

    @Test("a script that comes through a FIFO is waited for, and /dev/null is an empty configuration")
    func specialFiles() throws {
        let fifo = "\(try Program.folder())/fifo"
        try #require(mkfifo(fifo, 0o600) == 0)
        let program = try Peer([Program.path, "--script", fifo])
        var writer: Int32 = -1
        // Nobody reads it before the program does.
        try #require(
            eventually {
                writer = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
                return writer >= 0
            })
        for part in ["du", "mp\n"] { #expect(write(writer, part, part.utf8.count) == part.utf8.count) }
        close(writer)
        #expect(eventually { program.hasEnded && program.text.contains("socktui") }, "\(program.complaints)")
        let empty = try Program.run("config", "--config", "/dev/null")
        #expect(empty.status == 0, "\(empty.errors)")
    }

    @Test("a script runs without a terminal and says which line failed")
    func script() throws {
        let folder = try Program.folder()
        let script = "\(folder)/script"
        func run(_ text: String) throws -> ChildProcess.Outcome {
            _ = try ChildProcess.run(["sh", "-c", "printf '%s' \"$0\" > \(script)", text])
            return try Program.run("--script", script, "--size", "100x30")
        }
        #expect(try run("# nothing\nkey ^C\n").status == 0)
        let failed = try run("wait 0.2 no such text\n")
        #expect(failed.status == 1)
        #expect(failed.errors == "socktui: \(script):1: waited 0.2 seconds for \"no such text\"\n")
        let wrong = try run("\nkeys x\n")
        #expect(wrong.status == 2)
        #expect(wrong.errors.hasPrefix("socktui: \(script):2: keys: no such step"))
        let dumped = try run("dump\n")
        #expect(dumped.output.split(separator: "\n", omittingEmptySubsequences: false).count == 31)
    }
}
