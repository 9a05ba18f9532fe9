import Glibc
import SocketTestSupport
import Testing

@testable import SockTUI

@Suite("Configuration, completions and manual", .timeLimit(.minutes(10)))
struct ShellTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: String..., environment: [String: String?] = [:]) throws -> ChildProcess.Outcome {
        var variables = Program.environment(folder.path)
        variables.merge(environment) { $1 }
        return try ChildProcess.run([Program.path] + arguments, environment: variables)
    }

    private func configure(_ text: String) throws -> String {
        _ = try ChildProcess.run(["mkdir", "-p", "\(folder.path)/config/socktui"])
        folder.write(text, to: "config/socktui/config")
        return folder.path + "/config"
    }

    @Test("the user's file is read, and a mistake in it is named by file, line and column")
    func configuration() throws {
        let home = try configure("[options]\nascii = true\n[keys.list]\nq = \"qiut\"\n")
        let outcome = try run("config", environment: ["XDG_CONFIG_HOME": home])
        #expect(outcome.status == 2 && outcome.output.isEmpty)
        #expect(
            outcome.errors == "socktui: \(home)/socktui/config:4:5: qiut: no such command; did you mean quit?\n")
        _ = try configure("[options]\nascii = true\n[keys.list]\nq = \"close reset\"\n")
        let printed = try run("config", environment: ["XDG_CONFIG_HOME": home])
        #expect(printed.status == 0)
        #expect(printed.output.hasPrefix("# configuration: \(home)/socktui/config\n"))
        #expect(printed.output.contains("\nascii = true\n") && printed.output.contains("\n\"q\" = \"close reset\"\n"))
        folder.write(printed.output, to: "printed")
        let again = try run("config", "--config", folder.path + "/printed")
        // The first line names the file.
        #expect(again.output.drop { $0 != "\n" } == printed.output.drop { $0 != "\n" })
        #expect(try run("config", "--config", "/nonexistent").status == 2)
        for command in ["demo", "host"] {
            let unread = try run(command, "--json", "--config", "/nonexistent")
            #expect(unread.status == 2 && unread.errors.hasPrefix("socktui: /nonexistent: "), "\(unread.errors)")
        }
    }

    @Test("completions are what the shells can read")
    func completions() throws {
        folder.write(try run("completions", "bash").output, to: "bash")
        #expect(try ChildProcess.run(["bash", "-n", folder.path + "/bash"]).status == 0)
        let asked = try ChildProcess.run([
            "bash", "-c",
            "source \(folder.path)/bash; COMP_WORDS=(socktui con); COMP_CWORD=1; _socktui; echo ${COMPREPLY[@]}",
        ])
        #expect(asked.output == "connect config\n")
        let depths = try ChildProcess.run([
            "bash", "-c",
            "source \(folder.path)/bash; COMP_WORDS=(socktui --color 1); COMP_CWORD=2; _socktui; echo ${COMPREPLY[@]}",
        ])
        #expect(depths.output == "16\n")
        for shell in ["zsh", "fish"] {
            let text = try run("completions", shell)
            #expect(text.status == 0 && text.output.contains("half-open"))
            folder.write(text.output, to: shell)
            guard Peer.isUsable(shell), getenv("REQUIRE_PEERS") == nil else { continue }
            #expect(try ChildProcess.run([shell, "-n", "\(folder.path)/\(shell)"]).status == 0)
        }
    }

    @Test("completions offer warnings and files where they belong, with the help as it is written")
    func completionsOfValues() throws {
        folder.write(try run("completions", "bash").output, to: "bash")
        let warnings = try ChildProcess.run([
            "bash", "-c",
            "source \(folder.path)/bash; COMP_WORDS=(socktui -A tls-s); COMP_CWORD=2; _socktui; echo ${COMPREPLY[@]}",
        ])
        #expect(warnings.output == "tls-stall\n")
        let faults = try ChildProcess.run([
            "bash", "-c",
            "source \(folder.path)/bash; COMP_WORDS=(socktui --fault late); COMP_CWORD=2; _socktui; echo ${COMPREPLY[@]}",
        ])
        #expect(faults.output == "latency\n")
        let commands = try ChildProcess.run([
            "bash", "-c",
            "source \(folder.path)/bash; COMP_WORDS=(socktui ctl 77 h); COMP_CWORD=3; _socktui; echo ${COMPREPLY[@]}",
        ])
        #expect(commands.output == "held\n")
        for (words, offered) in [
            ("export --r", ""), ("relay --rec", "--record --record-limit"), ("help wa", "warnings"),
        ] {
            let count = words.split(separator: " ").count
            let asked = try ChildProcess.run([
                "bash", "-c",
                "source \(folder.path)/bash; COMP_WORDS=(socktui \(words)); COMP_CWORD=\(count); _socktui; echo ${COMPREPLY[@]}",
            ])
            #expect(asked.output == offered + "\n", "\(words)")
        }
        let zsh = try run("completions", "zsh").output
        let fish = try run("completions", "fish").output
        for option in ["ca", "cert", "key", "keylog", "script", "config", "log"] {
            let row = zsh.split(separator: "\n").first { $0.contains("*--\(option)[") }
            #expect(row?.contains(":file:_files'") == true, "\(option)")
            #expect(fish.contains(" -l \(option) -r -F -d "), "\(option)")
        }
        #expect(fish.contains(" -s A -x -a 'deadlock ") && !fish.contains(" -l  "))
        #expect(zsh.contains(#"the peer'\''s FIN"#) && zsh.contains(#"+PONG\\r\\n"#))
        #expect(fish.contains(#"the peer\'s FIN"#) && fish.contains(#"+PONG\\r\\n"#))
    }

    @Test("a script writes the log it is given, with a configuration and without")
    func logOfAScript() throws {
        folder.write("dump\n", to: "steps")
        folder.write("", to: "configuration")
        for options in [[], ["--config", folder.path + "/configuration"]] {
            let log = folder.path + "/log-\(options.count)"
            let outcome = try ChildProcess.run(
                [Program.path, "demo", "--script", folder.path + "/steps", "--log", log] + options,
                environment: Program.environment(folder.path))
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try ChildProcess.run(["test", "-f", log]).status == 0, "\(options)")
        }
    }

    @Test("the manual is what man can show, and names every option and key")
    func manual() throws {
        let manual = try run("help", "man")
        #expect(manual.status == 0)
        folder.write(manual.output, to: "socktui.1")
        let help = try run("help", "options").output + run("help", "relay").output
        for word in help.split(whereSeparator: { $0 == " " || $0 == "\n" }) where word.hasPrefix("--") {
            #expect(manual.output.contains(word.split(separator: "-").joined(separator: "\\-")), "\(word)")
        }
        for filter in ["ws:compressed", "tls:handshaking", "lint:any"] {
            #expect(manual.output.contains(filter.split(separator: "-").joined(separator: "\\-")), "\(filter)")
        }
        if Peer.isUsable("mandoc"), getenv("REQUIRE_PEERS") == nil {
            let lint = try ChildProcess.run(["mandoc", "-Tlint", "-Wwarning", folder.path + "/socktui.1"])
            #expect(lint.output.isEmpty, "\(lint.output)")
        }
        if Peer.isUsable("groff"), getenv("REQUIRE_PEERS") == nil {
            let shown = try ChildProcess.run(["groff", "-man", "-ww", "-Tascii", folder.path + "/socktui.1"])
            #expect(shown.status == 0 && shown.errors.isEmpty, "\(shown.errors)")
        }
    }
}

