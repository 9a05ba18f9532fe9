import SocketCore

/// The answer of `why` about a process, a port or an address.
package struct HostAnswer: Sendable {
    /// The sockets that the target selects.
    package let sockets: [HostSocket]
    /// The verdicts about them, the worst first.
    package let found: [Verdict]
    /// If nothing is wrong, a description of each connection.
    package let stories: [String]
    private let hidden: HostLook.Hidden
    /// The number of processes that the target selects, and how many of them did not reveal their sockets.
    private let processes: (meant: Int, closed: Int)

    /// The most connections described.
    private static let mostStories = 8

    /// Creates an answer, or returns `nil` if the look has no such socket.
    package init?(_ target: HostTarget, _ processes: Set<Int32>, _ look: HostLook, _ judge: HostJudge) {
        let meant = look.sockets.filter { socket in
            target.matches(socket) || look.owners[socket.inode]?.contains { processes.contains($0.process) } == true
        }
        guard !meant.isEmpty else { return nil }
        (sockets, hidden) = (meant, look.hidden)
        self.processes = (processes.count, processes.count { look.processes[$0]?.rung == .queues })
        var about = Set(meant.map(\.id))
        for socket in meant { if let peer = judge.peer(of: socket.id) { about.insert(peer.id) } }
        found = judge.verdicts().found.filter { verdict in
            !about.isDisjoint(with: verdict.sockets)
                || verdict.processes.contains { processes.contains($0.number) }
        }
        stories = found.contains { $0.severity > .note } ? [] : Self.stories(meant, judge)
    }

    /// Describes connections first, both ends together. Those in TIME-WAIT are counted, because a busy server has
    /// hundreds.
    private static func stories(_ meant: [HostSocket], _ judge: HostJudge) -> [String] {
        let connections = meant.filter { $0.transport.isStream && !$0.isListening && $0.peer != nil }
        let closed = connections.filter { $0.state == .timeWait }
        var open = closed.count > 1 ? connections.filter { $0.state != .timeWait } : connections
        let left = halfClosed(open, judge)
        if left.count > 1 {
            let told = Set(left.flatMap { judge.scene.ends(of: $0).map(\.id) })
            open.removeAll { told.contains($0.id) }
        }
        var lines = stories(open, "connection", judge)
        if left.count > 1, let oldest = left.compactMap(\.tcp?.lastAcknowledged).max() {
            lines.append(
                "\(left.count) connections were closed by one end, the first \(Format.duration(oldest)) ago, and not yet by "
                    + "\(holders(left, judge)) (CLOSE-WAIT).")
        }
        lines += stories(meant.filter(\.isListening), "listener", judge)
        if closed.count > 1 {
            lines.append("\(closed.count) connections were closed and are kept for a while (TIME-WAIT).")
        }
        return lines
    }

    /// Returns the ends in CLOSE-WAIT of these connections.
    private static func halfClosed(_ connections: [HostSocket], _ judge: HostJudge) -> [HostSocket] {
        let ends = connections.flatMap { judge.scene.ends(of: $0) }.filter { $0.state == .closeWait }
        return Dictionary(ends.map { ($0.id, $0) }) { first, _ in first }.values.sorted { $0.id < $1.id }
    }

    /// Returns the programs that hold these sockets, as in `api.py[4711] and 2 more`.
    private static func holders(_ sockets: [HostSocket], _ judge: HostJudge) -> String {
        let names = Set(sockets.map { judge.scene.title(judge.asking(of: $0.id), of: $0) }).sorted()
        return names[0] + (names.count > 1 ? " and \(names.count - 1) more" : "")
    }

    private static func stories(_ sockets: [HostSocket], _ what: String, _ judge: HostJudge) -> [String] {
        var told: Set<UInt64> = []
        var stories: [String] = []
        for socket in sockets where !told.contains(socket.id) {
            let ends = judge.scene.ends(of: socket)
            told.formUnion(ends.map(\.id))
            guard let story = judge.story(of: socket.id) else { continue }
            stories.append("\(HostScene.safe(ends[0].place))\(judge.scene.namespaceSuffix(of: ends[0])): \(story)")
        }
        guard stories.count > mostStories else { return stories }
        return stories.prefix(mostStories) + ["and \(stories.count - mostStories) more \(what)s"]
    }

    /// The paragraph, line by line.
    package var lines: [String] {
        var lines = found.map(HostParagraph.lines).reduce([]) { $0.isEmpty ? $1 : $0 + [""] + $1 }
        if lines.isEmpty {
            let isPartial = processes.closed > 0 || hidden.calls > 0
            lines = ["Nothing is \(isPartial ? "seen to be " : "")wrong with \(Format.count(sockets.count, "socket"))."]
        }
        if !stories.isEmpty { lines += [""] + stories }
        if processes.closed > 0 {
            let count = "\(processes.closed) of these \(processes.meant) processes"
            lines.append("Not seen: the sockets of \(count) (other users'; sudo shows them).")
        }
        if hidden.calls > 0, let reason = hidden.reason {
            lines.append(
                "Not seen: what \(Format.count(hidden.calls, "program")) waits for (\(HostScene.safe(reason))).")
        }
        return lines
    }

    /// The answer as JSON, for programs.
    package func json(_ naming: CommandNaming) -> JSON {
        Self.json(sockets.count, found.map { .object($0.hostMembers(naming)) }, stories, problem: nil)
    }

    /// The object in place of an answer: why there is none.
    package static func json(problem: String) -> JSON { json(0, [], [], problem: problem) }

    private static func json(_ sockets: Int, _ verdicts: [JSON], _ stories: [String], problem: String?) -> JSON {
        [
            "type": "why", "sockets": JSON(sockets), "verdicts": .array(verdicts),
            "stories": .array(stories.map { .string($0) }), "problem": JSON(problem),
        ]
    }
}

extension HostSocket {
    /// `127.0.0.1:9000 < 127.0.0.1:51022`, or its only address. Not sanitized.
    var place: String {
        if local == .unnamed, peer == nil || peer == .unnamed {
            return transport.isStream ? "unnamed Unix pair" : "unnamed Unix socket"
        }
        let near = local.map { $0 == .unnamed ? "unnamed" : "\($0)" } ?? "-"
        guard let peer, !isListening, peer != .unnamed else { return near }
        return near == "-" ? "\(peer)" : "\(near) - \(peer)"
    }
}
