import InspectorCore

extension Configuration {
    /// Returns the whole effective configuration, as a file that parses to the same. `colour` returns the look of a
    /// role that is not set here. Such a line is a comment.
    package func text(colour: (Role) -> ColourText) -> String {
        var lines = ["# The effective configuration of socktui; a subset of TOML 1.0.", "", "[options]"]
        for option in Self.options {
            lines.append("# \(option.help)")
            lines.append("\(option.name) = \(Self.text(option.show(self)))")
        }
        for context in KeyContext.allCases {
            lines += ["", "# A command, as typed after :; empty for none.", "[keys.\(context.rawValue)]"]
            for (key, line) in bound(in: context) { lines.append("\(Self.quoted(key.label)) = \(Self.quoted(line))") }
        }
        lines += ["", "# red, bright-red, 0 to 255 or default; bold, reverse, underline, dim.", "[colors]"]
        for role in Role.allCases {
            let mark = colours[role] == nil ? "# " : ""
            lines.append("\(mark)\(role) = \(Self.quoted((colours[role] ?? colour(role)).text))")
        }
        lines += ["", "# on, off, or how long the condition must last.", "[warnings]"]
        lines += Lint.all.map { lint in
            "\(lints.changes(lint) ? "" : "# ")\(lint.name) = \(Self.quoted(lints.text(lint)))"
        }
        for (name, rules) in faults.sorted(by: { $0.key < $1.key }) {
            lines += ["", "# The faults that --fault \(name) and :fault add \(name) add.", "[fault.\(name)]"]
            lines.append("rules = \(Self.text(.array(rules.map { .string($0) })))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns each key of a context with its line: the default keys in the order of their actions, bound or not,
    /// followed by the keys that the user has added.
    private func bound(in context: KeyContext) -> [(key: Key, line: String)] {
        let added = keys.keys(in: context).sorted { $0.label < $1.label }
        var seen: Set = [KeyTable.fixed]
        return (KeyTable.standard.keys(in: context) + added).filter { seen.insert($0).inserted }.map { key in
            (key, keys.binding(for: key, in: context)?.line ?? "")
        }
    }

    private static func text(_ value: TOML.Value) -> String {
        switch value {
        case .string(let text): quoted(text)
        case .integer(let number): String(number)
        case .boolean(let isTrue): isTrue ? "true" : "false"
        case .array(let values): "[" + values.map(text).joined(separator: ", ") + "]"
        }
    }

    /// Returns a literal string if possible, so that our escapes don't need to be escaped again.
    private static func quoted(_ text: String) -> String {
        let isLiteral = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "'" && $0.value != 0x7F }
        if isLiteral { return text.contains("\\") || text.contains("\"") ? "'\(text)'" : "\"\(text)\"" }
        let scalars = text.unicodeScalars.map { scalar -> String in
            if scalar == "\"" || scalar == "\\" { return "\\\(scalar)" }
            guard scalar.value < 0x20 || scalar.value == 0x7F else { return String(scalar) }
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return "\"\(scalars.joined())\""
    }
}
