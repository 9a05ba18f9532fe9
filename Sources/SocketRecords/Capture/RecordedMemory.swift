import SocketCore

/// The latest entries of an engine, bounded by time and bytes, from which a self-contained recording can be made.
package struct RecordedMemory: Sendable {
    /// A session whose beginning is not kept.
    private struct Session: Sendable {
        var facts: RecordedSession
        /// The secrets that decrypt what is kept of it.
        var secrets: [RecordedEntry] = []
    }

    private let span: Duration
    private let limit: Int
    /// The entries that are kept, from `head` on.
    private var kept: [RecordedEntry] = []
    private var head = 0
    /// The sessions that existed before the first kept entry.
    private var earlier: [SocketID: Session] = [:]
    /// The last snapshot before the first kept entry.
    private var base: RecordedEntry?
    /// The approximate memory that it takes, in bytes.
    package private(set) var weight = 0

    /// Keeps entries that are at most `span` old and take up to about `limit` bytes in all.
    package init(span: Duration, limit: Int) {
        self.span = max(.zero, span)
        self.limit = max(0, limit)
    }

    /// The kept entries, oldest first.
    package var entries: ArraySlice<RecordedEntry> { kept[head...] }

    /// The time of the first kept entry, or `nil` if nothing is kept.
    package var earliest: MonotonicTime? { entries.first?.time }

    /// Adds the latest entry, and drops those that are too old or don't fit.
    package mutating func add(_ entry: RecordedEntry) {
        kept.append(entry)
        weight += entry.held
        while let first = entries.first, weight > limit || entry.time - first.time > span { drop(first) }
        guard head > 1_024, head > kept.count / 2 else { return }
        kept.removeFirst(head)
        head = 0
    }

    private mutating func drop(_ entry: RecordedEntry) {
        let id = entry.socket
        kept[head] = RecordedEntry(id, at: entry.time, .ended(isLocal: false, isPlain: false))
        head += 1
        switch entry.content {
        case .snapshot:
            weight -= base?.held ?? 0
            base = entry
            // The latest snapshot is kept however large it is.
            return
        case .session(let facts, _): earlier[id] = Session(facts: facts)
        case .secrets:
            earlier[id]?.secrets.append(entry)
            // Secrets are kept until their session closes, so their weight stays.
            if earlier[id] != nil { return }
        case .closed:
            weight -= earlier[id]?.secrets.reduce(0) { $0 + $1.held } ?? 0
            earlier[id] = nil
        case .bytes, .datagram, .dropped, .ended, .packet, .counts: break
        }
        weight -= entry.held
    }

    /// All entries of a recording made from it, in order: the sessions that existed before, the snapshot before, and
    /// the kept entries.
    package var recording: [RecordedEntry] {
        let begin = earliest ?? base?.time ?? .zero
        var all: [RecordedEntry] = []
        for (id, session) in earlier.sorted(by: { $0.key < $1.key }) {
            all.append(RecordedEntry(id, at: begin, .session(session.facts, isNew: false)))
            all += session.secrets
        }
        if let base { all.append(base) }
        return all + entries
    }
}
