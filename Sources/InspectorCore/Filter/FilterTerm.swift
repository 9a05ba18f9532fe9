import SocketCore
import SocketWorkshop

/// One word of a filter.
package enum FilterTerm: Sendable {
    /// A mistake in a word.
    struct Problem: Error {
        var message: String
    }

    package enum Relation: String, Equatable, Sendable, CaseIterable {
        // `>=` must come before `>` to be found.
        case atLeast = ">="
        case atMost = "<="
        case more = ">"
        case less = "<"
        case equal = "="
    }

    /// What a program requests of its socket.
    enum Asks: String, Equatable, Sendable, CaseIterable {
        case read, write, none
    }

    case id(SocketID)
    case tag(Int)
    /// A key, or a column of words, and what its value matches.
    case key(String, value: String, @Sendable (SocketSnapshot, Sight) -> Bool)
    /// A breakpoint holds the connection.
    case held
    /// An amount.
    case compare(ListColumn, Relation, Double)
    case pattern(Pattern)
    case text(String)
    /// An unfinished term, which matches everything.
    case unfinished

    var asksKernel: Bool { if case .compare(let column, _, _) = self { column.asksKernel } else { false } }

    // MARK: Reading

    /// The words allowed before a colon, and those compared with numbers.
    private static let keys =
        ["id", "tag"] + FilterKey.all.flatMap(\.names) + ListKind.worded.map(\.name)
    private static let amounts = ListKind.measured.map(\.name)
    /// The words that are still being typed. The name of any other column may be what somebody searches for.
    private static let begun = Set(
        ["id", "tag", "rq", "wq", "rx", "tx", "idle", "age", "rtt", "reads", "writes"] + FilterKey.all.flatMap(\.names))

    static func parse(_ word: String) throws(Problem) -> FilterTerm {
        let lower = word.lowercased()
        if lower.isEmpty || begun.contains(lower) { return .unfinished }
        if lower == "held" { return .held }
        if let comparison = try comparison(lower) { return comparison }
        guard let colon = lower.firstIndex(of: ":") else { return .text(lower) }
        let value = String(lower[lower.index(after: colon)...])
        // An address with its scheme, even if the scheme is also a key.
        if value.hasPrefix("//") { return .text(lower) }
        let key = String(lower[..<colon])
        switch key {
        case "id":
            guard let id = SocketID(label: value.drop { $0 == "#" }) else {
                throw Problem(message: "the ID of a row, as in id:7")
            }
            return .id(id)
        case "tag": return .tag(try number(value, "a number, as in tag:42"))
        default: break
        }
        if let known = FilterKey.named(key) { return .key(key, value: value, try known.read(value)) }
        if let column = ListKind.worded.first(where: { $0.name == key }), !isHost(column, value) {
            guard !value.isEmpty else { throw Problem(message: "part of \(column.meaning), as in \(key):x") }
            return .key(key, value: value) { column.holds(value, $0, $1) }
        }
        try refuseUnknown(key, value)
        return .text(lower)
    }

    /// Whether a column's name and this value are a host and its port, as in `server:8080`: no program is named so.
    private static func isHost(_ column: ListColumn, _ value: String) -> Bool {
        column.content == .name && !value.isEmpty && value.allSatisfy(\.isNumber)
    }

    /// What can precede the colon of an address and is not a key.
    private static let schemes: Set = [
        "unix", "unixgram", "udp", "tcp", "tls", "ws", "wss", "ws+unix", "http", "https", "socks5", "localhost",
    ]

    /// Rejects a word that looks like a key with a value but has an unknown key. As text it would silently match
    /// nothing. Addresses and unfinished words are accepted.
    private static func refuseUnknown(_ key: String, _ value: String) throws(Problem) {
        let isWord = !key.isEmpty && key.allSatisfy { ("a"..."z").contains($0) || $0 == "-" || $0 == "_" }
        guard isWord, !value.isEmpty, !schemes.contains(key) else { return }
        let isHex = { (text: String) in text.allSatisfy { $0.isHexDigit || $0 == ":" } }
        if key.count <= 4, isHex(key), isHex(value) { return }
        let suggestion = Spelling.suggestion(for: key, among: keys + amounts)
        // A host and its port, unless only one letter is different from a key.
        if value.allSatisfy(\.isNumber), !keys.contains(where: { Spelling.distance($0, key) == 1 }) { return }
        throw Problem(message: "no such key; quotes search for text" + suggestion)
    }

    /// Returns the first word that is taken for the name of a host and its port, as in `redis:6379`, or `nil` if there is
    /// none. The kernel knows no names, so such a word matches no socket of another program.
    package static func hostName(in filter: String) -> String? {
        filter.split { $0.isWhitespace || "()|!".contains($0) }.map(String.init).first { word in
            let halves = word.lowercased().split(separator: ":", omittingEmptySubsequences: false)
            guard halves.count == 2, !halves[1].isEmpty, halves[1].allSatisfy(\.isNumber) else { return false }
            let (name, value) = (String(halves[0]), String(halves[1]))
            let isWord = !name.isEmpty && name.allSatisfy { ("a"..."z").contains($0) || $0 == "-" }
            let isHost = ListKind.worded.contains { $0.name == name && Self.isHost($0, value) }
            return isWord && (isHost || !keys.contains(name)) && !schemes.contains(name)
        }
    }

    static func number<Number: FixedWidthInteger>(_ text: String, _ problem: String) throws(Problem) -> Number {
        guard let number = Number(text) else { throw Problem(message: problem) }
        return number
    }

    private static func refuseUnknownQuantity(_ word: String) throws(Problem) {
        let name = word.prefix { ("a"..."z").contains($0) }
        guard !name.isEmpty, let sign = word.dropFirst(name.count).first, sign == "<" || sign == ">" else { return }
        let suggestion = Spelling.suggestion(for: String(name), among: amounts)
        throw Problem(message: "no such quantity; \(amounts.joined(separator: ", "))" + suggestion)
    }

    private static func compared(_ word: String) -> (ListColumn, Relation)? {
        for column in ListKind.measured where word.hasPrefix(column.name) {
            let rest = word.dropFirst(column.name.count)
            if let relation = Relation.allCases.first(where: { rest.hasPrefix($0.rawValue) }) {
                return (column, relation)
            }
        }
        return nil
    }

    /// Parses `rq>0`, `wq>=64K` or `idle>30s`. Returns `nil` if it is not a comparison.
    private static func comparison(_ word: String) throws(Problem) -> FilterTerm? {
        guard let (column, relation) = compared(word) else {
            try refuseUnknownQuantity(word)
            return nil
        }
        let value = word.dropFirst(column.name.count + relation.rawValue.count)
        let isTime = column.unit == .time
        let units: [(String, Double)] =
            isTime
            ? [("us", 1e-6), ("ms", 1e-3), ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400), ("", 1)]
            : [("k", 1024), ("m", 1_048_576), ("g", 1_073_741_824), ("b", 1), ("", 1)]
        let unit = units.first { value.hasSuffix($0.0) } ?? ("", 1)
        guard let number = Double(value.dropLast(unit.0.count)), number.isFinite else {
            let example = column.name + (isTime ? ">30s" : ">64K")
            throw Problem(message: "needs a number, as in \(example)")
        }
        return .compare(column, relation, number * unit.1)
    }
}
