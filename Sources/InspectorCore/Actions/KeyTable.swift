/// One row of the key table: keys, and what they do in one context.
package struct Binding: Hashable, Sendable {
    package var keys: [Key]
    /// What runs, as it is typed after `:`: an action's name, or a command with its arguments. Empty if the keys do
    /// nothing.
    package var line: String
    /// The sentence in the help.
    package var help: String

    /// The action, or `nil` if the keys run a command with arguments.
    package var action: Action? { Action.named(line).flatMap { $0.uses.isEmpty ? nil : $0 } }
}

/// The keys in force: the defaults of the actions, and the user's changes.
package struct KeyTable: Hashable, Sendable {
    /// The key that cannot be bound, so that there is always a way out.
    package static let fixed = Key.control("c")

    /// No key is in two rows of a context. A row that has lost its keys stays for others to come.
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

    /// The row that a key has in a context.
    package func binding(for key: Key, in context: KeyContext) -> Binding? {
        rows[context]?.first { $0.keys.contains(key) }
    }

    /// The label of the first key for an action in a context, or `nil` if it has none there.
    package func key(for action: String, in context: KeyContext) -> String? {
        let keys = rows[context]?.first { $0.line == action && !$0.keys.isEmpty }?.keys
        // In a menu a letter may be an item's.
        let sure = context == .menu ? keys?.first { !$0.isCharacter } : nil
        return (sure ?? keys?.first)?.label
    }

    /// The rows of a context with keys that do something, in the order of the actions.
    package func bindings(in context: KeyContext) -> [Binding] {
        rows[context]?.filter { !$0.keys.isEmpty && !$0.line.isEmpty } ?? []
    }

    /// The keys of a context, in the order of its rows.
    package func keys(in context: KeyContext) -> [Key] { rows[context]?.flatMap(\.keys) ?? [] }

    /// Makes a key run a line in a context, or do nothing if the line is empty. A letter is then typed where text is.
    /// Hints name the key that was bound last.
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
    /// A hint with the keys in force: `{connect} connects` becomes `c connects`, or `:connect connects` if no key does
    /// it. The keys are what to press in `context`: where that place has none for an action, another view has one, and
    /// what leads there comes first, as in `Esc r` or `2 Enter`. `view` names the view whose action is meant, if several
    /// views have one of that name.
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

    /// What to press for an action.
    private func pressed(_ name: String, in context: KeyContext, of wanted: KeyContext?) -> String? {
        let isHere = wanted.map { $0 == context || context == .composer && $0 == .talk } ?? true
        if isHere, let key = key(for: name, in: context) { return key }
        let views = wanted.map { [$0] } ?? (context == .composer ? [.talk] : []) + KeyContext.views
        guard let found = views.first(where: { key(for: name, in: $0) != nil }) else { return nil }
        return [way(from: context, to: found), key(for: name, in: found)].compactMap { $0 }.joined(separator: " ")
    }

    /// What to press to get from one place to a view. While a line is typed, letters are text until it is left.
    private func way(from context: KeyContext, to view: KeyContext) -> String? {
        switch context {
        case .composer where view == .talk: key(for: "leave", in: .composer)
        case .composer, .list, .talk, .detail, .events, .output:
            view == context ? nil : key(for: view.rawValue, in: context)
        case .start, .field, .form, .menu, .help, .rewound: nil
        }
    }
}
