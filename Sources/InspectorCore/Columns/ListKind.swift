/// What a list shows, which decides its columns.
package enum ListKind: CaseIterable, Sendable {
    /// Sockets that are seen from one end.
    case sockets
    /// Sockets among which a relay's are.
    case relayed
    /// Captured connections.
    case captured
    /// Sockets of other programs, inspected from outside.
    case host

    /// The columns that are shown if there is room, from left to right. Optional ones stand before the last.
    package var standard: [ListColumn] {
        switch self {
        case .sockets: Self.standardOfSockets
        case .relayed: Self.standardOfRelayed
        case .captured: Self.standardOfCaptured
        case .host: ListColumn.host
        }
    }

    /// The columns that the user can add.
    package var optional: [ListColumn] {
        switch self {
        case .sockets: Self.optionalOfSockets
        case .relayed, .captured: Self.optionalOfEnds
        case .host: []
        }
    }

    /// Every column that rows can be sorted by.
    package var sortable: [ListColumn] { standard.filter { !$0.title.isEmpty } + optional }

    /// Returns the column of this name that rows can be sorted by, or `nil` if there is none.
    package func column(_ name: String) -> ListColumn? { sortable.first { $0.name == name } }

    /// The order until the user chooses one: on a host, the worst first.
    package var order: Sorting { Sorting(self == .host ? ListColumn.warnings : standard[0]) }

    private static let standardOfSockets = ListColumn.standard(ListColumn.queues, rates: ListColumn.ofOneEnd)
    private static let standardOfRelayed = ListColumn.standard(ListColumn.queues, rates: ListColumn.ofBothEnds)
    private static let standardOfCaptured = ListColumn.standard(ListColumn.programs, rates: ListColumn.ofBothEnds)
    private static let optionalOfSockets = ListColumn.optional(ListColumn.totals)
    private static let optionalOfEnds = ListColumn.optional(ListColumn.totalsOfEnds)

    /// The columns of all kinds, each name once, and what only filters compare.
    static let all: [ListColumn] = {
        var names: Set<String> = []
        return (allCases.flatMap { $0.standard + $0.optional } + ListColumn.measures).filter {
            names.insert($0.name).inserted
        }
    }()

    /// What filters compare with numbers.
    static let measured = all.filter { $0.unit != nil }
    /// What filters search for text.
    static let worded = all.filter { $0.unit == nil && $0.content != .mark && $0.name != "warnings" }
}

extension ListKind {
    /// Returns the names of the rare columns that one of these rows has something for.
    package func rare(in rows: [Listed], _ sight: Sight) -> [String] {
        standard.filter { column in column.isRare && rows.contains { column.value($0, sight) != nil } }.map(\.name)
    }
}
