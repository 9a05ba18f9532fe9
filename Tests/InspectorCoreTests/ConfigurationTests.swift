import InspectorCore
import InspectorScreen
import Testing

@Suite("The configuration")
struct ConfigurationTests {
    private func entries(_ text: String) throws -> [String: TOML.Value] {
        Dictionary(
            uniqueKeysWithValues: try TOML.parse(text).get().entries.map { ($0.path.joined(separator: "/"), $0.value) })
    }

    @Test("TOML: every form of the part that is read")
    func forms() throws {
        let text = """
            # comment
            a = "x\\t\\u00e9\\\\" # behind
            'b c' = 'C:\\no\\escape'\r
            d.e = -1_000
            "" = true
            [t]
            a = [ "x", # one
              'y', ]
            [ t . "u v" ]
            z = []
            """
        #expect(
            try entries(text) == [
                "a": .string("x\té\\"), "b c": .string(#"C:\no\escape"#), "d/e": .integer(-1000), "": .boolean(true),
                "t/a": .array([.string("x"), .string("y")]), "t/u v/z": .array([]),
            ])
        #expect(try entries("").isEmpty)
    }

    @Test(
        "TOML: what is wrong is named where it stands",
        arguments: [
            ("a", 1, 2, "the = after the key is missing"),
            ("\n  = 1", 2, 3, "a key is missing; quote one that is not a plain word"),
            ("a = ", 1, 5, "a value is missing"), ("a = yes", 1, 5, "yes is not a value; put text in quotes"),
            ("a = 1 2", 1, 7, "the line must end here"), ("a = 012", 1, 5, "012 is not a value; put text in quotes"),
            ("a = 1.5", 1, 5, "1.5 is not a value; put text in quotes"),
            ("a = \"x", 1, 5, "the closing \" is missing"), ("a = 'x\ny'", 1, 5, "the closing ' is missing"),
            ("a = \"\\q\"", 1, 6, "no such escape; \\\\ writes a backslash, or quote with '"),
            ("a = \"\\ud800\"", 1, 6, "needs 4 hex digits that name a character"),
            ("a = \"\"\"x\"\"\"", 1, 5, "multi-line strings are not supported"),
            ("a = { b = 1 }", 1, 5, "inline tables are not supported"),
            ("[[a]]", 1, 1, "arrays of tables are not supported"),
            ("[a\n", 1, 3, "the ] after the table's name is missing"),
            ("a = [1, 2\nb = 3", 2, 1, "a comma is missing"), ("a = [1,", 1, 5, "the ] of this array is missing"),
            ("a = 1\na = 2", 2, 1, "a is defined twice"), ("[a]\n[b]\n[a]", 3, 1, "a is defined twice"),
            ("a.b = 1\n[a]", 2, 1, "a is defined twice"), ("a = 1\na.b = 2", 2, 1, "a is not a table"),
            ("a = 1\rb = 2", 1, 6, "a CR without an LF"), ("# \u{1B}", 1, 3, "a control character"),
        ])
    func mistakes(text: String, line: Int, column: Int, message: String) {
        #expect(TOML.parse(text) == .failure(.init(.init(line: line, column: column), message)))
    }

    @Test("options, keys and colours take effect")
    func effect() throws {
        let text = """
            [options]
            ascii = true
            color = 16
            [keys.views]
            "C-e" = "events"
            [keys.list]
            "^E" = 'read until \\r\\n max 8K'
            s = ""
            [colors]
            warn = "214 bold"
            [warnings]
            write-blocked = "10s"
            idle = "on"
            read-starved = "off"
            """
        let configuration = try Configuration.parse(text).get()
        #expect(configuration.isASCII && configuration.depth == .sixteen && configuration.recent)
        let keys = configuration.keys
        #expect(
            keys.binding(for: .control("e"), in: .list)?.line == #"read until \r\n max 8K"#, "one place wins over all")
        #expect(keys.binding(for: .control("e"), in: .traffic)?.line == "events")
        #expect(keys.binding(for: .character("s"), in: .list) == nil)
        #expect(keys.binding(for: .character("q"), in: .list)?.line == "quit")
        #expect(configuration.colours[.warn] == ColourText(index: 214, emphasis: .bold))
        #expect(configuration.colours[.bad] == nil)
        let (blocked, starved) = (Lint.named("write-blocked"), Lint.named("read-starved"))
        #expect(blocked.map { configuration.lints.time($0) } == .seconds(10))
        #expect(starved.map { configuration.lints.shows($0) } == false)
        #expect(Lint.named("idle").map { configuration.lints.shows($0) } == true)
    }

