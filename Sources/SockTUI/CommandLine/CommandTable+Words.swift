extension CommandTable {
    /// A command as the help shows it.
    struct Word: Sendable {
        var name: String
        var operands: CommandLineValue
        var help: String

        /// The command with its operands, as on a command line.
        var usage: String { operands.name.isEmpty ? name : "\(name) \(operands.name)" }
    }

    /// The commands in the order of the help, by what one wants to do.
    static let groups: [(title: String, words: [Word])] = [
        ("Look", words("host", "why", "attach", "capture")),
        ("Talk", words("connect", "listen", "relay", "run")),
        ("Files", words("open", "export", "replay", "sweep")),
        ("More", words("demo", "ctl", "mcp", "agent", "config", "completions", "help")),
    ]

    /// All commands, in the order of the help.
    static let words = groups.flatMap(\.words)

    /// What to type for what one most often wants, for the help and the manual.
    static let examples: [(line: String, does: String)] = [
        ("socktui why :8080", "who uses port 8080, and why it hangs"),
        ("socktui connect localhost:6379", "talk to redis, line by line"),
        ("socktui relay :9000 :6379 --fault slow", "watch redis clients, slowed down"),
        ("socktui run -- curl localhost:8080", "what a program sends and receives"),
        ("socktui open it.pcapng", "browse a recording; :find searches it"),
        ("socktui host --check", "for CI: exit 1 if something is wrong"),
    ]

    private static func words(_ names: String...) -> [Word] {
        names.compactMap { name in
            commands.first { $0.name == name }?.word ?? printers.first { $0.name == name }?.word
        }
    }
}
