import SocketCore
import SocketWorkshop

/// One word of a filter.
package enum FilterTerm: Equatable, Sendable {
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
    package enum Asks: String, Equatable, Sendable, CaseIterable {
        case read, write, none
    }

    case id(UInt64)
    case state(String)
    case port(UInt16)
    case peer(String)
    case network(IPAddress, bits: Int)
    case role(String)
    case tag(Int)
    case flag(SocketFlags)
    case lint(String)
    case read(String)
    case tls(String)
    case webSocket(String)
    /// For sockets inspected from outside.
    case program(String)
    case process(Int32)
    case user(UInt32)
    case descriptor(Int32)
    case asks(Asks)
    case cgroup(String)
    case namespace(String)
    /// A rule with this effect applies.
    case fault(String)
    /// A breakpoint holds the connection.
    case held
    /// An amount, or the words of a column.
    case compare(ListColumn, Relation, Double)
    case column(ListColumn, String)
    case pattern(Pattern)
    case text(String)
    /// An unfinished term, which matches everything.
    case unfinished

    var asksKernel: Bool { if case .compare(let column, _, _) = self { column.asksKernel } else { false } }

    // MARK: Reading

    /// The words allowed before a colon.
    private enum Key: String, CaseIterable {
        case id, state, port, peer, role, kind, tag, flag, lint, warn, read, tls, program, pid, user, fd, asks, cgroup,
            netns
        case webSocket = "ws"
        case fault
    }

    private static let keys = Key.allCases.map(\.rawValue) + ListKind.worded.map(\.name)
    private static let amounts = ListKind.measured.map(\.name)
    private static let states = StateWord.allCases.map { $0.rawValue.lowercased() }
    /// The words of the screen, and those of JSON.
    private static let reads = ReadRequest.Kind.Word.allCases.flatMap { [$0.rawValue, $0.name] }
    private static let roles = SocketRole.allCases.map(\.rawValue)

    static func parse(_ word: String) throws(Problem) -> FilterTerm {
        let lower = word.lowercased()
        if lower.isEmpty || keys.contains(lower) || amounts.contains(lower) { return .unfinished }
        if lower == "held" { return .held }
        if let comparison = try comparison(lower) { return comparison }
        guard let colon = lower.firstIndex(of: ":") else { return .text(lower) }
        let value = String(lower[lower.index(after: colon)...])
        // An address with its scheme, even if the scheme is also a key.
        if value.hasPrefix("//") { return .text(lower) }
        let key = String(lower[..<colon])
        switch Key(rawValue: key) {
        case .id: return .id(try number(value.filter { $0 != "#" }, "a number, as in id:7"))
        case .port: return .port(try number(value, "a number up to 65535, as in port:443"))
        case .tag: return .tag(try number(value, "a number, as in tag:42"))
        case .state: return .state(try one(of: states, value, "no such state; estab, close-wait, listen, closed..."))
        case .role, .kind: return .role(try one(of: roles, value, Spelling.alternatives(roles)))
        case .read:
            return .read(
                try one(
                    of: reads, value, Spelling.alternatives(ReadRequest.Kind.Word.allCases.map(\.rawValue))))
        case .tls:
            return .tls(try one(of: TLSWords.filterWords, value, "yes, no, queued, handshaking, secure, failed or 1.3"))
        case .webSocket:
            if WebSocketWords.closeCode(value) != nil { return .webSocket(value) }
            return .webSocket(
                try one(of: WebSocketWords.filterWords, value, "yes, no, opening, open, closed, compressed or 1006"))
        case .flag: return .flag(try flag(value))
        case .fault:
            let effects = ["any"] + FaultWord.names(.effect, .datagrams)
            return .fault(try one(of: effects, value, "any or an effect, as in fault:latency"))
        case .program: return .program(try some(value, "a program's name, as in program:nginx"))
        case .pid: return .process(try number(value, "a process number, as in pid:4711"))
        case .user: return .user(try number(value, "a user's number, as in user:1000"))
        case .fd: return .descriptor(try number(value, "a descriptor, as in fd:4"))
        case .cgroup: return .cgroup(try some(value, "a container or control group, as in cgroup:nginx.service"))
        case .netns: return .namespace(try some(value, "a network namespace, as in netns:blue, netns:own or its inode"))
        case .asks:
            guard let asks = Asks(rawValue: value) else {
                throw Problem(
                    message: "what its program asks for: \(Spelling.alternatives(Asks.allCases.map(\.rawValue)))")
            }
            return .asks(asks)
        case .lint, .warn:
            let names = ["any"] + Lint.all.map(\.name)
            return .lint(
                try one(of: names, value, "no such warning; any, read-starved, eof-unseen..."))
        case .peer:
            if value.isEmpty { throw Problem(message: "part of an address, as in peer:192.0.2. or peer:192.0.2.0/24") }
            guard value.contains("/"), !value.hasPrefix("unix"), !value.hasPrefix("/") else { return .peer(value) }
            guard let (network, bits) = IPAddress.network(value) else {
                throw Problem(message: "not a network; write peer:192.0.2.0/24 or peer:2001:db8::/32")
            }
            return .network(network, bits: bits)
        case nil:
            if let column = ListKind.worded.first(where: { $0.name == key }) {
                return .column(column, try some(value, "part of \(column.meaning), as in \(key):x"))
            }
            try refuseUnknown(key, value)
            return .text(lower)
        }
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
            let isWord = !halves[0].isEmpty && halves[0].allSatisfy { ("a"..."z").contains($0) || $0 == "-" }
            return isWord && Key(rawValue: String(halves[0])) == nil && !schemes.contains(String(halves[0]))
        }
    }

    private static func number<Number: FixedWidthInteger>(
        _ text: String, _ problem: String
    ) throws(Problem) -> Number {
        guard let number = Number(text) else { throw Problem(message: problem) }
        return number
    }

    private static func some(_ text: String, _ problem: String) throws(Problem) -> String {
        if text.isEmpty { throw Problem(message: problem) }
        return text
    }

    private static func one(of names: [String], _ value: String, _ problem: String) throws(Problem) -> String {
        guard !value.isEmpty, names.contains(where: { $0.hasPrefix(value) }) else { throw Problem(message: problem) }
        return value
    }

    private static func flag(_ value: String) throws(Problem) -> SocketFlags {
        let found = SocketFlags.names.filter { !value.isEmpty && $0.name.lowercased().hasPrefix(value) }
        guard !found.isEmpty else { throw Problem(message: "no such flag, as in flag:connected or flag:readspaused") }
        return found.reduce(into: []) { $0.formUnion($1.flag) }
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
