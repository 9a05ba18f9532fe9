import InspectorCore

/// A line above the footer in which a filter, a search or a command is typed.
package struct OpenField: Equatable, Sendable {
    package enum Purpose: Equatable, Sendable {
        case listFilter, listSearch, eventFilter, eventSearch, trafficSearch, helpFilter, command, instant

        /// Whether the typed text is a filter.
        var isFilter: Bool { self == .listFilter || self == .eventFilter }
    }

    package var purpose: Purpose
    package var editor: LineEditor
    /// The value from before the field was opened.
    package var before: String
    package var error: String?
    /// The characters that the error is about.
    package var wrong: Range<Int>?
    /// The row of the palette that the user has selected.
    package var choice: Int?

    /// What Enter does with the text.
    var verb: String {
        switch purpose {
        case .listFilter, .eventFilter, .helpFilter: "apply"
        case .listSearch, .eventSearch, .trafficSearch: "search"
        case .command: "run"
        case .instant: "go to"
        }
    }
}
