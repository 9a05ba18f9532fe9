import InspectorCore
import SocketCore

/// The events pane: which events it lists, and where its cursor is.
package struct EventsState: Equatable, Sendable {
    package private(set) var filter = Filter()
    /// The numbers of the entries that match the filter, or `nil` if all do.
    package private(set) var matching: [Int]?
    /// The number of the entry with the cursor, or `nil` while it follows new entries.
    package private(set) var cursor: Int?
    /// The search text.
    package internal(set) var search = ""
    /// How often all events were matched with a newly set filter.
    package private(set) var filterRuns = 0

    /// Returns the listed entries: those that match the filter, and every gap.
    package func shown(in shared: Shared) -> ShownEvents {
        ShownEvents(first: shared.log.first, end: shared.eventsEnd, matching: matching)
    }

    /// Lists only what matches a filter, and resumes following.
    mutating func set(_ filter: Filter, in shared: Shared) {
        self.filter = filter
        filterRuns += 1
        matching = filter.isEmpty ? nil : []
        add(from: shared.log.first, in: shared)
        cursor = nil
    }

    /// Resumes following, because the earlier entries no longer exist.
    mutating func startOver(in shared: Shared) {
        matching = matching == nil ? nil : []
        cursor = nil
    }

    /// Adds the entries from a number on.
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

    /// Moves the cursor. At the last entry it starts to follow.
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

    /// Moves to the next entry that contains the search text, and wraps around. Returns a notice if there is one to
    /// show.
    mutating func find(_ step: Int, in shared: Shared) -> Model.Notice? {
        let shown = shown(in: shared)
        guard !search.isEmpty, shown.count > 0 else {
            return .hint(shared.options.keys.naming("no search: {search} starts one", in: .events))
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

    /// Whether an event contains the search text.
    package func isMatch(_ event: SocketEvent, in shared: Shared) -> Bool {
        !search.isEmpty && Self.text(event, in: shared).lowercased().contains(search.lowercased())
    }

    /// Returns the event at the cursor, or the last one while following. Returns `nil` if there is none.
    func current(in shared: Shared) -> SocketEvent? {
        let shown = shown(in: shared)
        guard shown.count > 0, case .event(let event) = shared.log[cursor ?? shown[shown.count - 1]] else {
            return nil
        }
        return event
    }

    /// Returns the text for filter and search.
    private static func text(_ event: SocketEvent, in shared: Shared) -> String {
        "\(event.socket) \(EventWords.label(event, of: shared.socket(of: event)).text) t\(event.tag) "
            + EventWords.detail(
                event, of: shared.socket(of: event), answer: shared.options.keys.naming("{answer}", in: .events))
    }
}
