import SocketCore

/// What the lints found in the snapshot that is shown.
package struct Findings: Hashable, Sendable {
    private var settings: LintSettings
    private var bySocket: [SocketID: [Finding]] = [:]
    /// About the engine as a whole.
    package private(set) var ofEngine: [Finding] = []
    /// The sessions that something was found about, oldest first.
    package private(set) var sockets: [SocketID] = []
    /// How much was found in all.
    package private(set) var count = 0

    package init(_ settings: LintSettings) {
        self.settings = settings
    }

    /// What was found about a session, the most telling first.
    package subscript(id: SocketID) -> [Finding] { bySocket[id] ?? [] }

    /// Looks at a snapshot.
    package mutating func take(_ snapshot: EngineSnapshot, lost: UInt64) {
        let lints = Lint.all.filter(settings.shows)
        bySocket.removeAll(keepingCapacity: true)
        for socket in snapshot.sockets where socket.isLive {
            let found = Self.find(lints, socket, snapshot.time)
            if !found.isEmpty { bySocket[socket.id] = found }
        }
        ofEngine = lints.compactMap { lint in
            guard case .engine(let check) = lint.check, let sentence = check(snapshot, lost) else { return nil }
            return Finding(lint: lint.name, socket: nil, sentence: sentence)
        }
        sockets = bySocket.keys.sorted()
        count = bySocket.values.reduce(ofEngine.count) { $0 + $1.count }
    }

    private static func find(_ lints: [Lint], _ socket: SocketSnapshot, _ now: MonotonicTime) -> [Finding] {
        var found: [Finding] = []
        for lint in lints {
            guard let sentence = lint.finds(socket, now) else { continue }
            found.append(Finding(lint: lint.name, socket: socket.id, sentence: sentence))
        }
        return found
    }

    /// The first few for the summary: about the selected session, the engine, then about the others.
    package func first(_ limit: Int, selected: SocketID?) -> [Finding] {
        var shown = (selected.map { self[$0] } ?? []) + ofEngine
        for id in sockets where id != selected {
            guard shown.count < limit else { break }
            shown += self[id]
        }
        return Array(shown.prefix(limit))
    }
}
