import SocketCore

/// The state of the list.
package struct ListPane: Hashable, Sendable {
    /// What the cursor keeps when the rows change their order.
    package enum CursorRule: Hashable, Sendable, CaseIterable {
        /// Its connection. Sorted by what changes all the time, the first row keeps its place.
        case connection
        case place
        /// Nothing: it goes to each new connection.
        case newest

        var next: CursorRule {
            switch self {
            case .connection: .place
            case .place: .newest
            case .newest: .connection
            }
        }

        /// What the footer says when it is chosen.
        var sentence: String {
            switch self {
            case .connection: "the cursor stays on its connection"
            case .place: "the cursor stays in its place, whichever connection is there"
            case .newest: "the cursor goes to each new connection"
            }
        }

        /// What the tab line says, or `nil` for the usual rule.
        var chip: String? {
            switch self {
            case .connection: nil
            case .place: "keeps its place ({follow})  "
            case .newest: "following ({follow})  "
            }
        }
    }

    /// The sessions listed, in order. A relayed pair is listed as its client's leg.
    package internal(set) var rows: [SocketID] = []
    /// How many rows there would be without a filter.
    package internal(set) var total = 0
    package internal(set) var selected: SocketID?
    /// Whether the user has moved the cursor.
    package internal(set) var isChosen = false
    /// Index of the first row in sight.
    package internal(set) var top = 0
    /// Where the cursor jumped from last, to where, and the first row that was in sight before.
    var jump: Jump?
    package internal(set) var sorting = Sorting()
    package internal(set) var filter = Filter()
    /// The optional columns that are wanted.
    package internal(set) var columns = Set(ListColumn.optional.filter(\.isOn).map(\.name))
    package internal(set) var marked: Set<SocketID> = []
    /// Whether only marked sessions are listed.
    package internal(set) var showsMarked = false
    /// Whether the two legs of a relayed connection are two rows.
    package internal(set) var showsLegs = false
    package internal(set) var cursor = CursorRule.connection
    package internal(set) var search = ""
    /// When a key was last pressed, by the time of the snapshot shown then: the order rests for a second.
    package internal(set) var keyPressed: MonotonicTime?
    /// The results of `:find`, which take the place of the rows until they are dropped.
    package internal(set) var found: FoundPane?
    /// Programs in the place of the rows; `nil`: sockets are listed.
    package internal(set) var programs: ProgramsPane?
    /// The filter of the list of programs from which the sockets of one were opened.
    var programsFilter: Filter?
    /// How many searches over all connections were begun.
    var findsBegun = 0
    /// How often all rows were matched with a filter that was set.
    package internal(set) var filterRuns = 0

    package init() {}

    /// Whether the cursor goes to each new connection.
    package var follows: Bool { cursor == .newest }

    /// Lists programs, or sockets.
    mutating func listPrograms(_ isOn: Bool) {
        programs = isOn ? ProgramsPane() : nil
        programsFilter = nil
    }

    /// The user has moved the cursor, so it does not run away from there.
    mutating func stopFollowing() {
        if cursor == .newest { cursor = .connection }
    }
}
