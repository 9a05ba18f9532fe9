/// Finds what was meant.
package enum Spelling {
    /// The known word that is at most two slips of the finger away, as the end of a sentence; empty: none is.
    package static func suggestion(for word: String, among known: [String]) -> String {
        // Of two that are as near, the one with the same letters, or else the one that begins alike.
        let letters = word.sorted()
        func likeness(_ name: String) -> Int { (name.sorted() == letters ? 2 : 0) + (name.first == word.first ? 1 : 0) }
        let nearest = known.map { (name: $0, slips: distance($0, word)) }.min { left, right in
            left.slips != right.slips ? left.slips < right.slips : likeness(left.name) > likeness(right.name)
        }
        guard let (name, slips) = nearest, slips <= 2, slips < name.count else { return "" }
        return "; did you mean \(name)?"
    }

    /// `a`, `a or b`, `a, b or c`.
    package static func alternatives(_ words: [String]) -> String {
        words.count < 2 ? words.joined() : words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]
    }

    /// Characters to add, drop or change until one word is the other.
    package static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (line, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, other) in right.enumerated() {
                let changed = diagonal + (character == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(changed, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
