/// What a list shows, which decides its columns.
package enum ListKind: Int, CaseIterable, Sendable {
    /// Sockets that are seen from one end; those among which a relay's are; captured connections; and sockets of other
    /// programs, inspected from outside.
    case sockets, relayed, captured, host

    private static let tables: [(standard: [ListColumn], optional: [ListColumn])] = [
        (
            ListColumn.standard(ListColumn.queues + ListColumn.waits + ListColumn.ofOneEnd),
            ListColumn.optional(ListColumn.totals)
        ),
        (
            // A relay has had hundreds of clients when a dozen are there: those come first, whatever their numbers.
            ListColumn.standard(ListColumn.queues + ListColumn.waits + ListColumn.ofBothEnds).map {
                $0.with { $0.ordersClosed = false }
            },
            ListColumn.optional(ListColumn.totalsOfEnds)
        ),
        (
            ListColumn.standard(ListColumn.programs + ListColumn.waits + ListColumn.ofBothEnds),
            ListColumn.optional(ListColumn.totalsOfEnds)
        ),
        (ListColumn.host, []),
    ]

    /// The columns that are shown if there is room, from left to right. Optional ones stand before the last.
    package var standard: [ListColumn] { Self.tables[rawValue].standard }

    /// The columns that the user can add.
    package var optional: [ListColumn] { Self.tables[rawValue].optional }

    /// Every column that rows can be sorted by.
    package var sortable: [ListColumn] { standard.filter { !$0.title.isEmpty } + optional }

    /// Returns the column of this name that rows can be sorted by, or `nil` if there is none.
    package func column(_ name: String) -> ListColumn? { sortable.first { $0.name == name } }

    /// Returns the column that takes the place of one of another kind of list, or `nil` if there is none.
    package func column(like other: ListColumn) -> ListColumn? {
        column(other.name) ?? sortable.first { $0.twin == other.name || $0.name == other.twin }
    }

    /// The order until the user chooses one: on a host, the worst first.
    package var order: Sorting { Sorting(self == .host ? ListColumn.warnings : standard[0]) }

    /// Returns the names of the rare columns that one of these rows has something for.
    package func rare(in rows: [Listed], _ sight: Sight) -> [String] {
        standard.filter { column in
            column.isRare && rows.contains { column.isNeeded?($0) ?? (column.value($0, sight) != nil) }
        }.map(\.name)
    }

    /// The columns of all kinds, each name once, and what only filters compare.
    private static let all: [ListColumn] = {
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
