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
        rows[context]?.first { $0.line == action && !$0.keys.isEmpty }?.keys.first?.label
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
    /// it. The key is the one of `context`, or of the first view that has one.
    package func naming(_ text: String, in context: KeyContext = .list) -> String {
        var named = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            named += rest[..<open]
            let name = String(rest[rest.index(after: open)..<close])
            named += pressed(name, in: context) ?? ":\(name)"
            rest = rest[rest.index(after: close)...]
        }
        return named + rest
    }

    /// What to press for an action: while a line is typed, letters are text until it is left.
    private func pressed(_ name: String, in context: KeyContext) -> String? {
        if let key = key(for: name, in: context) { return key }
        guard let inView = KeyContext.views.lazy.compactMap({ key(for: name, in: $0) }).first else { return nil }
        return context == .composer ? key(for: "leave", in: .composer).map { "\($0) \(inView)" } ?? inView : inView
    }
}
