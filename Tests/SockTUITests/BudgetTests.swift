import InspectorCore
import InspectorScreen
import Testing

@testable import SockTUI

/// How much there is to learn. Whoever raises a number says why in CHANGELOG.md, and looks first for what can go.
@Suite("The budget of what there is to learn")
struct BudgetTests {
    private static let commands = 19
    private static let linesOfHelp = 45
    private static let optionsOfCommand = 24
    private static let options = 82
    private static let warnings = 48

    private static let width = 80

    @Test("commands, options and warnings are no more than these")
    func counts() {
        #expect(CommandTable.words.count <= Self.commands)
        #expect(CommandTable.options.count { $0.help != nil } <= Self.options)
        #expect(Lint.all.count <= Self.warnings)
        #expect(Footer.mostKeys <= 12)
    }

    @Test("the short help has every command in one of four groups, six examples, and few lines")
    func short() {
        let help = HelpText.short
        #expect(help.split(separator: "\n", omittingEmptySubsequences: false).count <= Self.linesOfHelp)
        #expect(CommandTable.groups.count == 4 && CommandTable.examples.count == 6)
        let known = CommandTable.commands.map(\.name) + CommandTable.printers.map(\.name)
        #expect(CommandTable.words.map(\.name).sorted() == known.sorted())
        for name in known { #expect(help.contains("\n  \(name) "), "\(name)") }
        for topic in HelpTopic.all { #expect(help.contains(topic.name), "\(topic.name)") }
    }

    @Test("the help of a command has its own options only, and few of them")
    func ofCommands() throws {
        for word in CommandTable.words {
            let own = HelpText.options(of: word.name)
            #expect(own.count <= Self.optionsOfCommand, "\(word.name)")
            #expect(own.allSatisfy { $0.goes(with: word.name) }, "\(word.name)")
            let help = try #require(HelpText.text(of: word.name))
            for option in own { #expect(help.contains("\n  \(option.name) "), "\(word.name) \(option.name)") }
        }
        for option in CommandTable.options where option.help != nil {
            let shown = CommandTable.words.contains {
                HelpText.options(of: $0.name).contains { $0.name == option.name }
            }
            #expect(shown || HelpText.text(of: "options")?.contains("\n  \(option.name) ") == true, "\(option.name)")
        }
    }

    @Test("the help of relay fits 24 rows, with the next prompt")
    func ofRelay() throws {
        #expect(
            try #require(HelpText.text(of: "relay")).split(separator: "\n", omittingEmptySubsequences: false).count < 24
        )
    }

    @Test("no two options have one name, and none is for a command that there is not")
    func names() {
        #expect(Set(CommandTable.options.map(\.name)).count == CommandTable.options.count)
        let known = Set(CommandTable.words.map(\.name) + [""])
        for option in CommandTable.options { #expect(known.isSuperset(of: option.commands), "\(option.name)") }
        #expect(known.isSuperset(of: CommandTable.runs))
    }

    @Test("what the help prints fits 80 columns", arguments: CommandTable.words.map(\.name) + HelpTopic.all.map(\.name))
    func fits(name: String) throws {
        guard name != "man" else { return }
        let text = name == "help" ? HelpText.short : try #require(HelpText.text(of: name))
        for line in text.split(separator: "\n") { #expect(line.count <= Self.width, "\(line)") }
    }

    @Test("the examples of the help are command lines that work", arguments: CommandTable.examples.map(\.line))
    func examples(line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        #expect(words[0] == "socktui")
        #expect(throws: Never.self) { try ArgumentParser.parse(Array(words.dropFirst())) }
        #expect(
            ManPage.text.contains(line.split(separator: "-", omittingEmptySubsequences: false).joined(separator: "\\-"))
        )
    }

    @Test(
        "what is no command suggests the one that was meant",
        arguments: [
            ("http://localhost:8080", "socktui connect localhost:8080, or to watch a client: socktui run -- curl http"),
            ("https://u@[::1]/x:1", "socktui connect tls://[::1]:443, or"),
            ("redis://:p@h/0", "socktui connect h:6379"),
            ("redis", "socktui connect localhost:6379, or to see why it hangs: socktui why redis-server"),
            ("8080", "socktui why :8080 for a port"), ("./x.pcapng", "socktui open ./x.pcapng"),
            ("unix:/s", "socktui connect unix:/s"), ("psql -c x", "-c: no such option"),
            ("curl http://h/", "socktui run -- curl"), ("make test", "socktui run -- make"),
            ("lsten :80", "did you mean listen?"), ("nonsense", "no such command; see socktui --help"),
            ("ftp://h", "no such command; see socktui --help"),
        ])
    func meant(line: String, words: String) {
        let error = #expect(throws: UsageError.self) {
            try ArgumentParser.parse(line.split(separator: " ").map(String.init))
        }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test("completions offer a command its own options")
    func completions() throws {
        let bash = Shell.bash.completions
        let own = try #require(bash.split(separator: "\n").first { $0.hasPrefix("    export) options=") })
        #expect(own.contains("--side") && !own.contains("--socks5") && !own.contains("--record "))
        #expect(Shell.fish.completions.contains("-n '__fish_seen_subcommand_from export' -l side "))
        #expect(Shell.zsh.completions.contains("\n    export) options=(\n"))
    }
}
