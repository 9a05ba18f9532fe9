/// The keys in force: the table of `Keymap`, as a person's configuration has changed it.
package struct KeyTable: Hashable, Sendable {
    /// Where keys may be bound. Those of text prompts and dialogs are fixed, since whoever binds them anew may find no
    /// way out of a prompt.
    package static let rebindable: [KeyContext] = [.list, .talk, .detail, .events]
    /// Those that mean the same everywhere, and stay.
    package static let fixed: Set<Key> = [.control("c"), .control("z"), .control("l")]

    /// Within a context the first row that has the key wins.
    package private(set) var bindings = Keymap.bindings

    package static let standard = KeyTable()

    package init() {}

    /// The row that a key has in a context.
    package func binding(for key: Key, in context: KeyContext) -> Binding? {
        bindings.first { $0.contexts.contains(context) && $0.keys.contains(key) }
    }

    /// The label of the first key that does this in a context; nil: no key does.
    package func key(for command: Command, in context: KeyContext) -> String? {
        for binding in bindings where binding.command == command && binding.line == nil {
            guard binding.contexts.contains(context) else { continue }
            if let key = binding.keys.first(where: { self.binding(for: $0, in: context) == binding }) {
                return key.label
            }
        }
        return nil
    }

    /// The rows of a context, in the order of the table; a command that is there twice only once.
    package func bindings(in context: KeyContext) -> [Binding] {
        var seen: Set<[Key]> = []
        return bindings.filter { $0.contexts.contains(context) && seen.insert($0.keys).inserted }
    }

    /// Makes a key do something else in a context; nil: nothing.
    package mutating func bind(_ key: Key, in context: KeyContext, to line: String?) {
        unbind(key, in: context)
        guard let line else { return }
        let plain = Command(rawValue: line)
        let model = plain.flatMap { command in
            Keymap.bindings.first { $0.command == command && $0.contexts.contains(context) }
        }
        bindings.insert(
            Binding(
                contexts: [context], keys: [key], command: plain ?? .commandLine, help: model?.help ?? line,
                line: plain == nil ? line : nil),
            at: 0)
    }

    /// Rows that lose a key in one context only are split, so that the others keep it.
    private mutating func unbind(_ key: Key, in context: KeyContext) {
        bindings = bindings.flatMap { binding -> [Binding] in
            guard binding.contexts.contains(context), binding.keys.contains(key) else { return [binding] }
            var (others, here) = (binding, binding)
            others.contexts.remove(context)
            here.contexts = [context]
            here.keys.removeAll { $0 == key }
            return (others.contexts.isEmpty ? [] : [others]) + (here.keys.isEmpty ? [] : [here])
        }
    }
}
