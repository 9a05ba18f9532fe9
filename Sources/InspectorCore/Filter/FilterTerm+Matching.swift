import SocketCore

extension FilterTerm {
    /// Whether a session matches.
    func matches(
        _ socket: SocketSnapshot, _ sight: Sight
    ) -> Bool {
        switch self {
        case .id(let number): socket.id.number == number
        case .state(let state): socket.stateWord.lowercased().hasPrefix(state)
        case .port(let port): socket.peer?.port == port || socket.local?.port == port
        case .peer(let text):
            (socket.peer?.description ?? "").lowercased().contains(text) || socket.peerText.lowercased().contains(text)
        case .network(let network, let bits): socket.peer?.ip?.isIn(network, bits: bits) ?? false
        case .role(let role): socket.role.rawValue.hasPrefix(role)
        case .tag(let tag): Self.operations(socket).contains { $0.tag == tag && !$0.isStanding }
        case .flag(let flags): !socket.flags.isDisjoint(with: flags)
        case .lint(let name): sight.findings[socket.id].contains { name == "any" || $0.lint.hasPrefix(name) }
        case .read(let word): Self.readWords(socket).contains { $0.hasPrefix(word) }
        case .tls(let word): TLSWords.matches(word, socket.tls)
        case .webSocket(let word): WebSocketWords.matches(word, socket.webSocket)
        case .program(let name): socket.hosts.contains { $0.programText.lowercased().contains(name) }
        case .process(let number): socket.hosts.contains { $0.owners.contains(number) }
        case .user(let number): socket.hosts.contains { $0.user == number }
        case .descriptor(let number): socket.descriptor == number
        case .cgroup(let name):
            socket.hosts.flatMap { [$0.cgroup, $0.container] }.contains { $0?.lowercased().contains(name) ?? false }
        case .namespace(let word): socket.hosts.contains { $0.namespace?.matches(word) ?? false }
        case .fault(let effect): Self.hasFault(effect, socket)
        case .held: socket.fault?.hold != nil
        case .asks(let asks): socket.hosts.contains { $0.asks.map { asks.matches($0) } ?? false }
        case .compare(let column, let relation, let value):
            column.amount(socket, sight).map { Self.holds($0, relation, value) } ?? false
        case .column(let column, let text): column.holds(text, socket, sight)
        case .pattern(let pattern): Self.names(socket).contains { pattern.matches($0) }
        case .unfinished: true
        case .text(let text): Self.words(socket).contains { $0.holds(text) }
        }
    }

    /// Whether an event matches.
    func matches(
        _ event: SocketEvent, words: String, of socket: SocketSnapshot?, _ findings: Findings
    ) -> Bool {
        switch self {
        case .id(let number): event.socket.number == number
        case .tag(let tag): event.tag == tag
        case .unfinished: true
        case .text(let text):
            words.lowercased().contains(text) || socket.map { $0.peerText.lowercased().contains(text) } ?? false
        case .pattern(let pattern):
            pattern.matches(words) || socket.map { matches($0, Sight(event.time, findings)) } ?? false
        case .state, .port, .peer, .network, .role, .flag, .lint, .read, .tls, .webSocket, .program, .process,
            .user, .descriptor, .asks, .cgroup, .namespace, .fault, .held, .compare, .column:
            socket.map { matches($0, Sight(event.time, findings)) } ?? false
        }
    }

    /// Whether a line without a session matches.
    func matches(words: String) -> Bool {
        switch self {
        case .text(let text): words.lowercased().contains(text)
        case .pattern(let pattern): pattern.matches(words)
        case .unfinished: true
        case .id, .state, .port, .peer, .network, .role, .tag, .flag, .lint, .read, .tls, .webSocket, .program,
            .process,
            .user, .descriptor, .asks, .cgroup, .namespace, .fault, .held, .compare, .column:
            false
        }
    }

    /// Whether a rule applies whose effect starts with this word. A dribble counts as a slice.
    private static func hasFault(_ effect: String, _ socket: SocketSnapshot) -> Bool {
        let name = effect == "dribble" ? "slice" : effect
        return socket.fault?.rules.contains { name == "any" || $0.effect.hasPrefix(name) } ?? false
    }

    /// Returns the session's words as a row shows them, for search and plain text.
    package static func words(_ socket: SocketSnapshot) -> [String] {
        [socket.id.description, socket.stateWord, socket.role.rawValue] + names(socket)
    }

    private static func names(_ socket: SocketSnapshot) -> [String] {
        var names = [socket.peerText, socket.target, socket.name]
        if let peer = socket.peer { names.append(peer.description) }
        names += socket.hosts.flatMap { [$0.programText, $0.peerProgram ?? ""] }
        if let error = socket.closed?.error { names.append(error.detail) }
        return names.filter { !$0.isEmpty }
    }

    private static func operations(_ socket: SocketSnapshot) -> [OperationSnapshot] {
        [socket.reading.current, socket.writing.current].compactMap { $0 } + socket.reading.pending
            + socket.writing.pending
    }

    /// Returns the words for the kind of the current read.
    private static func readWords(_ socket: SocketSnapshot) -> [String] {
        socket.reading.current.map { [$0.kind.word, $0.kind.name] } ?? []
    }

    private static func holds(_ left: Double, _ relation: Relation, _ right: Double) -> Bool {
        switch relation {
        case .more: left > right
        case .less: left < right
        case .atLeast: left >= right
        case .atMost: left <= right
        case .equal: left == right
        }
    }
}

extension SocketSnapshot {
    /// The host's facts about a socket, or about both ends of a captured connection.
    fileprivate var hosts: [HostSnapshot] { [host, ends?.local?.host, ends?.peer?.host].compactMap { $0 } }
}

extension FilterTerm.Asks {
    /// Whether the column shows this text: `recv 4.0K`, `send 47.7M`, `nobody`.
    func matches(_ text: String) -> Bool {
        let isWrite = ["send", "write"].contains { text.hasPrefix($0) }
        switch self {
        case .none: return text == "nobody"
        case .write: return isWrite
        case .read: return !isWrite && text != "nobody"
        }
    }
}

extension String {
    /// Whether it contains `text`, which must be lower case, ignoring its own case. Every keystroke checks all rows,
    /// and nearly all of them are ASCII, so those are compared in place.
    func holds(_ text: String) -> Bool {
        var (own, wanted) = (self, text)
        let found = own.withUTF8 { own -> Bool? in
            guard own.allSatisfy({ $0 < 0x80 }) else { return nil }
            return wanted.withUTF8 { wanted in Self.holds(own, wanted) }
        }
        return found ?? lowercased().contains(text)
    }

    private static func holds<Bytes: RandomAccessCollection<UInt8>>(_ own: Bytes, _ wanted: Bytes) -> Bool
    where Bytes.Index == Int {
        guard let first = wanted.first else { return true }
        guard own.count >= wanted.count else { return false }
        for start in 0...own.count - wanted.count where own[start].lowered == first {
            if (1..<wanted.count).allSatisfy({ own[start + $0].lowered == wanted[$0] }) { return true }
        }
        return false
    }
}

extension UInt8 {
    fileprivate var lowered: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
