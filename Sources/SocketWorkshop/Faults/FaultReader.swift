import SocketCore

/// Why a text is not a valid rule: the wrong word, where it begins, and what would be right.
package struct FaultProblem: Error, Equatable, Sendable, CustomStringConvertible {
    /// The word as it was typed, or empty if something is missing at the end.
    package let word: String
    /// Counted from 1, in characters.
    package let column: Int
    package let message: String

    package init(word: String, column: Int, message: String) {
        (self.word, self.column, self.message) = (word, column, message)
    }

    package var description: String {
        word.isEmpty ? "column \(column): \(message)" : "\(word): \(message) (column \(column))"
    }
}

/// Reads the words of a rule from left to right.
struct FaultReader {
    struct Word {
        enum Kind { case plain, expression, quoted }
        var kind: Kind
        /// The text without the slashes or quotes around it.
        var text: String
        var typed: String
        var column: Int

        func problem(_ message: String) -> FaultProblem {
            FaultProblem(word: PrintableText.escaped(typed), column: column, message: message)
        }
    }

    /// The longest rule in characters, and the longest byte pattern in bytes.
    static let longest = 4_096
    static let longestLiteral = 1_024

    private let characters: [Unicode.Scalar]
    private var index = 0

    init(_ text: String) throws(FaultProblem) {
        characters = Array(text.unicodeScalars)
        guard characters.count <= Self.longest else {
            throw FaultProblem(
                word: String(text.prefix(20)) + "...", column: 1,
                message: "a rule can have at most \(Self.longest) characters")
        }
    }

    private mutating func skipBlanks() {
        while index < characters.count, characters[index] == " " || characters[index] == "\t" { index += 1 }
    }

    /// Whether only blanks follow.
    var isAtEnd: Bool { characters[index...].allSatisfy { $0 == " " || $0 == "\t" } }

    /// Returns the problem of a text that ends too early.
    func missing(_ what: String) -> FaultProblem {
        FaultProblem(word: "", column: characters.count + 1, message: what)
    }

    /// Returns the next word, or `nil` at the end.
    mutating func next() throws(FaultProblem) -> Word? {
        skipBlanks()
        guard index < characters.count else { return nil }
        switch characters[index] {
        case "/": return try delimited("/", .expression)
        case "\"": return try delimited("\"", .quoted)
        default:
            let start = index
            while index < characters.count, characters[index] != " ", characters[index] != "\t" { index += 1 }
            let text = string(start..<index)
            return Word(kind: .plain, text: text, typed: text, column: start + 1)
        }
    }

    /// Returns the next word. Throws a problem with the message `what` if there is none.
    mutating func next(_ what: String) throws(FaultProblem) -> Word {
        guard let word = try next() else { throw missing(what) }
        return word
    }

    func peek() throws(FaultProblem) -> Word? {
        var copy = self
        return try copy.next()
    }

    /// Consumes the next word if it is `name`, and returns whether it was.
    mutating func accept(_ name: String) throws(FaultProblem) -> Bool {
        var copy = self
        guard let word = try copy.next(), word.kind == .plain, word.text == name else { return false }
        self = copy
        return true
    }

    /// Reads a word between slashes or quotes. Within slashes, `\/` is a slash.
    private mutating func delimited(_ end: Unicode.Scalar, _ kind: Word.Kind) throws(FaultProblem) -> Word {
        let start = index
        var text = String.UnicodeScalarView()
        index += 1
        while index < characters.count, characters[index] != end {
            if kind == .expression, characters[index] == "\\", index + 1 < characters.count {
                if characters[index + 1] != "/" { text.append("\\") }
                text.append(characters[index + 1])
                index += 2
            } else {
                text.append(characters[index])
                index += 1
            }
        }
        guard index < characters.count else {
            throw FaultProblem(
                word: PrintableText.escaped(string(start..<index)), column: start + 1,
                message: "the closing \(end) is missing")
        }
        index += 1
        let word = Word(kind: kind, text: String(text), typed: string(start..<index), column: start + 1)
        guard index == characters.count || characters[index] == " " || characters[index] == "\t" else {
            throw word.problem("must be followed by a space")
        }
        return word
    }

    private func string(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(characters[range])) }
}

// Values.
extension FaultReader {
    mutating func number(after name: String) throws(FaultProblem) -> UInt64 {
        let word = try next("\(name) needs a number after it")
        guard word.kind == .plain, word.text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt64(word.text), number > 0, number <= UInt64(Int64.max)
        else { throw word.problem("\(name) needs a number of at least 1") }
        return number
    }

    mutating func size(after name: String, atLeast least: UInt64 = 1) throws(FaultProblem) -> UInt64 {
        let word = try next("\(name) needs a number of bytes after it, as in \(name) 1K")
        guard let size = Self.size(word), size >= least else {
            throw word.problem(
                "\(name) needs a number of bytes\(least > 0 ? ", at least \(least)" : ""), as in 512 or 8K")
        }
        return size
    }

