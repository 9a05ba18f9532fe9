import SocketCore

/// One look at the host's sockets as metrics. Its numbers come from the rows that `host --json` prints of such a look.
package struct HostMetrics {
    /// The most programs and listeners that have samples of their own. The samples of other programs are one program's,
    /// called `other`; other listeners have none.
    static let mostPrograms = 200
    static let mostListeners = 50
    /// The most samples of programs with samples of their own: what bounds the series if each has many states.
    static let mostSamples = 350
    /// The longest name of a program, in bytes.
    static let longestName = 64
    private static let unknown = "unknown"
    private static let other = "other"

    private var metrics = MetricsText()
    private let look: HostLook
    private let sockets: [(host: HostSnapshot, local: String?, program: String, figures: [FactFigures.Figure])]
    private var named: Set<String> = []

    /// Returns the metrics of one look.
    /// - Parameter snapshot: the rows of that look.
    /// - Parameter judge: the judge that has absorbed it. `found` holds its verdicts.
    /// - Parameter processorTime: what all its looks have taken.
    package static func metrics(
        of snapshot: EngineSnapshot, _ look: HostLook, by judge: HostJudge, _ found: [Verdict],
        processorTime: Duration, version: String
    ) -> MetricsText {
        var metrics = HostMetrics(snapshot, look)
        metrics.choosePrograms(found)
        metrics.metrics.add(1, to: .buildInfo, version)
        metrics.metrics.add(Double(snapshot.wallNanoseconds / 1_000_000) / 1_000, to: .lookTimestamp)
        metrics.metrics.add(Double(judge.looks), to: .looks)
        metrics.metrics.add(processorTime.inSeconds, to: .lookTime)
        metrics.addSockets(judge)
        metrics.addListeners()
        for verdict in found { metrics.add(verdict) }
        metrics.addHidden()
        return metrics.metrics
    }

    private init(_ snapshot: EngineSnapshot, _ look: HostLook) {
        self.look = look
        var facts = FactFigures()
        sockets = snapshot.sockets.compactMap { row in
            guard row.closed == nil, let host = row.host else { return nil }
            let program = host.program.map(Self.name) ?? Self.unknown
            return (host, row.local.map { "\($0)" }, program, facts.figures(of: host))
        }
    }

    /// Returns a program's title without its process number, sanitized and cut. A label without a value would be none.
    package static func name(_ title: String) -> String {
        var name = HostScene.safe(title)
        if name.hasSuffix("]"), let start = name.lastIndex(of: "[") { name = String(name[..<start]) }
        // By scalars, because one character can have any number of marks.
        while name.utf8.count > longestName { name.unicodeScalars.removeLast() }
        return name.isEmpty ? unknown : name
    }

    private func program(_ verdict: Verdict) -> String {
        verdict.processes.first.flatMap { look.processes[$0.number] }.map { Self.name($0.title) } ?? Self.unknown
    }

    /// Chooses the programs with samples of their own: those that verdicts are about, then those with the most sockets.
    private mutating func choosePrograms(_ found: [Verdict]) {
        var samples: [String: Set<[String]>] = [:], counts: [String: Int] = [:]
        for (host, _, program, figures) in sockets {
            counts[program, default: 0] += 1
            samples[program, default: []].insert([host.transport.rawValue, host.state.word])
            for (family, value) in figures where value > 0 && !family.isOfListeners {
                samples[program, default: []].insert([family.name])
                if family == .unread { samples[program, default: []].insert([MetricFamily.unreadOldest.name]) }
            }
        }
        let blamed = Dictionary(grouping: found) { program($0) }
        for (program, verdicts) in blamed {
            let labels = verdicts.flatMap { [[$0.lint, $0.severity.name], [$0.lint, $0.severity.name, "for"]] }
            samples[program, default: []].formUnion(labels)
        }
        let ranked = samples.keys.sorted {
            let (left, right) = (counts[$0] ?? 0, counts[$1] ?? 0)
            if (blamed[$0] != nil) != (blamed[$1] != nil) { return blamed[$0] != nil }
            return left == right ? $0 < $1 : left > right
        }
        var left = Self.mostSamples
        for program in ranked.prefix(Self.mostPrograms) {
            left -= samples[program]?.count ?? 0
            if left < 0 { break }
            named.insert(program)
        }
    }

    private func label(_ program: String) -> String { named.contains(program) ? program : Self.other }

    private mutating func addSockets(_ judge: HostJudge) {
        for (host, _, program, figures) in sockets {
            let program = label(program)
            metrics.add(1, to: .sockets, program, host.transport.rawValue, host.state.word)
            for (family, value) in figures where value > 0 && !family.isOfListeners {
                metrics.add(value, to: family, program)
            }
            if host.unread ?? 0 > 0, let age = judge.unread(for: host.key) {
                metrics.raise(to: age.inSeconds, .unreadOldest, program)
            }
        }
    }

    /// Adds the listeners with the most waiting connections. Those of one program on one address are one.
    private mutating func addListeners() {
        let listening = sockets.filter { $0.host.waiting != nil && $0.local != nil }
        let ranked = listening.sorted {
            ($1.host.waiting ?? 0, $0.local ?? "") < ($0.host.waiting ?? 0, $1.local ?? "")
        }
        for (_, local, program, figures) in ranked.prefix(Self.mostListeners) {
            let listen = local.map { HostScene.safe($0) } ?? ""
            for (family, value) in figures where family.isOfListeners {
                metrics.add(value, to: family, label(program), listen)
            }
        }
    }

    /// Whether the peer is at fault and not on this host: an address is then the subject.
    private func isFar(_ verdict: Verdict) -> Bool {
        let peer = verdict.sockets.first.flatMap(look.socket)?.peer
        return peer != nil && verdict.subject == peer.map { "\($0)" }
    }

    private mutating func add(_ verdict: Verdict) {
        let (program, fault) = (label(program(verdict)), isFar(verdict) ? "far" : "here")
        let severity = verdict.severity.name
        metrics.add(Double(verdict.count + verdict.more), to: .verdicts, verdict.lint, severity, program, fault)
        let age = FactTeller.verdict(verdict, remedy: nil).facts.first { $0.name == MetricFamily.verdictAge.row.fact }
        metrics.raise(to: age?.value.figure ?? 0, .verdictAge, verdict.lint, severity, program, fault)
    }

    private mutating func addHidden() {
        if let overflows = look.listenOverflows { metrics.add(Double(overflows), to: .overflows) }
        let hidden = look.hidden
        for (count, what) in [
            (hidden.processes, "processes"), (hidden.calls, "calls"), (hidden.sockets, "sockets"),
            (hidden.namespaces, "namespaces"),
        ] { metrics.add(Double(count), to: .hidden, what) }
    }
}
