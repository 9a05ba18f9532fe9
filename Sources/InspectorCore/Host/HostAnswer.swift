import SocketCore

/// The answer of `why` about a process, a port or an address.
package struct HostAnswer: Sendable {
    /// The sockets that the target selects.
    package let sockets: [HostSocket]
    /// The verdicts about them, the worst first.
    package let found: [Verdict]
    /// Who waits for whom, the longest wait first.
    let chains: [WaitWords]
    /// If nothing is wrong, a description of each connection.
    package let stories: [String]
    /// The programs that it is about, as in `nginx[812] and 2 more`: those that listen, if any do.
    private let who: String
    /// The number of connections, and the age of the oldest unanswered request, or `nil` if there is none.
    private let connections: Int
    private let oldest: Duration?
    private let options: Options
    private let hidden: HostLook.Hidden
    /// The number of processes that the target selects, and how many of them did not reveal their sockets.
    private let processes: (meant: Int, closed: Int)

    /// What is said.
    package struct Options: Equatable, Sendable {
        /// Whether every connection is described, even if nothing is wrong with it.
        package var tellsAll = false
        /// How long a question must wait to be told of, and to count as a failure, or `nil` for no failure.
        package var limit: Duration?

        package init(tellsAll: Bool = false, limit: Duration? = nil) { (self.tellsAll, self.limit) = (tellsAll, limit) }
    }

    /// The most connections described, and the most chains.
    private static let mostStories = 8
    private static let mostChains = 8
    /// A question that has waited for less is not told of.
    private static let moment = Duration.seconds(1)

    /// Creates an answer, or returns `nil` if the look has no such socket.
    package init?(
        _ target: HostTarget, _ processes: Set<Int32>, _ look: HostLook, _ judge: HostJudge,
        _ options: Options = Options()
    ) {
        self.init(about: target.matches, processes, look, judge, options)
    }

    /// Creates an answer about the sockets that `isMeant` selects, and those of these processes.
    package init?(
        about isMeant: (HostSocket) -> Bool, _ processes: Set<Int32>, _ look: HostLook, _ judge: HostJudge,
        _ options: Options = Options()
    ) {
        let meant = look.sockets.filter { socket in
            isMeant(socket) || look.owners[socket.inode]?.contains { processes.contains($0.process) } == true
        }
        guard !meant.isEmpty else { return nil }
        (sockets, hidden) = (meant, look.hidden)
        let listeners = meant.filter(\.isListening)
        who = Self.holders(listeners.isEmpty ? meant : listeners, judge)
        self.processes = (processes.count, processes.count { look.processes[$0]?.rung == .queues })
        var about = Set(meant.map(\.id))
        for socket in meant { if let peer = judge.peer(of: socket.id) { about.insert(peer.id) } }
        found = judge.verdicts().found.filter { verdict in
            !about.isDisjoint(with: verdict.sockets)
                || verdict.processes.contains { processes.contains($0.number) }
        }
        self.options = options
        let least = min(options.limit ?? Self.moment, Self.moment)
        chains = judge.chains(about: about, processes).filter { $0.age.map { $0 >= least } ?? true }.map(judge.words)
        let streams = meant.filter {
            $0.transport.isStream && !$0.isListening && $0.peer != nil && $0.state != .timeWait
        }
        connections = Set(streams.map { judge.scene.ends(of: $0)[0].id }).count
        oldest = judge.oldestQuestion(on: streams)
        let isTold = options.tellsAll || chains.isEmpty && !found.contains { $0.severity > .note }
        let most = options.tellsAll ? Int.max : connections <= Self.mostStories ? Self.mostStories : 0
        stories = isTold ? Self.stories(meant, judge, most) : []
    }

    /// Whether a question has waited for longer than allowed.
    package var isLate: Bool {
        guard let limit = options.limit else { return false }
        return chains.contains { $0.age.map { $0 > limit } ?? false }
    }

    /// Describes connections first, both ends together. Those in TIME-WAIT are counted, because a busy server has
    /// hundreds.
    private static func stories(_ meant: [HostSocket], _ judge: HostJudge, _ most: Int) -> [String] {
        let connections = meant.filter { $0.transport.isStream && !$0.isListening && $0.peer != nil }
        let closed = connections.filter { $0.state == .timeWait }
        var open = closed.count > 1 ? connections.filter { $0.state != .timeWait } : connections
        let left = halfClosed(open, judge)
        if left.count > 1 {
            let told = Set(left.flatMap { judge.scene.ends(of: $0).map(\.id) })
            open.removeAll { told.contains($0.id) }
        }
        var lines = stories(open, "connection", judge, most)
        if left.count > 1, let oldest = left.compactMap(\.tcp?.lastAcknowledged).max() {
            lines.append(
                "\(left.count) connections were closed by one end, the first \(Format.duration(oldest)) ago, but not yet by "
                    + "\(holders(left, judge)) (CLOSE-WAIT).")
        }
        lines += stories(meant.filter(\.isListening), "listener", judge, most)
        if closed.count > 1, most > 0 {
            lines.append("\(closed.count) connections are closed and in TIME-WAIT.")
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

    private static func stories(
        _ sockets: [HostSocket], _ what: String, _ judge: HostJudge, _ most: Int
    ) -> [String] {
        guard most > 0 else { return [] }
        var told: Set<UInt64> = []
        var stories: [String] = []
        for socket in sockets where !told.contains(socket.id) {
            let ends = judge.scene.ends(of: socket)
            told.formUnion(ends.map(\.id))
            guard let story = judge.story(of: socket.id) else { continue }
            stories.append("\(HostScene.safe(ends[0].place))\(judge.scene.namespaceSuffix(of: ends[0])): \(story)")
        }
        guard stories.count > most else { return stories }
        return stories.prefix(most) + ["and \(stories.count - most) more \(what)s"]
    }

    /// The paragraph, line by line.
    package var lines: [String] {
        // The chains are told whole, instead of by the verdicts about them.
        let others = found.filter { !Self.chained.contains($0.lint) }
        let paragraphs = chains.prefix(Self.mostChains).map(\.paragraph) + others.map(HostParagraph.lines)
        var lines = paragraphs.reduce([]) { $0.isEmpty ? $1 : $0 + [""] + $1 }
        if chains.count > Self.mostChains {
            lines += ["", "and \(chains.count - Self.mostChains) more wait chains"]
        }
        if lines.isEmpty { lines = [healthy] }
        if !stories.isEmpty { lines += [""] + stories }
        if processes.closed > 0 {
            let count = "\(processes.closed) of these \(processes.meant) processes"
            lines.append("Not visible: the sockets of \(count) (other users; use sudo).")
        }
        if hidden.calls > 0, let reason = hidden.reason {
            lines.append(
                "Not visible: what \(Format.count(hidden.calls, "program")) waits for (\(HostScene.safe(reason))).")
        }
        return lines
    }

    private static let chained: Set<String> = [Lint.waitChain.name, Lint.mutualWait.name]

    /// `Nothing is wrong with nginx[812]: 50 connections, the oldest request has waited less than 20ms.`
    private var healthy: String {
        let isPartial = processes.closed > 0 || hidden.calls > 0
        let nothing = "Nothing \(isPartial ? "visible " : "")is wrong with \(who)"
        guard connections > 0 else { return "\(nothing): \(Format.count(sockets.count, "socket"))." }
        let request = oldest.map { age in
            let least = WaitQuestion.tick
            let time = age < least ? "less than \(Format.duration(least))" : Format.duration(age)
            return "the oldest request has waited \(time)"
        }
        return "\(nothing): \(Format.count(connections, "connection")), \(request ?? "no request is waiting")."
    }

    /// The answer as JSON, for programs.
    package func json(_ naming: CommandNaming) -> JSON {
        Self.json(
            sockets.count, found.map { .object($0.hostMembers(naming)) }, stories, chains: chains.map(\.json),
            problem: nil)
    }

    /// The object in place of an answer: why there is none.
    package static func json(problem: String) -> JSON { json(0, [], [], chains: [], problem: problem) }

    private static func json(
        _ sockets: Int, _ verdicts: [JSON], _ stories: [String], chains: [JSON], problem: String?
    ) -> JSON {
        [
            "type": "why", "sockets": JSON(sockets), "verdicts": .array(verdicts),
            "stories": .array(stories.map { .string($0) }), "chains": .array(chains), "problem": JSON(problem),
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
