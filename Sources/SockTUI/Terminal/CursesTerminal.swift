import CSockTUINcurses
import Glibc
import InspectorCore
import InspectorShell
import SocketCore

/// The terminal, through ncurses. No other file uses ncurses. Not Sendable, so it stays on the thread that created it.
/// ncurses has one screen per process.
final class CursesTerminal: Screen {
    /// The reason why no screen is available, in one sentence.
    struct Refused: Error { let sentence: String }

    /// Whether more than ASCII may be sent to the terminal.
    let drawsUnicode: Bool
    /// Whether the terminfo entry says that programs may set the clipboard.
    private let hasClipboard: Bool
    private let output: Int32
    private let inputDescriptor: Int32
    private let screen: OpaquePointer
    private let files: (output: UnsafeMutablePointer<FILE>, input: UnsafeMutablePointer<FILE>)
    private let environment: TerminalEnvironment
    private var palette: Palette
    /// The number of colors in use.
    var colours: Int { min(Int(cn_colors()), palette.depth.count) }
    private var looks: [Look] = []
    private var shown: [Cell] = []
    private var shownSize = Size(-1, -1)
    private var cursorIsVisible: Bool?
    private var decoder = KeyDecoder()
    /// The input read while waiting for the terminal's answer.
    private var early: [Message] = []
    private var quietReads = 0

    private struct Look {
        var attributes: attr_t
        var pair: Int32
    }

    private static let pasteOn = "\u{1B}[?2004h"
    private static let pasteOff = "\u{1B}[?2004l"
    private static let mouseOff = "\u{1B}[?1000l\u{1B}[?1006l"
    private static let backgroundQuestion = "\u{1B}]11;?\u{1B}\\"

    /// Takes over the terminal: alternate screen, raw keys, bracketed paste.
    /// - Throws: if curses rejects it. `restoreBytes` has already checked whether it can be used at all.
    init(environment: TerminalEnvironment) throws(Refused) {
        self.environment = environment
        unsetenv("LINES")
        unsetenv("COLUMNS")
        setlocale(LC_CTYPE, "")
        let codeset = String(cString: cn_codeset())
        let type = Self.type(environment)
        drawsUnicode = environment.drawsUnicode(codeset)
        if codeset != "UTF-8" { setlocale(LC_CTYPE, "C.UTF-8") }
        inputDescriptor = environment.input
        output = environment.output
        set_escdelay(25)
        guard let to = fdopen(output, "w"), let from = fdopen(inputDescriptor, "r"),
            let screen = newterm(type, to, from)
        else { throw Refused(sentence: "terminal type \(type) cannot be opened") }
        (self.screen, files) = (screen, (to, from))
        hasClipboard = Self.string("Ms") != nil
        raw()
        noecho()
        nonl()
        keypad(cn_screen(), true)
        nodelay(cn_screen(), true)
        intrflush(cn_screen(), false)
        typeahead(-1)
        Self.defineKeys()
        let wanted = environment.colours ?? .max
        if wanted > 0 {
            start_color()
            use_default_colors()
        }
        palette = Self.palette(environment, isLight: environment.isLight)
        looks = makeLooks()
        send(Self.pasteOn)
        guard environment.asksBackground, palette.depth != .none else { return }
        decoder.expectBackground()
        send(Self.backgroundQuestion)
    }

    deinit {
        delscreen(screen)
        fclose(files.output)
        fclose(files.input)
    }

    /// Returns what a crash must write to leave the terminal usable: keypad off, colors off, cursor on, screen back.
    /// Writes nothing itself.
    /// - Throws: if the terminal is unknown or lacks a required capability.
    static func restoreBytes(_ environment: TerminalEnvironment) throws(Refused) -> String {
        var problem: Int32 = 0
        guard setupterm(environment.type, environment.output, &problem) == OK else {
            throw Refused(sentence: "terminal type TERM=\(environment.type) is unknown here; try TERM=xterm-256color")
        }
        defer { cn_forget_type() }
        guard string("cup") != nil else {
            throw Refused(
                sentence: "TERM=\(environment.type) cannot move its cursor; try TERM=xterm-256color, or --json")
        }
        return ["rmkx", "sgr0", "op", "cnorm", "rmcup"].compactMap(string).joined() + pasteOff + mouseOff
    }

