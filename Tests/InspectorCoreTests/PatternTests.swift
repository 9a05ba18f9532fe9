import SocketCore
import SocketWorkshop
import Testing

@Suite("Regular expressions")
struct PatternTests {
    @Test(
        "what matches, and what does not",
        arguments: [
            ("^PING", "PING x", true), ("^PING", " PING", false), ("b+c$", "\0bbc", true), ("x", "", false),
            ("", "", true), ("a|b|", "", true), ("^(a|bc)*$", "abcbca", true), ("^(a|bc)*$", "abcb", false),
            ("^(a*)*$", "aaaa", true), ("^(a*)+b$", "aaaa", false), ("(|a)+", "", true), ("a.c", "a\nc", true),
            ("^a{2,3}$", "aa", true), ("^a{2,3}$", "aaaa", false), ("^a{2}$", "aaa", false), ("^a{2,}$", "aaaaa", true),
            ("^a{,2}$", "", true), ("a{x", "a{x", true), ("^a+?$", "aaa", true), ("^ab??c$", "ac", true),
            ("[0-9]+", "x7", true), ("^[^0-9]+$", "x7", false), ("[]x]", "]", true), ("[^]x]", "]", false),
            ("[a-]", "-", true), ("[[:alpha:]_]+[[:digit:]]", "_9", true), ("^[\\d.]+$", "10.0.0.1", true),
            ("^[^\\d]$", "7", false), ("^[\\D]$", "7", false), ("^[\\D]$", "x", true), ("\\bfoo\\b", "a foo b", true),
            ("\\bfoo\\b", "afoob", false), ("\\<foo\\>", "foo", true), ("\\Boo", "foo", true),
            ("\\w+\\s\\S", "ab c", true),
            ("a\\.b", "a.b", true), ("a\\.b", "axb", false), ("\\x41\\n", "A\n", true), ("^\\x", "x", nil),
            ("^.$", "é", true), ("^[à-ü]$", "é", true), ("(?:ab)+c", "ababc", true), ("^(a(b(c)?)?)?$", "ab", true),
        ] as [(String, String, Bool?)])
    func matching(pattern: String, text: String, result: Bool?) throws {
        guard let result else {
            #expect(throws: Pattern.Failure.self) { try Pattern(pattern) }
            return
        }
        #expect(try Pattern(pattern).matches(text) == result)
    }

    @Test("bytes are matched as bytes, zero bytes and parts of characters among them")
    func bytes() throws {
        #expect(try Pattern("b+c$", .bytes).matches([0, 0x62, 0x62, 0x63]))
        #expect(try Pattern("^\\xff.$", .bytes).matches([0xFF, 0]))
        #expect(try Pattern("é", .bytes).matches(Array("café".utf8)))
        #expect(try !Pattern("^.$", .bytes).matches("é"))
        #expect(try Pattern("^..$", .bytes).matches("é"))
    }

    @Test(
        "either case, where that is wanted",
        arguments: [("pInG", "PiNg"), ("[a-c]x", "BX"), ("ÄÖ", "äö"), ("[[:upper:]]", "q")])
    func cases(pattern: String, text: String) throws {
        #expect(try Pattern(pattern, ignoresCase: true).matches(text))
        #expect(try !Pattern(pattern).matches(text))
    }

    @Test(
        "what no pattern can be, and why",
        arguments: [
            ("a(b", "a ) is missing"), ("a)b", "unmatched ); write \\) for a literal )"),
            ("*a", "nothing to repeat before *"),
            ("a**", "two repetitions in a row; put the first in ( )"),
            ("(a)\\1", "\\1: back-references are not supported"),
            ("[a", "a ] is missing"), ("[z-a]", "a range in [ ] must go from the smaller character to the larger one"),
            ("[[:nope:]]", "[:nope:]: no such class; alpha, digit, alnum, space, upper, lower, punct, xdigit..."),
            ("(?=a)", "of the groups starting with (?, only (?: is supported"),
            ("a\\", "a character is missing after \\"),
            ("\\q", "\\q: no such escape; supported: \\d \\w \\s \\b \\n \\r \\t \\xHH"),
            ("a{3,2}", "{3,2}: counts must be 0 to 255, the smaller one first"),
            ("a{999}", "{999}: counts must be 0 to 255, the smaller one first"),
            ("((a{255}){255}){255}", "the regular expression is too large once its repetitions are expanded"),
            (
                "((((((){255}){255}){255}){255}){255}){255}",
                "the regular expression is too large once its repetitions are expanded"
            ),
            (String(repeating: "(", count: 500), "groups are nested too deeply"),
            (String(repeating: "(", count: 30_000), "too long for a regular expression, at most 1000 characters"),
            (".*" + String(repeating: "+", count: 900), "two repetitions in a row; put the first in ( )"),
        ])
    func mistakes(pattern: String, sentence: String) {
        for unit in [Pattern.Unit.scalars, .bytes] {
            let failure = #expect(throws: Pattern.Failure.self) { try Pattern(pattern, unit) }
            #expect(failure?.message == sentence)
        }
    }

    /// Each of these takes a backtracking matcher longer than the universe has lasted.
    @Test(
        "the work of a match is bounded by its text and its pattern",
        arguments: [
            "(([a-z.:0-9])+)+!", "(a*)*b", "(a|a)*b", "(a|aa)+$b", "^(.*)(.*)(.*)(.*)!$", "(x+x+)+y",
            "([a-z]*)*[^z]{40}!",
            "(a?){200}a{200}!",
        ])
    func work(pattern: String) throws {
        let pattern = try Pattern(pattern)
        let work = [1_000, 2_000, 3_000].map { count in
            var work = 0
            #expect(!pattern.matches(String(repeating: "a", count: count), counting: &work))
            return work
        }
        #expect(work[2] <= 2 * 3_001 * Pattern.stepLimit)
        // As much more for each thousand.
        #expect(work[2] - work[1] <= work[1] - work[0] + Pattern.stepLimit)
    }
}
