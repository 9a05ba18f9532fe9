import InspectorCore

/// One row of the key table: keys, and what they do in one context.
package struct Binding: Hashable, Sendable {
    package var keys: [Key]
    /// What the keys run, as typed after `:`: an action's name, or a command with its arguments. Empty if they do
    /// nothing.
    package var line: String
    /// The sentence in the help.
    package var help: String

    /// The action, or `nil` if the keys run a command with arguments.
    package var action: Action? { Action.named(line).flatMap { $0.uses.isEmpty ? nil : $0 } }
}

/// The effective keys: the actions' defaults with the user's changes.
package struct KeyTable: Hashable, Sendable {
    /// The key that can't be bound, so that there is always a way out.
    package static let fixed = Key.control("c")
    /// The key that doesn't go to a program's terminal, so that keys are commands again.
    package static let leavesTerminal = Key.control("]")

    /// A key is in at most one row of a context. A row that has lost its keys is kept, because it may get others.
    private var rows: [KeyContext: [Binding]] = [:]

    package static let standard = KeyTable()

    package init() {
        for context in KeyContext.allCases {
            var leading: [Binding] = []
            var others: [Binding] = []
            for action in Action.all {
                for use in action.uses where use.contexts.contains(context) {
                    let binding = Binding(keys: use.keys, line: action.name, help: use.help)
                    use.leads ? leading.append(binding) : others.append(binding)
                }
            }
            rows[context] = leading + others
        }
    }

    /// Returns the row of a key in a context, or `nil` if there is none.
    package func binding(for key: Key, in context: KeyContext) -> Binding? {
        rows[context]?.first { $0.keys.contains(key) }
    }

    /// Returns the label of the action's first key in a context, or `nil` if it has none there.
    package func key(for action: String, in context: KeyContext) -> String? {
        let keys = rows[context]?.first { $0.line == action && !$0.keys.isEmpty }?.keys
        // In a menu, a letter may belong to an item.
        let sure = context == .menu ? keys?.first { !$0.isCharacter } : nil
        return (sure ?? keys?.first)?.label
    }

    /// Returns the rows of a context whose keys do something, in the order of the actions.
    package func bindings(in context: KeyContext) -> [Binding] {
        rows[context]?.filter { !$0.keys.isEmpty && !$0.line.isEmpty } ?? []
    }

    /// Returns the keys of a context, in the order of its rows.
    package func keys(in context: KeyContext) -> [Key] { rows[context]?.flatMap(\.keys) ?? [] }

    /// Binds a key to a line in a context, or to nothing if the line is empty. In text contexts an unbound letter is
    /// typed. Hints name the key bound last.
    package mutating func bind(_ key: Key, in context: KeyContext, to line: String) {
        guard binding(for: key, in: context)?.line != line else { return }
        var rows = rows[context] ?? []
        for index in rows.indices { rows[index].keys.removeAll { $0 == key } }
        if let row = rows.firstIndex(where: { $0.line == line }) {
            rows[row].keys.insert(key, at: 0)
        } else if !line.isEmpty || context.isText && !key.isCharacter {
            var binding = Binding(keys: [key], line: line, help: line)
            binding.help = binding.action?.use(boundIn: context)?.help ?? line
            rows.insert(binding, at: 0)
        }
        self.rows[context] = rows
    }
}

extension KeyTable {
    /// Returns a hint with the effective keys: `{connect} connects` becomes `c connects`, or `:connect connects` if no
    /// key runs it. The keys are those to press in `context`. If only another view has one, the keys that lead there
    /// come first, as in `Esc r` or `2 Enter`. `view` names the view whose action is meant, if several views have an
    /// action of that name.
    package func naming(_ text: String, in context: KeyContext = .list, of view: KeyContext? = nil) -> String {
        var named = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            named += rest[..<open]
            let name = String(rest[rest.index(after: open)..<close])
            named += pressed(name, in: context, of: view) ?? ":\(name)"
            rest = rest[rest.index(after: close)...]
        }
        return named + rest
    }

    /// Returns the keys to press for an action.
    private func pressed(_ name: String, in context: KeyContext, of wanted: KeyContext?) -> String? {
        let isHere = wanted.map { $0 == context || context == .composer && $0 == .traffic } ?? true
        if isHere, let key = key(for: name, in: context) { return key }
        let views = wanted.map { [$0] } ?? (context == .composer ? [.traffic] : []) + KeyContext.views
        guard let found = views.first(where: { key(for: name, in: $0) != nil }) else { return nil }
        return [way(from: context, to: found), key(for: name, in: found)].compactMap { $0 }.joined(separator: " ")
    }

    /// Returns the key to press to reach a view. While a line is typed, letters are text until the line is left.
    private func way(from context: KeyContext, to view: KeyContext) -> String? {
        switch context {
        case .composer where view == .traffic: key(for: "leave", in: .composer)
        case .composer, .list, .traffic, .detail, .events, .output:
            view == context ? nil : key(for: view.rawValue, in: context)
        case .start, .field, .form, .menu, .help, .rewound: nil
        }
    }
}

extension CommandNaming {
    /// Names the keys of the standard table, as pressed in the list.
    package static let standard = CommandNaming { KeyTable.standard.naming($0) }
}
