/// Finds names by a part of them.
package enum Fuzzy {
    /// Returns how well a name with its description matches the typed text, or `nil` if it doesn't. Lower is better.
    /// The order is: the whole name, its beginning, the beginning of a word in it, a part of it, its letters in order,
    /// words of the description.
    package static func rank(_ typed: String, _ name: String, _ description: String = "") -> Int? {
        let (typed, name) = (typed.lowercased(), name.lowercased())
        if typed.isEmpty || name == typed { return 0 }
        if name.hasPrefix(typed) { return 1 }
        if name.contains("-" + typed) || name.contains(" " + typed) { return 2 }
        if name.contains(typed) { return 3 }
        if typed.count > 1, isSubsequence(typed, of: name) { return 4 }
        let all = name + " " + description.lowercased()
        let words = typed.split(separator: " ")
        return !words.isEmpty && words.allSatisfy { all.contains($0) } ? 5 : nil
    }

    private static func isSubsequence(_ typed: String, of name: String) -> Bool {
        var rest = name[...]
        for character in typed {
            guard let index = rest.firstIndex(of: character) else { return false }
            rest = rest[rest.index(after: index)...]
        }
        return true
    }

    /// Returns the longest common prefix, or an empty string if there is none.
    package static func commonPrefix(_ names: [String]) -> String {
        guard var common = names.first else { return "" }
        for name in names {
            while !name.hasPrefix(common) { common.removeLast() }
        }
        return common
    }
}
