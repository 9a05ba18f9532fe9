import SocketWorkshop

/// The texts that `--help` and `help` print, made from the tables. Lines have at most 80 columns.
enum HelpText {
    /// The short help: the commands, some examples, and where the rest is.
    static var short: String {
        let width = CommandTable.words.map(\.usage.count).max() ?? 0
        let groups = CommandTable.groups.map { group in
            ([group.title] + rows(group.words.map { ($0.usage, $0.help) }, width: width)).joined(separator: "\n")
        }
        let examples = ["Examples"] + rows(CommandTable.examples.map { ($0.line, $0.does) }, width: 38)
        return """
            socktui \(CommandTable.version) - inspect live sockets: queues, progress, flags, timers

            socktui [COMMAND] [OPTION...]; without a command, it asks what to open

            \(groups.joined(separator: "\n\n"))

            \(examples.joined(separator: "\n"))

            socktui COMMAND --help lists its options; socktui help TOPIC explains one of
            \(fill(Spelling.alternatives(HelpTopic.all.map(\.name)), 78).map { "  " + $0 }.joined(separator: "\n"))
            """
    }

    /// Returns the help of a command or topic, or `nil` if there is none of this name.
    static func text(of name: String) -> String? {
        if let word = CommandTable.words.first(where: { $0.name == name }) { return text(of: word) }
        return HelpTopic.all.first { $0.name == name }?.text()
    }

    /// Returns the end of a sentence about a topic that does not exist.
    static func suggestion(for topic: String) -> String {
        let near = Spelling.suggestion(
            for: topic, among: HelpTopic.all.map(\.name) + CommandTable.words.map(\.name))
        return near.isEmpty ? "; write a command, or \(Spelling.alternatives(HelpTopic.all.map(\.name)))" : near
    }

    /// The options that the help of a command lists. A run also has those that are common to all.
    static func options(of command: String) -> [CommandTable.Option] {
        let isRun = CommandTable.runs.contains(command)
        return CommandTable.options.filter { option in
            option.help != nil && option.commands.contains(command) && !(isRun && option.isCommon)
        }
    }

    private static func text(of word: CommandTable.Word) -> String {
        // What follows the program that is run is not ours.
        let usage =
            word.operands.kind == .program
            ? "\(word.name) [OPTION...] \(word.operands.name)" : "\(word.usage) [OPTION...]"
        var parts = [wrapped("socktui \(usage)", [word.help])]
        let own = options(of: word.name)
        if !own.isEmpty { parts.append(rows(own.map(row)).joined(separator: "\n")) }
        if word.name == CommandTable.controlCommand.name { parts.append("COMMAND\n" + CommandTable.controlWords) }
        if word.name == "help" { parts.append((["TOPIC"] + HelpTopic.rows).joined(separator: "\n")) }
        var more: [String] = []
        if word.name == CommandTable.runCommand.name { more.append(CommandTable.runOutput) }
        let topics = [
            CommandTable.breakable.contains(word.name) ? "RULE and POINT: socktui help faults" : nil,
            word.operands.name.contains("ADDRESS") || word.name == "relay" ? "ADDRESS: socktui help addresses" : nil,
        ].compactMap { $0 }
        if !topics.isEmpty { more.append(topics.joined(separator: "; ")) }
        if CommandTable.runs.contains(word.name) { more.append(common) }
        if !more.isEmpty { parts.append(more.joined(separator: "\n")) }
        return parts.joined(separator: "\n\n")
    }

    /// The names of the options that every run has.
    private static let common: String = {
        let names = CommandTable.options.filter { $0.isCommon && $0.help != nil }.map(\.name)
        return fill((["More options (socktui help options):"] + names).joined(separator: " "), 78)
            .joined(separator: "\n  ")
    }()

    static func row(_ option: CommandTable.Option) -> (String, String) {
        (option.value.map { "\(option.name) \($0.name)" } ?? option.name, option.help ?? "")
    }

    /// Returns rows of a term and a text beside it, both indented. A text that does not fit goes on below itself, and one
    /// beside a long term begins below it.
    static func rows(_ rows: [(String, String)], width: Int? = nil) -> [String] {
        let width = width ?? min(28, rows.map(\.0.count).max() ?? 0)
        return rows.flatMap { term, text -> [String] in
            let lines = fill(text, 80 - width - 4)
            let margin = String(repeating: " ", count: width + 4)
            guard term.count <= width else {
                return fill(term, 76).enumerated().map { ($0.offset == 0 ? "  " : "    ") + $0.element }
                    + lines.map { margin + $0 }
            }
            let first = "  " + term + String(repeating: " ", count: width - term.count + 2) + (lines.first ?? "")
            return [lines.isEmpty ? "  " + term : first] + lines.dropFirst().map { margin + $0 }
        }
    }

    /// Returns a heading and words below it, as full as lines get.
    static func wrapped(_ heading: String, _ words: [String]) -> String {
        ([heading] + fill(words.joined(separator: " "), 78).map { "  " + $0 }).joined(separator: "\n")
    }

    /// Breaks a text between words into lines of at most `width` columns.
    private static func fill(_ text: String, _ width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return text.isEmpty ? [] : lines
    }
}
