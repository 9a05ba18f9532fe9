import InspectorCore

/// Something that a user can do. Its row is the only place that names it. The keys and their dispatch, the commands
/// after `:` and their completion, the hint line, the help, the manual and the configuration are all generated from it.
package struct Action: Sendable {
    /// The action's name after `:`, in scripts and in the configuration.
    package let name: String
    /// The arguments that it takes after `:`, or `nil` if it takes none.
    package let syntax: Syntax?
    /// The contexts in which keys run it. Empty for a command that needs arguments.
    package let uses: [Use]
    /// The abilities that the selected connection's program must have. Without them, no hint is shown and the keys are
    /// rejected.
    package let needs: SourceAbilities

    /// One set of keys for an action, and the contexts in which they work.
    package struct Use: Sendable {
        package let contexts: [KeyContext]
        /// The default keys. Hints name the first one.
        package let keys: [Key]
        /// The sentence in the help.
        package let help: String
        /// Returns the word in the hint line, or `nil` if there is none or the action would do nothing now.
        private let word: @Sendable (Model) -> String?
        /// The word in the hint line, if it is always the same.
        package let label: String?
        /// What it does. A use without its own body has that of its action.
        fileprivate(set) var body: Body?
        fileprivate var needs: SourceAbilities = []
        /// Whether the help and the hint line show it before the other actions of its contexts.
        private(set) var leads = false
        /// Whether a configuration must leave it a key, because it is the way out.
        private(set) var needsKey = false

        static func key(
            _ keys: [Key], in contexts: [KeyContext], _ help: String, hint: String? = nil,
            if isOffered: @escaping @Sendable (Model) -> Bool = { _ in true }, _ body: Body? = nil
        ) -> Use {
            Use(
                contexts: contexts, keys: keys, help: help, word: { isOffered($0) ? hint : nil }, label: hint,
                body: body
            )
        }

        static func key(
            _ keys: [Key], in contexts: [KeyContext], _ help: String, hint: @escaping @Sendable (Model) -> String?,
            _ body: Body? = nil
        ) -> Use {
            Use(contexts: contexts, keys: keys, help: help, word: hint, label: nil, body: body)
        }

        /// The same use, shown before the others.
        var leading: Use { with { $0.leads = true } }

        /// The same use, which must always have a key.
        var required: Use { with { $0.needsKey = true } }

        private func with(_ change: (inout Use) -> Void) -> Use {
            var use = self
            change(&use)
            return use
        }

        /// Returns the word in the hint line, or `nil` if there is none or the action would do nothing now.
        func hint(_ model: Model) -> String? { model.refusal(needing: needs) == nil ? word(model) : nil }

        /// Performs the action, or says why the selected connection's program doesn't allow it. `key` is the key that
        /// was pressed, or a default one.
        func perform(_ model: inout Model, _ key: Key) -> [Effect] {
            guard let refusal = model.refusal(needing: needs) else { return body?.run(&model, key) ?? [] }
            model.notice = .error(refusal)
            return []
        }
    }

    /// How an action changes the model, and which effects it requests.
    struct Body: Sendable {
        let run: @Sendable (inout Model, Key) -> [Effect]

        /// A body that only changes the model.
        static func change(_ change: @escaping @Sendable (inout Model) -> Void) -> Body {
            Body { model, _ in
                change(&model)
                return []
            }
        }

        static func effects(_ effects: @escaping @Sendable (inout Model) -> [Effect]) -> Body {
            Body { model, _ in effects(&model) }
        }

        /// A body that depends on the pressed key.
        static func pressed(
            _ effects: @escaping @Sendable (inout Model, Key) -> [Effect]
        ) -> Body { Body(run: effects) }
    }

    init(
        _ name: String, needs: SourceAbilities = [], _ body: Body? = nil, takes syntax: Syntax? = nil, _ uses: Use...
    ) {
        self.name = name
        self.needs = needs
        self.syntax = syntax
        self.uses = uses.map { use in
            var use = use
            use.body = use.body ?? body
            use.needs = needs
            return use
        }
    }

    /// Returns the use in a context, or `nil` if the action is not available there.
    package func use(in context: KeyContext) -> Use? { uses.first { $0.contexts.contains(context) } }

    /// Returns the use if the action is run by its name. The traffic's actions are also available while a line is
    /// typed.
    func use(runIn context: KeyContext) -> Use? {
        use(in: context) ?? (context == .composer ? use(in: .traffic) : nil)
            ?? (KeyContext.views.contains(context) || context == .composer ? use(in: .rewound) : nil)
    }

    /// Returns the use for a key bound by the configuration. A key of one view can run an action of another view.
    package func use(boundIn context: KeyContext) -> Use? {
        if let use = use(in: context) { return use }
        return KeyContext.views.contains(context) ? KeyContext.views.lazy.compactMap(use(in:)).first : nil
    }
}

extension Action {
    /// All actions, in the order of the help and the hint line: connections, display, moving.
    package static let all: [Action] =
        sockets + prompts + operations + composer + webSockets + faults + looking + rewinding + screens + dialogs
        + program
        + moving
        + editing

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    package static func named(_ name: String) -> Action? { byName[name] }

    /// Every word that can start a command, in alphabetical order.
    package static let names = all.map(\.name).sorted()
}
