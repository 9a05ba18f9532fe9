import SocketCore

/// What the lints found in the snapshot that is shown.
package struct Findings: Sendable {
    private let lints: [(lint: Lint, time: Duration)]
    /// Those of them that look at one session. They are made for all sessions at every snapshot, so they are kept without
    /// the words of their rows.
    private let checks: [Check]
    private var ledger = StandingLedger()
    private var far = FarEnds()
    /// What each check said, consequences included.
    private var raw: [SocketID: [Finding]] = [:]
    private var bySocket: [SocketID: [Finding]] = [:]
    /// What is told, each matter once, oldest session first.
    private var told: [Severity: [Finding]] = [:]
    /// About the engine as a whole.
    package private(set) var ofEngine: [Finding] = []
    /// The sessions that something was found about, oldest first.
    package private(set) var sockets: [SocketID] = []
    /// How much was found in all.
    package private(set) var count = 0

    /// What a lint looks for, and its place in `lints`.
    private struct Check: Sendable {
        var place: Int
        var time: Duration
        var judgesClosed: Bool
        var judgesUneventful: Bool
        var find: @Sendable (Situation, Duration) -> Verdict?
    }

    package init(_ settings: LintSettings) {
        lints = Lint.all.filter(settings.shows).map { ($0, settings.time($0)) }
        checks = lints.enumerated().compactMap { place, row in
            guard case .socket(let find) = row.lint.check else { return nil }
            return Check(
                place: place, time: row.time, judgesClosed: row.lint.name == "reset-cause",
                judgesUneventful: row.lint.judgesUneventful, find: find)
        }
    }

    /// What was found about a session, the worst first.
    package subscript(id: SocketID) -> [Finding] { bySocket[id] ?? [] }

    /// How many findings are of this severity, each matter counted once.
    package func count(_ severity: Severity) -> Int {
        (told[severity]?.count ?? 0) + ofEngine.count { $0.severity == severity }
    }

    /// How many are worse than a note.
    package var urgent: Int { count(.warning) + count(.critical) }

    /// Looks at every session of a snapshot. `lost`: events that were missed lately.
    package mutating func take(_ snapshot: EngineSnapshot, among others: Surroundings = Surroundings(), lost: UInt64) {
        far = FarEnds()
        raw.removeAll(keepingCapacity: true)
        ledger.begin()
        for index in snapshot.sockets.indices where !snapshot.sockets[index].isFromOutside {
            ledger.note(snapshot.sockets[index], end: others.peers[snapshot.sockets[index].id], snapshot.time)
        }
        ledger.finish(snapshot)
        for index in snapshot.sockets.indices
        where snapshot.sockets[index].isFromOutside
            ? snapshot.sockets[index].hasVerdicts
            : snapshot.sockets[index].isLive || ledger[snapshot.sockets[index].id].unreadThere != nil
        {
            let found = find(snapshot.sockets[index], snapshot, others)
            if !found.isEmpty { raw[snapshot.sockets[index].id] = found }
        }
        settle(snapshot, lost)
    }

    /// Looks at these sessions only; what was found about the others stands.
    package mutating func glance(
        _ snapshot: EngineSnapshot, at ids: some Sequence<SocketID>, among others: Surroundings = Surroundings(),
        lost: UInt64
    ) {
        var places: [Int] = []
        for id in ids { snapshot.position(of: id).map { places.append($0) } }
        places += places.compactMap { snapshot.sockets[$0].linked.flatMap(snapshot.position) }
        for place in places {
            let socket = snapshot.sockets[place]
            ledger.note(socket, end: others.peers[socket.id], snapshot.time)
        }
        for place in places {
            let socket = snapshot.sockets[place]
            let isJudged = socket.isLive || socket.hasVerdicts || ledger[socket.id].unreadThere != nil
            let found = isJudged ? find(socket, snapshot, others) : []
            raw[socket.id] = found.isEmpty ? nil : found
        }
        settle(snapshot, lost)
    }

    /// Sessions whose kernel side should be asked for: these, the other legs of those that are relayed, and a few out of
    /// sight that may be stuck.
    package func looking(at ids: Set<SocketID>, in snapshot: EngineSnapshot?) -> Set<SocketID> {
        ids.union(ids.compactMap { snapshot?.socket($0)?.linked }).union(ledger.suspects)
    }

    /// One session and what is known around it.
    package func situation(
        _ socket: SocketSnapshot, in snapshot: EngineSnapshot, _ peers: [SocketID: PeerEnd]
    ) -> Situation {
        func side(_ socket: SocketSnapshot) -> Side {
            Side(socket, end: peers[socket.id], standing: ledger[socket.id])
        }
        return Situation(
            side(socket), leg: socket.linked.flatMap { snapshot.socket($0) }.map(side), now: snapshot.time)
    }

    private func find(_ socket: SocketSnapshot, _ snapshot: EngineSnapshot, _ others: Surroundings) -> [Finding] {
        if let verdicts = socket.host?.verdicts ?? socket.ends?.verdicts {
            return found(by: verdicts, about: socket.id)
        }
        // What is done on purpose is not the peer's doing, nor a mistake.
        if socket.fault?.hasActed == true { return [] }
        let (isLive, isUneventful) = (socket.isLive, isUneventful(socket))
        if isUneventful, !checks.contains(where: \.judgesUneventful) { return [] }
        let situation = situation(socket, in: snapshot, others.peers)
        var found: [Finding] = []
        for check in checks where (isLive || check.judgesClosed) && (!isUneventful || check.judgesUneventful) {
            guard let verdict = check.find(situation, check.time) else { continue }
            found.append(Finding(lints[check.place].lint, socket.id, verdict, owner: others.owner(of: socket.id)))
        }
        return found
    }

    /// Whether nothing is known of it that a check could find fault with.
    private func isUneventful(_ socket: SocketSnapshot) -> Bool {
        socket.isUneventful && ledger[socket.id] == Standing()
    }

    /// The sockets of other programs are judged over several looks, all of them together; here that is passed on.
    private func found(by verdicts: [HostFinding], about id: SocketID) -> [Finding] {
        verdicts.compactMap { found in
            lints.first { $0.lint.name == found.lint }.map { Finding($0.lint, id, Verdict(found)) }
        }
    }

    // MARK: From what each check said to what is told

    private mutating func settle(_ snapshot: EngineSnapshot, _ lost: UInt64) {
        ofEngine = lints.compactMap { lint, _ in
            guard case .engine(let check) = lint.check, let verdict = check(snapshot, lost) else { return nil }
            return Finding(lint, nil, verdict)
        }
        bySocket.removeAll(keepingCapacity: true)
        for (id, found) in raw {
            for finding in found where !isConsequence(finding, of: id, in: snapshot) {
                for about in [id] + finding.others { bySocket[about, default: []].append(finding) }
            }
        }
        gather()
        for (id, found) in bySocket where found.count > 1 { bySocket[id] = Self.sorted(found) }
        sockets = bySocket.keys.sorted()
        tell()
    }

    /// The worst first, else in the order of the table.
    private static func sorted(_ found: [Finding]) -> [Finding] {
        Severity.allCases.reversed().flatMap { severity in found.filter { $0.severity == severity } }
    }

    /// Whether its cause was found as well, about the same connection or further along the chain.
    private mutating func isConsequence(_ finding: Finding, of id: SocketID, in snapshot: EngineSnapshot) -> Bool {
        guard let lint = Lint.named(finding.lint), !lint.follows.isEmpty || !lint.followsFar.isEmpty,
            let socket = snapshot.socket(id), !socket.isFromOutside
        else { return false }
        if has(lint.follows, id) || socket.linked.map({ has(lint.follows, $0) }) == true { return true }
        guard !lint.followsFar.isEmpty, let there = far.end(of: socket, in: snapshot) else { return false }
        // Both ends of one connection are looked at: one of them tells of it, a relayed pair rather than one connection,
        // since it names the programs on both of its sides.
        if lint.followsFar.contains(lint.name), has([lint.name], there), lint.follows.isEmpty {
            let isFarRelayed = snapshot.socket(there)?.linked != nil
            return isFarRelayed == (socket.linked != nil) ? there < id : isFarRelayed
        }
        if has(lint.followsFar.subtracting([lint.name]), there) { return true }
        guard let beyond = snapshot.socket(there)?.linked, has(lint.followsFar, beyond) else { return false }
        // A chain that comes back to where it began has no other end.
        return !comesBack(from: beyond, to: id, in: snapshot)
    }

    private mutating func comesBack(from start: SocketID, to id: SocketID, in snapshot: EngineSnapshot) -> Bool {
        var (current, seen) = (start, Set<SocketID>())
        while seen.insert(current).inserted {
            if current == id { return seen.min().map { id <= $0 } ?? false }
            guard let socket = snapshot.socket(current), let there = far.end(of: socket, in: snapshot),
                let beyond = snapshot.socket(there)?.linked
            else { return false }
            current = beyond
        }
        return false
    }

    private func has(_ names: Set<String>, _ id: SocketID) -> Bool {
        !names.isEmpty && raw[id]?.contains { names.contains($0.lint) } == true
    }

    /// Findings that blame one program for the same are told once, and may matter more together.
    private mutating func gather() {
        var groups: [[String]: (ids: [SocketID], grave: Int)] = [:]
        for (id, found) in bySocket {
            for finding in found {
                guard let subject = finding.subject, Lint.named(finding.lint)?.isGathered == true else { continue }
                groups[[finding.lint, subject], default: ([], 0)].ids.append(id)
                if finding.isGrave { groups[[finding.lint, subject]]?.grave += 1 }
            }
        }
        for (key, group) in groups where group.ids.count > 1 {
            let isWorse = Lint.named(key[0])?.many.map { group.grave >= $0 } ?? false
            for id in group.ids {
                let place = bySocket[id]?.firstIndex { $0.lint == key[0] && $0.subject == key[1] }
                guard let place else { continue }
                bySocket[id]?[place].more = group.ids.count - 1
                if isWorse { bySocket[id]?[place].severity = .warning }
            }
        }
    }

    /// Lists each matter once: of a group the one that has lasted longest.
    private mutating func tell() {
        told.removeAll(keepingCapacity: true)
        var leaders: [[String]: Finding] = [:]
        for id in sockets {
            for finding in bySocket[id] ?? [] where finding.socket == id {
                if finding.more == 0 {
                    told[finding.severity, default: []].append(finding)
                } else if finding.lasting ?? .zero >= leaders[[finding.lint, finding.subject ?? ""]]?.lasting ?? .zero {
                    leaders[[finding.lint, finding.subject ?? ""]] = finding
                }
            }
        }
        for finding in leaders.values.sorted(by: { $0.socket ?? SocketID(0) < $1.socket ?? SocketID(0) }) {
            told[finding.severity, default: []].append(finding)
        }
        count = told.values.reduce(ofEngine.count) { $0 + $1.count }
    }

    /// The first few for the summary: the worst first, and of those that are as bad the ones about the selected session,
    /// then the engine, then the others.
    package func first(_ limit: Int, selected: SocketID?) -> [Finding] {
        let own = selected.map { self[$0] } ?? []
        var shown: [Finding] = []
        for severity in Severity.allCases.reversed() {
            shown += (own + ofEngine).filter { $0.severity == severity }
            for finding in told[severity] ?? [] where shown.count < limit {
                let isShown = own.contains {
                    $0.lint == finding.lint
                        && ($0.socket == finding.socket || $0.more > 0 && $0.subject == finding.subject)
                }
                if !isShown { shown.append(finding) }
            }
        }
        return Array(shown.prefix(limit))
    }
}

/// Finds which session is at the other end of another, where a snapshot lists both.
private struct FarEnds: Sendable {
    private struct Ends: Hashable, Sendable {
        var local: SocketAddress
        var peer: SocketAddress
    }

    private var mark: SessionsMark?
    private var sessions: [Ends: SocketID] = [:]

    mutating func end(of socket: SocketSnapshot, in snapshot: EngineSnapshot) -> SocketID? {
        guard let local = socket.local, let peer = socket.peer, peer != .unnamed else { return nil }
        if mark != SessionsMark(snapshot) {
            mark = SessionsMark(snapshot)
            sessions.removeAll(keepingCapacity: true)
            for index in snapshot.sockets.indices where snapshot.sockets[index].phase == .connected {
                guard let local = snapshot.sockets[index].local, let peer = snapshot.sockets[index].peer else {
                    continue
                }
                sessions[Ends(local: local, peer: peer)] = snapshot.sockets[index].id
            }
        }
        return sessions[Ends(local: peer, peer: local)]
    }
}
