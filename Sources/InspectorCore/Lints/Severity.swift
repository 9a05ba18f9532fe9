/// How much a finding matters.
package enum Severity: Int, Hashable, Sendable, Comparable, CaseIterable {
    /// Worth knowing; nothing may be wrong.
    case note
    /// Something is probably wrong.
    case warning
    /// Nothing goes on until somebody steps in.
    case critical

    /// As JSON has it.
    package var name: String { "\(self)" }

    package static func < (left: Severity, right: Severity) -> Bool { left.rawValue < right.rawValue }
}

/// What a finding rests on.
package enum Evidence: String, Hashable, Sendable, CaseIterable {
    /// An engine carries the connection, and tells what its queues do.
    case engine
    /// The system calls of the program's threads, with their arguments.
    case arguments
    /// No thread of the program has run for as long as the bytes have been there, so none of them waits for these.
    case idle
    /// The kind of wait that the program's threads are in.
    case wchan
    /// The kernel's queues alone.
    case queues
}
