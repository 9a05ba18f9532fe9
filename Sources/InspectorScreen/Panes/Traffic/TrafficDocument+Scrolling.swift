import InspectorCore
import SocketCore

extension TrafficDocument {
    /// A line, by the index of its block in `blocks`.
    package struct Place: Equatable, Comparable {
        package var block: Int
        package var line: Int

        package init(block: Int, line: Int) {
            self.block = block
            self.line = line
        }

        package static func < (left: Place, right: Place) -> Bool {
            (left.block, left.line) < (right.block, right.line)
        }
    }

    /// Returns the current place of a remembered line, or the first line if its block is gone.
    package func place(_ position: TrafficPosition) -> Place {
        guard let block = blocks.firstIndex(where: { $0.key == position.block }) else {
            return Place(block: 0, line: 0)
        }
        return Place(block: block, line: min(position.line, max(0, lines(blocks[block]).count - 1)))
    }

    /// Returns the position by which a line can be found again.
    package func position(_ place: Place) -> TrafficPosition? {
        blocks.indices.contains(place.block) ? TrafficPosition(blocks[place.block].key, line: place.line) : nil
    }

    /// The last line.
    package var end: Place {
        guard let last = blocks.last else { return Place(block: 0, line: 0) }
        return Place(block: blocks.count - 1, line: max(0, lines(last).count - 1))
    }

    /// More lines than there are.
    private static let beyond = 1_000_000_000

    /// Returns the place `count` lines on or back, limited to both ends.
    package func moved(_ place: Place, by count: Int) -> Place {
        guard !blocks.isEmpty else { return Place(block: 0, line: 0) }
        // A jump to the end of megabytes lays out nothing in between.
        if count >= Self.beyond { return end }
        if count <= -Self.beyond { return Place(block: 0, line: 0) }
        var place = place
        var rest = count
        while rest > 0 {
            let left = lines(blocks[place.block]).count - 1 - place.line
            if rest <= left { return Place(block: place.block, line: place.line + rest) }
            guard place.block + 1 < blocks.count else { return Place(block: place.block, line: place.line + left) }
            rest -= left + 1
            place = Place(block: place.block + 1, line: 0)
        }
        while rest < 0 {
            if -rest <= place.line { return Place(block: place.block, line: place.line + rest) }
            guard place.block > 0 else { return Place(block: 0, line: 0) }
            rest += place.line + 1
            place = Place(block: place.block - 1, line: max(0, lines(blocks[place.block - 1]).count - 1))
        }
        return place
    }

    /// Returns the lines from a place on that fill `rows` rows, each with its place.
    package func page(from start: Place, rows: Int) -> [(place: Place, line: Line)] {
        var page: [(place: Place, line: Line)] = []
        var block = start.block
        var line = start.line
        while blocks.indices.contains(block) && page.count < rows {
            for (index, text) in lines(blocks[block]).enumerated().dropFirst(line) where page.count < rows {
                page.append((Place(block: block, line: index), text))
            }
            block += 1
            line = 0
        }
        return page
    }

    /// Returns the first visible line if the last one must be visible too.
    package func followingTop(rows: Int) -> Place {
        moved(end, by: 1 - max(1, rows))
    }
}
