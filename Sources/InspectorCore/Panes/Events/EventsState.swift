import SocketCore

/// The events pane: which events it lists, and where its cursor is.
package struct EventsState: Hashable, Sendable {
    package private(set) var filter = Filter()
    /// The numbers of the entries that pass the filter, or `nil` if all do.
    package private(set) var matching: [Int]?
    /// The number of the entry with the cursor, or `nil` while it follows what comes in.
    package private(set) var cursor: Int?
    /// The text that is looked for.
    package internal(set) var search = ""
    /// How often all events were matched with a filter that was set.
    package private(set) var filterRuns = 0

    /// The entries that are listed: those that pass the filter, and every gap.
    package func shown(in shared: Shared) -> ShownEvents {
        ShownEvents(first: shared.log.first, end: shared.eventsEnd, matching: matching)
    }

    /// Lists only what passes a filter, and follows again.
    mutating func set(_ filter: Filter, in shared: Shared) {
        self.filter = filter
        filterRuns += 1
        matching = filter.isEmpty ? nil : []
        add(from: shared.log.first, in: shared)
        cursor = nil
    }

    /// Follows again: the entries so far are no more.
    mutating func startOver(in shared: Shared) {
        matching = matching == nil ? nil : []
        cursor = nil
    }

    /// Takes in the entries from a number on.
    mutating func add(from number: Int, in shared: Shared) {
        guard var matching else { return }
        let log = shared.log
        matching += (max(number, log.first)..<log.end).filter { passes($0, in: shared) }
        if let first = matching.first, first < log.first { matching.removeAll { $0 < log.first } }
        self.matching = matching
    }

    private func passes(_ number: Int, in shared: Shared) -> Bool {
        switch shared.log[number] {
        case .event(let event):
            filter.matches(
                event, words: Self.text(event, in: shared), of: shared.socket(of: event), shared.findings)
        case .note(let text, _, _): filter.matches(words: text)
        case .lost: true
        case nil: false
        }
    }

    /// Moves the cursor. At the last entry it follows.
    mutating func move(_ step: Int, in shared: Shared) {
        let shown = shown(in: shared)
        guard shown.count > 0 else { return }
        if cursor == nil && step > 0 { return }
        let index = cursor.map(shown.index) ?? shown.count - 1
        let target = min(max(0, index + step), shown.count - 1)
        cursor = step > 0 && target == shown.count - 1 ? nil : shown[target]
    }

    mutating func toggleFollow(in shared: Shared) {
        let shown = shown(in: shared)
        cursor = cursor == nil && shown.count > 0 ? shown[shown.count - 1] : nil
    }

    /// Goes to the next entry with the text that is looked for, and around the end. Returns what there is to say.
    mutating func find(_ step: Int, in shared: Shared) -> Model.Notice? {
        let shown = shown(in: shared)
        guard !search.isEmpty, shown.count > 0 else {
            return .hint(shared.options.keys.naming("nothing is searched: {search} begins", in: .events))
        }
        let begin = cursor.map(shown.index) ?? shown.count - 1
        for offset in 1...shown.count {
            let index = ((begin + offset * step) % shown.count + shown.count) % shown.count
            guard case .event(let event) = shared.log[shown[index]], isMatch(event, in: shared) else { continue }
            cursor = shown[index]
            return nil
        }
        return .error("not found: \(search)")
    }

    /// Whether an event has the text that is looked for.
    package func isMatch(_ event: SocketEvent, in shared: Shared) -> Bool {
        !search.isEmpty && Self.text(event, in: shared).lowercased().contains(search.lowercased())
    }

    /// The event at the cursor; while following, the last one. `nil` if there is none.
    func current(in shared: Shared) -> SocketEvent? {
        let shown = shown(in: shared)
        guard shown.count > 0, case .event(let event) = shared.log[cursor ?? shown[shown.count - 1]] else {
            return nil
        }
        return event
    }

    /// What filter and search look at.
    private static func text(_ event: SocketEvent, in shared: Shared) -> String {
        "\(event.socket) \(EventCatalogue[event.kind].label) t\(event.tag) "
            + EventWords.detail(
                event, of: shared.socket(of: event), answer: shared.options.keys.naming("{answer}", in: .events))
    }
}
