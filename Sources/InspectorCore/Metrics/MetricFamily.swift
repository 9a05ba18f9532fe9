import SocketCore

/// The metrics that `socktui host --metrics` tells Prometheus about. docs/metrics.md prints these rows.
package enum MetricFamily: String, CaseIterable, Sendable {
    case buildInfo = "socktui_build_info"
    case lookTimestamp = "socktui_look_timestamp_seconds"
    case looks = "socktui_looks_total"
    case lookTime = "socktui_look_cpu_seconds_total"
    case sockets = "socktui_sockets"
    case unread = "socktui_unread_bytes"
    case unsent = "socktui_unsent_bytes"
    case unreadOldest = "socktui_unread_oldest_seconds"
    case waiting = "socktui_accept_queue_connections"
    case waitingLimit = "socktui_accept_queue_limit_connections"
    case verdicts = "socktui_verdicts"
    case verdictAge = "socktui_verdict_seconds"
    case overflows = "socktui_listen_overflows_total"
    case hidden = "socktui_hidden"

    package enum Kind: String, Sendable { case counter, gauge }

    package var kind: Kind {
        switch self {
        case .looks, .lookTime, .overflows: .counter
        default: .gauge
        }
    }

    /// The names of its labels, in the order of their values in a sample.
    package var labels: [String] {
        switch self {
        case .buildInfo: ["version"]
        case .sockets: ["program", "transport", "state"]
        case .unread, .unsent, .unreadOldest: ["program"]
        case .waiting, .waitingLimit: ["program", "listen"]
        case .verdicts, .verdictAge: ["lint", "severity", "program", "fault"]
        case .hidden: ["what"]
        case .lookTimestamp, .looks, .lookTime, .overflows: []
        }
    }

    package var help: String {
        switch self {
        case .buildInfo: "The version of socktui; the value is always 1."
        case .lookTimestamp: "When the sockets were looked at last, in Unix time."
        case .looks: "Looks at the sockets since socktui started."
        case .lookTime: "Processor time of these looks."
        case .sockets: "Sockets by program, transport and state, as host --json names them."
        case .unread: "Bytes that programs have not read."
        case .unsent: "Bytes that peers have not acknowledged."
        case .unreadOldest: "How long the oldest unread bytes of a program have been left alone, at least."
        case .waiting: "Connections that wait to be accepted."
        case .waitingLimit: "The number of connections that may wait to be accepted."
        case .verdicts: "Sockets with a problem that holds now, by affected program and by the end at fault."
        case .verdictAge: "How long the oldest of these problems has lasted, at least."
        case .overflows: "Connections that the kernel dropped since boot because a listener's queue was full."
        case .hidden: "What could not be looked at: processes, calls, sockets without a visible owner, namespaces."
        }
    }
}

/// Samples in the text format of Prometheus, version 0.0.4: families in the order of their table, samples sorted by
/// their labels, without times.
package struct MetricsText: Sendable {
    private var samples: [MetricFamily: [[String]: Double]] = [:]

    package init() {}

    package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// Adds to the sample with these labels.
    mutating func add(_ value: Double, to family: MetricFamily, _ labels: String...) {
        samples[family, default: [:]][labels, default: 0] += value
    }

    /// Raises the sample with these labels to a value.
    mutating func raise(to value: Double, _ family: MetricFamily, _ labels: String...) {
        samples[family, default: [:]][labels] = max(value, samples[family]?[labels] ?? 0)
    }

    /// The number of samples.
    package var count: Int { samples.values.reduce(0) { $0 + $1.count } }

    package var text: String {
        var text = ""
        for family in MetricFamily.allCases {
            guard let samples = samples[family] else { continue }
            text += "# HELP \(family.rawValue) \(family.help)\n# TYPE \(family.rawValue) \(family.kind.rawValue)\n"
            for (labels, value) in samples.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                text += family.rawValue + Self.text(family.labels, labels) + " \(Self.text(value))\n"
            }
        }
        return text
    }

    private static func text(_ names: [String], _ values: [String]) -> String {
        guard !names.isEmpty else { return "" }
        return "{" + zip(names, values).map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",") + "}"
    }

    /// Escapes what the format escapes in the value of a label.
    static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func text(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }
}