    /// Returns the terminal's name. If 256 colors are requested and its entry has fewer, uses the 256-color variant.
    private static func type(_ environment: TerminalEnvironment) -> String {
        let fuller = environment.type + "-256color"
        guard environment.colours == 256, !environment.type.contains("256") else { return environment.type }
        var problem: Int32 = 0
        guard setupterm(fuller, environment.output, &problem) == OK else { return environment.type }
        cn_forget_type()
        return fuller
    }

    /// Returns a terminfo string without its padding, or `nil` if the terminal has none.
    private static func string(_ name: String) -> String? {
        guard let found = tigetstr(name), UInt(bitPattern: found) != UInt.max else { return nil }
        var text = String(cString: found)
        while let start = text.range("$<"), let end = text[start...].firstIndex(of: ">") {
            text.removeSubrange(start...end)
        }
        return text
    }

    /// Restores the terminal.
    func leave() {
        guard !isAway else { return }
        // Otherwise the shell would read the answer.
        learnBackground(within: .milliseconds(50))
        isAway = true
        cn_mouse(0)
        send(Self.pasteOff)
        curs_set(1)
        endwin()
    }

    /// Whether the terminal was released and not taken back.
    private var isAway = false
    private var hearsMouse = false

    func hearMouse(_ isOn: Bool) {
        hearsMouse = isOn
        cn_mouse(isOn ? 1 : 0)
    }

    // MARK: Screen

    var size: Size { Size(Int(getmaxx(cn_screen())), Int(getmaxy(cn_screen()))) }

    var descriptor: Int32? { inputDescriptor }

    /// The most characters read in one pass of the run loop. A paste of megabytes must not delay signals.
    private static let batchLimit = 8_192

    func input() -> [Message] {
        guard !isAway else { return [] }
        defer { early = [] }
        return early + read()
    }

    private func read() -> [Message] {
        noticeSize()
        var messages: [Message] = []
        var batch: [KeyDecoder.Input] = []
        var character: UInt32 = 0
        while batch.count < Self.batchLimit, case let kind = cn_get(&character), kind != ERR {
            if kind == KEY_CODE_YES, Int32(bitPattern: character) == KEY_RESIZE {
                messages += decoder.decode(batch) + [.resized(size)]
                batch = []
            } else if kind == KEY_CODE_YES, Int32(bitPattern: character) == KEY_MOUSE {
                messages += decoder.decode(batch) + (decoder.isPasting ? [] : mouse())
                batch = []
            } else if kind == KEY_CODE_YES {
                batch.append(.code(Int32(bitPattern: character)))
            } else if let scalar = Unicode.Scalar(character) {
                batch.append(.scalar(scalar))
            }
        }
        messages += decoder.decode(batch)
        quietReads = batch.isEmpty && decoder.isPasting ? quietReads + 1 : 0
        if quietReads > Self.patience { messages += decoder.endPaste() }
        for case .background(let isLight) in messages { changePalette(isLight: isLight) }
        return messages
    }

