extension Model {
    /// A hint with the keys that are bound: `{connect} connects` is `c connects`, or `:connect connects` where no key
    /// does it.
    package func naming(_ text: String) -> String {
        var named = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            named += rest[..<open]
            let name = String(rest[rest.index(after: open)..<close])
            named += Command(rawValue: name).flatMap(label) ?? ":\(name)"
            rest = rest[rest.index(after: close)...]
        }
        return named + rest
    }

    /// The key of the place that the cursor is in, or of the views beside it.
    private func label(_ command: Command) -> String? {
        let here = context == .composer ? KeyContext.talk : context
        return ([here] + KeyTable.rebindable).lazy.compactMap { options.keys.key(for: command, in: $0) }.first
    }
}
