import SocketCore

/// Judges one moment by those rows of the lint table that can be judged from outside a program. Each row's check adds to
/// `undecided`, and may use what was worked out for another.
struct HostRules {
    let facts: HostFacts
    private let settings: LintSettings
    /// The verdicts found when sockets closed.
    let resets: [Verdict]
    /// The sockets that are not quiet, in the order of their identities.
    let notable: [HostSocket]
    /// Sockets with stalled bytes that may become a verdict if they are watched for longer.
    var undecided: Set<UInt64> = []
    /// Which process waits for which.
    private(set) lazy var edges = HostEdges(facts)
    /// The processes that wait for each other.
    private(set) lazy var ringed = Set(
        edges.rings.filter { lasting($0, time(.deadlock)) != nil }.joined().compactMap(\.writing.process?.number))
    private(set) lazy var stalled = findUnread()
    private(set) lazy var leaks = findLeaks(time(.closeWait))
    /// Who has waited for whom for long.
    private(set) lazy var waits = findWaits(time(.waitChain))
    /// The verdicts on listeners, once they are found.
    var listening: [Found]?

    init(_ facts: HostFacts, _ settings: LintSettings, resets: [Verdict] = []) {
        (self.facts, self.settings, self.resets) = (facts, settings, resets)
        notable = facts.scene.sockets(facts.scene.notable)
    }

    var scene: HostScene { facts.scene }
    /// All sockets of the host.
    var sockets: [HostSocket] { facts.scene.look.sockets }

    /// Returns the minimum duration of a lint.
    func time(_ lint: Lint) -> Duration { settings.time(lint) }

    /// Returns what the rows find, the worst first.
    mutating func judge() -> [Verdict] {
        var found: [Verdict] = []
        for lint in Lint.all where settings.shows(lint) {
            found += lint.host?(&self, settings.time(lint)).map { complete(lint.completing($0)) } ?? []
        }
        return withoutExplained(found).grouped()
    }

    /// Removes the chains of waiting that another verdict explains, and the listeners on which nothing is accepted
    /// because programs wait for each other.
    private func withoutExplained(_ found: [Verdict]) -> [Verdict] {
        let others = Set(found.lazy.filter { $0.lint != Lint.waitChain.name }.flatMap(\.sockets))
        let rings = found.filter { $0.lint == Lint.mutualWait.name }
        return found.filter { verdict in
            switch verdict.lint {
            case Lint.waitChain.name: others.isDisjoint(with: verdict.sockets)
            case Lint.acceptStuck.name:
                !rings.contains {
                    $0.severity >= verdict.severity && $0.sockets.contains(where: verdict.sockets.contains)
                }
            default: true
            }
        }
    }

    private func complete(_ verdict: Verdict) -> Verdict {
        var verdict = acrossHosts(verdict)
        let program = verdict.processes.first.flatMap { scene.look.processes[$0.number] }
        verdict.subject = verdict.subject ?? program.map(scene.title)
        // A chain of waiting says itself how long.
        guard verdict.sentence == verdict.claim else { return verdict }
        let time = verdict.lasting.map { " for at least \(Format.duration($0))" } ?? ""
        verdict.sentence = verdict.claim + time + (verdict.reason.map { ": \($0)" } ?? "")
        return verdict
    }

    /// Notes which hosts a verdict is about. What leads from one to another is no more than a note where only addresses
    /// say that two ends are one connection.
    private func acrossHosts(_ verdict: Verdict) -> Verdict {
        guard !scene.look.machines.isEmpty else { return verdict }
        var verdict = verdict
        let sockets = verdict.sockets.compactMap { scene[$0] }
        let hosts = Set(sockets.map(\.host) + verdict.processes.map { HostOrdinal(ofProcess: $0.number) })
        verdict.machines = hosts.sorted().compactMap { scene.look.machines[$0]?.name }
        guard hosts.count > 1 else { return verdict }
        let pairings = sockets.compactMap { socket in
            scene.peer(of: socket).flatMap { $0.host == socket.host ? nil : scene.pairing(socket, $0) }
        }
        let isCounted = !pairings.isEmpty && pairings.allSatisfy { $0 == .counters }
        verdict.pairing = isCounted ? .counters : .addresses
        if !isCounted { verdict.severity = min(verdict.severity, .note) }
        return verdict
    }

    // MARK: Shared words

    /// `api.py[4711]`
    func title(_ asking: HostAsking?, _ socket: HostSocket) -> String { scene.title(asking, of: socket) }

    /// Returns `4.1M`, or `-` if the amount is not known.
    static func size(_ amount: Int64?) -> String { amount.map { Format.size(Int(clamping: $0)) } ?? "-" }

    /// Returns the command that shows more about a program that does not read.
    func next(_ asking: HostAsking) -> String? {
        guard let process = asking.process.flatMap({ scene.look.processes[$0.number] }) else { return nil }
        let host = HostOrdinal(ofProcess: process.id.number)
        if process.threads.contains(where: \.isStopped), !process.threads.contains(where: \.isTraced) {
            return scene.there("kill -CONT \(HostOrdinal.kernelProcess(process.id.number))", on: host)
        }
        return scene.there(process.stackCommand(thread: asking.thread), on: host)
    }

    /// Returns the program that has it open, regardless of what it requests.
    func owner(_ socket: HostSocket) -> HostAsking {
        facts.steady(socket) ?? facts.asker.asking(for: socket)
    }
}