    /// Notices a new window size. Curses misses one while it draws, because it can't reach the terminal then, and one
    /// whose signal another thread received. `resizeterm` turns it into a key.
    private func noticeSize() {
        var now = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &now) == 0, now.ws_row > 0, now.ws_col > 0 else { return }
        if is_term_resized(Int32(now.ws_row), Int32(now.ws_col)) { resizeterm(Int32(now.ws_row), Int32(now.ws_col)) }
    }

    private func mouse() -> [Message] {
        var (x, y): (Int32, Int32) = (0, 0)
        let kinds: [Int32: MouseEvent.Kind] = [1: .press, 2: .release, 4: .wheelUp, 5: .wheelDown]
        return kinds[cn_mouse_event(&x, &y)].map { [.mouse(MouseEvent($0, x: Int(x), y: Int(y)))] } ?? []
    }

    /// After this many empty reads, a second or more, the end mark of a paste is considered lost.
    private static let patience = 10

    func show(_ canvas: Canvas) {
        // Curses would take the terminal back automatically.
        guard !isAway else { return }
        let isWhole = canvas.size != shownSize
        if isWhole { werase(cn_screen()) }
        let width = canvas.size.width
        for row in 0..<canvas.size.height {
            let range = row * width..<(row + 1) * width
            if isWhole || canvas.cells[range] != shown[range] { put(canvas.cells[range], row: row) }
        }
        shown = canvas.cells
        shownSize = canvas.size
        CrashGuard.inOneWrite(to: output) {
            showCursor(canvas.cursor)
            wnoutrefresh(cn_screen())
            doupdate()
        }
    }

    func repaint() {
        shownSize = Size(-1, -1)
        clearok(cn_screen(), true)
    }

    func suspend() {
        leave()
        CrashGuard.stop()
        // A user who kills a stopped program wants it to end. The terminal belongs to the shell and must stay so.
        if !CrashGuard.isDying { resume() }
    }

    func resume() {
        isAway = false
        reset_prog_mode()
        send(Self.pasteOn)
        cn_mouse(hearsMouse ? 1 : 0)
        cursorIsVisible = nil
        repaint()
    }

    /// Some terminals accept no more in one sequence.
    private static let clipboardLimit = 74_994

    func copy(_ bytes: [UInt8]) -> Bool {
        guard hasClipboard, bytes.count <= Self.clipboardLimit else { return false }
        return FileOutput.write("\u{1B}]52;c;\(Base64.text(bytes))\u{7}", to: output)
    }

    func run(_ arguments: [String]) -> Int32? {
        leave()
        defer { resume() }
        return ForegroundChild.run(arguments, input: inputDescriptor, output: output)
    }

    // MARK: Background

    private static func palette(_ environment: TerminalEnvironment, isLight: Bool) -> Palette {
        let (all, wanted) = (Int(cn_colors()), environment.colours ?? .max)
        return Palette(
            colours: min(wanted, all), noColour: wanted == 0, isDirect: all > 256, isLight: isLight,
            changed: environment.changedColours)
    }

    /// Waits for the terminal's answer, so that the first screen has the right colors. A later answer changes them.
    func learnBackground(within limit: Duration) {
        let end = ContinuousClock.now + limit
        while decoder.awaitsBackground, case let left = end - ContinuousClock.now, left > .zero {
            var polled = pollfd(fd: inputDescriptor, events: Int16(POLLIN), revents: 0)
            if poll(&polled, 1, Int32(left / .milliseconds(1)) + 1) > 0 { early += read() }
        }
    }

    private func changePalette(isLight: Bool) {
        guard environment.asksBackground, isLight != palette.isLight else { return }
        palette = Self.palette(environment, isLight: isLight)
        looks = makeLooks()
        repaint()
    }

    // MARK: Drawing

    /// Draws one row, in runs of a single style. Each run is placed by its column and ends after a wide or marked
    /// character, so that a character whose width curses measures differently shifts nothing else.
    private func put(_ cells: ArraySlice<Cell>, row: Int) {
        var text: [UInt32] = []
        var start = 0
        var style = Style.plain
        var isClosed = true
        for (column, cell) in cells.enumerated() where cell.width > 0 {
            if isClosed || cell.style != style {
                put(&text, style, row: row, column: start)
                (start, style) = (column, cell.style)
            }
            text.append(Self.printable(cell.scalar))
            if !cell.marks.isEmpty { text += cell.marks.all }
            isClosed = cell.width > 1 || !cell.marks.isEmpty
        }
        put(&text, style, row: row, column: start)
    }

    /// Draws a run, and empties it.
    private func put(_ text: inout [UInt32], _ style: Style, row: Int, column: Int) {
        guard !text.isEmpty else { return }
        let look = looks[Int(style.role.rawValue)]
        let attributes = look.attributes | Self.attributes(style.emphasis)
        let count = Int32(text.count)
        // waddnwstr reads one character past the last one before it checks the count, which may be on an unmapped page.
        text.append(0)
        cn_put(Int32(row), Int32(column), attributes, look.pair, text, count)
        text.removeAll(keepingCapacity: true)
    }

    /// Replaces control characters, which have no cell, with a dot.
    private static func printable(_ scalar: UInt32) -> UInt32 {
        scalar < 0x20 || (0x7F...0x9F).contains(scalar) ? 0x2E : scalar
    }

    private func showCursor(_ position: Canvas.Position?) {
        let isVisible = position != nil
        if cursorIsVisible != isVisible { curs_set(isVisible ? 1 : 0) }
        cursorIsVisible = isVisible
        if let position { wmove(cn_screen(), Int32(position.y), Int32(position.x)) }
    }

    private func makeLooks() -> [Look] {
        Role.allCases.map { role in
            let wanted = palette.look(of: role)
            let pair = Int32(role.rawValue) + 1
            let hasPair = wanted.foreground >= 0 && cn_pair(pair, wanted.foreground) == OK
            let attributes = Self.attributes(wanted.emphasis) | (wanted.isDim ? cn_dim : 0)
            return Look(attributes: attributes, pair: hasPair ? pair : 0)
        }
    }

    private static func attributes(_ emphasis: Style.Emphasis) -> attr_t {
        (emphasis.contains(.bold) ? cn_bold : 0) | (emphasis.contains(.reverse) ? cn_reverse : 0)
            | (emphasis.contains(.underline) ? cn_underline : 0)
    }

    func bell() { send("\u{7}") }

    private func send(_ text: String) {
        let bytes = Array(text.utf8)
        write(output, bytes, bytes.count)
    }
}

