import Glibc
import InspectorCore
import InspectorScreen
import Testing

@testable import SockTUI

/// Colors for a dark and for a light background.
@Suite("Themes")
struct ThemeTests {
    /// Luminance as WCAG 2 defines it.
    private static func luminance(_ color: RGB) -> Double {
        func part(_ value: Int) -> Double {
            let share = Double(value) / 255
            return share <= 0.03928 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * part(color.red) + 0.7152 * part(color.green) + 0.0722 * part(color.blue)
    }

    private static func contrast(_ one: RGB, _ other: RGB) -> Double {
        let both = [luminance(one), luminance(other)].sorted()
        return (both[1] + 0.05) / (both[0] + 0.05)
    }

    /// Backgrounds that terminals have.
    private static let dark = [RGB(0, 0, 0), RGB(0x1E, 0x1E, 0x1E), RGB(0x28, 0x2C, 0x34), RGB(0, 0x2B, 0x36)]
    private static let light = [RGB(255, 255, 255), RGB(0xFD, 0xF6, 0xE3), RGB(0xEE, 0xEE, 0xEE)]

    @Test("every color is at least 4.5:1 against its background", arguments: [false, true], [false, true])
    func contrasts(isLight: Bool, isDirect: Bool) {
        let palette = Palette(colours: isDirect ? 1 << 24 : 256, noColour: false, isDirect: isDirect, isLight: isLight)
        for role in Role.allCases {
            let number = Int(palette.look(of: role).foreground)
            guard number >= 0 else { continue }
            // The first sixteen are whatever the user has made of them.
            #expect(number >= 16, "\(role)")
            let color =
                isDirect ? RGB(number >> 16, number >> 8 & 255, number & 255) : ColourText.components(number)
            for background in isLight ? Self.light : Self.dark {
                let contrast = Self.contrast(color, background)
                #expect(contrast >= 4.5, "\(role) on \(background): \(contrast)")
            }
            #expect(palette.look(of: role).isDim == false, "\(role) would be paler than its color")
        }
        #expect(palette.look(of: .warn) != palette.look(of: .plain))
    }

    @Test("both terminals' ways of counting colors name the same ones")
    func direct() {
        for isLight in [false, true] {
            let indexed = Palette(colours: 256, noColour: false, isLight: isLight)
            let direct = Palette(colours: 1 << 24, noColour: false, isDirect: true, isLight: isLight)
            for role in Role.allCases where indexed.look(of: role).foreground >= 0 {
                let color = ColourText.components(Int(indexed.look(of: role).foreground))
                #expect(Int(direct.look(of: role).foreground) == color.number)
            }
        }
        let eight = Palette(colours: 8, noColour: false, isDirect: true)
        #expect(eight.look(of: .bad).foreground == 1, "the first eight are counted by their place")
    }

    @Test(
        "what a terminal answers is read as a color",
        arguments: [
            ("rgb:ffff/ffff/ffff", true), ("rgb:0000/0000/0000", false), ("rgb:1e/1e/1e", false),
            ("rgba:fdfd/f6f6/e3e3/ffff", true), ("rgb:f/f/f", true), ("rgb:002b/2b00/3600", false), ("rgb:ff/ff", nil),
            ("rgb:12345/0/0", nil), ("", nil), ("rgb:gg/00/00", nil), ("rgb:+f/00/00", nil),
        ] as [(String, Bool?)])
    func answers(text: String, isLight: Bool?) {
        #expect(RGB(answer: text)?.isLight == isLight)
    }

    @Test(
        "COLORFGBG names the background last",
        arguments: [
            ("0;15", true), ("15;0", false), ("0;default;7", true), ("12;8", false), ("default;default", nil),
            ("", nil),
            ("0;16", nil),
        ] as [(String, Bool?)])
    func variable(text: String, isLight: Bool?) {
        #expect(Theme.isLight(colourVariable: text) == isLight)
    }
}

@Suite("The terminal's answer about its background")
struct BackgroundAnswerTests {
    private static let white = "\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\"

    private func backgrounds(_ messages: [Message]) -> [Bool] {
        messages.compactMap { if case .background(let isLight) = $0 { isLight } else { nil } }
    }

    private func others(_ messages: [Message]) -> [String] {
        messages.compactMap { message in
            switch message {
            case .key(let key): key.label
            case .paste(let text): "paste \(text)"
            default: nil
            }
        }
    }

    private func decode(_ batches: [String], asked: Bool) -> [Message] {
        var decoder = KeyDecoder()
        if asked { decoder.expectBackground() }
        return batches.flatMap { decoder.decode($0.unicodeScalars.map(KeyDecoder.Input.scalar)) }
    }

