import InspectorCore
import InspectorScreen
import SocketCore
import SocketWorkshop

/// A shell that completions are made for.
enum Shell: String, Equatable, CaseIterable {
    case bash, zsh, fish

    var completions: String {
        switch self {
        case .bash: Completions.bash
        case .zsh: Completions.zsh
        case .fish: Completions.fish
        }
    }
}

/// Completions for shells, made from the tables of commands and options. A command is offered its own options only.
enum Completions {
    private static let options = CommandTable.options.filter { $0.help != nil }
    private static let words = CommandTable.words
    private static let names = words.map(\.name)

    /// The options that go with a command, or without one.
    private static func options(of command: String) -> [CommandTable.Option] {
        options.filter { $0.goes(with: command) }
    }

    /// The possible values of an option that has only a few.
    private static let values: [String: [String]] = {
        let warnings = Lint.all.map(\.name) + ["all"]
        return [
            "--color": Configuration.Depth.allCases.map(\.rawValue),
            "-A": warnings, "-W": warnings,
            "--fault": FaultWord.names(.condition, .direction, .effect, .datagrams)
                + FaultProfile.builtIn.keys.sorted(),
            "--break": ["on"] + FaultWord.names(.direction, .point),
        ]
    }()
    /// The commands whose operands are files.
    private static let commandsOfFiles = words.filter(\.operands.completesFiles).map(\.name).joined(separator: "|")
    private static let control = Action.faults.map(\.name).joined(separator: " ")
    private static let topics = (HelpTopic.all.map(\.name) + names).joined(separator: " ")
    private static let shells = Shell.allCases.map(\.rawValue).joined(separator: " ")

    static var bash: String {
        let cases = options.filter { $0.value != nil }.map { option -> String in
            let reply =
                values[option.name].map { "compgen -W '\($0.joined(separator: " "))' -- \"$word\"" }
                ?? (option.value?.completesFiles == true ? "compgen -f -- \"$word\"" : "")
            return
                "    \(option.name)) \(reply.isEmpty ? "COMPREPLY=()" : "mapfile -t COMPREPLY < <(\(reply))"); return ;;"
        }
        let ofCommands = (names + [""]).map { name in
            "    \(name.isEmpty ? "*" : name)) options='\(options(of: name).map(\.name).joined(separator: " "))' ;;"
        }
        return """
            # bash completion for socktui; made by: socktui completions bash
            _socktui() {
              local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= options= former
              case $before in
            \(cases.joined(separator: "\n"))
                completions) mapfile -t COMPREPLY < <(compgen -W '\(shells)' -- "$word"); return ;;
                help) mapfile -t COMPREPLY < <(compgen -W '\(topics)' -- "$word"); return ;;
              esac
              for former in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
                case $former in \(names.joined(separator: "|"))) command=$former; break ;; esac
              done
              case $command in
            \(ofCommands.joined(separator: "\n"))
              esac
              if [[ $command == ctl && $COMP_CWORD == 3 ]]; then
                mapfile -t COMPREPLY < <(compgen -W '\(control)' -- "$word")
              elif [[ $word == -* ]]; then
                mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
              elif [[ -z $command ]]; then
                mapfile -t COMPREPLY < <(compgen -W '\(names.joined(separator: " "))' -- "$word")
              fi
            }
            complete -o default -F _socktui socktui
            """
    }

    static var zsh: String {
        func rows(_ options: [CommandTable.Option]) -> String {
            options.map { "      " + zshRow($0) }.joined(separator: "\n")
        }
        let ofCommands = (names + [""]).map { name in
            "    \(name.isEmpty ? "*" : name)) options=(\n\(rows(options(of: name)))\n    ) ;;"
        }
        let commands = words.map { "    " + quoted("\($0.name):\(escaped($0.help, before: "\\:"))") }
        return """
            #compdef socktui
            # zsh completion for socktui; made by: socktui completions zsh
            _socktui() {
              local -a commands options
              commands=(
            \(commands.joined(separator: "\n"))
              )
              case ${words[2]} in
            \(ofCommands.joined(separator: "\n"))
              esac
              _arguments -s "${options[@]}" \\
                '1:command:{_describe command commands}' \\
                '*:operand:{[[ ${words[2]} == completions ]] && compadd \(shells); [[ ${words[2]} == help ]] && compadd \(topics); [[ ${words[2]} == ctl ]] && compadd \(control); [[ ${words[2]} == (\(commandsOfFiles)) ]] && _files}'
            }
            _socktui "$@"
            """
    }

    private static func zshRow(_ option: CommandTable.Option) -> String {
        let value = option.value.map { name in
            let action =
                values[option.name].map { "(\($0.joined(separator: " ")))" }
                ?? (option.value?.completesFiles == true ? "_files" : " ")
            return ":\(name.name.lowercased()):\(action)"
        }
        return quoted("*\(option.name)[\(escaped(option.help ?? "", before: "\\[]:"))]\(value ?? "")")
    }

    static var fish: String {
        let none = "not __fish_seen_subcommand_from \(names.joined(separator: " "))"
        let commands = words.map {
            "complete -c socktui -n '\(none)' -f -a \($0.name) -d '\(escaped($0.help, before: "\\'"))'"
        }
        return """
            # fish completion for socktui; made by: socktui completions fish
            \(commands.joined(separator: "\n"))
            complete -c socktui -n '__fish_seen_subcommand_from completions' -f -a '\(shells)'
            complete -c socktui -n '__fish_seen_subcommand_from help' -f -a '\(topics)'
            complete -c socktui -n '__fish_seen_subcommand_from ctl' -f -a '\(control)'
            \(options.map(fishRow).joined(separator: "\n"))
            """
    }

    private static func fishRow(_ option: CommandTable.Option) -> String {
        let value = option.value.map { _ in
            values[option.name].map { " -x -a '\($0.joined(separator: " "))'" }
                ?? (option.value?.completesFiles == true ? " -r -F" : " -x")
        }
        // A one-letter name follows a single dash.
        let name = option.name.hasPrefix("--") ? "-l \(option.name.dropFirst(2))" : "-s \(option.name.dropFirst())"
        let help = escaped(option.help ?? "", before: "\\'")
        return "complete -c socktui\(fishCondition(option)) \(name)\(value ?? "") -d '\(help)'"
    }

    /// Restricts an option to its commands. One that also goes without a command is left out after the others.
    private static func fishCondition(_ option: CommandTable.Option) -> String {
        let isFree = option.goes(with: "")
        let named = names.filter { option.goes(with: $0) != isFree }
        guard !named.isEmpty else { return "" }
        return " -n '\(isFree ? "not " : "")__fish_seen_subcommand_from \(named.joined(separator: " "))'"
    }

    /// Returns a text with a backslash before each of these characters.
    private static func escaped(_ text: String, before characters: String) -> String {
        text.map { characters.contains($0) ? "\\\($0)" : String($0) }.joined()
    }

    /// Returns a text as one zsh word in single quotes.
    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
