import SocketCore

/// What the lints found in the snapshot on the screen.
package struct Findings: Sendable {
    private let lints: [(lint: Lint, time: Duration)]
    /// The checks of single sessions. They run for all sessions at every snapshot, so they are stored without their
    /// rows' texts.
    private let checks: [Check]
    private var ledger = StalledLedger()
    private var far = FarEnds()
    /// The result of each check, including consequences.
    private var raw: [SocketID: [Verdict]] = [:]
    private var bySocket: [SocketID: [Verdict]] = [:]
    /// What is reported, each problem once, oldest session first.
    private var told: [Severity: [Verdict]] = [:]
    /// Findings about the engine as a whole.
    package private(set) var ofEngine: [Verdict] = []
    /// The sessions with findings, oldest first.
    package private(set) var sockets: [SocketID] = []
    /// The total number of findings.
    package private(set) var count = 0

    /// A lint's check, and its index in `lints`.
    private struct Check: Sendable {
        var place: Int
        var time: Duration
        var judgesClosed: Bool
        var judgesUneventful: Bool
        var judgesCaptured: Bool
        var find: Lint.SessionCheck
    }

    package init(_ settings: LintSettings) {
        lints = Lint.all.filter(settings.shows).map { ($0.rated(by: settings), settings.time($0)) }
        checks = lints.enumerated().compactMap { place, row in
            row.lint.session.map { find in
                Check(
                    place: place, time: row.time, judgesClosed: row.lint.judgesClosed,
                    judgesUneventful: row.lint.judgesUneventful, judgesCaptured: row.lint.judgesCaptured, find: find)
            }
        }
    }

    /// The findings about a session, the worst first.
    package subscript(id: SocketID) -> [Verdict] { bySocket[id] ?? [] }

    /// Returns the number of findings of this severity, each problem counted once.
    package func count(_ severity: Severity) -> Int {
        (told[severity]?.count ?? 0) + ofEngine.count { $0.severity == severity }
    }

    /// The number of findings worse than a note.
    package var urgent: Int { count(.warning) + count(.critical) }

    /// Checks every session of a snapshot. `lost` is the number of events missed recently.
    package mutating func absorb(_ snapshot: EngineSnapshot, among others: Surroundings = Surroundings(), lost: UInt64)
    {
        far = FarEnds()
        raw.removeAll(keepingCapacity: true)
        ledger.begin()
        for index in snapshot.sockets.indices where !snapshot.sockets[index].isFromOutside {
            ledger.note(snapshot.sockets[index], end: others.peers[snapshot.sockets[index].id], snapshot.time)
        }
        ledger.finish(snapshot)
        for index in snapshot.sockets.indices
        where snapshot.sockets[index].isFromOutside
            ? snapshot.sockets[index].hasVerdicts || snapshot.sockets[index].isCapturedTalk
            : snapshot.sockets[index].isLive || ledger[snapshot.sockets[index].id].unreadThere != nil
        {
            let found = find(snapshot.sockets[index], snapshot, others)
            if !found.isEmpty { raw[snapshot.sockets[index].id] = found }
        }
        settle(snapshot, lost)
    }

    /// Checks only these sessions. Findings about the others are kept.
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

    /// Returns the sessions whose kernel state should be requested: these, the other legs of those that are relayed,
    /// and a few hidden ones that may be stuck.
    package func looking(at ids: Set<SocketID>, in snapshot: EngineSnapshot?) -> Set<SocketID> {
        ids.union(ids.compactMap { snapshot?.socket($0)?.linked }).union(ledger.suspects)
    }

    /// Returns one session with everything known about its connection.
    package func situation(
        _ socket: SocketSnapshot, in snapshot: EngineSnapshot, _ peers: [SocketID: PeerEnd]
    ) -> Situation {
        func side(_ socket: SocketSnapshot) -> Side {
            Side(socket, end: peers[socket.id], stall: ledger[socket.id])
        }
        return Situation(
            side(socket), leg: socket.linked.flatMap { snapshot.socket($0) }.map(side), now: snapshot.time)
    }

    private func find(_ socket: SocketSnapshot, _ snapshot: EngineSnapshot, _ others: Surroundings) -> [Verdict] {
        if let verdicts = socket.host?.verdicts ?? socket.ends?.verdicts {
            let talk = socket.isCapturedTalk ? judge(socket, snapshot, others) { $0.judgesCaptured } : []
            return enabled(verdicts, about: socket.id) + talk
        }
        // Deliberate faults are neither the peer's doing nor a mistake.
        if socket.fault?.hasActed == true { return [] }
        let (isLive, isUneventful) = (socket.isLive, isUneventful(socket))
        if isUneventful, !checks.contains(where: \.judgesUneventful) { return [] }
        return judge(socket, snapshot, others) { check in
            (isLive || check.judgesClosed) && (!isUneventful || check.judgesUneventful)
        }
    }

    private func judge(
        _ socket: SocketSnapshot, _ snapshot: EngineSnapshot, _ others: Surroundings, where applies: (Check) -> Bool
    ) -> [Verdict] {
        let situation = situation(socket, in: snapshot, others.peers)
        var verdicts: [Verdict] = []
        for check in checks where applies(check) {
            guard let found = check.find(situation, check.time) else { continue }
            var verdict = lints[check.place].lint.completing(found)
            verdict.socket = socket.id
            verdict.subject = verdict.subject ?? others.owner(of: socket.id)
            verdicts.append(verdict)
        }
        return verdicts
    }

    /// Whether nothing is known about the session that a check could report.
    private func isUneventful(_ socket: SocketSnapshot) -> Bool {
        socket.isUneventful && ledger[socket.id] == Stall()
    }

    /// Returns the verdicts about another program's socket whose rows are enabled. They are made from several looks at
    /// all sockets together.
    private func enabled(_ verdicts: [Verdict], about id: SocketID) -> [Verdict] {
        verdicts.compactMap { verdict in
            guard lints.contains(where: { $0.lint.name == verdict.lint }) else { return nil }
            var verdict = verdict
            verdict.socket = id
            return verdict
        }
    }

    // MARK: From checks to reported findings

    private mutating func settle(_ snapshot: EngineSnapshot, _ lost: UInt64) {
        ofEngine = lints.compactMap { lint, _ in
            lint.engine?(snapshot, lost).map(lint.completing)
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

    /// Sorts the worst first, and otherwise in the order of the table.
    private static func sorted(_ found: [Verdict]) -> [Verdict] {
        Severity.allCases.reversed().flatMap { severity in found.filter { $0.severity == severity } }
    }

    /// Whether its cause was found too, on the same connection or further along the chain.
    private mutating func isConsequence(_ finding: Verdict, of id: SocketID, in snapshot: EngineSnapshot) -> Bool {
        guard let lint = Lint.named(finding.lint), case let far = lint.followsFar,
            case let causes = lint.isMutual ? far.union([lint.name]) : far, !lint.follows.isEmpty || !causes.isEmpty,
            let socket = snapshot.socket(id), !socket.isFromOutside
        else { return false }
        if has(lint.follows, id) || socket.linked.map({ has(lint.follows, $0) }) == true { return true }
        guard !causes.isEmpty, let there = self.far.end(of: socket, in: snapshot) else { return false }
        // If both ends of a connection are inspected, only one reports the problem. A relayed pair takes precedence
        // over a single connection, because it names the programs on both of its sides.
        if lint.isMutual, has([lint.name], there), lint.follows.isEmpty {
            let isFarRelayed = snapshot.socket(there)?.linked != nil
            return isFarRelayed == (socket.linked != nil) ? there < id : isFarRelayed
        }
        if has(far, there) { return true }
        guard let beyond = snapshot.socket(there)?.linked, has(causes, beyond) else { return false }
        // A chain that forms a ring has no other end.
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

    /// Joins findings of one kind that blame one program. Several may be more severe than one.
    private mutating func gather() {
        var groups: [[String]: (ids: [SocketID], grave: Int)] = [:]
        for (id, found) in bySocket {
            for finding in found {
                guard let subject = finding.subject, Lint.named(finding.lint)?.isGathered == true else { continue }
                groups[[finding.lint, subject], default: ([], 0)].ids.append(id)
                groups[[finding.lint, subject]]?.grave += finding.grave
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

    /// Lists each problem once. A group is represented by its longest-lasting finding.
    private mutating func tell() {
        told.removeAll(keepingCapacity: true)
        var leaders: [[String]: Verdict] = [:]
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

    /// Returns the first findings for the summary: the worst first, and within a severity those about the selected
    /// session, then the engine, then the others.
    package func first(_ limit: Int, selected: SocketID?) -> [Verdict] {
        let own = selected.map { self[$0] } ?? []
        var shown: [Verdict] = []
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

/// Finds the session at the other end of another one, if a snapshot lists both.
private struct FarEnds: Sendable {
    private var mark: SessionsMark?
    private var sessions: [Ends: SocketID] = [:]

    mutating func end(of socket: SocketSnapshot, in snapshot: EngineSnapshot) -> SocketID? {
        guard let ends = Self.ends(of: socket), socket.peer != .unnamed else { return nil }
        if mark != SessionsMark(snapshot) {
            mark = SessionsMark(snapshot)
            sessions.removeAll(keepingCapacity: true)
            for index in snapshot.sockets.indices where snapshot.sockets[index].phase == .connected {
                if let ends = Self.ends(of: snapshot.sockets[index]) { sessions[ends] = snapshot.sockets[index].id }
            }
        }
        return sessions[ends.reversed]
    }

    private static func ends(of socket: SocketSnapshot) -> Ends? {
        socket.local.flatMap { local in socket.peer.map { Ends(local: local, peer: $0) } }
    }
}
