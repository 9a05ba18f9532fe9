import SocketCore

/// One column of the list: its title, what it shows of a row, what rows are sorted by, and what a filter compares.
///
/// To add a column, add a row to the table of a kind of list: nothing else names it.
package struct ListColumn: Equatable, Sendable {
    /// The value that a row is sorted by.
    package enum Value: Hashable, Sendable {
        case number(Double)
        case text(String)
    }

    /// What its numbers count. A filter compares them in that unit.
    package enum Unit: Sendable { case count, bytes, time }

    /// What is in a cell.
    package struct Cell: Equatable, Sendable {
        package var text: String
        package var style: Style

        package init(_ text: String, _ style: Style) { (self.text, self.style) = (text, style) }
        package init(_ text: String, _ role: Role) { self.init(text, Style(role)) }
    }

    /// How a cell is drawn: its text, a name that may lose its number, an address that may lose its middle, or what
    /// the screen makes of several facts, partly across the neighboring columns.
    package enum Content: Sendable { case text, name, address, mark, ends, reading, writing }

    /// The name in options and filters and for sorting.
    package let name: String
    package var title: String
    /// The least width. More room goes to the columns that `ListLayout` names.
    package var width: Int
    package var alignsRight = false
    /// The description in the dialog for choosing columns.
    package var meaning: String
    package var content = Content.text
    /// 0 if it is always shown. For lack of room, those of higher ranks are left out first.
    package var rank = 0
    /// Whether it is shown by default if the user chooses columns.
    package var isOn = false
    /// Whether it is shown only if a visible row has it.
    package var isRare = false
    /// Returns whether a row needs it if it is rare, or `nil` if each row with a value does.
    package var isNeeded: (@Sendable (Listed) -> Bool)?
    /// Whether its value needs kernel state. That is requested only for visible rows, unless the rows are sorted by it.
    package var asksKernel = false
    /// Whether its values rarely change, so that rows keep their positions.
    package var isSteady = false
    /// Whether the largest value comes first unless reversed.
    package var startsDescending = false
    /// Whether it orders closed rows too. Otherwise the latest comes first.
    package var ordersClosed = false
    /// Whether text that is searched for is highlighted in it.
    package var marksSearch = false
    /// The column of another kind of list whose place it takes when rows are sorted.
    var twin: String?
    /// The unit of its values in filters, or `nil` if they are not compared.
    package var unit: Unit?
    /// Returns the value, or `nil` if it is unknown. Rows without a value are sorted last.
    package var value: @Sendable (Listed, Sight) -> Value?
    /// Returns what is shown, or `nil` for nothing.
    package var cell: @Sendable (Listed, Sight) -> Cell? = { _, _ in nil }

    package static func == (left: ListColumn, right: ListColumn) -> Bool {
        left.name == right.name && left.title == right.title
    }

    /// What it is called in a sentence.
    package var sentenceName: String { title == "!" ? name : title }

    /// Whether it shows this text, which must be lower case.
    func holds(_ text: String, _ socket: SocketSnapshot, _ sight: Sight) -> Bool {
        if case .text(let own) = value(Listed(socket), sight) { own.holds(text) } else { false }
    }

    /// Returns the number that a filter compares, or `nil` if it is unknown.
    func amount(_ socket: SocketSnapshot, _ sight: Sight) -> Double? {
        if case .number(let number) = value(Listed(socket), sight) { number } else { nil }
    }
}

/// What rows of tables are made from. A row of a pair shows the client's leg, or the server's if the client's has
/// nothing to show.
extension ListColumn {
    /// Returns the same column with other attributes.
    func with(_ change: (inout ListColumn) -> Void) -> ListColumn {
        var column = self
        change(&column)
        return column
    }

    /// A column of text.
    static func text(
        _ name: String, _ title: String, _ width: Int, _ meaning: String, steady: Bool = true,
        _ content: Content = .text, role: @escaping @Sendable (Listed) -> Role = { $0.isLive ? .dim : .closed },
        _ text: @escaping @Sendable (SocketSnapshot) -> String?
    ) -> ListColumn {
        let found: @Sendable (Listed) -> String? = { $0.legs.lazy.compactMap(text).first }
        return ListColumn(
            name: name, title: title, width: width, meaning: meaning, content: content, isSteady: steady,
            value: { row, _ in found(row).map { .text($0) } },
            cell: { row, _ in found(row).map { Cell($0, role(row)) } })
    }

