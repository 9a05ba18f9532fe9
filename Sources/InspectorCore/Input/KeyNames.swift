extension Key {
    /// Reads `q`, `Enter`, `^D` or `C-d`, `Alt-1` or `M-1`, `F7`: what help shows, and what tmux and emacs write.
    package init?(named name: String) {
        if let only = name.first, name.count == 1 {
            self = .character(only)
        } else if let named = Self.names[name] {
            self = named
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

    /// The one character that stands behind one of these prefixes.
    private static func last(of name: String, after prefixes: [String]) -> Character? {
        prefixes.contains { name.hasPrefix($0) && name.count == $0.count + 1 } ? name.last : nil
    }

    private static let names: [String: Key] = [
        "Enter": .enter, "Tab": .tab, "S-Tab": .backTab, "Esc": .escape, "Escape": .escape, "Space": .character(" "),
        "Backspace": .backspace, "Delete": .delete, "Del": .delete,
        "Insert": .insert, "Ins": .insert, "Alt-Enter": .altEnter, "Up": .up,
        "Down": .down, "Left": .left, "Right": .right, "Home": .home, "End": .end, "PgUp": .pageUp, "PgDn": .pageDown,
    ]
}
