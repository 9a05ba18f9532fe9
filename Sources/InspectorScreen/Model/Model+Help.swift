import InspectorCore

extension Model {
    /// Opens the help, or types the key if a line is being typed.
    mutating func helpOrType(_ key: Key) -> [Effect] {
        if case .character(let character) = key, !start.editor.isEmpty {
            start.change { $0.insert(String(character)) }
        } else {
            help = HelpState(context: context)
        }
        return []
    }

    /// Moves the cursor of the help.
    mutating func moveHelp(_ step: Int) {
        guard var moved = help else { return }
        moved.move(step, HelpLayout(HelpContents(self, moved), size), height: HelpLayout.height(size))
        help = moved
    }

    /// Runs the help entry at the cursor, in the context where the help was opened.
    mutating func runHelpEntry() -> [Effect] {
        guard let help else { return [] }
        let entries = HelpContents(self, help).entries
        guard help.cursor < entries.count else { return [] }
        switch entries[help.cursor].does {
        case .nothing:
            notice = hint("nothing to run: this entry is only an explanation")
            return []
        case .run(let line):
            self.help = nil
            return run(line)
        case .type(let text):
            self.help = nil
            dialogs.open = nil
            field.begin(.command)
            field.open?.editor.set(text)
            return []
        }
    }
}
