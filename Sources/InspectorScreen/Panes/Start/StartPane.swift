import InspectorCore
import SocketCore

/// One line below the prompt of the start screen.
package struct StartEntry: Equatable, Sendable {
    package enum Section: Equatable, Sendable { case recent, listening, programs, words }

    package var section: Section
    /// The number to type to open it, or `nil` if it is opened by typing its name.
    package var number: Int?
    package var title: String
    package var note: String
    /// The line that it stands for.
    package var line: String

    /// The text that typed words are matched with, in addition to the line itself.
    fileprivate var description: String { section == .listening ? "\(title) \(note)" : title }
}

/// The screen that asks what to open.
package struct StartState: Equatable, Sendable {
    package var editor = LineEditor()
    package var offers = StartOffers()
    package var error: String?
    /// The index of the selected entry, among those that match.
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
            StartEntry(section: .words, title: "host", note: "the sockets of every program", line: "host"),
            StartEntry(section: .words, title: "demo", note: "a demo with live sockets", line: "demo"),
        ]
    }

    private var typed: String { editor.text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

    /// The typed number, which need not be that of an entry. A longer one, as a port is, matches as text.
    var number: Int? {
        let digits = typed.filter { $0 != " " }
        guard digits.count <= String(entries.count).count, let number = Int(digits), number > 0 else { return nil }
        return number
    }

    /// The entries that match the typed text or number, or all of them if nothing is typed.
    package var matches: [StartEntry] {
        guard !typed.isEmpty, number == nil else { return entries }
        return entries.filter { Fuzzy.rank(typed, $0.line, $0.description) != nil }
    }

    /// The index of the match that Enter opens, or `nil` if Enter opens the typed text.
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

    /// Moves the selection by `step` entries. Above the first one are the lines typed before.
    mutating func step(_ step: Int) {
        if choice == nil, step < 0 { return editor.edit(.older) }
        if editor.isRecalling { return editor.edit(.newer) }
        let next = (target ?? -1) + step
        choice = next < 0 || matches.isEmpty ? nil : min(next, matches.count - 1)
    }

    /// Changes the typed text, which resets the selection.
    mutating func change(_ change: (inout LineEditor) -> Void) {
        (error, choice) = (nil, nil)
        change(&editor)
    }

    private static let forms = [
        "host", "demo", "listen ", "relay ", "attach ", "ws://", "wss://", "udp://", "unix:", "unixgram:",
    ]

    /// Completes the typed text to the common prefix of all matching lines, or else to the best match.
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
