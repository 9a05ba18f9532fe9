import SocketCore
import Testing

/// RFC 6455, 8.1: text is UTF-8, and what is not is seen at once.
@Suite("WebSocket text") struct WebSocketTextTests {
    /// RFC 3629, 4, byte by byte: what `UTF8Validator` must agree with. The offset of the first impossible byte, and
    /// whether the text may end where it does.
    static func reference(_ bytes: [UInt8]) -> (impossible: Int?, isComplete: Bool) {
        var lengths: [ClosedRange<UInt8>] = []
        for (index, byte) in bytes.enumerated() {
            if let range = lengths.first {
                guard range.contains(byte) else { return (index, false) }
                lengths.removeFirst()
                continue
            }
            let tail: ClosedRange<UInt8> = 0x80...0xBF
            switch byte {
            case 0...0x7F: break
            case 0xC2...0xDF: lengths = [tail]
            case 0xE0: lengths = [0xA0...0xBF, tail]
            case 0xE1...0xEC, 0xEE, 0xEF: lengths = [tail, tail]
            case 0xED: lengths = [0x80...0x9F, tail]
            case 0xF0: lengths = [0x90...0xBF, tail, tail]
            case 0xF1...0xF3: lengths = [tail, tail, tail]
            case 0xF4: lengths = [0x80...0x8F, tail, tail]
            default: return (index, false)
            }
        }
        return (nil, lengths.isEmpty)
    }

    /// What the validator says of the bytes, given in two pieces.
    private static func validated(_ bytes: [UInt8], cut: Int) -> (impossible: Int?, isComplete: Bool) {
        var validator = UTF8Validator()
        return bytes.withUnsafeBytes { bytes in
            if let impossible = validator.validate(.init(rebasing: bytes[..<cut])) { return (impossible, false) }
            let impossible = validator.validate(.init(rebasing: bytes[cut...]))
            return (impossible.map { $0 + cut }, impossible == nil && validator.isComplete)
        }
    }

    private static func agrees(_ bytes: [UInt8], cuts: some Sequence<Int>) -> Bool {
        let expected = reference(bytes)
        return cuts.allSatisfy { validated(bytes, cut: $0) == expected }
    }

