/// A search in the lines that were sent (^R), which goes on with each letter.
package struct HistorySearch: Hashable, Sendable {
    /// What is searched.
    package fileprivate(set) var text = ""
    /// The line as it was before.
    fileprivate var draft: String
    /// Where the match is in the history.
    fileprivate var index: Int?
    /// Whether no earlier line holds the text.
    package fileprivate(set) var hasFailed = false
}

extension Composer {
    /// Begins to search, or goes to the match before the one that is shown.
    mutating func searchHistory() {
        guard let search else {
            self.search = HistorySearch(draft: editor.text)
            return
        }
        find(from: (search.index ?? editor.history.count) - 1)
    }

    /// Searches for the text with one more character.
    mutating func extendSearch(by character: Character) {
        search?.text.append(character)
        find(from: search?.index ?? editor.history.count - 1)
    }

    /// Searches for the text without its last character, from the latest line.
    mutating func shortenSearch() {
        guard search?.text.isEmpty == false else { return }
        search?.text.removeLast()
        find(from: editor.history.count - 1)
    }

    /// Ends the search with the line that was found.
    mutating func acceptSearch() {
        guard search != nil else { return }
        search = nil
        recalled()
    }

    /// Ends the search with the line that was there before.
    mutating func cancelSearch() {
        if let search { editor.set(search.draft) }
        search = nil
    }

    /// Shows the latest line that holds the text, up to this one.
    private mutating func find(from last: Int) {
        guard let text = search?.text else { return }
        guard !text.isEmpty, last >= 0,
            let found = editor.history[...last].lastIndex(where: { $0.contains(text) })
        else {
            search?.hasFailed = !text.isEmpty
            return
        }
        search?.index = found
        search?.hasFailed = false
        editor.set(editor.history[found])
    }
}
