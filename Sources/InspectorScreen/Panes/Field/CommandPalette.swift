import InspectorCore
import SocketCore

/// The completions of the command line: the matching commands, or the possible arguments of the typed command.
package struct CommandPalette {
    /// One row of the palette.
    package struct Entry: Equatable, Sendable {
        package var name: String
        /// The keys that run it, or empty if there are none.
        package var keys = ""
        package var help = ""
        /// The usage of its arguments, or empty if it takes none.
        package var arguments = ""
        /// Whether Enter only inserts it into the line, because arguments must follow.
        var needsMore = false
    }

    /// The entries, the best match first.
    package let entries: [Entry]
    /// The text above them: the usage of the typed command's arguments.
    package let usage: String
    /// The part of the line before the completed word.
    private let head: String
    private let typed: String
    /// Whether the line starts with a command.
    private let isKnown: Bool
    private let choice: Int?

    /// Creates the completions of the open command line. Returns `nil` if none is open.
    package init?(_ model: Model) {
        guard let field = model.field.open, field.purpose == .command else { return nil }
        let text = field.editor.text
        choice = field.choice
        let verb = String(text.prefix { $0 != " " })
        isKnown = Action.named(verb) != nil
        guard isKnown, text.contains(" ") else {
            (head, typed, usage) = ("", text.split(separator: " ").joined(separator: " "), "")
            entries = Self.commands(model, typed)
            return
        }
        let last = text.lastIndex(of: " ").map { text.index(after: $0) } ?? text.startIndex
        (head, typed) = (String(text[..<last]), String(text[last...]))
        usage =
            Action.named(verb)?.syntax.map {
                "\([verb, $0.usage].filter { !$0.isEmpty }.joined(separator: " ")): \($0.help)"
            } ?? "\(verb) takes no arguments"
        let prefix = typed
        let words = Action.named(verb)?.syntax.map { $0.offers(model) + $0.words } ?? []
        entries = words.filter { $0.hasPrefix(prefix) }.map { Entry(name: $0, needsMore: true) }
    }

    /// Returns the available commands that match the typed text, the best match first.
    private static func commands(_ model: Model, _ typed: String) -> [Entry] {
        let all = commands(model)
        let ranked = all.enumerated().compactMap { index, entry in
            Fuzzy.rank(typed, entry.name, entry.help).map { (rank: $0, index: index) }
        }
        return ranked.sorted { ($0.rank, $0.index) < ($1.rank, $1.index) }.map { all[$0.index] }
    }

    /// Returns the actions with keys in this context, with cursor movement last, and the commands that need arguments.
    private static func commands(_ model: Model) -> [Entry] {
        let context = model.paneContext
        let moves = Set(Action.moving.map(\.name))
        let here = Action.all.filter { action in
            guard !notOffered.contains(action.name), !Action.edits.contains(action.name) else { return false }
            return action.syntax != nil || action.use(runIn: context) != nil
        }
        return (here.filter { !moves.contains($0.name) } + here.filter { moves.contains($0.name) }).map { action in
            let use = action.use(runIn: context)
            let key = model.naming("{\(action.name)}", in: context)
            return Entry(
                name: action.name, keys: use == nil || key.hasPrefix(":") ? "" : key,
                help: use?.help ?? action.syntax?.help ?? "", arguments: action.syntax?.usage ?? "",
                needsMore: use == nil)
        }
    }

    /// The actions that edit a line, which need not be found by name.
    private static let notOffered: Set = [
        "accept", "complete", "cancel", "history-up", "history-down", "command-line", "insert-line", "chord",
    ]

    /// The row that Enter uses instead of the typed text: the selected one, or the best match if the text is not a
    /// command.
    package var target: Int? {
        if let choice { return entries.isEmpty ? nil : min(choice, entries.count - 1) }
        // A command that sends bytes or FIN runs only if its full name is typed.
        guard !isKnown, !typed.isEmpty, let best = entries.first,
            best.needsMore || !["send", "half-close"].contains(best.name)
        else {
            return nil
        }
        return 0
    }

    /// The line that Enter inserts or runs, and whether arguments must follow, or `nil` to use the typed text.
    var accepted: (line: String, needsMore: Bool)? {
        target.map { (head + entries[$0].name + (entries[$0].needsMore ? " " : ""), entries[$0].needsMore) }
    }

    /// The line completed by Tab: the common prefix of all matches, or else the row that Enter would use.
    var completed: String? {
        let alike = entries.map(\.name).filter { $0.hasPrefix(typed) }
        let common = Fuzzy.commonPrefix(alike)
        if choice == nil, alike.count == 1 { return head + common + " " }
        if choice == nil, common.count > typed.count { return head + common }
        guard !entries.isEmpty, choice != nil || !typed.isEmpty else { return nil }
        return head + entries[target ?? 0].name + " "
    }
}
