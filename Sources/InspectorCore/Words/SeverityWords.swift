import SocketCore

extension Severity {
    /// The mark before a finding: ` ! `, ` !!`, or ` - ` for a note.
    package var mark: Line {
        switch self {
        case .note: Line(" - ", Style(.dim))
        case .warning: Line(" ! ", Style(.warn, [.bold]))
        case .critical: Line(" !!", Style(.bad, [.bold]))
        }
    }
}
