/// The help over the screen.
package struct HelpState: Hashable, Sendable {
    /// Where the help was opened, and what its entries run in.
    package var context: KeyContext
    /// The entry that Enter runs, by its order.
    package var cursor = 0
    package var top = 0
    /// Only entries that hold this are shown.
    package var filter = ""

    package init(context: KeyContext, filter: String = "") {
        self.context = context
        self.filter = filter
    }

    /// Shows the entries that hold a word.
    mutating func show(_ filter: String) {
        (self.filter, cursor, top) = (filter, 0, 0)
    }

    /// Moves the cursor by so many entries, and what is in sight with it.
    mutating func move(_ step: Int, _ layout: HelpLayout, height: Int) {
        guard !layout.places.isEmpty else { return }
        cursor = min(max(0, cursor + step), layout.places.count - 1)
        let place = layout.places[cursor]
        let first = cursor == 0 ? 0 : place.row
        top = min(max(top, place.row + place.height - height), first)
        top = min(top, max(0, layout.rows.count - height))
    }
}
