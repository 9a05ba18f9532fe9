import InspectorCore
import Testing

@Suite("Keys")
struct KeyDecoderTests {
    private func decode(_ text: String) -> [Message] {
        var decoder = KeyDecoder()
        return decoder.decode(text.unicodeScalars.map(KeyDecoder.Input.scalar))
    }

    private func keys(_ messages: [Message]) -> [Key] {
        messages.compactMap { if case .key(let key) = $0 { key } else { nil } }
    }

    private func pastes(_ messages: [Message]) -> [String] {
        messages.compactMap { if case .paste(let text) = $0 { text } else { nil } }
    }

    @Test(
        "characters and control characters",
        arguments: [
            ("qé漢😀", [Key.character("q"), .character("é"), .character("漢"), .character("😀")]),
            ("\u{03}\u{1A}\u{04}\u{13}\u{11}", "czdsq".map(Key.control)),
            ("\t\r\n\u{7F}\u{08}", [.tab, .enter, .enter, .backspace, .backspace]),
            ("\u{00}\u{1C}\u{1F}", [.control("@"), .control("\\"), .control("_")]),
            ("\u{1B}", [.escape]),
            ("\u{1B}1", [.alt("1")]),
            ("\u{1B}\r", [.altEnter]),
            ("\u{1B}\u{1B}a", [.escape, .alt("a")]),
            ("\u{9B}a", [.character("a")]),
        ])
    func characters(text: String, wanted: [Key]) {
        #expect(keys(decode(text)) == wanted)
    }

    @Test("a sequence that no terminal entry names is not taken for keys")
    func unknownSequence() {
        #expect(keys(decode("a\u{1B}[99;5ub")) == [.character("a"), .character("b")])
        #expect(keys(decode("\u{1B}[I")).isEmpty)
        #expect(keys(decode("\u{1B}[")) == [.alt("[")])
    }

    @Test("Alt with a key that has no such form is the key")
    func altArrow() {
        var decoder = KeyDecoder()
        #expect(keys(decoder.decode([.scalar("\u{1B}"), .code(0o403)])) == [.up])
    }

    @Test("curses' codes; unknown ones are nothing")
    func codes() {
        var decoder = KeyDecoder()
        let batch: [KeyDecoder.Input] = [0o403, 0o541, 0o417, 0o777].map { .code($0) }
        #expect(keys(decoder.decode(batch)) == [.up, .backTab, .function(7)])
    }

    @Test("a paste is one message, whatever batches it comes in, and its keys are text")
    func paste() {
        var decoder = KeyDecoder()
        let first: [KeyDecoder.Input] = [.scalar("a"), .code(KeyDecoder.pasteBegins), .scalar("q"), .scalar("\r")]
        #expect(keys(decoder.decode(first)) == [.character("a")])
        #expect(decoder.isPasting)
        let rest: [KeyDecoder.Input] = [
            .scalar("\u{1B}"), .scalar("Q"), .code(0o403), .code(KeyDecoder.pasteEnds), .scalar("b"),
        ]
        let messages = decoder.decode(rest)
        #expect(pastes(messages) == ["q\n\u{1B}Q"])
        #expect(keys(messages) == [.character("b")])
    }

    @Test("a line end of two characters is one, also where it is cut in two")
    func pastedLineEnds() {
        func pasted(_ batches: [String]) -> [String] {
            var decoder = KeyDecoder()
            var messages = decoder.decode([.code(KeyDecoder.pasteBegins)])
            for batch in batches { messages += decoder.decode(batch.unicodeScalars.map(KeyDecoder.Input.scalar)) }
            return pastes(messages + decoder.decode([.code(KeyDecoder.pasteEnds)]))
        }
        #expect(pasted(["a\r\nb\r\n\r\nc\r\n"]) == ["a\nb\n\nc\n"])
        #expect(pasted(["a\r", "\nb"]) == ["a\nb"])
        #expect(pasted(["a\rb\nc\n\rd"]) == ["a\nb\nc\n\nd"])
        #expect(pasted(["\n", "\r"]) == ["\n\n"])
    }

    @Test("what a paste holds beyond its limit is dropped, and never read as keys")
    func endlessPaste() {
        var decoder = KeyDecoder()
        let long = [KeyDecoder.Input](repeating: .scalar("q"), count: KeyDecoder.longestPaste + 1)
        #expect(decoder.decode([.code(KeyDecoder.pasteBegins)] + long).isEmpty)
        let messages = decoder.decode([.scalar("q"), .code(KeyDecoder.pasteEnds), .scalar("x")])
        #expect(pastes(messages).first?.utf8.count == KeyDecoder.longestPaste)
        #expect(keys(messages) == [.character("x")])
    }
}
