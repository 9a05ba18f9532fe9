/// The severity of a finding.
package enum Severity: Int, Equatable, Sendable, Comparable, CaseIterable {
    /// Informative. There may be no problem.
    case note
    /// There is probably a problem.
    case warning
    /// There is no progress until someone intervenes.
    case critical

    /// The name in JSON.
    package var name: String { "\(self)" }

    package static func < (left: Severity, right: Severity) -> Bool { left.rawValue < right.rawValue }
}

/// The evidence for a finding.
package enum Evidence: String, Equatable, Sendable, CaseIterable {
    /// An engine owns the connection, and reports its queues.
    case engine
    /// The system calls of the program's threads, with their arguments.
    case arguments
    /// No thread of the program has run since the bytes arrived, so none of them waits for these.
    case idle
    /// The kind of wait that the program's threads are in.
    case wchan
    /// The kernel's queues alone.
    case queues
}
