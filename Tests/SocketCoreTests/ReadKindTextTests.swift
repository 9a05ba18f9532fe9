import Testing

@testable import SocketCore
@testable import SocketRecords

@Suite("The text form of a read's kind")
struct ReadKindTextTests {
    private typealias Kind = ReadRequest.Kind

    private static let limits: [Int?] = [nil, 1, 7, 1023, 1024, 8192, 8500, 1 << 20, 3 << 30, .max]
    private static let terminators: [[UInt8]] =
        TerminatorText.names.map(\.bytes) + TerminatorText.names.map { Array($0.name.utf8) }
        + ["a", "any", "max", "\"", "\"\"", "\"a\"", "a b", " ", "\\", "\\r", "é", "\u{202e}", "\t", "line"].map {
            Array($0.utf8)
        } + [[0xFF], [0x1B, 0x5B], Array(0...255)]

    /// Every kind with its edge values.
    private static var kinds: [Kind] {
        Kind.Word.allCases.flatMap { word -> [Kind] in
            switch word {
            case .any: limits.map { .available(limit: $0) }
            case .length: limits.compactMap { $0.map { .length($0) } }
            case .until:
                terminators.flatMap { terminator in
                    limits.filter { $0 ?? .max >= terminator.count }.map { .delimiter(terminator, limit: $0) }
                }
            case .frame:
                LengthPrefix.Width.allCases.flatMap { width in
                    [0, 1, 1024, 65_536].flatMap { offset in
                        [false, true].flatMap { isLittle in
                            [false, true].flatMap { counts in
                                [offset + width.rawValue, 1 << 20, .max].map {
                                    .frame(
                                        LengthPrefix(
                                            width, isLittleEndian: isLittle, offset: offset, countsHeader: counts,
                                            limit: max($0, offset + width.rawValue)))
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    @Test("what is printed is read as the same kind, on the screen and on the wire")
    func roundTrip() throws {
        let words = Self.kinds.map { $0.word }
        #expect(Set(words) == Set(Kind.Word.allCases))
        for kind in Self.kinds {
            #expect(kind.flaw == nil && kind.isValid, "\(kind)")
            #expect(try Kind.parse(kind.text) == kind, "\(kind.text)")
            #expect(Kind(kind.word, kind.values) == kind)
            #expect(kind.text.hasPrefix(kind.words))
            #expect(try Kind.parse(kind.words).text == Kind(kind.word, kind.unlimited).text, "\(kind.words)")
            if kind.values.limit ?? 0 <= WireLimit.number, kind.total ?? 0 <= WireLimit.number {
                #expect(try Kind(written: kind.written) == kind)
            }
        }
    }

    @Test(
        "the words that users type",
        arguments: [
            ("any", .available(limit: nil)), ("any max 8K", .available(limit: 8192)), ("length 4096", .length(4096)),
            ("length 4K", .length(4096)), ("length 1m", .length(1 << 20)),
            (#"until \r\n max 8K"#, .delimiter([13, 10], limit: 8192)), ("line", .delimiter([13, 10], limit: nil)),
            ("max 16 line", .delimiter([13, 10], limit: 16)), ("until CRLF", .delimiter([13, 10], limit: nil)),
            (#"until "END""#, .delimiter(Array("END".utf8), limit: nil)),
            ("until END", .delimiter(Array("END".utf8), limit: nil)),
            ("frame u32", .frame(LengthPrefix(.u32))),
            (
                "frame u16 little after 2 counts-header max 64K",
                .frame(LengthPrefix(.u16, isLittleEndian: true, offset: 2, countsHeader: true, limit: 65_536))
            ),
            ("frame u8 big after 0", .frame(LengthPrefix(.u8))),
        ] as [(String, ReadRequest.Kind)])
    func typed(_ text: String, _ kind: ReadRequest.Kind) throws {
        #expect(try Kind.parse(text) == kind)
    }

    @Test(
        "the text form says what is not the default",
        arguments: [
            (.available(limit: 8192), "any max 8K"), (.length(4096), "length 4096"),
            (.delimiter([13, 10], limit: 8500), "until CRLF max 8500"),
            (.delimiter(Array("a b".utf8), limit: nil), #"until "a\x20b""#),
            (.frame(LengthPrefix(.u32)), "frame u32 max 1M"),
            (
                .frame(LengthPrefix(.u16, isLittleEndian: true, offset: 2, countsHeader: true, limit: 100)),
                "frame u16 little after 2 counts-header max 100"
            ),
        ] as [(ReadRequest.Kind, String)])
    func printed(_ kind: ReadRequest.Kind, _ text: String) {
        #expect(kind.text == text)
    }

    @Test(
        "a mistake names the word, and what would be right",
        arguments: [
            ("", nil, #"read: needs any|length N|until \r\n|frame u32|line [max 8K]"#),
            ("exactly 5", nil, #"exactly: must be any|length N|until \r\n|frame u32|line [max 8K]"#),
            ("length", .length, "length: needs a number of bytes after it"),
            ("length 0", .length, "0: length needs a number of bytes such as 512 or 8K"),
            (
                "length 9223372036854775808", .length,
                "9223372036854775808: length needs a number of bytes such as 512 or 8K"
            ),
            (
                "length 9007199254740992K", .length,
                "9007199254740992K: length needs a number of bytes such as 512 or 8K"
            ),
            ("length -1", .length, "-1: length needs a number of bytes such as 512 or 8K"),
            ("until", .terminator, #"until: needs a delimiter such as \r\n after it"#),
            (#"until \q"#, .terminator, #"\q: column 1: \q is not an escape; \\ writes a backslash"#),
            (#"until """#, .terminator, "until: must hold at least one byte"),
            ("until CRLF max 1", .limit, "max: must be at least the delimiter's 2 bytes"),
            ("frame", .width, "frame: needs u8, u16, u32, u64 after it"),
            ("frame u24", .width, "u24: must be u8, u16, u32, u64"),
            ("frame u32 after", .offset, "after: needs a number of bytes after it"),
            ("frame u32 after 65537", .offset, "after: must be 0 to 65536"),
            ("frame u32 max 3", .limit, "max: must be at least the header's 4 bytes"),
            ("length 5 max 8", .limit, "max: can only be used with any or until or frame"),
            ("any little", .order, "little: can only be used with frame"),
            ("length 5 any", nil, "any: is a second kind of read, after length"),
            ("length 5 length 6", nil, "length: is a second kind of read, after length"),
            ("line until END", nil, "until: is a second kind of read, after line"),
            ("any max 8K max 9K", .limit, "max: is given twice"),
            ("frame u32 big little", .order, "frame: is given twice"),
            ("length +5", .length, "+5: length needs a number of bytes such as 512 or 8K"),
        ] as [(String, ReadPart?, String)])
    func mistakes(_ text: String, _ part: ReadPart?, _ sentence: String) {
        let problem = #expect(throws: ReadTextProblem.self) { try Kind.parse(text) }
        #expect(problem?.part == part)
        #expect(problem?.description == sentence)
    }

    @Test("each kind and part has words of its own")
    func words() {
        let names = Kind.Word.allCases.map { $0.name }
        #expect(Set(names).count == names.count)
        #expect(Set(Kind.vocabulary).count == Kind.vocabulary.count)
        for word in Kind.Word.allCases {
            let misplaced = word.parts.dropFirst().filter { $0.isRequired }
            #expect(misplaced.isEmpty, "\(word)")
        }
        let parts = Kind.Word.allCases.flatMap { $0.parts }
        #expect(Set(parts) == Set(ReadPart.allCases))
    }

    @Test(
        "sizes",
        arguments: [
            ("0", 0), ("512", 512), ("8K", 8192), ("8k", 8192), ("2M", 2 << 20), ("1 G", 1 << 30),
            ("9223372036854775807", .max), ("", nil), ("K", nil), ("8T", nil), ("1.5K", nil), ("-1", nil),
            ("8589934592G", nil),
        ] as [(String, Int?)])
    func sizes(_ text: String, _ count: Int?) {
        #expect(SizeText.parse(text) == count)
        if let count { #expect(SizeText.parse(SizeText.show(count)) == count) }
    }
}

extension ReadRequest.Kind {
    /// The values, with the limit that a kind has where none is given.
    fileprivate var unlimited: ReadValues {
        var values = values
        values.limit = nil
        values.prefix.limit = LengthPrefix(.u32).limit
        return values
    }
}
