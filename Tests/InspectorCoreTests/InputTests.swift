import InspectorCore
import InspectorScreen
import SocketCore
import Testing

@Suite("What a person types")
struct InputTests {
    private func edit(_ text: String, _ keys: Key...) -> LineEditor {
        var editor = LineEditor(text)
        for key in keys { _ = editor.handle(key) }
        return editor
    }

    @Test("The keys of readline")
    func readline() {
        #expect(edit("abc", .left, .character("X")).text == "abXc")
        #expect(edit("abc", .control("a"), .delete).text == "bc")
        #expect(edit("abc", .home, .right, .backspace).text == "bc")
        #expect(edit("one two", .control("w"), .character("X")).text == "one X")
        #expect(edit("one two", .control("w"), .control("a"), .control("y")).text == "twoone ")
        #expect(edit("one two", .home, .right, .control("k")).text == "o")
        #expect(edit("one two", .left, .control("u")).text == "o")
        #expect(edit("one two", .alt("b"), .alt("b"), .alt("f"), .character("!")).text == "one! two")
        #expect(edit("", .backspace, .delete, .left, .control("k"), .control("w")).text == "")
        #expect(edit("日本", .left, .character("x")).text == "日x本")
        #expect(edit("a", .altEnter, .character("b")).text == "a\nb")
    }

    @Test("History goes up to what was entered and back down to the draft")
    func history() {
        var editor = LineEditor("first")
        editor.commit()
        editor.set("second")
        editor.commit()
        editor.set("draft")
        _ = editor.handle(.up)
        #expect(editor.text == "second")
        _ = editor.handle(.up)
        _ = editor.handle(.up)
        #expect(editor.text == "first")
        _ = editor.handle(.down)
        _ = editor.handle(.down)
        #expect(editor.text == "draft")
        #expect(editor.history == ["first", "second"])
    }

    @Test("A paste keeps its lines, with one kind of line end")
    func paste() {
        var editor = LineEditor("ac")
        _ = editor.handle(.left)
        editor.insert("1\r\n2\r3\n")
        #expect(editor.text == "a1\n2\n3\nc")
        #expect(editor.cursor == 7)
    }

    @Test("The field scrolls sideways and the cursor is always in sight", arguments: 1..<30)
    func window(_ width: Int) {
        let sanitizer = Sanitizer(isASCII: false)
        var editor = LineEditor("GET /日本語/é?q=\u{1b}[0m and a long line that does not fit")
        for _ in 0...editor.characters.count + 1 {
            let (line, cursor) = editor.window(width: width, sanitizer: sanitizer, glyphs: .unicode)
            #expect(line.width <= width)
            #expect(cursor >= 0 && cursor < max(1, width))
            SanitizerTests.check(line)
            _ = editor.handle(.left)
        }
    }

    @Test("An insertion makes of a line what all of it read again would be", arguments: 0..<200)
    func insertions(seed: Int) {
        var random = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        func next(_ limit: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(UInt(bitPattern: random) >> 33) % limit
        }
        let parts = [
            "a", "e", "\u{301}", "\n", "日", "\u{1F1E9}", "\u{1F1EA}", "\u{200D}", "👩", "🏽", "\u{FE0F}", "\r\n",
        ]
        var editor = LineEditor()
        for _ in 0..<30 {
            for _ in 0..<next(4) { _ = editor.handle(next(2) == 0 ? .left : .right) }
            let added = (0...next(3)).map { _ in parts[next(parts.count)] }.joined()
            let before = editor
            editor.insert(added)
            let lines = added.map { $0 == "\r\n" || $0 == "\r" ? "\n" : String($0) }.joined()
            let whole =
                String(before.characters[..<before.cursor]) + lines + String(before.characters[before.cursor...])
            #expect(editor.text == whole && editor.characters == Array(whole))
        }
    }

    @Test("A key in a long line looks at what is in sight, and not at the rest")
    func longLine() {
        var editor = LineEditor(String(repeating: "x", count: 60_000))
        for _ in 0..<3 { _ = editor.handle(.left) }
        let joined = editor.joining(["y"])
        #expect(joined.range.count <= 2 && joined.characters.count <= 3)
        let sanitizer = Sanitizer(isASCII: false)
        #expect(editor.near(width: 80, sanitizer, .unicode).count <= 200)
        let (line, cursor) = editor.window(width: 80, sanitizer: sanitizer, glyphs: .unicode)
        #expect(line.width == 79 && line.text.hasPrefix("…x") && cursor == 76)
        _ = editor.handle(.home)
        #expect(editor.near(width: 80, sanitizer, .unicode).count <= 200)
        #expect(editor.window(width: 80, sanitizer: sanitizer, glyphs: .unicode).line.text.hasSuffix("x…"))
    }

    @Test(
        "The window of a long line is the one that all of it laid out would give",
        arguments: [0, 1, 40, 99, 5_000, 9_999])
    func longWindow(cursor: Int) {
        let text = String((0..<10_000).map { Character(["a", "日", "\u{1B}", "é"][$0 * 7 % 4]) })
        var editor = LineEditor(text)
        for _ in 0..<(10_000 - cursor) { _ = editor.handle(.left) }
        let sanitizer = Sanitizer(isASCII: false)
        var whole = Line()
        var column = 0
        for (index, character) in editor.characters.enumerated() {
            if index == cursor { column = whole.width }
            sanitizer.append(String(character), to: &whole)
        }
        let (line, at) = editor.window(width: 60, sanitizer: sanitizer, glyphs: .ascii)
        let start = min(max(0, column - 45), whole.width - 59)
        #expect(at == column - start)
        // The ends may be marks that say that there is more.
        #expect(line.columns(2..<57).text == whole.columns((start + 2)..<(start + 57)).text)
    }

