import SocketCore

/// Which rows are listed. Words are joined by AND; a word is `id:7`, `state:close-wait`, `port:443`, `peer:192.0.2.`,
/// `role:client`, `lint:read-starved`, or plain text looked for in id, state, role, peer, target and name.
package struct Filter: Hashable, Sendable {
    /// What is wrong with a filter.
    package struct Failure: Error, Hashable, Sendable {
        package var message: String
    }

    private enum Term: Hashable {
        case id(UInt64)
        case state(String)
        case port(UInt16)
        case peer(String)
        case role(String)
        case lint(String)
        case text(String)
        case unfinished
    }

    /// As it was typed.
    package let text: String
    private let terms: [Term]

    /// Lets everything through.
    package init() {
        text = ""
        terms = []
    }

    private init(text: String, terms: [Term]) {
        self.text = text
        self.terms = terms
    }

    package var isEmpty: Bool { terms.allSatisfy { $0 == .unfinished } }

    /// Reads a filter.
    package static func parse(_ text: String) -> Result<Filter, Failure> {
        var terms: [Term] = []
        for word in text.split(separator: " ") {
            switch term(String(word)) {
            case .success(let term): terms.append(term)
            case .failure(let failure): return .failure(failure)
            }
        }
        return .success(Filter(text: terms.isEmpty ? "" : text, terms: terms))
    }

    private static let states = [
        "estab", "syn-sent", "syn-recv", "fin-wait-1", "fin-wait-2", "time-wait", "closed", "close-wait", "last-ack",
        "listen", "closing", "resolving",
    ]

    private static func term(_ word: String) -> Result<Term, Failure> {
        guard let colon = word.firstIndex(of: ":") else {
            let text = word.lowercased()
            // The name of a key alone is a filter that is still being typed.
            return .success(["id", "state", "port", "peer", "role", "lint"].contains(text) ? .unfinished : .text(text))
        }
        let value = word[word.index(after: colon)...].lowercased()
        func missing(_ what: String) -> Result<Term, Failure> { .failure(Failure(message: "\(word): \(what)")) }
        switch word[..<colon].lowercased() {
        case "id":
            guard let number = UInt64(value.drop { $0 == "#" }) else { return missing("a number, as in id:7") }
            return .success(.id(number))
        case "port":
            guard let port = UInt16(value) else { return missing("a number, as in port:443") }
            return .success(.port(port))
        case "state":
            guard !value.isEmpty, states.contains(where: { $0.hasPrefix(value) }) else {
                return missing("no such state; estab, close-wait, listen, closed...")
            }
            return .success(.state(value))
        case "role":
            guard !value.isEmpty, ["client", "accepted", "listener"].contains(where: { $0.hasPrefix(value) }) else {
                return missing("client, accepted or listener")
            }
            return .success(.role(value))
        case "lint":
            guard value == "any" || Lint.all.contains(where: { !value.isEmpty && $0.name.hasPrefix(value) }) else {
                return missing("no such warning; any, read-starved, eof-unseen... (? lists them)")
            }
            return .success(.lint(value))
        case "peer":
            return value.isEmpty ? missing("part of an address, as in peer:192.0.2.") : .success(.peer(value))
        default: return .success(.text(word.lowercased()))
        }
    }

    /// Whether a session is listed; `findings` are the warnings about it.
    package func matches(_ socket: SocketSnapshot, _ findings: [Finding]) -> Bool {
        terms.allSatisfy { Self.matches($0, socket, findings) }
    }

    private static func matches(_ term: Term, _ socket: SocketSnapshot, _ findings: [Finding]) -> Bool {
        switch term {
        case .lint(let name): findings.contains { name == "any" || $0.lint.hasPrefix(name) }
        case .id(let number): socket.id.number == number
        case .state(let state): socket.stateWord.lowercased().hasPrefix(state)
        case .port(let port): socket.peer?.port == port || socket.local?.port == port
        case .peer(let text):
            (socket.peer?.description ?? "").lowercased().contains(text) || socket.peerText.lowercased().contains(text)
        case .role(let role): socket.roleWord.hasPrefix(role)
        case .unfinished: true
        case .text(let text):
            [
                socket.id.description, socket.stateWord, socket.roleWord, socket.peerText, socket.target, socket.name,
                socket.peer?.description ?? "",
            ].contains { $0.lowercased().contains(text) }
        }
    }

    /// Whether a line about the program itself is listed: only by its words.
    package func matches(words: String) -> Bool {
        terms.allSatisfy { term in
            switch term {
            case .text(let text): words.lowercased().contains(text)
            case .unfinished: true
            default: false
            }
        }
    }

    /// Whether an event is listed: by the id of its socket, its tag's digits or its words.
    package func matches(_ event: SocketEvent, words: String) -> Bool {
        terms.allSatisfy { term in
            switch term {
            case .id(let number): event.socket.number == number
            case .state(let text), .peer(let text), .role(let text), .lint(let text), .text(let text):
                words.lowercased().contains(text)
            case .port(let port): words.contains(String(port))
            case .unfinished: true
            }
        }
    }
}
