/// The last things that an engine did, within a time and a number of bytes, from which a recording can be made that is
/// complete by itself.
package struct RecordedMemory: Sendable {
    /// What is known of a session whose beginning is not kept.
    private struct Session: Sendable {
        var facts: RecordedSession
        /// Secrets that open what is kept of it.
        var secrets: [RecordedEntry] = []
    }

    private let span: Duration
    private let limit: Int
    /// What is kept, from `head` on.
    private var kept: [RecordedEntry] = []
    private var head = 0
    /// Sessions that were there before the first entry that is kept.
    private var earlier: [SocketID: Session] = [:]
    /// The last state before the first entry that is kept.
    private var base: RecordedEntry?
    /// About the memory that it takes.
    package private(set) var weight = 0

    /// Keeps what is not older than `span` and does not take more than about `limit` bytes in all.
    package init(span: Duration, limit: Int) {
        self.span = max(.zero, span)
        self.limit = max(0, limit)
    }

    /// The entries that are kept, oldest first.
    package var entries: ArraySlice<RecordedEntry> { kept[head...] }

    /// How far back it reaches; `nil`: nothing is kept.
    package var earliest: MonotonicTime? { entries.first?.time }

    /// Adds what happened last, and drops what is too old or too much.
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
            // The latest state is kept however large it is.
            return
        case .session(let facts, _): earlier[id] = Session(facts: facts)
        case .secrets:
            earlier[id]?.secrets.append(entry)
            // As long as the session it is kept, so its weight stays.
            if earlier[id] != nil { return }
        case .closed:
            weight -= earlier[id]?.secrets.reduce(0) { $0 + $1.held } ?? 0
            earlier[id] = nil
        case .bytes, .datagram, .dropped, .ended, .packet, .counts: break
        }
        weight -= entry.held
    }

    /// All that a recording of it consists of, in order: the state before, the sessions that were there, and what is kept.
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