    @Test("Escapes become bytes")
    func escapes() throws {
        #expect(
            try EscapedText.parse("a\\r\\n\\t\\0\\\\\\x1b\\xFF\\u{e9}é").get() == [
                0x61, 13, 10, 9, 0, 0x5C, 0x1B, 0xFF, 0xC3, 0xA9, 0xC3, 0xA9,
            ])
        #expect(try EscapedText.parse("").get() == [])
    }

    @Test(
        "A bad escape names its column",
        arguments: [
            ("ab\\q", 3), ("\\", 1), ("x\\x1", 2), ("\\xzz", 1), ("\\u{}", 1), ("\\u{110000}", 1), ("\\u41", 1),
            ("\\u{d800}", 1), ("\\x+1", 1),
        ])
    func badEscapes(_ text: String, _ column: Int) {
        guard case .failure(let failure) = EscapedText.parse(text) else {
            Issue.record("\(text) was taken")
            return
        }
        #expect(failure.column == column)
        #expect(!failure.message.isEmpty)
    }

    @Test("What is shown escaped reads back as the same bytes")
    func roundTrip() throws {
        let bytes = Array(UInt8.min ... .max)
        #expect(try EscapedText.parse(EscapedText.show(bytes)).get() == bytes)
    }

    @Test(
        "Addresses",
        arguments: [
            ("localhost:80", AddressLine.connect(.stream(.tcp(host: "localhost", port: 80)))),
            (" [::1]:8080 ", .connect(.stream(.tcp(host: "::1", port: 8080)))),
            ("host 25", .connect(.stream(.tcp(host: "host", port: 25)))),
            (":80", .connect(.stream(.tcp(host: "localhost", port: 80)))),
            ("unix:/run/a", .connect(.stream(.unix(path: "/run/a")))),
            ("unix:@name", .connect(.stream(.abstract(name: "name")))),
            ("listen :8080", .listen(.stream(.tcp(host: "", port: 8080)))),
            ("listen unix:/x", .listen(.stream(.unix(path: "/x")))), ("demo", .demo),
            ("udp://h:53", .connect(.datagrams(.udp(host: "h", port: 53)))),
            (
                "listen udp://239.1.2.3:9?interface=lo",
                .listen(.datagrams(.udp(host: "239.1.2.3", port: 9), interface: "lo"))
            ),
            ("tls://h 443", .connect(.stream(.tcp(host: "h", port: 443), isSecure: true))),
            ("listen tls://:443", .listen(.stream(.tcp(host: "", port: 443), isSecure: true))),
            ("listen unixgram:/x", .listen(.datagrams(.unix(path: "/x")))),
        ])
    func addresses(_ text: String, _ expected: AddressLine) {
        #expect(AddressLine.parse(text) == .success(expected))
    }

    @Test(
        "A bad address is refused with a reason",
        arguments: [
            "", "hosts", "why 8080", "host:", "host:99999", "::1:80", "listen", "a b c d", "unix:", "host:8o",
            "host:-1", "host:0",
        ])
    func badAddresses(_ text: String) {
        guard case .failure(let failure) = AddressLine.parse(text) else {
            Issue.record("\(text) was taken")
            return
        }
        #expect(!failure.message.isEmpty)
    }

    @Test("Lengths of time")
    func durations() {
        #expect(DurationText.parse("30s") == .some(.seconds(30)))
        #expect(DurationText.parse("500ms") == .some(.milliseconds(500)))
        #expect(DurationText.parse("1.5m") == .some(.seconds(90)))
        #expect(DurationText.parse("10") == .some(.seconds(10)))
        #expect(DurationText.parse("") == .some(nil))
        #expect(DurationText.parse("none") == .some(nil))
        #expect(DurationText.parse("soon") == nil)
        #expect(DurationText.parse("-1s") == nil)
        #expect(DurationText.parse("0") == nil)
    }

    @Test("No key means two things in one context")
    func keymap() {
        for context in KeyContext.allCases {
            var seen: [Key: String] = [:]
            for action in Action.all {
                for key in action.uses.filter({ $0.contexts.contains(context) }).flatMap(\.keys) {
                    let other = seen.updateValue(action.name, forKey: key)
                    #expect(other == nil, "\(key.label) in \(context)")
                }
            }
            #expect(KeyTable.standard.binding(for: .control("c"), in: context)?.line == "interrupt")
            #expect(KeyTable.standard.binding(for: .control("l"), in: context)?.line == "repaint")
            #expect(
                !context.isText || seen.keys.allSatisfy { !$0.isCharacter || $0 == (context == .start ? "?" : " ") },
                "letters are typed")
        }
    }

    @Test("k is up wherever a letter is a command")
    func up() {
        // The keys of the past come before those of a view, which has this one.
        for context in KeyContext.allCases where !context.isText && context != .rewound {
            #expect(KeyTable.standard.binding(for: "k", in: context)?.line == "up", "\(context)")
        }
    }

    @Test("Every action has a key or takes arguments, and means the same thing once in a context")
    func everyAction() {
        for action in Action.all {
            #expect(action.syntax != nil || !action.uses.flatMap(\.keys).isEmpty, "\(action.name)")
        }
    }
}

extension LineEditor {
    /// Takes a key as the composer does. Returns whether it means something.
    fileprivate mutating func handle(_ key: Key) -> Bool {
        if case .character(let character) = key {
            insert(String(character))
            return true
        }
        guard let line = KeyTable.standard.binding(for: key, in: .composer)?.line, let change = Edit(rawValue: line)
        else { return false }
        edit(change)
        return true
    }
}
