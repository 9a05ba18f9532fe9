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
            let (name, row) = (family.name, family.row)
            text += "# HELP \(name) \(row.help)\n# TYPE \(name) \(row.kind.rawValue)\n"
            for (labels, value) in samples.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                text += name + Self.text(row.labels, labels) + " \(Self.text(value))\n"
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
