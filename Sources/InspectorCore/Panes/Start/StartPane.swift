import SocketCore

/// One line below the prompt of the start screen.
package struct StartEntry: Hashable, Sendable {
    package enum Section: Hashable, Sendable { case recent, listening, programs, demo }

    package var section: Section
    /// What opens it when it is typed; `nil` for what is typed by its name.
    package var number: Int?
    package var title: String
    package var note: String
    /// What it stands for, as it is typed.
    package var line: String

    /// Where the words that are typed are looked for, beside the line itself.
    fileprivate var description: String { section == .listening ? "\(title) \(note)" : title }
}

/// The screen that asks what to open.
package struct StartState: Hashable, Sendable {
    package var editor = LineEditor()
    package var offers = StartOffers()
    package var error: String?
    /// The entry that the user has gone to, among those that match.
    package var choice: Int?

    /// All entries, in the order of their numbers.
    package var entries: [StartEntry] {
        let recent = offers.recent.map { (StartEntry.Section.recent, $0.text, $0.age, $0.text) }
        let listening = offers.listening.map { (StartEntry.Section.listening, $0.address, $0.program, $0.address) }
        let programs = offers.programs.map { (StartEntry.Section.programs, $0.title, $0.age, "attach \($0.path)") }
        let numbered = (recent + listening + programs).enumerated().map { index, entry in
            StartEntry(section: entry.0, number: index + 1, title: entry.1, note: entry.2, line: entry.3)
        }
        return numbered + [
            StartEntry(section: .demo, title: "demo", note: "live sockets to look at", line: "demo")
        ]
    }

    private var typed: String { editor.text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

    /// The number that is typed, which may be that of no line.
    var number: Int? { Int(typed.filter { $0 != " " }).flatMap { $0 > 0 ? $0 : nil } }

    /// The entries that answer to what is typed: all of them if nothing is, or a line's number.
    package var matches: [StartEntry] {
        guard !typed.isEmpty, number == nil else { return entries }
        return entries.filter { Fuzzy.rank(typed, $0.line, $0.description) != nil }
    }

    /// The index of the match that Enter opens; `nil` if it opens what is typed.
    package var target: Int? {
        let matches = matches
        if let choice { return matches.isEmpty ? nil : min(choice, matches.count - 1) }
        if let number { return matches.firstIndex { $0.number == number } }
        guard !typed.isEmpty, case .failure = AddressLine.parse(typed) else { return nil }
        return best(matches)
    }

    private func best(_ matches: [StartEntry]) -> Int? {
        func rank(_ index: Int) -> Int { Fuzzy.rank(typed, matches[index].line, matches[index].description) ?? 9 }
        return matches.indices.min { rank($0) < rank($1) }
    }

    /// Goes so many entries down or up. Above the first one are the lines that were typed before.
    mutating func step(_ step: Int) {
        if choice == nil, step < 0 { return editor.edit(.older) }
        if editor.isRecalling { return editor.edit(.newer) }
        let next = (target ?? -1) + step
        choice = next < 0 || matches.isEmpty ? nil : min(next, matches.count - 1)
    }

    /// Changes what is typed, which chooses afresh.
    mutating func change(_ change: (inout LineEditor) -> Void) {
        (error, choice) = (nil, nil)
        change(&editor)
    }

    private static let forms = [
        "demo", "listen ", "relay ", "attach ", "ws://", "wss://", "udp://", "unix:", "unixgram:",
    ]

    /// Completes what is typed: to what all lines that begin with it have in common, or to the entry that answers best.
    mutating func complete() {
        if choice == nil, !typed.isEmpty {
            let common = Fuzzy.commonPrefix((entries.map(\.line) + Self.forms).filter { $0.hasPrefix(editor.text) })
            guard common.count <= editor.text.count else { return change { $0.set(common) } }
        }
        guard choice != nil || !typed.isEmpty, let index = target ?? best(matches) else { return }
        let line = matches[index].line
        change { $0.set(line) }
    }
}
