/// Reads the parts of a TOML document from left to right.
struct TOMLReader {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var line = 1
    private var lineStart = 0

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }
    var position: TOML.Position { TOML.Position(line: line, column: index - lineStart + 1) }

    private func failure(_ message: String) -> TOML.Failure { TOML.Failure(position, message) }

    mutating func accept(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        index += 1
        return true
    }

    mutating func skipBlanks() {
        while next == " " || next == "\t" { index += 1 }
    }

    /// Skips blanks, comments and line ends. Returns `false` at the end of the document.
    mutating func skipToContent() throws(TOML.Failure) -> Bool {
        while true {
            skipBlanks()
            try skipComment()
            guard next != nil else { return false }
            guard try acceptLineEnd() else { return true }
        }
    }

    /// Ends a line. Nothing else may follow a key's value or a table's name.
    mutating func endLine() throws(TOML.Failure) {
        skipBlanks()
        try skipComment()
        guard next != nil else { return }
        guard try acceptLineEnd() else { throw failure("the line must end here") }
    }

    private mutating func acceptLineEnd() throws(TOML.Failure) -> Bool {
        if next == "\r" {
            guard index + 1 < scalars.count, scalars[index + 1] == "\n" else { throw failure("a CR without an LF") }
            index += 1
        }
        guard accept("\n") else { return false }
        line += 1
        lineStart = index
        return true
    }

    private mutating func skipComment() throws(TOML.Failure) {
        guard accept("#") else { return }
        while let scalar = next, scalar != "\n", scalar != "\r" {
            if Self.isControl(scalar) { throw failure("a control character") }
            index += 1
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        (scalar.value < 0x20 && scalar != "\t") || scalar.value == 0x7F
    }

    // MARK: Keys

    /// Reads a key, and the blanks around it and its dots.
    mutating func path() throws(TOML.Failure) -> [String] {
        var path: [String] = []
        repeat {
            skipBlanks()
            guard path.count < TOML.deepestKey else { throw failure("a key can have at most \(TOML.deepestKey) parts") }
            path.append(try key())
            skipBlanks()
        } while accept(".")
        return path
    }

    private mutating func key() throws(TOML.Failure) -> String {
        switch next {
        case "\"": return try basicString()
        case "'": return try literalString()
        default:
            let begin = index
            while let scalar = next, Self.isBare(scalar) { index += 1 }
            guard index > begin else { throw failure("a key is missing; quote one that is not a plain word") }
            return text(begin..<index)
        }
    }

    private static func isBare(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_": true
        default: false
        }
    }

    private func text(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[range])) }

    // MARK: Values

    mutating func value(depth: Int = 0) throws(TOML.Failure) -> TOML.Value {
        switch next {
        case "\"": return .string(try basicString())
        case "'": return .string(try literalString())
        case "[":
            guard depth < 8 else { throw failure("arrays are nested too deeply") }
            return .array(try array(depth: depth))
        case "{": throw failure("inline tables are not supported")
        case nil, "\n", "\r", "#": throw failure("a value is missing")
        default: return try word()
        }
    }

    private mutating func array(depth: Int) throws(TOML.Failure) -> [TOML.Value] {
        let begin = position
        _ = accept("[")
        var values: [TOML.Value] = []
        while true {
            guard try skipToContent() else { throw TOML.Failure(begin, "the ] of this array is missing") }
            if accept("]") { return values }
            values.append(try value(depth: depth + 1))
            guard try skipToContent() else { throw TOML.Failure(begin, "the ] of this array is missing") }
            if accept("]") { return values }
            guard accept(",") else { throw failure("a comma is missing") }
        }
    }

    /// Reads `true`, `false` or an integer.
    private mutating func word() throws(TOML.Failure) -> TOML.Value {
        let begin = position
        let start = index
        while let scalar = next, Self.isBare(scalar) || "+.:".unicodeScalars.contains(scalar) { index += 1 }
        let word = text(start..<index)
        if word == "true" { return .boolean(true) }
        if word == "false" { return .boolean(false) }
        guard let number = Self.integer(word) else {
            if word.isEmpty { throw TOML.Failure(begin, "a value is missing") }
            throw TOML.Failure(begin, "\(word) is not a value; put text in quotes")
        }
        return .integer(number)
    }

    private static func integer(_ word: String) -> Int? {
        let digits = word.hasPrefix("+") || word.hasPrefix("-") ? word.dropFirst() : word[...]
        let groups = digits.split(separator: "_", omittingEmptySubsequences: false)
        guard groups.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return nil
        }
        if digits.count > 1, digits.hasPrefix("0") { return nil }
        return Int(word.filter { $0 != "_" })
    }

    private mutating func literalString() throws(TOML.Failure) -> String {
        let begin = position
        _ = accept("'")
        if next == "'", index + 1 < scalars.count, scalars[index + 1] == "'" {
            throw TOML.Failure(begin, "multi-line strings are not supported")
        }
        let start = index
        while let scalar = next, scalar != "'" {
            if Self.isControl(scalar) { break }
            index += 1
        }
        let text = text(start..<index)
        guard accept("'") else { throw TOML.Failure(begin, "the closing ' is missing") }
        return text
    }

    private mutating func basicString() throws(TOML.Failure) -> String {
        let begin = position
        _ = accept("\"")
        if next == "\"", index + 1 < scalars.count, scalars[index + 1] == "\"" {
            throw TOML.Failure(begin, "multi-line strings are not supported")
        }
        var text = String.UnicodeScalarView()
        while let scalar = next, scalar != "\"" {
            if Self.isControl(scalar) { break }
            text.append(scalar == "\\" ? try escape() : scalar)
            if scalar != "\\" { index += 1 }
        }
        guard accept("\"") else { throw TOML.Failure(begin, "the closing \" is missing") }
        return String(text)
    }

    private mutating func escape() throws(TOML.Failure) -> Unicode.Scalar {
        let begin = position
        index += 1
        let letter = next
        index += letter == nil ? 0 : 1
        switch letter {
        case "b": return "\u{8}"
        case "t": return "\t"
        case "n": return "\n"
        case "f": return "\u{C}"
        case "r": return "\r"
        case "\"": return "\""
        case "\\": return "\\"
        case "u": return try codePoint(4, begin)
        case "U": return try codePoint(8, begin)
        default: throw TOML.Failure(begin, "no such escape; \\\\ writes a backslash, or quote with '")
        }
    }

    private mutating func codePoint(_ count: Int, _ begin: TOML.Position) throws(TOML.Failure) -> Unicode.Scalar {
        let digits = scalars[index..<min(index + count, scalars.count)]
        guard digits.count == count, digits.allSatisfy(\.properties.isASCIIHexDigit),
            let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16), let scalar = Unicode.Scalar(value)
        else { throw TOML.Failure(begin, "needs \(count) hex digits that name a character") }
        index += count
        return scalar
    }
}