@Suite(
    "The shell of the screen, in a terminal", .enabled(if: Tmux.isUsable, "tmux is missing"),
    .timeLimit(.minutes(10)))
struct ShellScreenTests {
    @Test("a command is typed behind :, completed and done, and one that is none stays to be mended")
    func commandLine() throws {
        let (inspection, port) = try Peer.listening()
        try inspection.tmux.keys("1")
        try inspection.wait(for: "[1 List]")
        try inspection.tmux.type(":conn")
        try inspection.tmux.keys("Tab")
        try inspection.tmux.type("127.0.0.1:x")
        try inspection.tmux.keys("Enter")
        try inspection.wait(for: "the port x is not a number")
        try inspection.tmux.keys("BSpace")
        try inspection.send("\(port)")
        try inspection.wait(for: "* connected")
    }

    @Test(
        "--color and NO_COLOR decide about colours",
        arguments: [("--color=none", true), ("--color=8", false), ("", true)])
    func colours(option: String, isPlain: Bool) throws {
        let folder = try Program.folder()
        var environment = Program.environment(folder)
        environment["NO_COLOR"] = option.isEmpty ? "1" : ""
        let tmux = try Tmux("\(Program.path) demo \(option)", environment: environment)
        try #require(try tmux.waitFor("ESTAB"), tmux.picture)
        let text = try tmux.command("capture-pane", "-p", "-e", "-t", "s")
        let colours = text.split(separator: "\u{1B}[").contains { part in
            (part.hasPrefix("3") && !part.hasPrefix("39")) || part.hasPrefix("9")
        }
        #expect(colours == !isPlain)
    }

    @Test("the mouse works, says at the first drag how to select text, and can be turned off")
    func mouse() throws {
        let (inspection, _) = try Peer.listening()
        #expect(try inspection.tmux.waitFor("#{mouse_any_flag}", toBe: "1"))
        try inspection.tmux.keys("1")
        // The first button in column 30 of row 2 is pressed, as terminals of this type report it.
        try inspection.tmux.type("\u{1B}[M >\"")
        try inspection.wait(for: "[4 Events]")
        try inspection.tmux.type("\u{1B}[M 0(")
        try inspection.tmux.type("\u{1B}[M#:*")
        try inspection.wait(for: "hold Shift to select text")
        try inspection.send(":mouse off")
        #expect(try inspection.tmux.waitFor("#{mouse_any_flag}", toBe: "0"))
    }

    @Test("the configuration can turn the mouse off")
    func noMouse() throws {
        let folder = try TemporaryFolder()
        folder.write("[options]\nmouse = false\n", to: "config")
        let (inspection, _) = try Peer.listening("--config \(folder.path)/config")
        #expect(try inspection.tmux.format("#{mouse_any_flag}") == "0")
    }

    @Test("the help is filtered by a word")
    func help() throws {
        let (inspection, _) = try Peer.listening()
        try inspection.tmux.keys("1", "?", "/")
        try inspection.send("half-page")
        try inspection.wait(for: "matching \"half-page\"")
        #expect(try !inspection.tmux.text().contains("quit; asks"))
    }

    @Test("what the program says of itself is among the events, and in its file, never on stderr")
    func log() throws {
        let folder = try TemporaryFolder()
        let (inspection, _) = try Peer.listening("--log \(folder.path)/log")
        try inspection.tmux.keys("4")
        try inspection.wait(for: "started, 256")
        let first = "Z socktui \(CommandTable.version) started"
        #expect(eventually { ProcessFacts.text(folder.path + "/log").contains(first) })
    }
}