    @Test(
        "it is a message of its own, asked for or not, however it ends", arguments: [false, true],
        [
            "\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\", "\u{1B}]11;rgb:ffff/ffff/ffff\u{7}",
            "\u{9D}11;rgba:ff/ff/ff/ff\u{9C}",
        ])
    func alone(asked: Bool, answer: String) {
        #expect(backgrounds(decode([answer], asked: asked)) == [true])
        #expect(others(decode(["a\(answer)b"], asked: asked)) == ["a", "b"])
        let both = decode(["\(answer)\u{1B}]11;rgb:0/0/0\u{7}"], asked: asked)
        #expect(backgrounds(both) == [false], "the latest one holds")
    }

    @Test("wherever it is cut, no part of it is a key", arguments: 1..<Self.white.unicodeScalars.count)
    func cut(at index: Int) {
        let scalars = Array(Self.white.unicodeScalars)
        func text(_ part: ArraySlice<Unicode.Scalar>) -> String {
            String(String.UnicodeScalarView(part))
        }
        for quiet in 0...1 {
            let batches =
                ["a" + text(scalars[..<index])] + Array(repeating: "", count: quiet) + [text(scalars[index...]) + "b"]
            let messages = decode(batches, asked: true)
            #expect(backgrounds(messages) == [true] && others(messages) == ["a", "b"], "\(others(messages))")
        }
    }

    @Test("scalar by scalar, with keys before and after it")
    func single() {
        let messages = decode("x\(Self.white)y".unicodeScalars.map(String.init), asked: true)
        #expect(backgrounds(messages) == [true] && others(messages) == ["x", "y"])
    }

    @Test("Esc is Esc: at once if no answer is awaited, and after a moment if one is")
    func escape() {
        #expect(others(decode(["\u{1B}"], asked: false)) == ["Esc"])
        #expect(others(decode(["\u{1B}"], asked: true)) == [])
        #expect(others(decode(["\u{1B}", "", ""], asked: true)) == ["Esc"])
        #expect(others(decode(["\u{1B}", "x"], asked: true)) == ["Esc", "x"], "not Alt-x: they were pressed apart")
        #expect(others(decode(["\u{1B}x\u{1B}\u{1B}"], asked: false)) == ["Alt-x", "Esc", "Esc"])
        var decoder = KeyDecoder()
        decoder.expectBackground()
        for _ in 0..<30 { _ = decoder.decode([]) }
        #expect(!decoder.awaitsBackground)
        #expect(others(decoder.decode([.scalar("\u{1B}")])) == ["Esc"], "a terminal that never answers")
    }

    @Test("what only begins like it is keys")
    func similar() {
        #expect(others(decode(["\u{1B}]x"], asked: true)) == ["Alt-]", "x"])
        #expect(others(decode(["\u{1B}]", "", ""], asked: false)) == ["Alt-]"])
        #expect(others(decode(["\u{1B}]12;"], asked: false)) == ["Alt-]", "1", "2", ";"])
    }

    @Test("an answer that never ends swallows no key that is not part of one")
    func endless() {
        let messages = decode(["\u{1B}]11;rgb:ff", "q", "w"], asked: true)
        #expect(others(messages) == ["q", "w"] && backgrounds(messages).isEmpty)
        let long = decode(["\u{1B}]11;" + String(repeating: "f", count: 60)], asked: false)
        #expect(others(long).count == 20)
    }

    @Test("a paste keeps what looks like an answer, unless one is awaited")
    func paste() {
        for asked in [false, true] {
            var decoder = KeyDecoder()
            if asked { decoder.expectBackground() }
            let inner = "a\(Self.white)b".unicodeScalars.map(KeyDecoder.Input.scalar)
            let messages = decoder.decode([.code(KeyDecoder.pasteBegins)] + inner + [.code(KeyDecoder.pasteEnds)])
            #expect(others(messages) == [asked ? "paste ab" : "paste a\(Self.white)b"])
            #expect(backgrounds(messages) == (asked ? [true] : []))
        }
    }

    @Test("random cuts of keys, pastes and answers lose and make up nothing")
    func random() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            let (before, behind) = (Int.random(in: 0...9, using: &generator), Int.random(in: 0...9, using: &generator))
            let text = String(repeating: "k", count: before) + Self.white + String(repeating: "k", count: behind)
            var decoder = KeyDecoder()
            decoder.expectBackground()
            var messages: [Message] = []
            var rest = text.unicodeScalars.map(KeyDecoder.Input.scalar)[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...min(9, rest.count), using: &generator)
                messages += decoder.decode(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(others(messages).count == before + behind && backgrounds(messages) == [true])
        }
    }
}