    /// A column of numbers. `sums` adds up the legs of a pair while it is live.
    static func bytes(
        _ name: String, _ title: String, _ meaning: String, width: Int = 6, sums: Bool = false,
        role: @escaping @Sendable (Listed) -> Role = { $0.isLive ? .dim : .closed },
        _ count: @escaping @Sendable (SocketSnapshot) -> Int?
    ) -> ListColumn {
        let found: @Sendable (Listed) -> Int? = { row in
            let known = row.legs.compactMap(count)
            return sums && !known.isEmpty ? known.reduce(0, +) : known.first
        }
        return ListColumn(
            name: name, title: title, width: width, alignsRight: true, meaning: meaning, startsDescending: true,
            unit: .bytes,
            value: { row, _ in found(row).map { .number(Double($0)) } },
            cell: { row, _ in
                if sums, row.pair != nil, !row.isLive { return nil }
                return found(row).map { Cell(Format.bytes($0), role(row)) }
            })
    }

    /// A column of what is in the kernel.
    static func kernel(
        _ name: String, _ title: String, _ meaning: String,
        role: @escaping @Sendable (Listed) -> Role = { $0.isLive ? .dim : .closed },
        _ count: @escaping @Sendable (KernelSnapshot) -> Int?
    ) -> ListColumn {
        bytes(name, title, meaning, sums: true, role: role) { $0.kernel.flatMap(count) }.with {
            ($0.isOn, $0.asksKernel) = (true, true)
        }
    }

    /// A column of times, of live sessions only.
    static func time(
        _ name: String, _ title: String, _ meaning: String,
        _ duration: @escaping @Sendable (SocketSnapshot, MonotonicTime) -> Duration?
    ) -> ListColumn {
        let found: @Sendable (Listed, Sight) -> Duration? = { row, sight in
            row.legs.lazy.compactMap { $0.isLive ? duration($0, sight.now) : nil }.first
        }
        return ListColumn(
            name: name, title: title, width: max(5, title.count), alignsRight: true, meaning: meaning,
            startsDescending: true, unit: .time,
            value: { row, sight in found(row, sight).map { .number($0.inSeconds) } },
            cell: { row, sight in found(row, sight).map { Cell(Format.duration($0), .dim) } })
    }

    /// A column of bytes a second while a row is live, and of all bytes afterwards.
    static func rate(
        _ name: String, _ title: String, _ meaning: String, rank: Int, role: Role,
        _ amounts: @escaping @Sendable (Listed) -> (rate: Double?, total: UInt64)
    ) -> ListColumn {
        ListColumn(
            name: name, title: title, width: 5, alignsRight: true, meaning: meaning, rank: rank,
            startsDescending: true, unit: .bytes,
            value: { row, _ in amounts(row).rate.map { .number($0) } },
            cell: { row, sight in
                let (rate, total) = amounts(row)
                if row.isLive { return Cell(Format.rate(rate), role) }
                return Cell(String(sight.glyphs.sigma) + Format.bytes(total), row.socket.ends == nil ? .closed : role)
            })
    }

    /// The warnings, the worst first.
    static let warnings = ListColumn(
        name: "warnings", title: "!", width: 2, meaning: "warnings", startsDescending: true,
        value: { row, sight in
            let found = row.legs.flatMap { sight.findings[$0.id] }.filter { $0.severity > .note }
            return found.map(\.severity).max().map { .number(Double(found.count + $0.rawValue * 1_000)) }
        },
        cell: { row, sight in
            let found = row.legs.flatMap { sight.findings[$0.id] }
            if found.contains(where: { $0.severity == .critical }) { return Cell("!!", Style(.bad, [.bold])) }
            let count = found.count { $0.severity > .note }
            return count > 0 ? Cell(count > 9 ? "!+" : "!\(count)", Style(.warn, [.bold])) : nil
        })
}
