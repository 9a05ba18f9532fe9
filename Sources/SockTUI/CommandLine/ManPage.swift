import InspectorScreen
import SocketWorkshop

import InspectorCore
import SocketCore

/// The manual, in man(7)'s macros.
enum ManPage {
    static var text: String {
        ([#".TH SOCKTUI 1 "" "socktui \#(CommandTable.version)" "User Commands""#] + synopsis + options + keys + files
            + examples + status).joined(separator: "\n")
    }

    private static var synopsis: [String] {
        [
            ".SH NAME", #"socktui \- inspect live sockets: queues, progress, flags, timers"#, ".SH SYNOPSIS",
            ".B socktui", "[\\fICOMMAND\\fR] [\\fIOPTION\\fR...]", ".SH DESCRIPTION",
            escaped(
                "Connects, listens, sends and receives by hand, and shows for every connection what is queued, the "
                    + "progress of each operation, what the kernel holds and why it ended. Without a command it asks what to "
                    + "open. If stdout is not a terminal, it prints one line for each event, and run passes CMD's output to stderr."
            ),
            ".SH COMMANDS",
        ]
            + CommandTable.words.flatMap { entry($0.usage, $0.help) }
            + [".SH ADDRESSES"] + HelpTopic.addresses.flatMap { entry($0.form, $0.help) }
            + [
                ".PP",
                escaped(
                    "A relay forwards bytes unaltered. If the first request of a connection opens a WebSocket, its "
                        + "handshake, frames and messages are shown on both rows. A compressed message of more than "
                        + "1 MiB, and those that build on it, are shown as frames only."),
            ]
    }

    private static var options: [String] {
        [".SH OPTIONS"]
            + CommandTable.options.flatMap { option -> [String] in
                guard let help = option.help else { return [] }
                return entry(HelpText.row(option).0, help + (option.scope.isEmpty ? "" : "; with \(option.scope)"))
            }
    }

    private static var examples: [String] {
        [".SH EXAMPLES"] + CommandTable.examples.flatMap { entry($0.line, $0.does) }
    }

    private static var keys: [String] {
        var lines = [".SH KEYS"]
        for context in KeyContext.allCases {
            lines.append(".SS " + escaped(context.title))
            for binding in KeyTable.standard.bindings(in: context) {
                lines += entry(binding.keys.map(\.label).joined(separator: " "), binding.help)
            }
        }
        lines.append(".SH COMMAND LINE")
        lines.append(escaped("After : and in scripts, with arguments; a key's command works there too, by its name:"))
        for action in Action.commands { lines += entry(action.usage, action.syntax?.help ?? "") }
        lines.append(
            escaped("socktui ctl takes these: " + Action.faults.map(\.name).joined(separator: ", ") + "."))
        lines.append(".SH FILTER")
        lines.append(escaped("For f in the list, and for the command filter:"))
        for line in HelpContents.filter { lines += [".PP", escaped(line)] }
        lines.append(".SH FAULTS")
        lines.append(escaped("The words of a rule, for --fault and :fault add, and the points of --break and :break:"))
        for word in FaultWord.all { lines += entry(word.usage, word.help) }
        lines.append(".SH SCRIPTS")
        for step in Script.steps { lines += entry(step.form, step.help) }
        return lines
    }

    private static var files: [String] {
        [".SH FILES"]
            + entry(
                "$XDG_CONFIG_HOME/socktui/config",
                "options, keys and colors, below ~/.config if that variable is not set; socktui config prints all. "
                    + "config.toml is read if there is no config.")
            + entry(
                "$XDG_CONFIG_HOME/socktui/templates",
                KeyTable.standard.naming("lines to send, for {template}", in: .composer))
            + entry("$XDG_STATE_HOME/socktui/recent", "the last 20 addresses")
            + entry("$XDG_STATE_HOME/socktui/sent", "the last 100 lines sent to each peer; see --no-history")
            + [".SH ENVIRONMENT"] + entry("NO_COLOR", "no colors, unless it is empty")
            + entry("COLORFGBG", "whether the background is light, if the terminal does not report it")
    }

    private static var status: [String] {
        [".SH EXIT STATUS", escaped("With --json, end has the same status, and the signal if one ended the run.")]
            + ExitRow.all.flatMap { row in
                entry("\(row.status)  \(row.who)", row.means + ". Standard error: " + row.errors + ".")
            } + [".SH SEE ALSO", ".BR ss (8),", ".BR nc (1)"]
    }

    private static func entry(_ term: String, _ text: String) -> [String] {
        [".TP", ".B \"" + escaped(term.reversed().drop { $0 == " " }.reversed().map(String.init).joined()) + "\""]
            + [escaped(text)]
    }

    /// Escapes the characters that have a meaning in roff.
    private static func escaped(_ text: String) -> String {
        let text = text.map { character -> String in
            switch character {
            case "\\": "\\e"
            case "-": "\\-"
            case "\"": "\\(dq"
            case "^": "\\(ha"
            case "~": "\\(ti"
            case "`": "\\(ga"
            default: String(character)
            }
        }.joined()
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
    }
}
