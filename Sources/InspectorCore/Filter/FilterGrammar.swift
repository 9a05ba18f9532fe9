import SocketCore
import SocketWorkshop

/// Parses a filter: `state:estab (port:443 | port:8443) !lint:idle`.
struct FilterGrammar {
    private enum Token: Equatable {
        case open, close, or, not
        case word(String)
        /// `/text/`, followed by `i` to ignore case.
        case pattern(Pattern)
        /// `"text"`
        case quoted(String)
    }

    private let characters: [Character]
    private var tokens: [(token: Token, range: Range<Int>)] = []
    private var next = 0
    private var depth = 0
    /// Deeper nesting is considered a mistake.
    private static let deepest = 32

    init(_ text: String) {
        characters = Array(text)
    }

    mutating func read() throws(Filter.Failure) -> Filter.Node {
        try split()
        guard !tokens.isEmpty else { return .all([]) }
        let root = try alternatives()
        if next < tokens.count { throw failure("has no matching (", tokens[next].range) }
        return root
    }

    private func failure(_ message: String, _ range: Range<Int>) -> Filter.Failure {
        let word = String(characters[range])
        return Filter.Failure(message: "\(word): \(message)", range: range)
    }

    // MARK: Tokens

    private mutating func split() throws(Filter.Failure) {
        var index = 0
        while index < characters.count {
            let start = index
            index += 1
            switch characters[start] {
            case let blank where blank.isWhitespace: continue
            case "(": tokens.append((.open, start..<index))
            case ")": tokens.append((.close, start..<index))
            case "|": tokens.append((.or, start..<index))
            case "!": tokens.append((.not, start..<index))
            case "/": try pattern(from: start, &index)
            case "\"": quoted(from: start, &index)
            default:
                while index < characters.count, !characters[index].isWhitespace, characters[index] != ")",
                    characters[index] != "|"
                { index += 1 }
                tokens.append((.word(String(characters[start..<index])), start..<index))
            }
        }
    }

    /// Parses up to the next `/`. Without one, the pattern is unfinished.
    private mutating func pattern(from start: Int, _ index: inout Int) throws(Filter.Failure) {
        var text = ""
        while index < characters.count, characters[index] != "/" {
            if characters[index] == "\\", index + 1 < characters.count {
                if characters[index + 1] != "/" { text.append("\\") }
                index += 1
            }
            text.append(characters[index])
            index += 1
        }
        let isClosed = index < characters.count
        index = min(index + 1, characters.count)
        let ignoresCase = isClosed && index < characters.count && characters[index] == "i"
        if ignoresCase { index += 1 }
        guard isClosed, !text.isEmpty else {
            tokens.append((.word(""), start..<index))
            return
        }
        do throws(Pattern.Failure) {
            tokens.append((.pattern(try Pattern(text, ignoresCase: ignoresCase)), start..<index))
        } catch {
            throw failure(error.message, start..<index)
        }
    }

    private mutating func quoted(from start: Int, _ index: inout Int) {
        while index < characters.count, characters[index] != "\"" { index += 1 }
        tokens.append((.quoted(String(characters[(start + 1)..<index])), start..<min(index + 1, characters.count)))
        index = min(index + 1, characters.count)
    }

    // MARK: Grammar

    private var current: Token? { next < tokens.count ? tokens[next].token : nil }

    private mutating func alternatives() throws(Filter.Failure) -> Filter.Node {
        var nodes = [try conjunction()]
        while current == .or {
            let range = tokens[next].range
            next += 1
            // Without an operand it is unfinished.
            guard next < tokens.count else { return .term(.unfinished) }
            if current == .or || current == .close { throw failure("must be followed by a word", range) }
            nodes.append(try conjunction())
        }
        return nodes.count == 1 ? nodes[0] : .any(nodes)
    }

    private mutating func conjunction() throws(Filter.Failure) -> Filter.Node {
        var nodes: [Filter.Node] = []
        while let token = current, token != .or, token != .close { nodes.append(try unary()) }
        if nodes.isEmpty, next < tokens.count { throw failure("must follow a word", tokens[next].range) }
        return nodes.count == 1 ? nodes[0] : .all(nodes)
    }

    private mutating func unary() throws(Filter.Failure) -> Filter.Node {
        guard let token = current else { return .term(.unfinished) }
        let range = tokens[next].range
        next += 1
        switch token {
        case .not:
            depth += 1
            defer { depth -= 1 }
            if depth > Self.deepest { throw failure("nested too deeply", range) }
            guard next < tokens.count else { return .term(.unfinished) }
            if current == .or || current == .close { throw failure("must be followed by a word", range) }
            return .not(try unary())
        case .open:
            depth += 1
            defer { depth -= 1 }
            if depth > Self.deepest { throw failure("nested too deeply", range) }
            // Without its ) it is unfinished, but what is there already counts.
            guard next < tokens.count else { return .term(.unfinished) }
            let node = try alternatives()
            if current == .close { next += 1 }
            return node
        case .word(let word):
            do throws(FilterTerm.Problem) {
                return .term(try FilterTerm.parse(word))
            } catch {
                throw failure(error.message, range)
            }
        case .pattern(let pattern): return .term(.pattern(pattern))
        case .quoted(let text): return .term(text.isEmpty ? .unfinished : .text(text.lowercased()))
        case .close, .or: throw failure("must follow a word", range)
        }
    }
}
