import FoundationEssentials
import Glibc
import InspectorCore
import Testing

@testable import InspectorShell
@testable import SockTUI

/// A terminal of a given type whose output is a file and whose input is a pipe. Curses is global, hence serialized.
@Suite("Curses", .serialized)
struct CursesTerminalTests {
    private struct Fixture {
        var terminal: CursesTerminal
        var output: Int32
        var keyboard: Int32

        init(_ type: String = "xterm-256color", colours: Int? = nil, asks: Bool = false) throws {
            var name = Array("/tmp/socktui-curses-XXXXXX".utf8CString)
            output = mkstemp(&name)
            unlink(name)
            var ends: [Int32] = [-1, -1]
            try #require(output >= 0 && pipe(&ends) == 0)
            keyboard = ends[1]
            terminal = try CursesTerminal(
                environment: TerminalEnvironment(
                    input: ends[0], output: dup(output), type: type, colours: colours, asksBackground: asks))
        }

        /// What was written since `offset`.
        func written(since offset: Int = 0) -> String {
            var bytes = [UInt8](repeating: 0, count: 256 << 10)
            let count = pread(output, &bytes, bytes.count, off_t(offset))
            return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
        }

        var length: Int { Int(lseek(output, 0, SEEK_END)) }

        func typed(_ text: String) -> [Message] {
            FileOutput.write(text, to: keyboard)
            return terminal.input()
        }

        func keys(_ text: String) -> [Key] {
            typed(text).compactMap { if case .key(let key) = $0 { key } else { nil } }
        }
    }

    private func canvas(_ rows: [String], style: Style = .plain) -> Canvas {
        var canvas = Canvas(Size(80, 24))
        for (y, row) in rows.enumerated() {
            var x = 0
            for scalar in row.unicodeScalars {
                let width: UInt32 = scalar.value >= 0x2E80 ? 2 : 1
                canvas[x, y] = Cell(scalar, style: style, width: width)
                if width == 2 {
                    canvas[x + 1, y] = Cell("\0", style: style, width: 0)
                    x += 1
                }
                x += 1
            }
        }
        return canvas
    }

    @Test("the forms of keys that terminals send, with modifiers too")
    func keys() throws {
        let fixture = try Fixture()
        #expect(fixture.keys("\u{1B}[A\u{1B}OA\u{1B}[1;5A") == [.up, .up, .up])
        #expect(fixture.keys("\u{1B}[B\u{1B}[C\u{1B}[D\u{1B}[H\u{1B}[F") == [.down, .right, .left, .home, .end])
        #expect(fixture.keys("\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~\u{1B}OH") == [.home, .end, .home, .end, .home])
        #expect(fixture.keys("\u{1B}[5~\u{1B}[6~\u{1B}[6;5~") == [.pageUp, .pageDown, .pageDown])
        #expect(fixture.keys("\u{1B}[2~\u{1B}[3~\u{1B}[Z") == [.insert, .delete, .backTab])
        #expect(fixture.keys("\u{1B}OP\u{1B}[12~\u{1B}[15~\u{1B}[18~\u{1B}[24~") == [1, 2, 5, 7, 12].map(Key.function))
        #expect(fixture.keys("é漢😀\u{7F}\u{08}\r\n\u{03}\u{1A}\u{13}").count == 10)
        #expect(fixture.keys("\u{1B}") == [.escape])
        #expect(fixture.keys("\u{1B}5\u{1B}\r") == [.alt("5"), .altEnter])
        #expect(fixture.keys("\u{1B}[99;5u").isEmpty)
    }

    @Test(
        "only ASCII goes to a terminal or a locale that says so",
        arguments: [
            ("xterm-256color", "UTF-8", true), ("xterm-256color", "ANSI_X3.4-1968", true),
            ("xterm-256color", "ISO-8859-1", false), ("vt100", "ANSI_X3.4-1968", false), ("vt220", "UTF-8", true),
            ("vt220", "ISO-8859-1", false), ("linux", "UTF-8", false), ("linux", "ANSI_X3.4-1968", false),
            ("ansi", "ANSI_X3.4-1968", false), ("tmux-256color", "ANSI_X3.4-1968", true),
            ("vte-256color", "ANSI_X3.4-1968", true),
        ])
    func characters(type: String, codeset: String, isUnicode: Bool) {
        let environment = TerminalEnvironment(input: -1, output: -1, type: type)
        #expect(environment.drawsUnicode(codeset) == isUnicode)
    }

