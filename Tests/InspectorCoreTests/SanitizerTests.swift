import InspectorCore
import InspectorScreen
import SocketCore
import Testing

/// Numbers that look random and are the same in every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

@Suite("Foreign bytes become harmless cells")
struct SanitizerTests {
    /// Scalars that no cell may hold.
    static func isDangerous(_ value: UInt32) -> Bool {
        if value >= 0x20 && value < 0x7F { return false }
        return value < 0x20 && value != 0 || (0x7F...0x9F).contains(value) || (0x202A...0x202E).contains(value)
            || (0x2066...0x2069).contains(value) || value == 0x200E || value == 0x200F || value == 0xFEFF
            || (0x2028...0x2029).contains(value) || value == 0xAD || (0x200B...0x200D).contains(value)
    }

    /// Whether a line holds nothing dangerous and no half of a wide character.
    static func isSound(_ line: Line) -> Bool {
        line.cells.enumerated().allSatisfy { index, cell in
            let before = index > 0 ? line.cells[index - 1].width : 1
            let after = index + 1 < line.cells.count ? line.cells[index + 1].width : 1
            return !isDangerous(cell.scalar) && !cell.marks.all.contains(where: isDangerous)
                && (cell.width != 0 || before == 2)
                && (cell.width != 2 || after == 0)
        }
    }

    static func check(_ line: Line, _ location: SourceLocation = #_sourceLocation) {
        let isSound = isSound(line)
        #expect(isSound, "\(line.text)", sourceLocation: location)
    }

    static func random(_ generator: inout SeededGenerator, count: Int) -> [UInt8] {
        let nasty: [[UInt8]] = [
            [0x1B, 0x5D], [0xC2, 0x9B], [0xE2, 0x80, 0xAE], [0xEF, 0xBB, 0xBF], [0xCC, 0x81], [0xE6, 0x97, 0xA5],
            [0xF0, 0x9F, 0x98, 0x80], [0xE2, 0x80, 0x8D], [0x0D, 0x0A], [0x0D], [0x09], [0xF4, 0x90, 0x80, 0x80],
            [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xEF, 0xB8, 0x8F], [0xF3, 0xA0, 0x80, 0x81],
        ]
        var bytes: [UInt8] = []
        while bytes.count < count {
            if Int.random(in: 0..<3, using: &generator) == 0 {
                bytes += nasty.randomElement(using: &generator) ?? []
            } else {
                bytes.append(UInt8.random(in: .min ... .max, using: &generator))
            }
        }
        return bytes
    }

