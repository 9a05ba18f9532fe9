import SocketCore

/// The warnings as they are shown, measured once for all that ask for the layout.
package struct WarningsState: Sendable {
    private struct Subject: Hashable {
        var findings: [Finding]
        var others: [Finding]
        var selected: SocketID?
        var width: Int
    }

    private var subject: Subject?
    private var measured: WarningLines?
    private var height: Int?

    /// The rows at a width: those that were measured, if they are of that width.
    package func lines(_ shared: Shared, selected: SocketID?, width: Int) -> WarningLines {
        if let measured, let subject, subject.width == width, subject.selected == selected { return measured }
        return WarningLines(shared, selected: selected, width: width)
    }

    /// How many rows they take, the same wherever the cursor is: the list above them must not scroll because it moves.
    package func height(_ shared: Shared, width: Int) -> Int {
        if let height, subject?.width == width { return height }
        return WarningLines(shared, selected: nil, width: width).lines.count
    }

    /// Measures again if something that they are made of has changed.
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