    @Test("all marks of a character reach the terminal")
    func marks() throws {
        let fixture = try Fixture()
        var line = Line()
        Sanitizer(isASCII: false).append(
            "\u{e17}\u{e35}\u{e48}e\u{302}\u{323}.Z\u{300}\u{301}\u{302}\u{303}", to: &line)
        var canvas = Canvas(Size(80, 24))
        canvas.draw(line, x: 0, y: 0, width: 80, .unicode)
        fixture.terminal.show(canvas)
        let written = fixture.written().unicodeScalars
        for character in ["\u{e17}\u{e35}\u{e48}", "e\u{302}\u{323}.", "Z\u{300}\u{301}\u{302}\u{303}"] {
            #expect(written.split(separator: character.unicodeScalars).count > 1, "\(character)")
        }
    }

    @Test("a bracketed paste is one message")
    func paste() throws {
        let fixture = try Fixture()
        #expect(fixture.written().contains("\u{1B}[?2004h"))
        #expect(fixture.typed("\u{1B}[200~qu").isEmpty)
        let messages = fixture.typed("it\r\u{1B}[201~")
        guard case .paste(let text) = messages.first else {
            Issue.record("\(messages)")
            return
        }
        #expect(text == "quit\n")
        fixture.terminal.leave()
        #expect(fixture.written().contains("\u{1B}[?2004l"))
    }

    @Test("a paste whose end never comes is handed over after a while of silence")
    func lostEnd() throws {
        let fixture = try Fixture()
        #expect(fixture.typed("\u{1B}[200~text").isEmpty)
        #expect((0..<30).contains { _ in !fixture.terminal.input().isEmpty })
        #expect(fixture.keys("q") == [.character("q")])
    }

    @Test("an unchanged picture costs no byte, one changed cell a few, a repaint all")
    func cost() throws {
        let fixture = try Fixture()
        let picture = canvas((0..<24).map { "row \($0) 漢字 é \u{2588}" })
        fixture.terminal.show(picture)
        let first = fixture.length
        #expect(fixture.written().contains("row 23 漢字 é \u{2588}"))
        fixture.terminal.show(picture)
        #expect(fixture.length == first)
        var changed = picture
        changed[0, 12] = Cell("R", style: Style(.warn))
        fixture.terminal.show(changed)
        #expect((1..<60).contains(fixture.length - first))
        let second = fixture.length
        fixture.terminal.repaint()
        fixture.terminal.show(changed)
        #expect(fixture.written(since: second).contains("row 23 漢字 é"))
    }

    @Test("a picture reaches the terminal by one write, so that no half of it is ever seen")
    func oneWrite() throws {
        var (ends, keyboard): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 && pipe(&keyboard) == 0)
        defer { close(ends[0]) }
        let terminal = try CursesTerminal(
            environment: TerminalEnvironment(input: keyboard[0], output: ends[1], type: "xterm-256color"))
        var bytes = [UInt8](repeating: 0, count: 256 << 10)
        while recv(ends[0], &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
        for round in 0..<2 {
            let rows = (0..<24).map { String(repeating: "row \($0) of \(round) ", count: 5) }
            terminal.show(canvas(rows, style: Style(round == 0 ? .warn : .received)))
            let count = recv(ends[0], &bytes, bytes.count, Int32(MSG_DONTWAIT))
            #expect(count > 1_000)
            #expect(String(decoding: bytes[..<max(0, count)], as: UTF8.self).contains("row 23 of"))
            #expect(recv(ends[0], &bytes, bytes.count, Int32(MSG_DONTWAIT)) < 0, "round \(round): a second write")
        }
    }

    @Test("the cursor is shown where the picture has it, and nowhere else")
    func cursor() throws {
        let fixture = try Fixture()
        var picture = canvas(["prompt"])
        fixture.terminal.show(picture)
        #expect(fixture.written().contains("\u{1B}[?25l"))
        let before = fixture.length
        picture.cursor = Canvas.Position(x: 6, y: 0)
        fixture.terminal.show(picture)
        #expect(fixture.written(since: before).contains("\u{1B}[?25h"))
        #expect(fixture.written(since: before).contains("\u{1B}[1;7H"))
    }

    @Test("NO_COLOR and terminals without colours get none", arguments: [("xterm-256color", true), ("vt100", false)])
    func noColour(type: String, noColour: Bool) throws {
        let fixture = try Fixture(type, colours: noColour ? 0 : nil)
        for role in Role.allCases { fixture.terminal.show(canvas(["text \(role)"], style: Style(role))) }
        #expect(!fixture.written().contains("\u{1B}[38"))
        #expect(!fixture.written().contains("\u{1B}[3"))
    }

