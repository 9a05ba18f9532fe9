/// An incremental search in the sent lines (^R).
package struct HistorySearch: Equatable, Sendable {
    /// The search text.
    package fileprivate(set) var text = ""
    /// The line from before the search.
    fileprivate var draft: String
    /// The index of the match in the history.
    fileprivate var index: Int?
    /// Whether no earlier line contains the text.
    package fileprivate(set) var hasFailed = false
}

extension Composer {
    /// Starts a search, or moves to the match before the one shown.
    mutating func searchHistory() {
        guard let search else {
            self.search = HistorySearch(draft: editor.text)
            return
        }
        find(from: (search.index ?? editor.history.count) - 1)
    }

    /// Extends the search text by one character.
    mutating func extendSearch(by character: Character) {
        search?.text.append(character)
        find(from: search?.index ?? editor.history.count - 1)
    }

    /// Removes the last character of the search text, and searches from the latest line.
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

    /// Ends the search and restores the earlier line.
    mutating func cancelSearch() {
        if let search { editor.set(search.draft) }
        search = nil
    }

    /// Shows the latest line up to index `last` that contains the text.
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
