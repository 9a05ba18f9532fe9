import SocketCore
import SocketWorkshop
import Testing

@Suite("Answers that are compared")
struct AnswerMatcherTests {
    /// The difference of an answer that comes in pieces of this size; the same for every size.
    private func difference(
        _ answer: String, _ pattern: AnswerPattern, sourceLocation: SourceLocation = #_sourceLocation
    ) -> AnswerDifference? {
        let bytes = Array(answer.utf8)
        let all = [1, 2, 3, 7, max(1, bytes.count)].map { size -> AnswerDifference? in
            var matcher = AnswerMatcher(pattern)
            for start in stride(from: 0, to: bytes.count, by: size) {
                matcher.absorb(Array(bytes[start...].prefix(size)))
            }
            matcher.finish()
            return matcher.difference
        }
        for one in all {
            // What is shown around the place is what had come by then.
            #expect(one?.kind == all[0]?.kind && one?.offset == all[0]?.offset, sourceLocation: sourceLocation)
            #expect(one?.expectedOffset == all[0]?.expectedOffset, sourceLocation: sourceLocation)
        }
        return all[all.count - 1]
    }

    private func pattern(_ answer: String, _ holes: String...) throws -> AnswerPattern {
        try AnswerPattern(Array(answer.utf8), rules: holes.map { try HoleRule.parse($0) })
    }

    @Test("equal answers are equal, and the first byte that differs is named")
    func exact() throws {
        let pattern = try pattern("+OK\r\n$5\r\nhello\r\n")
        #expect(difference("+OK\r\n$5\r\nhello\r\n", pattern) == nil)
        let other = try #require(difference("+OK\r\n$5\r\nworld\r\n", pattern))
        #expect(other.kind == .bytes && other.offset == 9 && other.expectedOffset == 9)
        #expect(other.expected.bytes == Array("+OK\r\n$5\r\nhello\r\n".utf8) && other.expected.start == 0)
        let short = try #require(difference("+OK\r\n$5", pattern))
        #expect(short.kind == .missing && short.offset == 7 && short.expectedOffset == 7)
        let long = try #require(difference("+OK\r\n$5\r\nhello\r\n:1", pattern))
        #expect(long.kind == .extra && long.offset == 16)
        #expect(difference("x", AnswerPattern([]))?.kind == .extra)
        #expect(difference("", AnswerPattern([])) == nil)
        #expect(difference("", pattern)?.kind == .missing)
    }

    @Test("only the length counts where that is asked for")
    func length() {
        let pattern = AnswerPattern(lengthOf: Array("12345".utf8))
        #expect(difference("abcde", pattern) == nil)
        #expect(difference("abcd", pattern)?.offset == 4)
        #expect(difference("abcdef", pattern)?.kind == .extra)
    }

