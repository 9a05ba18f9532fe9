import InspectorCore

/// Texts that are made from the tables of commands, options and keys, so that they cannot differ from what the program
/// does.
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

    /// What can follow an option, where that is one of a few words.
    private static let values: [String: [String]] = ["--color": Configuration.Depth.allCases.map(\.rawValue)]
    /// Options that a file follows.
    private static let files: Set<String> = ["--script", "--config", "--log"]
    private static let shells = Document.allCases.dropFirst().map(\.rawValue).joined(separator: " ")

    static var bash: String {
        let cases = options.filter { $0.value != nil }.map { option -> String in
            let reply =
                values[option.name].map { "compgen -W '\($0.joined(separator: " "))' -- \"$word\"" }
                ?? (files.contains(option.name) ? "compgen -f -- \"$word\"" : "")
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
              if [[ $word == -* ]]; then
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
                    ?? (files.contains(option.name) ? "_files" : " ")
                return ":\(name.lowercased()):\(action)"
            }
            return "    '*\(option.name)[\(plain(option.help ?? ""))]\(value ?? "")'"
        }
        let commands = words.map { "    '\($0.name):\(plain($0.help))'" }
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
                '*:operand:{[[ ${words[2]} == completions ]] && compadd \(shells)}'
            }
            _socktui "$@"
            """
    }

    static var fish: String {
        let none = "not __fish_seen_subcommand_from \(words.map(\.name).joined(separator: " "))"
        let commands = words.map {
            "complete -c socktui -n '\(none)' -f -a \($0.name) -d '\(plain($0.help))'"
        }
        let rows = options.map { option -> String in
            let value = option.value.map { _ in
                values[option.name].map { " -x -a '\($0.joined(separator: " "))'" }
                    ?? (files.contains(option.name) ? " -r -F" : " -x")
            }
            return "complete -c socktui -l \(option.name.dropFirst(2))\(value ?? "") -d '\(plain(option.help ?? ""))'"
        }
        return """
            # fish completion for socktui; made by: socktui completions fish
            \(commands.joined(separator: "\n"))
            complete -c socktui -n '__fish_seen_subcommand_from completions' -f -a '\(shells)'
            \(rows.joined(separator: "\n"))
            """
    }

    /// A help text without what means something within quotes and brackets of a shell.
    private static func plain(_ text: String) -> String {
        text.filter { !"'[]\\`$\"".contains($0) }.map { $0 == ":" ? "," : String($0) }.joined()
    }
}
