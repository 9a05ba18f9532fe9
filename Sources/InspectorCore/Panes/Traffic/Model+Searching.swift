import SocketCore

/// Searching in the bytes that passed.
extension Model {
    /// One place where what is searched begins: in which block, and which byte of the message.
    private struct Match {
        var block: Int
        var offset: Int
    }

    private func matches(_ search: PayloadSearch, _ document: TrafficDocument) -> [Match] {
        var matches: [Match] = []
        for index in document.blocks.indices {
            guard case .item(let item, _) = document.blocks[index].content else { continue }
            var block = index
            for offset in search.matches(in: item) {
                // Of an item in parts, each match is in the one that has its first byte.
                while block + 1 < document.blocks.count,
                    case .part(_, let piece) = document.blocks[block + 1].content,
                    block == index || offset >= piece.range.lowerBound
                { block += 1 }
                matches.append(Match(block: block, offset: offset))
            }
        }
        return matches
    }

    /// Goes to the next place that holds what is searched, and around the end; a folded item is unfolded.
    mutating func searchTraffic(_ step: Int) {
        guard let search = payloadSearch else {
            notice = hint(naming("nothing is searched: {search} begins"))
            return
        }
        let document = document
        let matches = matches(search, document)
        guard !matches.isEmpty else {
            notice = error("not found: \(search.text); :find \(search.text) searches all connections")
            return
        }
        let index = next(step, in: matches, document)
        show(matches[index], document)
        notice = hint("match \(index + 1) of \(matches.count) for \(search.text)")
    }

    /// The match after the one gone to last, or after the cursor.
    private func next(_ step: Int, in matches: [Match], _ document: TrafficDocument) -> Int {
        let count = matches.count
        if let last = talkMatch,
            let index = matches.firstIndex(where: {
                $0.offset == last.offset && document.item(at: $0.block)?.sequence == last.item
            })
        {
            return ((index + step) % count + count) % count
        }
        guard let cursor = list.selected.flatMap({ talks[$0]?.cursor }) else { return step > 0 ? 0 : count - 1 }
        let block = document.place(cursor).block
        if step > 0 { return matches.firstIndex { $0.block >= block } ?? 0 }
        return matches.lastIndex { $0.block <= block } ?? count - 1
    }

    /// Shows one place that was found, by its offset in the message; false if the item is not kept any more.
    mutating func showMatch(_ match: TalkMatch) -> Bool {
        let document = document
        guard let block = document.blocks.firstIndex(where: { $0.key == .item(match.item) }) else { return false }
        show(Match(block: block, offset: match.offset), document)
        return true
    }

    private mutating func show(_ match: Match, _ document: TrafficDocument) {
        guard let item = document.item(at: match.block) else { return }
        talkMatch = TalkMatch(item: item.sequence, offset: match.offset)
        if document.isFolded(item) { editTalk { $0.expanded.insert(item.sequence) } }
        let laidOut = self.document
        guard let place = laidOut.place(of: match.offset, in: item.sequence) else { return }
        let rows = layout.traffic.height
        editTalk {
            $0.isFollowing = false
            $0.cursor = laidOut.position(place)
            $0.top = laidOut.position(laidOut.moved(place, by: -(rows / 3)))
        }
    }
}

extension TrafficDocument {
    /// The item that a block shows, or a part of.
    func item(at index: Int) -> TrafficItem? {
        switch blocks[index].content {
        case .item(let item, _), .part(let item, _): item
        default: nil
        }
    }

    /// The line in which a byte of an item is.
    func place(of offset: Int, in sequence: UInt64) -> Place? {
        guard let first = blocks.firstIndex(where: { $0.key == .item(sequence) }) else { return nil }
        for index in first..<blocks.count {
            guard item(at: index)?.sequence == sequence else { break }
            if let line = line(of: offset, in: blocks[index]) { return Place(block: index, line: line) }
        }
        return Place(block: first, line: 0)
    }
}

extension PayloadSearch {
    /// Where it begins in what is kept of a message, counted from the message's first byte.
    func matches(in item: TrafficItem) -> [Int] {
        let head = matches(in: item.bytes)
        guard !item.tail.isEmpty else { return head }
        return head + matches(in: item.tail).map { $0 + item.done - item.tail.count }
    }
}
