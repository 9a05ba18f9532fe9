/// The help, shown over the screen.
package struct HelpState: Equatable, Sendable {
    /// The context where the help was opened, in which its entries run.
    package var context: KeyContext
    /// The index of the entry that Enter runs.
    package var cursor = 0
    package var top = 0
    /// Only entries that contain this text are shown.
    package var filter = ""

    package init(context: KeyContext, filter: String = "") {
        self.context = context
        self.filter = filter
    }

    /// Shows the entries that contain a word.
    mutating func show(_ filter: String) {
        (self.filter, cursor, top) = (filter, 0, 0)
    }

    /// Moves the cursor by `step` entries, and scrolls along.
    mutating func move(_ step: Int, _ layout: HelpLayout, height: Int) {
        guard !layout.places.isEmpty else { return }
        cursor = min(max(0, cursor + step), layout.places.count - 1)
        let place = layout.places[cursor]
        let first = cursor == 0 ? 0 : place.row
        top = min(max(top, place.row + place.height - height), first)
        top = min(top, max(0, layout.rows.count - height))
    }
}
