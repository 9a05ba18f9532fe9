import InspectorCore
import SocketCore

/// The last match.
package struct TrafficMatch: Equatable, Sendable {
    package var item: UInt64
    package var offset: Int
}

/// Searching in the traffic.
extension TrafficState {
    /// One match: the index of its block, and its offset in the message.
    private struct Match {
        var block: Int
        var offset: Int
    }

    private static func matches(_ search: PayloadSearch, _ document: TrafficDocument) -> [Match] {
        var matches: [Match] = []
        for index in document.blocks.indices {
            guard case .item(let item, _) = document.blocks[index].content else { continue }
            var block = index
            for offset in search.matches(in: item) {
                // If an item is in parts, each match is in the part with its first byte.
                while block + 1 < document.blocks.count,
                    case .part(_, let piece) = document.blocks[block + 1].content,
                    block == index || offset >= piece.range.lowerBound
                { block += 1 }
                matches.append(Match(block: block, offset: offset))
            }
        }
        return matches
    }

    /// Finds the next match, wraps around, and unfolds its item. Call `goToMatch` to show it. Returns the notice to
    /// show, which is an error if nothing was found.
    mutating func find(_ step: Int, of search: PayloadSearch, in document: TrafficDocument) -> Model.Notice {
        let matches = Self.matches(search, document)
        guard !matches.isEmpty else {
            return .error("not found: \(search.text); :find \(search.text) searches all connections")
        }
        let index = next(step, in: matches, document)
        if let item = document.item(at: matches[index].block) {
            unfold(TrafficMatch(item: item.sequence, offset: matches[index].offset), of: item, in: document)
        }
        return .hint("match \(index + 1) of \(matches.count) for \(search.text)")
    }

    /// Returns the match after the last one shown, or after the cursor.
    private func next(_ step: Int, in matches: [Match], _ document: TrafficDocument) -> Int {
        let count = matches.count
        if let last = match,
            let index = matches.firstIndex(where: {
                $0.offset == last.offset && document.item(at: $0.block)?.sequence == last.item
            })
        {
            return ((index + step) % count + count) % count
        }
        guard let cursor = scroll.cursor else { return step > 0 ? 0 : count - 1 }
        let block = document.place(cursor).block
        if step > 0 { return matches.firstIndex { $0.block >= block } ?? 0 }
        return matches.lastIndex { $0.block <= block } ?? count - 1
    }

    /// Unfolds the item of an earlier match. Returns whether the item is still kept. If so, call `goToMatch` to show
    /// it.
    mutating func unfold(_ match: TrafficMatch, in document: TrafficDocument) -> Bool {
        guard let block = document.blocks.firstIndex(where: { $0.key == .item(match.item) }) else { return false }
        if let item = document.item(at: block) { unfold(match, of: item, in: document) }
        return true
    }

    private mutating func unfold(_ match: TrafficMatch, of item: TrafficItem, in document: TrafficDocument) {
        self.match = match
        if document.isFolded(item) { editScroll { $0.expanded.insert(item.sequence) } }
    }

    /// Moves the cursor to the last match, in the document with its item unfolded.
    mutating func goToMatch(in document: TrafficDocument, height: Int) {
        guard let match, let place = document.place(of: match.offset, in: match.item) else { return }
        editScroll {
            $0.isFollowing = false
            $0.cursor = document.position(place)
            $0.top = document.position(document.moved(place, by: -(height / 3)))
        }
    }

    /// Takes the awaited match, if it is in the selected connection and its traffic is known. A match in another
    /// connection is dropped.
    mutating func takeAwaited(in shared: Shared) -> TrafficMatch? {
        guard let awaited else { return nil }
        let isElsewhere = awaited.socket != socket
        guard isElsewhere || (shared.frozen.map { $0.trafficOf == socket } ?? isKnown) else { return nil }
        self.awaited = nil
        return isElsewhere ? nil : awaited.match
    }
}

extension TrafficDocument {
    /// Returns the item of a block, or of the item's part.
    func item(at index: Int) -> TrafficItem? {
        switch blocks[index].content {
        case .item(let item, _), .part(let item, _): item
        default: nil
        }
    }

    /// Returns the line that contains a byte of an item.
    func place(of offset: Int, in sequence: UInt64) -> Place? {
        guard let first = blocks.firstIndex(where: { $0.key == .item(sequence) }) else { return nil }
        for index in first..<blocks.count {
            guard item(at: index)?.sequence == sequence else { break }
            if let line = line(of: offset, in: blocks[index]) { return Place(block: index, line: line) }
        }
        return Place(block: first, line: 0)
    }
}
