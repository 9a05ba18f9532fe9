import SocketCore

/// The warnings as they are shown, measured once for all that ask for the layout.
package struct WarningsState: Sendable {
    private struct Subject: Hashable {
        var findings: [Finding]
        var selected: SocketID?
        var width: Int
    }

    private var subject: Subject?
    private var measured: WarningLines?

    /// The rows at a width: those that were measured, if they are of that width.
    package func lines(_ shared: Shared, selected: SocketID?, width: Int) -> WarningLines {
        if let measured, let subject, subject.width == width, subject.selected == selected { return measured }
        return WarningLines(shared, selected: selected, width: width)
    }

    /// Measures again if something that they are made of has changed.
    mutating func measure(_ shared: Shared, selected: SocketID?, width: Int) {
        let findings = shared.findings.first(WarningLines.most, selected: selected)
        let subject = Subject(findings: findings, selected: selected, width: width)
        guard subject != self.subject else { return }
        self.subject = subject
        measured = WarningLines(shared, selected: selected, width: width)
    }
}