    static func size(_ word: Word) -> UInt64? {
        guard word.kind == .plain, word.text.last.map({ !$0.isLowercase }) ?? false else { return nil }
        return SizeText.parse(word.text).flatMap { UInt64(exactly: $0) }
    }

    mutating func time(after name: String) throws(FaultProblem) -> Duration {
        let word = try next("\(name) needs a duration after it, as in \(name) 200ms")
        guard let time = Self.time(word) else { throw word.problem("\(name) \(FaultText.needsTime(word.text))") }
        return time
    }

    /// Returns a time with its unit, from 1us to a day, or `nil` if the word isn't one.
    static func time(_ word: Word) -> Duration? {
        guard word.kind == .plain else { return nil }
        for (unit, scale) in [("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9)] as [(String, Double)] {
            guard word.text.hasSuffix(unit) else { continue }
            let digits = word.text.dropLast(unit.count)
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
                let number = Double(digits), number * scale >= 1e3, number * scale <= 86_400e9
            else { continue }
            return .microseconds(Int64((number * scale / 1e3).rounded()))
        }
        return nil
    }

    mutating func share(after name: String) throws(FaultProblem) -> Double {
        let word = try next("\(name) needs a probability after it, as in \(name) 0.1")
        guard word.kind == .plain, let share = Double(word.text), share > 0, share <= 1 else {
            throw word.problem("\(name) needs a probability above 0 and up to 1, as in 0.1")
        }
        return share
    }

    mutating func network(after name: String) throws(FaultProblem) -> FaultCondition {
        let word = try next("\(name) needs a network after it, as in \(name) 10.0.0.0/8")
        if word.kind == .plain {
            if let network = IPAddress.network(word.text) { return .peer(network.address, bits: network.bits) }
            switch IPAddress(word.text) {
            case .v4(let bits): return .peer(.v4(bits), bits: 32)
            case .v6(let high, let low): return .peer(.v6(high, low), bits: 128)
            case nil: break
            }
        }
        throw word.problem("\(name) needs an address or a network, as in 127.0.0.1 or 10.0.0.0/8")
    }

    mutating func frame(after name: String) throws(FaultProblem) -> FaultFrame {
        let kinds = FaultFrame.allCases.map(\.rawValue).joined(separator: ", ")
        let word = try next("\(name) needs a kind of frame after it: \(kinds)")
        guard word.kind == .plain, let frame = FaultFrame(rawValue: word.text) else {
            throw word.problem("\(name) takes \(kinds)")
        }
        return frame
    }

    /// Reads bytes: `\r\n` and other escapes, `hex:0d0a`, or "with blanks".
    mutating func bytes(after name: String) throws(FaultProblem) -> [UInt8] {
        let word = try next("\(name) needs bytes after it, as in \(name) +PONG\\r\\n or \(name) hex:0d0a")
        return try Self.bytes(word)
    }

    private static func bytes(_ word: Word) throws(FaultProblem) -> [UInt8] {
        switch word.kind {
        case .expression: throw word.problem("write bytes here: text with escapes, hex:0d0a, or \"in quotes\"")
        case .plain where word.text.hasPrefix("hex:"): return try hex(word)
        case .plain, .quoted:
            switch EscapedText.parse(word.text) {
            case .success(let bytes): return bytes
            case .failure(let failure):
                let column = word.column + (word.kind == .quoted ? 1 : 0) + failure.column - 1
                throw FaultProblem(word: PrintableText.escaped(word.typed), column: column, message: failure.message)
            }
        }
    }

    static func hex(_ word: Word) throws(FaultProblem) -> [UInt8] {
        let digits = word.text.utf8.dropFirst(4).filter { $0 != UInt8(ascii: ":") }
        let values = digits.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard !digits.isEmpty, digits.count.isMultiple(of: 2), !values.contains(nil) else {
            throw word.problem("hex: needs two hex digits for each byte, as in hex:0d0a")
        }
        return stride(from: 0, to: values.count, by: 2).map { UInt8((values[$0] ?? 0) << 4 | (values[$0 + 1] ?? 0)) }
    }

    mutating func pattern(after name: String) throws(FaultProblem) -> BytePattern {
        let word = try next("\(name) needs /RE/, hex:BYTES or text after it")
        guard word.kind != .expression else {
            guard !word.text.isEmpty else { throw word.problem("write a regular expression between the slashes") }
            do throws(Pattern.Failure) {
                return .expression(try Pattern(word.text, .bytes))
            } catch {
                throw word.problem(error.message)
            }
        }
        let bytes = try Self.bytes(word)
        guard !bytes.isEmpty, bytes.count <= Self.longestLiteral else {
            throw word.problem("\(name) needs 1 to \(Self.longestLiteral) bytes to search for")
        }
        return .literal(bytes)
    }
}
