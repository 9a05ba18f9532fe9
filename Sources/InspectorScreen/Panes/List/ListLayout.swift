import InspectorCore

/// The columns of the list at a given width, and their places. The least important ones are left out first.
package struct ListLayout {
    package struct Place: Equatable {
        package var x: Int
        package var width: Int
    }

    package private(set) var places: [(column: ListColumn, place: Place)] = []

    /// The columns by content, for those that are drawn across several.
    package private(set) var ends = Place(x: 1, width: 1)
    package private(set) var reading: Place?
    package private(set) var writing: Place?

    /// - Parameter optional: the chosen columns, and those of `kind` that a visible row needs.
    package init(_ kind: ListKind, width: Int, idWidth: Int, optional: Set<String>) {
        var room = Room(kind, width: width, idWidth: idWidth)
        if kind == .host {
            let rare = kind.standard.filter { $0.isRare && optional.contains($0.name) }
            room.show(kind.standard.filter { $0.rank > 0 && !$0.isRare } + rare, strictly: false)
            let left = max(0, room.left)
            room.widen("program", by: left * 2 / 5)
            room.widen("peer", by: left * 2 / 5)
            room.widen(room.shows("asks") ? "asks" : "peer", by: left)
        } else {
            let (first, second) = kind == .captured ? ("client", "server") : ("reading", "writing")
            // Where something was asked, the byte rates give way, not what is queued for writing.
            let columns = kind.standard.filter { $0.rank > 0 && (!$0.isRare || optional.contains($0.name)) }
            room.show(columns, strictly: true)
            // Amounts are shown in full before the peer gets more room.
            room.widen(second, by: 1)
            room.widen(first, by: 2)
            room.widen(second, by: 3)
            // More room for the peer is better than an optional column that was not chosen.
            room.show(kind.optional.filter { optional.contains($0.name) }, strictly: true)
            room.widen("peer", by: 4 + max(0, room.left - 4) * 2 / 3)
            room.widen(first, by: 10)
        }
        place(kind, room, width: width)
    }

    private mutating func place(_ kind: ListKind, _ room: Room, width: Int) {
        let columns = kind.standard.dropLast() + kind.optional
        var x = 1
        for column in columns {
            guard let columnWidth = room.widths[column.name] else { continue }
            places.append((column, Place(x: x, width: columnWidth)))
            x += columnWidth + 1
        }
        if let last = kind.standard.last { places.append((last, Place(x: width - last.width, width: last.width))) }
        func find(_ names: Set<String>) -> Place? { places.first { names.contains($0.column.name) }?.place }
        (ends, reading, writing) = (find(["peer"]) ?? ends, find(["reading", "client"]), find(["writing", "server"]))
    }

    /// READING and WRITING, where a closed row shows the reason.
    package var reason: Place {
        guard let reading else { return ends }
        let end = writing ?? reading
        return Place(x: reading.x, width: end.x + end.width - reading.x)
    }

    /// PEER and READING, where a relayed pair shows both of its ends.
    package var pair: Place {
        guard let reading else { return ends }
        return Place(x: ends.x, width: reading.x + reading.width - ends.x)
    }

    /// Hands out the width of a list.
    private struct Room {
        var widths: [String: Int] = [:]
        var left: Int

        /// Begins with the columns that are always shown. The peer has less than its width for lack of room.
        init(_ kind: ListKind, width: Int, idWidth: Int) {
            left = width
            for column in kind.standard where column.rank == 0 {
                let own = column.name == "id" ? idWidth : column.width
                widths[column.name] = own
                left -= own + 1
            }
            if left < 0, let peer = widths["peer"] { widths["peer"] = max(1, peer + left) }
        }

        func shows(_ name: String) -> Bool { widths[name] != nil }

        mutating func widen(_ name: String, by columns: Int) {
            guard let width = widths[name] else { return }
            let more = min(max(0, left), columns)
            widths[name] = width + more
            left -= more
        }

        /// Adds the columns that have room, by their rank. With `strictly`, none is added if a more important one had
        /// no room.
        mutating func show(_ columns: [ListColumn], strictly: Bool) {
            for column in columns.enumerated().sorted(by: { ($0.1.rank, $0.0) < ($1.1.rank, $1.0) }).map(\.element) {
                if left >= column.width + 1 {
                    widths[column.name] = column.width
                    left -= column.width + 1
                } else if strictly {
                    left = min(left, 5)
                }
            }
        }
    }
}
