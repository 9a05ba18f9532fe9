extension Model {
    /// The help over the screen.
    package struct HelpState: Hashable, Sendable {
        /// Where the help was opened, and what its entries run in.
        package var context: KeyContext
        /// The entry that Enter runs, by its order.
        package var cursor = 0
        package var top = 0
        /// Only entries that hold this are shown.
        package var filter = ""

        package init(context: KeyContext, filter: String = "") {
            self.context = context
            self.filter = filter
        }

        /// Shows the entries that hold a word.
        mutating func show(_ filter: String) {
            (self.filter, cursor, top) = (filter, 0, 0)
        }

        /// Moves the cursor by so many entries, and what is in sight with it.
        mutating func move(_ step: Int, _ layout: HelpLayout, height: Int) {
            guard !layout.places.isEmpty else { return }
            cursor = min(max(0, cursor + step), layout.places.count - 1)
            let place = layout.places[cursor]
            let first = cursor == 0 ? 0 : place.row
            top = min(max(top, place.row + place.height - height), first)
            top = min(top, max(0, layout.rows.count - height))
        }
    }

    /// Opens the help, or types the key where a line is typed already.
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

    /// Runs the entry under the cursor of the help, where the help was opened.
    mutating func runHelpEntry() -> [Effect] {
        guard let help else { return [] }
        let entries = HelpContents(self, help).entries
        guard help.cursor < entries.count else { return [] }
        switch entries[help.cursor].does {
        case .nothing:
            notice = hint("nothing to run here: this only explains")
            return []
        case .run(let line):
            self.help = nil
            return run(line)
        case .type(let text):
            self.help = nil
            dialogs.open = nil
            openCommandLine()
            field?.editor.set(text)
            return []
        }
    }
}
