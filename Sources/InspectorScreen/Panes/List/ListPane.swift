import InspectorCore
import SocketCore

/// The state of the list.
package struct ListPane: Equatable, Sendable {
    /// What the cursor keeps when the order of rows changes.
    package enum CursorRule: Equatable, Sendable, CaseIterable {
        /// The connection. If rows are sorted by a changing value, a cursor on the first row stays there.
        case connection
        case place
        /// Nothing. The cursor moves to each new connection.
        case newest

        var next: CursorRule {
            switch self {
            case .connection: .place
            case .place: .newest
            case .newest: .connection
            }
        }

        /// The text in the footer when it is chosen.
        var sentence: String {
            switch self {
            case .connection: "the cursor stays on its connection"
            case .place: "the cursor stays on its row"
            case .newest: "the cursor goes to each new connection"
            }
        }

        /// The text in the tab line, or `nil` for the default rule.
        var chip: String? {
            switch self {
            case .connection: nil
            case .place: "keeps its row ({follow})  "
            case .newest: "following ({follow})  "
            }
        }
    }

    /// The listed sessions, in order. A relayed pair is listed as its client's leg.
    package internal(set) var rows: [SocketID] = []
    /// The number of rows without the filter.
    package internal(set) var total = 0
    package internal(set) var selected: SocketID?
    /// Whether the user has moved the cursor.
    package internal(set) var isChosen = false
    /// The index of the first visible row.
    package internal(set) var top = 0
    /// The last jump of the cursor, and the first visible row from before.
    var jump: Jump?
    /// What is listed, which decides the columns.
    package internal(set) var kind = ListKind.sockets
    /// Of a host, the number of sockets in TIME-WAIT, and the one whose row stands for all of them.
    package internal(set) var folded: Folded?

    package struct Folded: Equatable, Sendable {
        package var row: SocketID
        package var count: Int
    }

    /// The order that the user chose.
    var chosen: Sorting?
    package internal(set) var filter = Filter()
    /// The chosen optional columns.
    package internal(set) var columns = Set(ListKind.sockets.optional.filter(\.isOn).map(\.name))
    package internal(set) var marked: Set<SocketID> = []
    /// Whether only marked sessions are listed.
    package internal(set) var showsMarked = false
    /// Whether the two legs of a relayed connection are two rows.
    package internal(set) var showsLegs = false
    package internal(set) var cursor = CursorRule.connection
    package internal(set) var search = ""
    /// When a key was last pressed, by the time of the snapshot shown then. The order is then kept for one second.
    package internal(set) var keyPressed: MonotonicTime?
    /// The results of `:find`, which replace the rows until they are dropped.
    package internal(set) var found: FoundPane?
    /// The list of programs that replaces the rows, or `nil` if sockets are listed.
    package internal(set) var programs: ProgramsPane?
    /// The list of hosts that replaces the rows, or `nil`.
    package internal(set) var hosts: HostsPane?
    /// The filter of the list of programs from which the sockets of one were opened.
    var programsFilter: Filter?
    /// The number of searches over all connections.
    var findsBegun = 0
    /// How often all rows were matched with a newly set filter.
    package internal(set) var filterRuns = 0

    package init() {}

    /// The order: the one chosen, or that of the kind if it does not have the column.
    package var sorting: Sorting {
        guard var chosen, let column = kind.column(like: chosen.column) else { return kind.order }
        chosen.column = column
        return chosen
    }

    /// Whether the cursor moves to each new connection.
    package var follows: Bool { cursor == .newest }

    /// Lists programs, or sockets.
    mutating func listPrograms(_ isOn: Bool) {
        programs = isOn ? ProgramsPane() : nil
        programsFilter = nil
    }

    /// Called when the user moves the cursor. It then no longer moves to new connections.
    mutating func stopFollowing() {
        if cursor == .newest { cursor = .connection }
    }
}
