import SocketCore

/// The remembered events. Gaps keep their positions.
package struct EventLog: Sendable {
    package enum Entry: Equatable, Sendable {
        case event(SocketEvent)
        /// The number of events overwritten before they were read. `next` is the first event after them.
        case lost(UInt64, next: UInt64)
        /// A line about the program itself. `next` is the first event after it.
        case note(String, MonotonicTime, next: UInt64)
    }

    /// The most entries remembered.
    package static let limit = 20_000
    /// The number of entries dropped at a time, so that dropping costs nothing per event.
    private static let slack = 2_000

    /// The entries, oldest first.
    package private(set) var entries: [Entry] = []
    /// The session of each entry, or `nil` for gaps and notes. Lets a session's entries be found without examining all
    /// entries.
    private var owners: [SocketID?] = []
    /// The number of entries dropped from the front. `first + index` is an entry's permanent number.
    package private(set) var first = 0
    /// The first sequence number not seen yet.
    package private(set) var next: UInt64 = 0
    /// The total number of events lost.
    package private(set) var lost: UInt64 = 0
    /// When events were lost within about the last minute, and how many.
    private var losses: [(time: MonotonicTime, count: UInt64)] = []

    package init() {}

    /// The number after the last entry.
    package var end: Int { first + entries.count }

    /// The entry of this number, or `nil` if it is no longer remembered.
    package subscript(number: Int) -> Entry? {
        entries.indices.contains(number - first) ? entries[number - first] : nil
    }

    /// Returns a session's events, every gap, and the event after each gap, which dates the gap. Oldest first.
    package func entries(about id: SocketID) -> [Entry] {
        var isAfterGap = false
        return owners.indices.compactMap { index in
            defer { isAfterGap = owners[index] == nil }
            return owners[index] == id || owners[index] == nil || isAfterGap ? entries[index] : nil
        }
    }

    /// Adds a snapshot's events, without those seen before, and notes gaps at their positions.
    package mutating func absorb(_ snapshot: EngineSnapshot) {
        for event in snapshot.events where event.sequence >= next {
            noteGap(upTo: event.sequence, snapshot.time)
            append(.event(event), of: event.socket)
            next = event.sequence + 1
        }
        if snapshot.nextEvent > next {
            noteGap(upTo: snapshot.nextEvent, snapshot.time)
            next = snapshot.nextEvent
        }
        dropOldest()
    }

    /// Adds a line about the program itself.
    package mutating func note(_ text: String, at time: MonotonicTime) {
        append(.note(text, time, next: next))
        dropOldest()
    }

    private mutating func dropOldest() {
        guard entries.count > Self.limit + Self.slack else { return }
        first += entries.count - Self.limit
        owners.removeFirst(entries.count - Self.limit)
        entries.removeFirst(entries.count - Self.limit)
    }

    private mutating func append(_ entry: Entry, of owner: SocketID? = nil) {
        entries.append(entry)
        owners.append(owner)
    }

    /// Returns the number of events lost within the minute before an instant.
    package func lostLately(_ now: MonotonicTime) -> UInt64 {
        losses.reduce(0) { now - $1.time < .seconds(60) ? $0.saturatingAdd($1.count) : $0 }
    }

    private mutating func noteGap(upTo sequence: UInt64, _ now: MonotonicTime) {
        guard sequence > next else { return }
        lost.saturate(adding: sequence - next)
        if let last = losses.last, now - last.time < .milliseconds(100) {
            losses[losses.count - 1].count.saturate(adding: sequence - next)
        } else {
            losses.removeAll { now - $0.time >= .seconds(60) }
            losses.append((now, sequence - next))
        }
        append(.lost(sequence - next, next: sequence))
    }
}

extension EventLog.Entry {
    /// The sequence number of the event, or of the last one in a gap.
    var sequence: UInt64 {
        switch self {
        case .event(let event): event.sequence
        case .lost(_, let next), .note(_, _, let next): next == 0 ? 0 : next - 1
        }
    }
}
