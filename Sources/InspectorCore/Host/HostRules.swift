import SocketCore

/// Judges one moment by those rows of the lint table that can be judged from outside a program.
struct HostRules {
    let facts: HostFacts
    let settings: LintSettings
    private(set) var found: [HostVerdict] = []
    /// Sockets with stalled bytes that may become a verdict if they are watched for longer.
    var undecided: Set<UInt64> = []
    /// Readers already reported by a rule about writers.
    var handled: Set<UInt64> = []
    /// Processes that wait for each other.
    var ringed: Set<Int32> = []

    init(_ facts: HostFacts, _ settings: LintSettings) {
        (self.facts, self.settings) = (facts, settings)
        notable = facts.scene.sockets(facts.scene.notable)
    }

    var scene: HostScene { facts.scene }
    /// All sockets of the host.
    var sockets: [HostSocket] { facts.scene.look.sockets }
    /// The sockets that are not quiet, in the order of their identities.
    let notable: [HostSocket]

    /// Returns the minimum duration of a lint.
    func time(_ lint: String) -> Duration { Lint.named(lint).map(settings.time) ?? .zero }

    mutating func tell(_ verdict: HostVerdict) {
        guard let lint = Lint.named(verdict.lint), settings.shows(lint) else { return }
        var verdict = verdict
        verdict.subject =
            verdict.subject
            ?? verdict.processes.first.flatMap { process in
                scene.look.processes[process.number].map { HostScene.safe($0.title) }
            }
        verdict.verdict.sentence = verdict.sentence
        found.append(verdict)
    }

    /// - Parameter resets: the verdicts found when sockets closed.
    mutating func judge(_ resets: [HostVerdict]) -> [HostVerdict] {
        resets.forEach { tell($0) }
        let edges = HostEdges(facts)
        judgeBlocking(edges)
        judgeUnread()
        judgeListeners()
        judgeClosing()
        judgeInherited()
        judgeKernel()
        judgeSlowReaders()
        return HostVerdict.grouped(found)
    }

    // MARK: Shared words

    /// `api.py[4711]`
    func title(_ asking: HostAsking?, _ socket: HostSocket) -> String { scene.title(asking, of: socket) }

    /// Returns `4.1M`, or `-` if the amount is not known.
    static func size(_ amount: Int64?) -> String { amount.map { Format.size(Int(clamping: $0)) } ?? "-" }

    /// Returns the command that shows more about a program that does not read.
    func next(_ asking: HostAsking) -> String? {
        guard let process = asking.process.flatMap({ scene.look.processes[$0.number] }) else { return nil }
        if process.threads.contains(where: \.isStopped), !process.threads.contains(where: \.isTraced) {
            return "kill -CONT \(process.id.number)"
        }
        return process.stackCommand(thread: asking.thread)
    }

    /// Returns the program that has it open, regardless of what it requests.
    func owner(_ socket: HostSocket) -> HostAsking {
        facts.steady(socket) ?? facts.asker.asking(for: socket)
    }
}
