import SocketCore

extension Model {
    /// Number of the entry behind the last one that is shown.
    package var eventsEnd: Int {
        guard let frozen else { return log.end }
        var end = log.end
        while end > log.first, let entry = log[end - 1], entry.sequence >= frozen.nextEvent { end -= 1 }
        return end
    }

    /// Numbers of the entries that are shown: those the filter lets through, and every gap.
    package var shownEvents: ShownEvents {
        ShownEvents(first: log.first, end: eventsEnd, matching: events.matching)
    }

    /// Adds what has come to what the filter lets through.
    mutating func matchNewEvents(from number: Int) {
        guard var matching = events.matching else { return }
        matching += (max(number, log.first)..<log.end).filter(matchesFilter)
        if let first = matching.first, first < log.first { matching.removeAll { $0 < log.first } }
        events.matching = matching
    }

    private func matchesFilter(_ number: Int) -> Bool {
        switch log[number] {
        case .event(let event):
            events.filter.matches(
                event, words: searchText(event), of: socket(of: event), findings)
        case .note(let text, _, _): events.filter.matches(words: text)
        case .lost: true
        case nil: false
        }
    }

    /// The session of an event, listed or not, as far as it is remembered.
    package func socket(of event: SocketEvent) -> SocketSnapshot? {
        shown?.socket(event.socket) ?? vanished[event.socket]
    }

    /// What filter and search look at.
    private func searchText(_ event: SocketEvent) -> String {
        "\(event.socket) \(EventCatalogue[event.kind].label) t\(event.tag) "
            + EventWords.detail(event, of: socket(of: event), answer: answerKey)
    }

    mutating func setEventFilter(_ filter: Filter) {
        events.filter = filter
        filterRuns += 1
        events.matching = filter.isEmpty ? nil : []
        matchNewEvents(from: log.first)
        events.cursor = nil
    }

    mutating func moveEventCursor(_ step: Int) {
        let shown = shownEvents
        guard shown.count > 0 else { return }
        if events.cursor == nil && step > 0 { return }
        let index = events.cursor.map(shown.index) ?? shown.count - 1
        let target = min(max(0, index + step), shown.count - 1)
        events.cursor = step > 0 && target == shown.count - 1 ? nil : shown[target]
    }

    mutating func followEvents() {
        let shown = shownEvents
        events.cursor = events.cursor == nil && shown.count > 0 ? shown[shown.count - 1] : nil
    }

    /// Goes to the next entry that holds what is searched, and around the end.
    mutating func searchEvents(_ step: Int) {
        let shown = shownEvents
        guard !events.search.isEmpty, shown.count > 0 else {
            notice = hint(naming("nothing is searched: {search} begins"))
            return
        }
        let wanted = events.search.lowercased()
        let begin = events.cursor.map(shown.index) ?? shown.count - 1
        for offset in 1...shown.count {
            let index = ((begin + offset * step) % shown.count + shown.count) % shown.count
            guard case .event(let event) = log[shown[index]] else { continue }
            if searchText(event).lowercased().contains(wanted) {
                events.cursor = shown[index]
                return
            }
        }
        notice = error("not found: \(events.search)")
    }

    /// Whether an event is one that is searched.
    package func isMatch(_ event: SocketEvent) -> Bool {
        !events.search.isEmpty && searchText(event).lowercased().contains(events.search.lowercased())
    }

    /// Goes to the talk of the connection that the event at the cursor is about.
    mutating func jumpToEvent() {
        let shown = shownEvents
        guard shown.count > 0 else { return }
        let number = events.cursor ?? shown[shown.count - 1]
        guard case .event(let event) = log[number] else { return }
        guard self.shown?.socket(event.socket) != nil else {
            notice = hint("\(event.socket) is no longer listed")
            return
        }
        select(event.socket)
        showTalk(composing: false)
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

/// The entries that are shown, by their numbers, without a copy of them where nothing is filtered.
package struct ShownEvents {
    private let first: Int
    private let matching: [Int]?
    package let count: Int

    init(first: Int, end: Int, matching: [Int]?) {
        self.first = first
        self.matching = matching
        if let matching {
            count = Self.lowerBound(matching, end)
        } else {
            count = max(0, end - first)
        }
    }

    /// Number of the entry in this row.
    package subscript(row: Int) -> Int { matching.map { $0[row] } ?? first + row }

    /// The row of an entry, or of the next one that is shown.
    package func index(_ number: Int) -> Int {
        let row = matching.map { Self.lowerBound($0, number) } ?? number - first
        return min(max(0, row), max(0, count - 1))
    }

    private static func lowerBound(_ numbers: [Int], _ wanted: Int) -> Int {
        var low = 0
        var high = numbers.count
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
