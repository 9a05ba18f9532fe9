import Glibc
import SocketTestSupport
import Testing

@Suite("The program on a screen", .enabled(if: Tmux.isUsable, "tmux is missing"), .timeLimit(.minutes(10)))
struct ScreenTests {
    static let sizes = [(60, 16), (80, 24), (140, 40), (200, 60)]

    @Test("fills every size, its header in the first row and its keys in the last", arguments: sizes)
    func fills(width: Int, height: Int) throws {
        let tmux = try Program.start("listen 127.0.0.1:0", width: width, height: height)
        try tmux.waitForScreen()
        try tmux.expectFilled(height: height)
    }

    @Test("follows the terminal through every size, a dialog open or not", arguments: [false, true])
    func resizes(withDialog: Bool) throws {
        let tmux = try Program.start("listen 127.0.0.1:0")
        try tmux.waitForScreen()
        try tmux.expectFilled(height: 24)
        if withDialog {
            try tmux.keys("C-c")
            try #require(try tmux.waitFor("will close"))
        }
        for (width, height) in Self.sizes {
            try tmux.resize(width, height)
            try tmux.expectFilled(height: height)
            #expect(try tmux.text().contains("will close") == withDialog)
        }
        try tmux.resize(39, 9)
        #expect(try tmux.waitFor(withDialog ? "y quit  n stay" : "too small"))
        try tmux.resize(80, 24)
        try tmux.expectFilled(height: 24)
    }

    @Test("q, Q and ^C ask about live sockets once, and give the terminal back", arguments: ["q", "Q", "C-c"])
    func leaves(key: String) throws {
        let tmux = try Program.start("listen 127.0.0.1:0")
        try tmux.waitForScreen()
        try #require(try tmux.waitFor("LISTEN"))
        try tmux.keys("1")
        try #require(try tmux.waitFor("[1 List]"))
        try tmux.keys(key)
        try #require(try tmux.waitFor("will close"))
        try tmux.keys("y")
        try tmux.expectEnd(status: 0)
    }

    @Test("a signal from outside does not ask")
    func signal() throws {
        let tmux = try Program.start("listen 127.0.0.1:0")
        try tmux.waitForScreen()
        try #require(try tmux.waitFor("LISTEN"))
        try tmux.signal(SIGTERM)
        try tmux.expectEnd(status: 128 + SIGTERM)
    }

    @Test("^Z gives the terminal to the shell, fg takes it again with the same picture")
    func suspends() throws {
        let folder = try Program.folder()
        let tmux = try Tmux("PS1='ready> ' bash --norc -i", environment: Program.environment(folder))
        try #require(try tmux.waitFor("ready>"))
        try tmux.type("stty -g > \(folder)/before; \(Program.path) listen 127.0.0.1:0\n")
        try #require(try tmux.waitFor("LISTEN"))
        try tmux.keys("C-z")
        try #require(
            try tmux.waitFor("#{pane_current_command} #{alternate_on} #{cursor_flag}", toBe: "bash 0 1"))
        try tmux.type(
            "clear; stty -g > \(folder)/after; cmp \(folder)/before \(folder)/after && echo settings 'kept'\n")
        try #require(try tmux.waitFor("settings kept"))
        try tmux.type("fg\n")
        try #require(try tmux.waitFor("LISTEN"))
        try tmux.expectFilled(height: 24)
    }

    @Test("keys reach the program as what they are, a paste as text that runs nothing")
    func keys() throws {
        let tmux = try Program.start()
        try tmux.waitForScreen()
        try tmux.type("no-such-host.invalid")
        try #require(try tmux.waitFor("> no-such-host.invalid"))
        try tmux.keys("C-u")
        try tmux.type("é漢x")
        try #require(try tmux.waitFor("> é漢x"))
        try tmux.keys("BSpace", "BSpace")
        try #require(try tmux.waitFor("> é\n"))
        try tmux.keys("C-u")
        try tmux.paste("unix:/nonexistent\n")
        try #require(try tmux.waitFor("> unix:/nonexistent\n"))
        #expect(try tmux.text().contains("Connect to, or listen on"), "the line end in the paste is no Enter")
        try tmux.keys("F1")
        #expect(try tmux.waitFor("help"))
    }

    @Test("a connection is opened from the start screen, and remembered")
    func connects() throws {
        let listener = try Program.start("listen 127.0.0.1:0", width: 100)
        try #require(try listener.waitFor("LISTEN 127.0.0.1:"))
        let port = try #require(try listener.text().split(separator: "LISTEN 127.0.0.1:").last?.prefix { $0.isNumber })
        let folder = try Program.folder()
        let tmux = try Tmux("\(Program.path); \(Program.path)", environment: Program.environment(folder))
        try tmux.waitForScreen()
        try tmux.type("127.0.0.1:\(port)")
        try tmux.keys("Enter")
        try #require(try tmux.waitFor("connected"))
        try tmux.type("hello")
        try tmux.keys("Enter")
        #expect(try listener.waitFor("hello"))
        try tmux.keys("C-c")
        try #require(try tmux.waitFor("will close"))
        try tmux.keys("y")
        #expect(try tmux.waitFor("just now"), "the next start offers it: \(tmux.picture)")
        #expect(try tmux.text().contains("127.0.0.1:\(port)"))
    }

    @Test("what is missing is drawn with ASCII where it was asked for")
    func ascii() throws {
        let tmux = try Program.start("--ascii listen 127.0.0.1:0")
        try #require(try tmux.waitFor("LISTEN"))
        #expect(try tmux.text().utf8.allSatisfy { $0 < 0x80 })
    }
}

extension Tmux {
    /// Expects that the first and the last row are the program's.
    fileprivate func expectFilled(height: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        func isFilled() throws -> Bool {
            let rows = try text().split(separator: "\n", omittingEmptySubsequences: false)
            return rows.count == height + 1 && rows[0].hasPrefix(" socktui") && rows[height - 1].contains("help")
        }
        #expect(try eventually { try isFilled() }, picture, sourceLocation: sourceLocation)
    }
}
