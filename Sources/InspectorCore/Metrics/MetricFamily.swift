import SocketCore
import SocketRecords

/// The metrics that `socktui host --metrics` tells Prometheus about. docs/metrics.md prints these rows.
package enum MetricFamily: CaseIterable, Sendable {
    case buildInfo, lookTimestamp, looks, lookTime, sockets, unread, unsent, unreadOldest, waiting, waitingLimit
    case verdicts, verdictAge, overflows, hidden

    package enum Kind: String, Sendable { case counter, gauge }

    package struct Row: Sendable {
        let name: String
        package let kind: Kind
        /// The names of its labels, in the order of their values in a sample.
        package let labels: [String]
        package let help: String
        /// The fact in JSON whose values it sums up, or the largest of which it is.
        let fact: String?
    }

    package var row: Row { Self.rows[self] ?? table }
    package var name: String { "socktui_" + row.name }

    private static let rows = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.table) })
    private static let program = ["program"]
    private static let listener = ["program", "listen"]
    private static let problem = ["lint", "severity", "program", "fault"]

    private var table: Row {
        switch self {
        case .buildInfo: Row("build_info", "The version of socktui; the value is always 1.", by: ["version"])
        case .lookTimestamp: Row("look_timestamp_seconds", "When the sockets were last scanned, in Unix time.")
        case .looks: Row("looks_total", "Scans of the sockets since socktui started.", .counter)
        case .lookTime: Row("look_cpu_seconds_total", "CPU time of these scans.", .counter)
        case .sockets:
            Row(
                "sockets", "Sockets by program, transport and state, as host --json names them.",
                by: ["program", "transport", "state"])
        case .unread: Row(sum: "unread_bytes", by: Self.program)
        case .unsent: Row(sum: "unsent_bytes", by: Self.program)
        case .unreadOldest:
            Row(
                "unread_oldest_seconds",
                "How long the oldest unread bytes of a program have been unread, at least.", by: Self.program)
        case .waiting: Row(sum: "waiting", as: "accept_queue_connections", by: Self.listener)
        case .waitingLimit: Row(sum: "waiting_limit", as: "accept_queue_limit_connections", by: Self.listener)
        case .verdicts:
            Row(
                "verdicts", "Sockets with a current problem, by affected program and by the end at fault.",
                by: Self.problem)
        case .verdictAge: Row(largest: "for_seconds", as: "verdict_seconds", by: Self.problem)
        case .overflows:
            Row(
                "listen_overflows_total",
                "Connections that the kernel dropped since boot because a listener's queue was full.", .counter)
        case .hidden:
            Row(
                "hidden",
                "What could not be examined: processes, calls, sockets without a visible owner, namespaces.",
                by: ["what"])
        }
    }

    /// Whether it has a sample for each listener, not for each program.
    var isOfListeners: Bool { row.labels == Self.listener }
}

extension MetricFamily.Row {
    fileprivate init(_ name: String, _ help: String, by labels: [String] = [], _ kind: MetricFamily.Kind = .gauge) {
        (self.name, self.kind, self.labels, self.help, fact) = (name, kind, labels, help, nil)
    }

    /// The sum of a fact of the host's sockets. The fact's row has its meaning, and its name unless `name` is given.
    fileprivate init(sum fact: String, as name: String? = nil, by labels: [String]) {
        self.init("Sum of", FactTeller(HostSnapshot.blank), fact, "host --json", name, labels)
    }

    /// The largest value of a fact of problems.
    fileprivate init(largest fact: String, as name: String, by labels: [String]) {
        self.init("Largest", FactTeller.verdict(nil, remedy: nil), fact, "host --check --json", name, labels)
    }

    private init(
        _ figure: String, _ facts: FactTeller, _ fact: String, _ command: String, _ name: String?, _ labels: [String]
    ) {
        guard let row = facts.facts.first(where: { $0.name == fact }) else {
            preconditionFailure("\(command) has no \(fact)")
        }
        let meaning = row.text.prefix { $0 != ";" }
        (self.name, kind, self.labels, self.fact) = (name ?? fact, .gauge, labels, fact)
        help = "\(figure) \(fact) of \(command): \(meaning)."
    }
}
