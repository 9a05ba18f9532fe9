/// The exit statuses of this program. `run` takes over its program's status instead, and a signal ends the process.
package enum ExitStatus: Int32, CaseIterable, Sendable {
    case success = 0
    /// Something failed, is wrong, or is missing from what was asked for.
    case failure = 1
    /// The command line, or a file that it names, is not one that this program understands. Nothing was opened.
    case usage = 2
    /// The host could not be inspected, or only in part where all of it was asked for.
    case hidden = 3
    /// What was named is not there.
    case nothing = 4
}
