import SocketCore
import SocketWorkshop

/// A word of the filter that takes a value after a colon and is more than a column's: what values it takes, and what
/// they match. To add one, add a row.
struct FilterKey: Sendable {
    typealias Match = @Sendable (SocketSnapshot, Sight) -> Bool

    var names: [String]
    /// Returns what a value matches, or throws what values there are.
    var read: @Sendable (String) throws(FilterTerm.Problem) -> Match

    private init(_ names: [String], read: @escaping @Sendable (String) throws(FilterTerm.Problem) -> Match) {
        (self.names, self.read) = (names, read)
    }

    static func named(_ name: String) -> FilterKey? { all.first { $0.names.contains(name) } }

    private static let states = StateWord.allCases.map { $0.rawValue.lowercased() }
    private static let roles = SocketRole.allCases.map(\.rawValue)
    private static let reads = ReadRequest.Kind.Word.allCases

    static let all: [FilterKey] = [
        word("state", among: { _ in states }, "no such state; estab, close-wait, listen, closed...") { socket, word in
            socket.stateWord.lowercased().hasPrefix(word)
        },
        number("port", "a number up to 65535, as in port:443") { (socket, port: UInt16) in
            socket.peer?.port == port || socket.local?.port == port
        },
        FilterKey(["peer"], read: peer),
        word("role", "kind", among: { _ in roles }, Spelling.alternatives(roles)) { $0.role.rawValue.hasPrefix($1) },
        // The words of the screen, and those of JSON.
        word(
            "read", among: { _ in reads.flatMap { [$0.rawValue, $0.name] } },
            Spelling.alternatives(reads.map(\.rawValue))
        ) { socket, word in
            socket.reading.current.map { [$0.kind.word, $0.kind.name].contains { $0.hasPrefix(word) } } ?? false
        },
        word("tls", among: { _ in TLSWords.filterWords }, "yes, no, queued, handshaking, secure, failed or 1.3") {
            TLSWords.matches($1, $0.tls)
        },
        word(
            "ws", among: { WebSocketWords.filterWords + (WebSocketWords.closeCode($0) == nil ? [] : [$0]) },
            "yes, no, opening, open, closed, compressed or 1006"
        ) {
            WebSocketWords.matches($1, $0.webSocket)
        },
        FilterKey(["flag"]) { (value) throws(FilterTerm.Problem) in
            let found = SocketFlags.names.filter { !value.isEmpty && $0.name.lowercased().hasPrefix(value) }
            guard !found.isEmpty else {
                throw FilterTerm.Problem(message: "no such flag, as in flag:connected or flag:readspaused")
            }
            let flags = found.reduce(into: SocketFlags()) { $0.formUnion($1.flag) }
            return { socket, _ in !socket.flags.isDisjoint(with: flags) }
        },
        FilterKey(["lint", "warn"]) { (value) throws(FilterTerm.Problem) in
            let name = try one(
                of: ["any"] + Lint.all.map(\.name), value, "no such warning; any, read-starved, eof-unseen...")
            return { socket, sight in sight.findings[socket.id].contains { name == "any" || $0.lint.hasPrefix(name) } }
        },
        word(
            "fault", among: { _ in ["any"] + FaultWord.names(.effect, .datagrams) },
            "any or an effect, as in fault:latency"
        ) { socket, effect in
            // A dribble counts as a slice.
            let name = effect == "dribble" ? "slice" : effect
            return socket.fault?.rules.contains { name == "any" || $0.effect.hasPrefix(name) } ?? false
        },
        text("program", "a program's name, as in program:nginx") { $0.programText.lowercased().contains($1) },
        text("host", "a host's name, as in host:web1") { $0.machine?.lowercased() == $1 },
        number("pid", "a process ID, as in pid:4711") { (socket, number: Int32) in
            socket.hosts.contains { $0.owners.contains(number) }
        },
        number("user", "a user ID, as in user:1000") { (socket, number: UInt32) in
            socket.hosts.contains { $0.user == number }
        },
        number("fd", "a descriptor, as in fd:4") { (socket, number: Int32) in socket.descriptor == number },
        text("cgroup", "a container or control group, as in cgroup:nginx.service") { host, name in
            [host.cgroup, host.container].contains { $0?.lowercased().contains(name) ?? false }
        },
        text("netns", "a network namespace, as in netns:blue, netns:own or its inode") {
            $0.namespace?.matches($1) ?? false
        },
        FilterKey(["asks"]) { (value) throws(FilterTerm.Problem) in
            guard let asks = FilterTerm.Asks(rawValue: value) else {
                let words = Spelling.alternatives(FilterTerm.Asks.allCases.map(\.rawValue))
                throw FilterTerm.Problem(message: "what its program waits for: \(words)")
            }
            return { socket, _ in socket.hosts.contains { $0.asks.map { asks.matches($0) } ?? false } }
        },
    ]

    private static func word(
        _ names: String..., among words: @escaping @Sendable (String) -> [String], _ problem: String,
        _ match: @escaping @Sendable (SocketSnapshot, String) -> Bool
    ) -> FilterKey {
        FilterKey(names) { (value) throws(FilterTerm.Problem) in
            let word = try one(of: words(value), value, problem)
            return { socket, _ in match(socket, word) }
        }
    }

    private static func number<Number: FixedWidthInteger & Sendable>(
        _ name: String, _ problem: String, _ match: @escaping @Sendable (SocketSnapshot, Number) -> Bool
    ) -> FilterKey {
        FilterKey([name]) { (value) throws(FilterTerm.Problem) in
            let number: Number = try FilterTerm.number(value, problem)
            return { socket, _ in match(socket, number) }
        }
    }

    /// A key for text about a socket of another program, or about the ends of a captured connection.
    private static func text(
        _ name: String, _ problem: String, _ match: @escaping @Sendable (HostSnapshot, String) -> Bool
    ) -> FilterKey {
        FilterKey([name]) { (value) throws(FilterTerm.Problem) in
            if value.isEmpty { throw FilterTerm.Problem(message: problem) }
            return { socket, _ in socket.hosts.contains { match($0, value) } }
        }
    }

    private static func one(
        of names: [String], _ value: String, _ problem: String
    ) throws(FilterTerm.Problem) -> String {
        guard !value.isEmpty, names.contains(where: { $0.hasPrefix(value) }) else {
            throw FilterTerm.Problem(message: problem)
        }
        return value
    }

    private static func peer(_ value: String) throws(FilterTerm.Problem) -> Match {
        if value.isEmpty {
            throw FilterTerm.Problem(message: "part of an address, as in peer:192.0.2. or peer:192.0.2.0/24")
        }
        guard value.contains("/"), !value.hasPrefix("unix"), !value.hasPrefix("/") else {
            return { socket, _ in
                [socket.peer?.description ?? "", socket.peerText].contains { $0.lowercased().contains(value) }
            }
        }
        guard let (network, bits) = IPAddress.network(value) else {
            throw FilterTerm.Problem(message: "not a network; write peer:192.0.2.0/24 or peer:2001:db8::/32")
        }
        return { socket, _ in socket.peer?.ip?.isIn(network, bits: bits) ?? false }
    }
}

extension SocketSnapshot {
    /// The host's facts about a socket, or about both ends of a captured connection.
    var hosts: [HostSnapshot] { [host, ends?.local?.host, ends?.peer?.host].compactMap { $0 } }
}
