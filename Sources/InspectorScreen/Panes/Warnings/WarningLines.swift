import InspectorCore
import SocketCore

/// The warnings as wrapped rows: the worst first, and within a severity those about the selected connection.
package struct WarningLines: Equatable, Sendable {
    /// The most warnings listed. Others are only counted.
    static let most = 8
    /// The indent of the sentence.
    private static let indent = 8

    package private(set) var lines: [Line] = []
    /// The index of each line's warning.
    private var owners: [Int] = []

    init(_ shared: Shared, selected: SocketID?, width: Int) {
        for (index, finding) in shared.findings.first(Self.most, selected: selected).enumerated() {
            let wrapped = Self.wrapped(finding, shared, width: width - 1)
            lines += wrapped
            owners += Array(repeating: index, count: wrapped.count)
        }
    }

    /// Returns the number of warnings that fit completely in the first `rows` lines.
    package func count(in rows: Int) -> Int {
        guard rows < owners.count else { return (owners.last ?? -1) + 1 }
        return owners[max(0, rows)]
    }

    private static func wrapped(_ finding: Verdict, _ shared: Shared, width: Int) -> [Line] {
        var first = finding.severity.mark
        first.append(Format.padded(finding.socket?.description ?? "all", to: 4) + " ", Style(.heading))
        var words: [Line] = []
        let more = finding.more > 0 ? "; the same on \(finding.more) more" : ""
        for word in (finding.sentence + more).split(separator: " ") {
            var line = Line()
            shared.sanitizer.append(String(word), to: &line)
            words.append(line)
        }
        words.append(Line("(\(finding.lint))", Style(.dim)))
        first.pad(to: indent)
        let indent = first.width
        var lines = Wrapping.rows(words, separator: " ", indent: indent, width: width)
        first.append(lines[0].columns(indent..<lines[0].width))
        lines[0] = first
        return lines
    }
}
