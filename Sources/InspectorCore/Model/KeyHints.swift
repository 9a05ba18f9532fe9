extension KeyTable {
    /// A hint with the keys that are bound: `{connect} connects` is `c connects`, or `:connect connects` where no key
    /// does it. The key is that of `context`, or of the first other view that has one.
    package func naming(_ text: String, in context: KeyContext = .list) -> String {
        var named = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            named += rest[..<open]
            let name = String(rest[rest.index(after: open)..<close])
            named += Command(rawValue: name).flatMap { label($0, in: context) } ?? ":\(name)"
            rest = rest[rest.index(after: close)...]
        }
        return named + rest
    }

    private func label(_ command: Command, in context: KeyContext) -> String? {
        ([context] + Self.rebindable).lazy.compactMap { key(for: command, in: $0) }.first
    }
}

extension Model {
    /// A hint with the keys of the place that the cursor is in, or of the views beside it. Nothing that a peer or a file
    /// says belongs in it.
    package func naming(_ text: String) -> String {
        options.keys.naming(text, in: context == .composer ? .talk : context)
    }

    /// What answers whatever waits for the user.
    var answerKey: String { naming("{answer}") }
}
