/// Suggestions for misspelled words.
package enum Spelling {
    /// Returns the known word at most two edits away, as the end of a sentence, or an empty string if there is none.
    package static func suggestion(for word: String, among known: [String]) -> String {
        // Of two equally near words, prefer one with the same letters, then one with the same first letter.
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

    /// Returns the number of characters to insert, delete or change to turn one word into the other.
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