    @Test(
        "each depth sends its own colours and no others",
        arguments: [("xterm-256color", 256), ("xterm-256color", 16), ("xterm", 8), ("vt100", 0)])
    func depths(type: String, colours: Int) throws {
        let fixture = try Fixture(type, colours: colours == 16 ? 16 : nil)
        #expect(fixture.terminal.colours == colours)
        let before = fixture.length
        var canvas = Canvas(Size(80, 24))
        for (row, role) in Role.allCases.enumerated() {
            for column in 0..<9 { canvas[column, row] = Cell("x", style: Style(role)) }
        }
        fixture.terminal.show(canvas)
        let palette = Palette(colours: colours, noColour: false)
        let wanted = Set(Role.allCases.map { palette.look(of: $0).foreground }.filter { $0 >= 0 })
        #expect(Self.foregrounds(fixture.written(since: before)) == wanted)
    }

    /// The foreground colours that some output sets: `30` to `37`, `90` to `97`, `38;5;n`.
    private static func foregrounds(_ output: String) -> Set<Int32> {
        var found: Set<Int32> = []
        for piece in output.components(separatedBy: "\u{1B}[").dropFirst() {
            guard let end = piece.firstIndex(where: { $0.isLetter }), piece[end] == "m" else { continue }
            let numbers = piece[..<end].split(separator: ";").compactMap { Int32($0) }
            if numbers.starts(with: [38, 5]), let index = numbers.last { found.insert(index) }
            for number in numbers where numbers.first != 38 {
                if (30...37).contains(number) { found.insert(number - 30) }
                if (90...97).contains(number) { found.insert(number - 82) }
            }
        }
        return found
    }

    @Test("the terminal is asked for its background; its answer changes the colors, and is no key")
    func background() throws {
        let fixture = try Fixture(asks: true)
        #expect(fixture.written().contains("\u{1B}]11;?\u{1B}\\"))
        let picture = canvas(["text"], style: Style(.warn))
        fixture.terminal.show(picture)
        let dark = Palette(colours: 256, noColour: false).look(of: .warn).foreground
        let light = Palette(colours: 256, noColour: false, isLight: true).look(of: .warn).foreground
        #expect(Self.foregrounds(fixture.written()) == [dark])
        let before = fixture.length
        #expect(fixture.keys("\u{1B}]11;rgb:ffff/ffff/ff").isEmpty)
        let messages = fixture.typed("ff\u{1B}\\q")
        #expect(messages.count == 2, "the key, and that there is something to draw: \(messages)")
        fixture.terminal.show(picture)
        #expect(Self.foregrounds(fixture.written(since: before)) == [light])
        fixture.terminal.leave()
    }

    @Test("the terminal's answer is waited for before the first picture, and keys that came with it are kept")
    func early() throws {
        let fixture = try Fixture(asks: true)
        FileOutput.write("k\u{1B}]11;rgb:ff/ff/ff\u{7}", to: fixture.keyboard)
        fixture.terminal.learnBackground(within: .seconds(60))
        fixture.terminal.show(canvas(["text"], style: Style(.warn)))
        let light = Palette(colours: 256, noColour: false, isLight: true).look(of: .warn).foreground
        #expect(Self.foregrounds(fixture.written()) == [light])
        #expect(fixture.keys("") == [.character("k")])
    }

    @Test("a terminal without colors is not asked")
    func unasked() throws {
        #expect(!(try Fixture("vt100", asks: true)).written().contains("]11;?"))
        #expect(!(try Fixture(colours: 0, asks: true)).written().contains("]11;?"))
    }

    @Test("control characters never reach the terminal")
    func control() throws {
        let fixture = try Fixture()
        let before = fixture.length
        fixture.terminal.show(canvas(["a\u{9B}b\u{07}c\u{7F}d"]))
        #expect(fixture.written(since: before).contains("a.b.c.d"))
    }

    private static func environment(_ type: String) -> TerminalEnvironment {
        TerminalEnvironment(input: -1, output: -1, type: type)
    }

    @Test("what a crash must write gives the screen and the cursor back")
    func restoreBytes() throws {
        let bytes = try CursesTerminal.restoreBytes(Self.environment("xterm-256color"))
        for part in ["\u{1B}[?1049l", "\u{1B}[?25h", "\u{1B}[?2004l"] { #expect(bytes.contains(part)) }
        #expect(bytes.utf8.count < 512)
    }

    @Test("a terminal that cannot be used is refused before anything is written", arguments: ["dumb", "nonexistent"])
    func refused(type: String) {
        let error = #expect(throws: CursesTerminal.Refused.self) {
            try CursesTerminal.restoreBytes(Self.environment(type))
        }
        #expect(error?.sentence.contains("TERM=\(type)") == true)
    }
}