    @Test("holes are offsets or texts with a star")
    func holes() throws {
        let dated = try pattern("Date: Tue 1\r\nA: b\r\n", #"Date: *\r\n"#)
        #expect(dated.holes == [.init(6..<11, .gap, anchor: 2)])
        #expect(difference("Date: Wednesday 22\r\nA: b\r\n", dated) == nil)
        #expect(difference("Date: \r\nA: b\r\n", dated) == nil)
        let after = try #require(difference("Date: Wed 22\r\nA: c\r\n", dated))
        #expect(after.expectedOffset == 16 && after.offset == 17)
        #expect(difference("Date: Wed", dated)?.kind == .missing)
        let offsets = try pattern("a1b22c", "1", "3-4")
        #expect(difference("a9b99c", offsets) == nil)
        #expect(difference("a9b999c", offsets)?.offset == 5)
        let several = try pattern("[1][2][3]", "[*]")
        #expect(several.holes.count == 3)
        #expect(difference("[10][][3]", several) == nil)
        #expect(difference("[10][3]", several) != nil)
        let shared = try pattern("1,2,3,", ",*,")
        #expect(shared.holes.count == 2)
        let overlapping = try pattern("abcdef", "1-3", "b*e", "2")
        #expect(overlapping.holes == [.init(1..<4, .gap, anchor: 1)])
        #expect(throws: HoleRule.Unused(index: 1, length: 3)) { try pattern("abc", "1", "x*y") }
        #expect(throws: HoleRule.Unused(index: 0, length: 3)) { try pattern("abc", "2-3") }
    }

    @Test("what follows a hole is found wherever it begins")
    func search() throws {
        let pattern = try pattern("<1aab>end", "<*aab>")
        #expect(difference("<2aaab>end", pattern) == nil)
        #expect(difference("<aabaab>end", pattern) == nil)
        #expect(difference("<22aab>enx", pattern)?.kind != nil)
        let tail = try self.pattern("a1z", "a*z")
        #expect(difference("a-z-z", tail)?.offset == 3, "a hole ends with the first text that ends it")
    }

    @Test(
        "a hole that makes no sense is refused",
        arguments: [
            ("abc", "has no *"), ("*x", "both sides"), ("x*", "both sides"), ("a**b", "both sides"),
            (#"a\q*b"#, "not an escape"), ("5-2", "has no *"), ("", "has no *"), ("1-2-3", "has no *"),
            ("99999999999999999999", "has no *"), ("-", "has no *"),
        ])
    func refused(_ text: String, _ words: String) {
        do {
            let rule = try HoleRule.parse(text)
            Issue.record("\(rule)")
        } catch {
            #expect(error.sentence.contains(words), "\(error)")
        }
    }

    @Test("how far an answer has come is known while it comes")
    func progress() throws {
        var matcher = AnswerMatcher(try pattern("a=1;ok", "=*;"))
        #expect(matcher.progress(to: 0) == .reached && matcher.progress(to: 2) == .notYet)
        matcher.absorb(Array("a=".utf8))
        #expect(matcher.progress(to: 2) == .reached && matcher.progress(to: 3) == .notYet)
        matcher.absorb(Array("22".utf8))
        #expect(matcher.progress(to: 3) == .whenQuiet && matcher.progress(to: 5) == .notYet)
        matcher.absorb(Array(";o".utf8))
        #expect(matcher.progress(to: 5) == .reached && !matcher.isComplete)
        matcher.absorb(Array("k".utf8))
        #expect(matcher.isComplete && matcher.count == 7)
    }

    @Test("what follows is counted where it may")
    func extra() {
        var matcher = AnswerMatcher(AnswerPattern([1, 2]), allowsMore: true)
        for byte: UInt8 in [1, 2, 3, 4] { matcher.absorb([byte]) }
        matcher.finish()
        #expect(matcher.difference == nil && matcher.extra == 2)
    }

    @Test("a long answer is not kept")
    func long() {
        let answer = [UInt8](repeating: 7, count: 1 << 20)
        var matcher = AnswerMatcher(AnswerPattern(answer + [1]))
        for _ in 0..<16 { matcher.absorb(Array(answer[..<(1 << 16)])) }
        matcher.absorb([2])
        #expect(matcher.difference?.offset == 1 << 20)
        #expect(matcher.difference?.received.bytes.last == 2)
        #expect(matcher.difference?.received.start == (1 << 20) - 16)
    }
}

@Suite("Controls")
struct ControlPatternTests {
    private func accepts(_ answers: [String], _ other: String) -> Bool {
        var control = ControlPattern(Array(answers[0].utf8))
        for answer in answers.dropFirst() { control.absorb(Array(answer.utf8)) }
        var matcher = AnswerMatcher(control.pattern)
        matcher.absorb(Array(other.utf8))
        matcher.finish()
        return matcher.difference == nil
    }

    @Test("the word that differs is a hole, whatever its length")
    func words() {
        let answers = ["Date: 15:06:01 GMT\r\nx", "Date: 15:06:02 GMT\r\nx"]
        #expect(accepts(answers, "Date: 15:06:59 GMT\r\nx"))
        #expect(!accepts(answers, "Date: 15:07:01 GMT\r\nx"))
        #expect(!accepts(answers, "Date: 15:06:01 GMT\r\ny"))
        #expect(!accepts(answers, "Date: 15:06: GMT\r\nx"))
        #expect(accepts([":9\r\n", ":10\r\n"], ":100\r\n"))
        #expect(!accepts([":9\r\n", ":10\r\n"], ":100\r\n:101\r\n"))
        #expect(accepts(["\u{1}a", "\u{2}a"], "\u{3}a"))
        #expect(!accepts(["ab"], "abc"))
    }

    @Test("where their number differs, all between what is the same is one hole")
    func gaps() {
        let answers = ["id=a+b;end", "id=c;end"]
        #expect(accepts(answers, "id=x+y+z;end"))
        #expect(accepts(answers + ["id=d;end"], "id=;end"))
        #expect(!accepts(answers, "id=c;END"))
        #expect(!accepts(answers, "jd=c;end"))
        #expect(accepts(["a,b", "a"], "a"))
        #expect(accepts(["", "a"], "anything at all"))
        #expect(accepts(["1a.b", "2a.b", "3a.c.b"], "4z.b"))
    }

    @Test("every control is as the controls are, whatever they are")
    func all() {
        var seed = UInt64(1)
        func next(_ limit: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % limit
        }
        for _ in 0..<2_000 {
            func answer() -> [UInt8] { (0..<next(9)).map { _ in Array("ab.,".utf8)[next(4)] } }
            let answers = (0..<4).map { _ in answer() }
            var control = ControlPattern(answers[0])
            for answer in answers { control.absorb(answer) }
            for answer in answers {
                var matcher = AnswerMatcher(control.pattern)
                matcher.absorb(answer)
                matcher.finish()
                #expect(matcher.difference == nil, "\(answers) \(control.pattern.pieces)")
            }
        }
    }

    @Test("an answer twice has the same holes twice")
    func repeated() {
        var control = ControlPattern(Array("n1".utf8))
        control.absorb(Array("n22".utf8))
        let twice = control.pattern.repeated(2)
        #expect(twice.answer == Array("n1n1".utf8) && twice.holes.map(\.range) == [0..<2, 2..<4])
        var lines = ControlPattern(Array("n 1\n".utf8))
        lines.absorb(Array("n 22\n".utf8))
        var matcher = AnswerMatcher(lines.pattern.repeated(2))
        matcher.absorb(Array("n 7\nn 100\n".utf8))
        matcher.finish()
        #expect(matcher.difference == nil)
    }
}