    @Test(
        "an unknown name or a value that cannot be is refused where it stands",
        arguments: [
            ("colour = 1", 1, 1, "no such table: colour; did you mean colors?"),
            ("[option]\na = 1", 2, 1, "no such table: option; did you mean options?"),
            ("[options]\nasci = true", 2, 1, "no such option: asci; did you mean ascii?"),
            ("[options]\nascii = 1", 2, 9, "ascii must be true or false"),
            ("[options]\ncolor = \"many\"", 2, 9, "color must be auto, 256, 16, 8 or none"),
            ("[options]\nlog = \"x\"", 2, 7, "log must be an absolute path, or empty"),
            (
                "[keys.lst]\nq = \"quit\"", 2, 1,
                "no such context: lst; start, list, talk, detail, events, output, composer, field, form, menu, help, rewound, views"
            ),
            ("[keys.composer]\nq = \"quit\"", 2, 1, "q types text in composer; bind ^X, Alt-x or F5"),
            ("[keys.menu]\n\nF5 = \"sort-next\"", 3, 6, "sort-next is not available in menu"),
            ("[keys.composer]\nTab = \"\"\nEsc = \"\"", 3, 1, "no key is bound to leave in composer"),
            ("[keys.menu]\nEsc = \"\"\nq = \"accept\"", 3, 1, "no key is bound to cancel in menu"),
            ("[keys.list]\nqq = \"quit\"", 2, 1, "no such key: qq; write a character, Enter, F7, ^D, Alt-1..."),
            ("[keys.list]\n\"^C\" = \"\"", 2, 1, "^C always quits"),
            ("[keys.list]\nq = \"qiut\"", 2, 5, "qiut: no such command; did you mean quit?"),
            ("[keys.list]\nq = \"read length x\"", 2, 5, "x: length needs a number of bytes such as 512 or 8K"),
            ("[keys.list]\n\"^E\" = \"\"\n\"C-e\" = \"\"", 3, 1, "C-e is already bound in list, on line 2"),
            ("[keys]\nq = \"quit\"", 2, 1, "keys need a context, as in [keys.list]"),
            (
                "[colors]\nwarn = \"ylow\"", 2, 8,
                "ylow is not a color; red, bright-red, 0 to 255, default, with bold, reverse, underline or dim"
            ),
            ("[colors]\nwarm = \"red\"", 2, 1, "no such color: warm; did you mean warn?"),
            ("[warnings]\nwrite-blockd = \"on\"", 2, 1, "no such warning: write-blockd; did you mean write-blocked?"),
            ("[warnings]\nidle = \"soon\"", 2, 8, "soon is not a duration; write idle=10s, 500ms or 2m"),
        ])
    func refusals(text: String, line: Int, column: Int, message: String) {
        guard case .failure(let failure) = Configuration.parse(text) else {
            Issue.record("read without complaint")
            return
        }
        #expect(failure == TOML.Failure(.init(line: line, column: column), message))
    }

    @Test("what is printed reads back to the same, and prints the same again")
    func roundTrip() throws {
        let text = """
            [options]
            log = "/tmp/a \\"b\\"'c'"
            [keys.list]
            "^E" = 'send a\\r\\n"x"'
            s = ""
            [keys.composer]
            "^K" = ""
            Enter = "insert-line"
            "^S" = "send"
            [colors]
            warn = "bright-yellow bold dim"
            """
        let configuration = try Configuration.parse(text).get()
        let printed = configuration.text { _ in ColourText() }
        let again = try Configuration.parse(printed).get()
        #expect(again.text { _ in ColourText() } == printed)
        #expect(again.log == configuration.log && again.colours == configuration.colours)
        for context in KeyContext.allCases {
            for key in KeyTable.standard.keys(in: context) + [.control("e"), .control("k")] {
                let (left, right) = (configuration.keys, again.keys)
                #expect(left.binding(for: key, in: context)?.line == right.binding(for: key, in: context)?.line)
            }
        }
        let standard = Configuration().text { _ in ColourText() }
        #expect(try Configuration.parse(standard).get().text { _ in ColourText() } == standard)
    }

    @Test("every key's label is a name that reads back")
    func labels() {
        for key in KeyContext.allCases.flatMap(KeyTable.standard.keys) {
            #expect(Key(named: key.label) == key, "\(key.label)")
        }
    }
}