    private static let impossible: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80],
        [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80],
        [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        [0xCE, 0x61], [0xE2, 0x82, 0x61], [0xF0, 0x9F, 0x98, 0x61],
    ]

    @Test(arguments: impossible) func u1WrongTextFailsTheConnection(bytes: [UInt8]) {
        for prefix in ["", "Hello-\u{B5}@\u{DF}\u{F6}"] {
            let bench = WebSocketBench()
            let text = Array(prefix.utf8) + bytes + [0x61]
            bench.receive(WireFrame(opcode: 1, payload: text))
            let offset = Self.reference(text).impossible ?? -1
            #expect(bench.takeEvents() == [.failed(.invalidUTF8(offset: offset))])
        }
        #expect(WebSocketFailure.invalidUTF8(offset: 0).closeCode == .invalidPayload)
    }

    @Test(arguments: impossible) func u2ItFailsAtTheFirstImpossibleByteOfAnUnfinishedFrame(bytes: [UInt8]) throws {
        let offset = try #require(Self.reference(bytes).impossible)
        let bench = WebSocketBench()
        let stream = WireFrame(opcode: 1, payload: bytes + [UInt8](repeating: 0x61, count: 100), isFinal: false)
            .bytes(key: [9, 8, 7, 6])
        bench.receive(bytes: Array(stream.prefix(6 + offset)), cut: 1)
        #expect(bench.takeEvents() == [])
        bench.receive(bytes: [stream[6 + offset]])
        #expect(bench.takeEvents() == [.failed(.invalidUTF8(offset: offset))])
    }

    @Test func u3ACharacterMayBeCutByFragmentsButNotByTheEnd() {
        let text = Array("\u{3BA}\u{1F79}\u{3C3}\u{3BC}\u{3B5}\u{1F600}".utf8)
        for cut in 0...text.count {
            let bench = WebSocketBench()
            bench.receive(
                WireFrame(opcode: 1, payload: Array(text[..<cut]), isFinal: false),
                .more(Array(text[cut...]), isFinal: true))
            #expect(bench.takeEvents() == [.message(.text, text)])
        }
        for end in 1...3 {
            let bench = WebSocketBench()
            bench.receive(WireFrame(opcode: 1, payload: Array("\u{1F600}".utf8.prefix(end))))
            #expect(bench.takeEvents() == [.failed(.invalidUTF8(offset: end))])
        }
    }

    @Test func u4NonCharactersAreTextAndWhatIsNoCharacterIsNot() {
        let fine = [0xD7FF, 0xE000, 0xFFFD, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF, 0x80, 0x7FF, 0x800, 0x10000, 0]
        for scalar in fine.compactMap({ Unicode.Scalar(UInt32($0)) }) {
            let bench = WebSocketBench()
            bench.receive(.text(String(Character(scalar))))
            #expect(bench.takeEvents() == [.text(String(Character(scalar)))])
        }
        for wrong in Self.impossible { #expect(Self.reference(wrong).impossible != nil) }
    }

    @Test func u5EveryStringOfTwoBytesIsJudgedAsByTheRFC() {
        var wrong = 0
        for first in 0...0xFF {
            // Behind it come two that end any character, so that all four are looked at together.
            for second in 0...0xFF where !Self.agrees([UInt8(first), UInt8(second), 0x80, 0x61], cuts: 0...2) {
                wrong += 1
            }
        }
        #expect(wrong == 0)
    }

    @Test func u5StringsOfThreeAndFourBytesAreJudgedAsByTheRFC() {
        var numbers = TestNumbers(1)
        // The bytes at which anything changes, in every combination: as the first of a character, and behind it.
        let first: [UInt8] = [
            0, 0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4,
            0xF5,
            0xFF,
        ]
        let later: [UInt8] = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xE1]
        var strings = first.flatMap { first in later.map { [first, $0] } }
        for _ in 0..<2 {
            strings = strings.flatMap { string in later.map { string + [$0] } }
        }
        var wrong = 0
        for string in strings where !Self.agrees(string, cuts: 0...4) { wrong += 1 }
        for _ in 0..<5_000 where !Self.agrees(numbers.bytes(4), cuts: 0...4) { wrong += 1 }
        #expect(wrong == 0)
    }

    @Test func u5LongTextIsJudgedAsByTheRFCWhereverItIsCut() {
        var numbers = TestNumbers(2)
        let letters = ["a", "bcdefgh", "\u{E9}", "\u{20AC}", "\u{1F600}", String(repeating: "x", count: 40)]
        var wrong = 0
        for _ in 0..<200 {
            var text: [UInt8] = []
            while text.count < 120 { text += Array(letters.randomElement(using: &numbers)?.utf8 ?? "".utf8) }
            if Bool.random(using: &numbers) { text[Int.random(in: 0..<text.count, using: &numbers)] = 0xA0 }
            if !Self.agrees(text, cuts: 0...text.count) { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test func u6TheReasonOfACloseIsUTF8() {
        let bench = WebSocketBench()
        bench.receive(WireFrame(opcode: 8, payload: [3, 232, 0x61, 0xC0, 0xAF]))
        #expect(bench.takeEvents() == [.failed(.badCloseReason)])
        #expect(WebSocketFailure.badCloseReason.closeCode == .invalidPayload)
    }

    @Test func textThatIsSentIsUTF8() {
        let bench = WebSocketBench()
        #expect(throws: WebSocketRefusal.notUTF8(offset: 1)) {
            try bench.machine.send(.text, [0x61, 0xFF])
        }
        #expect(throws: WebSocketRefusal.notUTF8(offset: 2)) {
            try bench.machine.send(.text, [0x61, 0xC3])
        }
        #expect(bench.flush().isEmpty && bench.machine.bufferedBytes == 0)
    }
}