    @Test("Random bytes never leave a control, bidi or half character, whatever the pane", arguments: 0..<60)
    func random(_ seed: Int) {
        var generator = SeededGenerator(UInt64(seed) + 1)
        let bytes = Self.random(&generator, count: Int.random(in: 0..<700, using: &generator))
        for isASCII in [false, true] {
            let sanitizer = Sanitizer(isASCII: isASCII)
            var line = Line()
            sanitizer.append(bytes: bytes, to: &line)
            Self.check(line)
            if isASCII { #expect(line.cells.allSatisfy { $0.scalar < 0x7F && $0.marks.isEmpty }) }
            var text = Line()
            sanitizer.append(String(decoding: bytes, as: UTF8.self), to: &text)
            Self.check(text)
            let width = Int.random(in: 0..<90, using: &generator)
            let glyphs = isASCII ? Glyphs.ascii : .unicode
            Self.check(line.clipped(to: width, glyphs))
            #expect(line.clipped(to: width, glyphs).width <= width)
            for mode in ViewMode.allCases {
                let rows = ByteRows(mode: mode, width: width, sanitizer: sanitizer, glyphs: glyphs, style: .plain)
                let (lines, shown) = rows.rows(bytes, limit: .max)
                #expect(shown == bytes.count)
                for line in lines {
                    Self.check(line)
                    if mode != .hexText { #expect(line.width <= max(4, width)) }
                }
            }
        }
    }

    @Test(
        "Escapes say what was there",
        arguments: [
            ("a\u{1b}[31m", "a\\x1b[31m"), ("\u{9b}x", "\\x9bx"), ("\u{202e}evil", "\\u{202e}evil"),
            ("\u{7f}", "\\x7f"),
            ("\u{feff}", "\\u{feff}"), ("a\r\n\t\u{0}", "a\\r\\n\\t\\0"), ("\u{ad}", "\\u{ad}"), ("日本", "日本"),
            ("e\u{301}\u{302}\u{303}", "e\u{301}\u{302}\u{303}"), ("\u{200d}", "\\u{200d}"), ("\u{e000}", "\\u{e000}"),
            ("\u{2028}", "\\u{2028}"), ("x\u{fe0f}", "x"),
        ])
    func escapes(_ input: String, _ expected: String) {
        #expect(Sanitizer(isASCII: false).text(input).unicodeScalars.elementsEqual(expected.unicodeScalars))
    }

    @Test(
        "Every mark is shown: four on a character, the others escaped",
        arguments: [
            // Thai with a vowel and a tone, Vietnamese in NFD, Hebrew with points, Arabic with shadda and fatha.
            ("\u{e17}\u{e35}\u{e48}", "\u{e17}\u{e35}\u{e48}", 1), ("e\u{302}\u{323}", "e\u{302}\u{323}", 1),
            ("\u{5e9}\u{5c1}\u{5b8}", "\u{5e9}\u{5c1}\u{5b8}", 1),
            ("\u{644}\u{651}\u{64e}", "\u{644}\u{651}\u{64e}", 1),
            ("Z\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}", "Z\u{300}\u{301}\u{302}\u{303}\\u{304}\\u{305}", 15),
            ("\u{1b}\u{301}", "\\x1b\\u{301}", 11), ("日\u{3099}\u{301}", "日\u{3099}\u{301}", 2),
            ("\u{301}\u{302}", " \u{301}\u{302}", 1),
        ])
    func marks(_ input: String, _ expected: String, _ width: Int) {
        var line = Line()
        Sanitizer(isASCII: false).append(input, to: &line)
        #expect(line.text.unicodeScalars.elementsEqual(expected.unicodeScalars), "\(line.text)")
        #expect(line.width == width)
        let rows = ByteRows(
            mode: .text, width: 80, sanitizer: Sanitizer(isASCII: false), glyphs: .unicode, style: .plain)
        let shown = rows.rows(Array(input.utf8), limit: .max).rows.map(\.text).joined()
        #expect(
            shown.unicodeScalars.suffix(expected.unicodeScalars.count).elementsEqual(expected.unicodeScalars),
            "\(shown)")
    }

    @Test("Invalid UTF-8 is one replacement for each byte")
    func invalid() {
        var line = Line()
        Sanitizer(isASCII: false).append(bytes: [0x61, 0xFF, 0xE2, 0x82, 0x62], to: &line)
        #expect(line.text == "a\u{fffd}\u{fffd}\u{fffd}b")
        var ascii = Line()
        Sanitizer(isASCII: true).append(bytes: [0x61, 0xFF], to: &ascii)
        #expect(ascii.text == "a\\xff")
    }

    @Test("The hex column shows printable ASCII only")
    func hexColumn() {
        for byte in UInt8.min ... .max {
            let shown = Sanitizer.hexColumn(byte)
            #expect(shown == (byte >= 0x20 && byte < 0x7F ? Unicode.Scalar(byte) : "."))
        }
    }

    @Test("Widths", arguments: [("a", 1), ("日", 2), ("\u{301}", 0), ("😀", 2), ("é", 1), ("─", 1), ("ｱ", 1), ("Ａ", 2)])
    func widths(_ text: String, _ width: Int) {
        #expect(TextWidth.of(text) == width)
    }

    @Test("A wide character cut at the edge leaves a blank, never half of itself")
    func wideAtEdge() {
        let line = Line("ab日本")
        #expect(line.clipped(to: 5, .ascii).text == "ab日~")
        #expect(line.clipped(to: 4, .ascii).text == "ab ~")
        #expect(line.columns(3..<5).width == 2)
        Self.check(line.columns(3..<5))
    }

    @Test("Text rows: CR LF and LF end a row, TAB is a stop, long lines go on with a mark")
    func textRows() {
        let rows = ByteRows(
            mode: .text, width: 12, sanitizer: Sanitizer(isASCII: true), glyphs: .ascii, style: .plain)
        let (lines, shown) = rows.rows(Array("ab\r\nc\td\n0123456789ab\rz".utf8), limit: .max)
        #expect(lines.map(\.text) == ["  ab", "  c       d", "  0123456789", "\\ ab\\rz"])
        #expect(shown == 22)
        #expect(rows.rows(Array("a\nb\nc".utf8), limit: 2).shown == 4)
        #expect(rows.rows([], limit: 5).rows.isEmpty)
    }

    @Test("An address keeps its port, however short it gets", arguments: 6..<40)
    func shortened(_ width: Int) {
        let model = Model(options: .init(ascii: true, version: "0"))
        let address = "a-very-long-host-name.example:50112"
        let line = Shorten.address(address, to: width, .plain, model)
        #expect(line.width <= width)
        #expect(line.text.hasSuffix(":50112") || width < 7)
    }
}
