import InspectorCore
import SocketCore

/// The warnings as shown, measured once for everything that needs the layout.
package struct WarningsState: Sendable {
    private struct Subject: Equatable {
        var findings: [Verdict]
        var others: [Verdict]
        var selected: SocketID?
        var width: Int
    }

    private var subject: Subject?
    private var measured: WarningLines?
    private var height: Int?

    /// Returns the rows at a width: the measured ones, if they have that width.
    package func lines(_ shared: Shared, selected: SocketID?, width: Int) -> WarningLines {
        if let measured, let subject, subject.width == width, subject.selected == selected { return measured }
        return WarningLines(shared, selected: selected, width: width)
    }

    /// Returns the number of rows. It is independent of the cursor, because moving the cursor must not scroll the list
    /// above.
    package func height(_ shared: Shared, width: Int) -> Int {
        if let height, subject?.width == width { return height }
        return WarningLines(shared, selected: nil, width: width).lines.count
    }

    /// Measures the warnings again if their contents have changed.
    mutating func measure(_ shared: Shared, selected: SocketID?, width: Int) {
        let findings = shared.findings.first(WarningLines.most, selected: selected)
        let others = shared.findings.first(WarningLines.most, selected: nil)
        let subject = Subject(findings: findings, others: others, selected: selected, width: width)
        guard subject != self.subject else { return }
        self.subject = subject
        measured = WarningLines(shared, selected: selected, width: width)
        height = WarningLines(shared, selected: nil, width: width).lines.count
    }
}
