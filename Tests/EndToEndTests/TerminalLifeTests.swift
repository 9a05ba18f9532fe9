import Glibc
import SocketTestSupport
import Testing

@Suite("The terminal's life", .enabled(if: Tmux.isUsable, "tmux is missing"), .timeLimit(.minutes(10)))
struct TerminalLifeTests {
    @Test("^C gives the terminal back")
    func controlC() throws {
        let tmux = try Program.start()
        try tmux.waitForScreen()
        try tmux.keys("C-c")
        try tmux.expectEnd(status: 0)
    }

    @Test("a signal from outside ends it by that signal", arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT])
    func politeSignals(signal: Int32) throws {
        let tmux = try Program.start("demo")
        try tmux.waitForScreen()
        try tmux.signal(signal)
        try tmux.expectEnd(status: 128 + signal)
    }

    @Test(
        "a crash signal from outside ends it too", .enabled(if: !Program.isSanitized, "a sanitizer takes it"),
        arguments: [SIGSEGV, SIGABRT, SIGILL, SIGBUS, SIGFPE, SIGTRAP])
    func crashSignals(signal: Int32) throws {
        let tmux = try Program.start("demo")
        try tmux.waitForScreen()
        try tmux.signal(signal)
        try tmux.expectEnd(status: 128 + signal)
    }

    @Test(
        "a trap gives the terminal back and shows its message",
        .enabled(if: !Program.isSanitized, "a sanitizer takes it"), arguments: ["main", "thread"])
    func trap(place: String) throws {
        let tmux = try Program.start("--trap-after-start \(place)", width: 150, height: 500)
        try tmux.expectEnd(status: 128 + SIGILL)
        #expect(try tmux.text().contains("trap requested"))
        #expect(try !tmux.text().contains("Press space to interact"))
    }

    @Test("a stop by signal gives the terminal back, and fg takes it again", arguments: [SIGTSTP, SIGSTOP])
    func stop(signal: Int32) throws {
        let folder = try Program.folder()
        let tmux = try Tmux("PS1='ready> ' bash --norc -i", environment: Program.environment(folder))
        try #require(try tmux.waitFor("ready>"))
        try tmux.type("stty -g > \(folder)/before; \(Program.path)\n")
        try tmux.waitForScreen()
        try tmux.signal(signal)
        #expect(try tmux.waitFor("#{pane_current_command}", toBe: "bash"))
        if signal == SIGTSTP { #expect(try tmux.waitFor("#{alternate_on} #{cursor_flag}", toBe: "0 1")) }
        try tmux.keys("C-l")
        try tmux.type("fg\n")
        #expect(try tmux.waitFor("#{pane_current_command}", toBe: "socktui"))
        try tmux.waitForScreen()
        try tmux.keys("C-c")
        #expect(try tmux.waitFor("#{pane_current_command} #{alternate_on}", toBe: "bash 0"))
        try tmux.type("stty -g > \(folder)/after; cmp \(folder)/before \(folder)/after && echo settings kept\n")
        #expect(try tmux.waitFor("\nsettings kept"))
        #expect(try tmux.format("#{alternate_on} #{cursor_flag}") == "0 1")
    }

    @Test("a stopped program that is told to end is gone, and the shell keeps its terminal")
    func endWhileStopped() throws {
        let tmux = try Tmux("PS1='ready> ' bash --norc -i", environment: Program.environment(try Program.folder()))
        try #require(try tmux.waitFor("ready>"))
        try tmux.type("\(Program.path)\n")
        try tmux.waitForScreen()
        try tmux.keys("C-z")
        #expect(try tmux.waitFor("#{pane_current_command}", toBe: "bash"))
        try tmux.type("kill %1; wait; echo gone\n")
        #expect(try tmux.waitFor("\ngone"))
        #expect(try tmux.format("#{alternate_on} #{cursor_flag}") == "0 1")
        #expect(try tmux.children().isEmpty)
    }

    @Test("a terminal that goes away ends it")
    func hangUp() throws {
        let process: pid_t
        do {
            let tmux = try Program.start()
            try tmux.waitForScreen()
            process = try #require(try tmux.children().first)
        }
        #expect(eventually { kill(process, 0) != 0 })
    }
}

extension Tmux {
    /// Sends a signal to the program that the shell runs.
    func signal(_ signal: Int32) throws {
        kill(try #require(try children().first), signal)
    }
}