// MARK: Keys

extension CursesTerminal {
    /// Defines key sequences that terminals send but their terminfo entries omit. With Shift, Alt or Control they count
    /// as the plain key, except Shift and Alt with the left and right arrows.
    private static func defineKeys() {
        let letters: [(Character, Int32)] = [
            ("A", KEY_UP), ("B", KEY_DOWN), ("C", KEY_RIGHT), ("D", KEY_LEFT), ("H", KEY_HOME), ("F", KEY_END),
            ("P", function(1)), ("Q", function(2)), ("R", function(3)), ("S", function(4)),
        ]
        for (letter, code) in letters {
            define_key("\u{1B}O\(letter)", code)
            if letter < "P" { define_key("\u{1B}[\(letter)", code) }
            for modifier in 2...8 { define_key("\u{1B}[1;\(modifier)\(letter)", code) }
        }
        let numbers: [(Int, Int32)] = [
            (1, KEY_HOME), (2, KEY_IC), (3, KEY_DC), (4, KEY_END), (5, KEY_PPAGE), (6, KEY_NPAGE), (7, KEY_HOME),
            (8, KEY_END), (11, function(1)), (12, function(2)), (13, function(3)), (14, function(4)),
            (15, function(5)), (17, function(6)), (18, function(7)), (19, function(8)), (20, function(9)),
            (21, function(10)), (23, function(11)), (24, function(12)),
        ]
        for (number, code) in numbers {
            define_key("\u{1B}[\(number)~", code)
            for modifier in 2...8 { define_key("\u{1B}[\(number);\(modifier)~", code) }
        }
        define_key("\u{1B}[1;2C", KEY_SRIGHT)
        define_key("\u{1B}[1;2D", KEY_SLEFT)
        define_key("\u{1B}[1;3C", KeyDecoder.altRight)
        define_key("\u{1B}[1;3D", KeyDecoder.altLeft)
        define_key("\u{1B}[Z", KEY_BTAB)
        define_key("\u{1B}[200~", KeyDecoder.pasteBegins)
        define_key("\u{1B}[201~", KeyDecoder.pasteEnds)
    }

    private static func function(_ number: Int32) -> Int32 { KeyDecoder.firstFunction + number }
}

extension String {
    /// Returns where `text` begins in this string.
    fileprivate func range(_ text: String) -> Index? {
        indices.first { self[$0...].hasPrefix(text) }
    }
}
