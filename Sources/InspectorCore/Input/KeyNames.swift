extension Key {
    /// The keys with their own names. Help and hints use the first name of each.
    private static let named: [(key: Key, names: [String])] = [
        (.enter, ["Enter"]), (.tab, ["Tab"]), (.backTab, ["S-Tab"]), (.escape, ["Esc", "Escape"]),
        (.character(" "), ["Space"]), (.backspace, ["Backspace"]), (.delete, ["Del", "Delete"]),
        (.insert, ["Ins", "Insert"]), (.altEnter, ["Alt-Enter"]), (.up, ["Up"]), (.down, ["Down"]), (.left, ["Left"]),
        (.right, ["Right"]), (.shiftLeft, ["S-Left"]),
        (.shiftRight, ["S-Right"]), (.altLeft, ["Alt-Left", "M-Left"]), (.altRight, ["Alt-Right", "M-Right"]),
        (.home, ["Home"]), (.end, ["End"]), (.pageUp, ["PgUp"]), (.pageDown, ["PgDn"]),
    ]

    /// The name in help and hints.
    package var label: String {
        switch self {
        case .control(let character): "^" + character.uppercased()
        case .alt(let character): "Alt-\(character)"
        case .function(let number): "F\(number)"
        default: Self.named.first { $0.key == self }?.names.first ?? character.map(String.init) ?? ""
        }
    }

    /// Parses `q`, `Enter`, `^D` or `C-d`, `Alt-1` or `M-1`, `F7`: the names in the help, and those of tmux and emacs.
    package init?(named name: String) {
        if let only = name.first, name.count == 1 {
            self = .character(only)
        } else if let named = Self.named.first(where: { $0.names.contains(name) }) {
            self = named.key
        } else if let letter = Self.last(of: name.lowercased(), after: ["^", "c-", "ctrl-"]),
            "abcdefghijklmnopqrstuvwxyz@[\\]^_".contains(letter)
        {
            self = .control(letter)
        } else if let last = Self.last(of: name, after: ["Alt-", "M-"]) {
            self = .alt(last)
        } else if name.hasPrefix("F"), let number = Int(name.dropFirst()), (1...24).contains(number) {
            self = .function(number)
        } else {
            return nil
        }
    }

    /// Returns the single character that follows one of these prefixes.
    private static func last(of name: String, after prefixes: [String]) -> Character? {
        prefixes.contains { name.hasPrefix($0) && name.count == $0.count + 1 } ? name.last : nil
    }

    private var character: Character? { if case .character(let character) = self { character } else { nil } }

    /// Whether the key types a character in text contexts.
    package var isCharacter: Bool { character != nil }
}

extension Key: ExpressibleByExtendedGraphemeClusterLiteral {
    package init(extendedGraphemeClusterLiteral character: Character) { self = .character(character) }
}
