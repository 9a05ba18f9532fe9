import InspectorCore
import InspectorScreen
import SocketCore
import SocketWorkshop

/// Documents generated from the tables of commands, options and keys, so that they always match the program.
enum Document: String, Equatable, CaseIterable {
    case man, bash, zsh, fish

    var text: String {
        switch self {
        case .man: ManPage.text
        case .bash: Completions.bash
        case .zsh: Completions.zsh
        case .fish: Completions.fish
        }
    }
}

/// Completions for shells.
enum Completions {
    private static var options: [CommandTable.Option] { CommandTable.options.filter { $0.help != nil } }
    private static var words: [(name: String, help: String)] {
        CommandTable.commands.map { ($0.name, $0.help) } + CommandTable.printers.map { ($0.name, $0.help) }
    }

    /// The possible values of an option that has only a few.
    private static let values: [String: [String]] = {
        let warnings = Lint.all.map(\.name) + ["all"]
        return [
            "--color": Configuration.Depth.allCases.map(\.rawValue), "--theme": Theme.allCases.map(\.rawValue),
            "-A": warnings, "-W": warnings,
            "--fault": FaultWord.names(.condition, .direction, .effect, .datagrams)
                + FaultProfile.builtIn.keys.sorted(),
            "--break": ["on"] + FaultWord.names(.direction, .point),
        ]
    }()
    /// The commands whose operands are files.
    private static let commandsOfFiles =
        (CommandTable.commands.filter(\.operands.completesFiles).map(\.name)
        + CommandTable.printers.filter(\.operands.completesFiles).map(\.name)).joined(separator: "|")
    private static let control = Action.faults.map(\.name).joined(separator: " ")
    private static let shells = Document.allCases.dropFirst().map(\.rawValue).joined(separator: " ")

    static var bash: String {
        let cases = options.filter { $0.value != nil }.map { option -> String in
            let reply =
                values[option.name].map { "compgen -W '\($0.joined(separator: " "))' -- \"$word\"" }
                ?? (option.value?.completesFiles == true ? "compgen -f -- \"$word\"" : "")
            return
                "    \(option.name)) \(reply.isEmpty ? "COMPREPLY=()" : "mapfile -t COMPREPLY < <(\(reply))"); return ;;"
        }
        return """
            # bash completion for socktui; made by: socktui completions bash
            _socktui() {
              local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
              case $before in
            \(cases.joined(separator: "\n"))
                completions) mapfile -t COMPREPLY < <(compgen -W '\(shells)' -- "$word"); return ;;
              esac
              if [[ ${COMP_WORDS[1]} == ctl && $COMP_CWORD == 3 ]]; then
                mapfile -t COMPREPLY < <(compgen -W '\(control)' -- "$word")
              elif [[ $word == -* ]]; then
                mapfile -t COMPREPLY < <(compgen -W '\(options.map(\.name).joined(separator: " "))' -- "$word")
              elif [[ $COMP_CWORD == 1 ]]; then
                mapfile -t COMPREPLY < <(compgen -W '\(words.map(\.name).joined(separator: " "))' -- "$word")
              fi
            }
            complete -o default -F _socktui socktui
            """
    }

    static var zsh: String {
        let rows = options.map { option -> String in
            let value = option.value.map { name in
                let action =
                    values[option.name].map { "(\($0.joined(separator: " ")))" }
                    ?? (option.value?.completesFiles == true ? "_files" : " ")
                return ":\(name.name.lowercased()):\(action)"
            }
            let help = escaped(option.help ?? "", before: "\\[]:")
            return "    " + quoted("*\(option.name)[\(help)]\(value ?? "")")
        }
        let commands = words.map { "    " + quoted("\($0.name):\(escaped($0.help, before: "\\:"))") }
        return """
            #compdef socktui
            # zsh completion for socktui; made by: socktui completions zsh
            _socktui() {
              local -a commands
              commands=(
            \(commands.joined(separator: "\n"))
              )
              _arguments -s \\
            \(rows.joined(separator: " \\\n")) \\
                '1:command:{_describe command commands}' \\
                '*:operand:{[[ ${words[2]} == completions ]] && compadd \(shells); [[ ${words[2]} == ctl ]] && compadd \(control); [[ ${words[2]} == (\(commandsOfFiles)) ]] && _files}'
            }
            _socktui "$@"
            """
    }

    static var fish: String {
        let none = "not __fish_seen_subcommand_from \(words.map(\.name).joined(separator: " "))"
        let commands = words.map {
            "complete -c socktui -n '\(none)' -f -a \($0.name) -d '\(escaped($0.help, before: "\\'"))'"
        }
        let rows = options.map { option -> String in
            let value = option.value.map { _ in
                values[option.name].map { " -x -a '\($0.joined(separator: " "))'" }
                    ?? (option.value?.completesFiles == true ? " -r -F" : " -x")
            }
            // A one-letter name follows a single dash.
            let name = option.name.hasPrefix("--") ? "-l \(option.name.dropFirst(2))" : "-s \(option.name.dropFirst())"
            let help = escaped(option.help ?? "", before: "\\'")
            return "complete -c socktui \(name)\(value ?? "") -d '\(help)'"
        }
        return """
            # fish completion for socktui; made by: socktui completions fish
            \(commands.joined(separator: "\n"))
            complete -c socktui -n '__fish_seen_subcommand_from completions' -f -a '\(shells)'
            complete -c socktui -n '__fish_seen_subcommand_from ctl' -f -a '\(control)'
            \(rows.joined(separator: "\n"))
            """
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
