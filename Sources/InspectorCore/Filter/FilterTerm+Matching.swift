import SocketCore

extension FilterTerm {
    /// Whether a session matches.
    func matches(
        _ socket: SocketSnapshot, _ sight: Sight
    ) -> Bool {
        switch self {
        case .id(let id): socket.id == id
        case .tag(let tag): Self.operations(socket).contains { $0.tag == tag && !$0.isStanding }
        case .key(_, _, let match): match(socket, sight)
        case .held: socket.fault?.hold != nil
        case .compare(let column, let relation, let value):
            column.amount(socket, sight).map { Self.holds($0, relation, value) } ?? false
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
        case .id(let id): event.socket == id
        case .tag(let tag): event.tag == tag
        case .unfinished: true
        case .text(let text):
            words.lowercased().contains(text) || socket.map { $0.peerText.lowercased().contains(text) } ?? false
        case .pattern(let pattern):
            pattern.matches(words) || socket.map { matches($0, Sight(event.time, findings)) } ?? false
        case .key, .held, .compare:
            socket.map { matches($0, Sight(event.time, findings)) } ?? false
        }
    }

    /// Whether a line without a session matches.
    func matches(words: String) -> Bool {
        switch self {
        case .text(let text): words.lowercased().contains(text)
        case .pattern(let pattern): pattern.matches(words)
        case .unfinished: true
        case .id, .tag, .key, .held, .compare: false
        }
    }

    /// Returns the session's words as a row shows them, for search and plain text.
    package static func words(_ socket: SocketSnapshot) -> [String] {
        [socket.id.description, socket.stateWord, socket.role.rawValue] + names(socket)
    }

    private static func names(_ socket: SocketSnapshot) -> [String] {
        var names = [socket.peerText, socket.target, socket.name]
        if let peer = socket.peer { names.append(peer.description) }
        // Both ends of a connection on this host are found by the port that one of them listens on.
        if !socket.hosts.isEmpty, let local = socket.local { names.append(local.description) }
        names += socket.hosts.flatMap { [$0.programText, $0.peerProgram ?? ""] }
        if let error = socket.closed?.error { names.append(error.detail) }
        return names.filter { !$0.isEmpty }
    }

    private static func operations(_ socket: SocketSnapshot) -> [OperationSnapshot] {
        [socket.reading.current, socket.writing.current].compactMap { $0 } + socket.reading.pending
            + socket.writing.pending
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
