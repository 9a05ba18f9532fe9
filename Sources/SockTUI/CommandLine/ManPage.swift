import InspectorCore

/// The manual, in man(7)'s macros.
enum ManPage {
    static var text: String {
        ([#".TH SOCKTUI 1 "" "socktui \#(CommandTable.version)" "User Commands""#] + synopsis + options + keys + files
            + status).joined(separator: "\n")
    }

    private static var synopsis: [String] {
        [
            ".SH NAME", #"socktui \- look into live sockets: queues, progress, flags, timers"#, ".SH SYNOPSIS",
            ".B socktui", "[\\fICOMMAND\\fR] [\\fIOPTION\\fR...]", ".SH DESCRIPTION",
            escaped(
                "Connects, listens, sends and receives by hand, and shows of every connection what is queued, how far "
                    + "it has come, what the kernel holds and why it ended. Without a command it asks what to open. "
                    + "Where stdout is no terminal it prints what happens, a line for each event."),
            ".SH COMMANDS",
        ]
            + CommandTable.commands.flatMap { entry($0.name + " " + $0.operands, $0.help) }
            + CommandTable.printers.flatMap { entry($0.name + " " + $0.operands, $0.help) }
            + [
                ".PP",
                escaped(
                    "An ADDRESS is host:port, [::1]:port, :port, unix:/path, unix:@name or tls://host:port; for a WebSocket, "
                        + "ws://host:port/path, wss://host/path or ws+unix:/path:/resource; for datagrams, "
                        + "udp://host:port, udp://:port, udp://239.1.2.3:port?interface=lo, unixgram:/path or unixgram:@name."
                ),
                ".PP",
                escaped(
                    "A relay passes bytes on as they are. Where the first request of a connection opens a WebSocket, its "
                        + "handshake, frames and messages are shown on both rows; of a compressed message over 16 MiB, and "
                        + "of those that build on it, only the frames."),
            ]
    }

    private static var options: [String] {
        [".SH OPTIONS"]
            + CommandTable.options.flatMap { option -> [String] in
                guard let help = option.help else { return [] }
                let only = option.commands.isEmpty ? "" : "; with \(option.commands.sorted().joined(separator: ", "))"
                return entry("\(option.name) \(option.value ?? "")", help + only)
            }
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
        lines.append(escaped("Behind : and in scripts; what the keys do, by name, and with arguments:"))
        for form in Instruction.forms { lines += entry("\(form.verb) \(form.arguments)", form.help) }
        lines.append(".SH FILTER")
        lines.append(escaped("What f asks for in the list, and filter behind :"))
        for line in HelpView.filter { lines += [".PP", escaped(line)] }
        lines.append(".SH SCRIPTS")
        for step in Script.steps { lines += entry(step.form, step.help) }
        return lines
    }

    private static var files: [String] {
        [".SH FILES"]
            + entry("$XDG_CONFIG_HOME/socktui/config", "options, keys and colours; socktui config --print shows all")
            + entry("$XDG_STATE_HOME/socktui/recent", "what was opened lately")
            + [".SH ENVIRONMENT"] + entry("NO_COLOR", "where it is not empty: no colours")
    }

    private static var status: [String] {
        [".SH EXIT STATUS"] + entry("0", "fine") + entry("1", "the connection failed")
            + entry("2", "it was asked for wrongly") + [".SH SEE ALSO", ".BR ss (8),", ".BR nc (1)"]
    }

    private static func entry(_ term: String, _ text: String) -> [String] {
        [".TP", ".B \"" + escaped(term.reversed().drop { $0 == " " }.reversed().map(String.init).joined()) + "\""]
            + [escaped(text)]
    }

    /// No character that roff gives a meaning to.
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
