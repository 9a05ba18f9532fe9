import SocketCore

/// What the lints found in the snapshot that is shown.
package struct Findings: Sendable {
    private let lints: [Lint]
    private var bySocket: [SocketID: [Finding]] = [:]
    /// About the engine as a whole.
    package private(set) var ofEngine: [Finding] = []
    /// The sessions that something was found about, oldest first.
    package private(set) var sockets: [SocketID] = []
    /// How much was found in all.
    package private(set) var count = 0

    package init(_ settings: LintSettings) {
        lints = Lint.all.filter(settings.shows)
    }

    /// What was found about a session, the most telling first.
    package subscript(id: SocketID) -> [Finding] { bySocket[id] ?? [] }

    /// Looks at every session of a snapshot. `lost`: events that were missed lately.
    package mutating func take(_ snapshot: EngineSnapshot, lost: UInt64) {
        bySocket.removeAll(keepingCapacity: true)
        for index in snapshot.sockets.indices where snapshot.sockets[index].closed == nil {
            let found = find(snapshot.sockets[index], snapshot.time)
            if !found.isEmpty { bySocket[snapshot.sockets[index].id] = found }
        }
        sum(snapshot, lost)
    }

    /// Looks at these sessions only; what was found about the others stands.
    package mutating func glance(_ snapshot: EngineSnapshot, at ids: some Sequence<SocketID>, lost: UInt64) {
        for id in ids {
            guard let index = snapshot.position(of: id) else { continue }
            let found = find(snapshot.sockets[index], snapshot.time)
            if !found.isEmpty || bySocket[id] != nil { bySocket[id] = found.isEmpty ? nil : found }
        }
        sum(snapshot, lost)
    }

    private mutating func sum(_ snapshot: EngineSnapshot, _ lost: UInt64) {
        ofEngine = lints.compactMap { lint in
            guard case .engine(let check) = lint.check, let sentence = check(snapshot, lost) else { return nil }
            return Finding(lint: lint.name, socket: nil, sentence: sentence)
        }
        sockets = bySocket.keys.sorted()
        count = bySocket.values.reduce(ofEngine.count) { $0 + $1.count }
    }

    private func find(_ socket: SocketSnapshot, _ now: MonotonicTime) -> [Finding] {
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
