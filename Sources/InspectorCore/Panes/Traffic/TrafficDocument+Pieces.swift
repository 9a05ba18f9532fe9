import SocketCore

/// An item's bytes as they are laid out: its beginning, its end, and of a long one that is shown whole one piece after another.
extension TrafficDocument {
    /// Bytes of a message that are laid out together.
    package struct Piece {
        /// Where they are in the message.
        var range: Range<Int>
        var bytes: [UInt8]
        /// How they are shown; never `auto`.
        var mode: ViewMode
        var isBinary: Bool
        /// Whether bytes after it are not kept.
        var endsAtGap = false
        /// Whether bytes before it are not kept.
        var beginsAtGap = false
    }

    /// Items with more bytes are laid out in parts when they are shown whole, each of this length or a little more.
    private static let partLength = 4_096

    /// Whether an item is shown in parts, so that a screen of it costs no more than that of a short one.
    func isInParts(_ item: TrafficItem) -> Bool {
        dissection == nil && expanded.contains(item.sequence) && item.keptBytes > 2 * Self.partLength
    }

    /// The beginning of a message and, where the middle is not kept, its end. Apart, the head of an HTTP message is shown
    /// as text and its binary body as hex.
    func pieces(of item: TrafficItem) -> [Piece] {
        // The code of a Close is told in words.
        let isClose = item.webSocket?.kind == .close && mode != .hexText
        let head = isClose ? Array(item.bytes.dropFirst(2)) : item.bytes
        var pieces = pieces(head, at: isClose ? min(2, item.bytes.count) : 0)
        if !item.tail.isEmpty {
            var ending = piece(item.tail, at: item.done - item.tail.count)
            ending.beginsAtGap = true
            if !pieces.isEmpty { pieces[pieces.count - 1].endsAtGap = true }
            pieces.append(ending)
        }
        return pieces
    }

    private func pieces(_ bytes: [UInt8], at offset: Int) -> [Piece] {
        guard !bytes.isEmpty else { return [] }
        let whole = piece(bytes, at: offset)
        guard mode == .auto, whole.isBinary, let head = Self.textHead(bytes) else { return [whole] }
        return [piece(Array(bytes[..<head]), at: offset), piece(Array(bytes[head...]), at: offset + head)]
    }

    private func piece(_ bytes: [UInt8], at offset: Int) -> Piece {
        let automatic = ViewMode.automatic(bytes)
        return Piece(
            range: offset..<(offset + bytes.count), bytes: bytes, mode: mode == .auto ? automatic : mode,
            isBinary: automatic == .hexText)
    }

    /// How long the text is that ends with an empty line, where bytes begin with some; its end is looked for near the
    /// beginning only.
    private static func textHead(_ bytes: [UInt8]) -> Int? {
        let end = min(bytes.count, 8_192)
        for index in stride(from: 16, to: end - 4, by: 1)
        where bytes[index] == 0x0D && bytes[index..<(index + 4)].elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) {
            return ViewMode.isBinary(bytes[..<(index + 4)]) ? nil : index + 4
        }
        return nil
    }

    /// The pieces cut into parts. A part ends with a line where one ends soon, else with a character.
    func parts(of item: TrafficItem) -> [Piece] {
        pieces(of: item).flatMap { piece -> [Piece] in
            var parts: [Piece] = []
            var start = 0
            while start < piece.bytes.count {
                let end = Self.end(ofPartFrom: start, in: piece)
                var part = piece
                part.range = (piece.range.lowerBound + start)..<(piece.range.lowerBound + end)
                part.bytes = Array(piece.bytes[start..<end])
                part.beginsAtGap = piece.beginsAtGap && start == 0
                part.endsAtGap = piece.endsAtGap && end == piece.bytes.count
                parts.append(part)
                start = end
            }
            return parts
        }
    }

    private static func end(ofPartFrom start: Int, in piece: Piece) -> Int {
        let count = piece.bytes.count
        var end = start + partLength
        guard end < count else { return count }
        guard piece.mode != .hexText else { return end }
        if let line = piece.bytes[end..<min(count, end + 512)].firstIndex(of: 0x0A) { return line + 1 }
        while end < count, piece.bytes[end] & 0xC0 == 0x80, end < start + partLength + 3 { end += 1 }
        return end
    }

    func layout(_ piece: Piece, _ item: TrafficItem) -> ByteRows {
        let style = style(of: item)
        var rows = ByteRows(mode: piece.mode, width: width, sanitizer: sanitizer, glyphs: glyphs, style: style)
        rows.offset = piece.range.lowerBound
        rows.isBinary = piece.isBinary
        return rows
    }

    // MARK: Searching

    /// The line of an item's block, or of one of its parts, in which a byte is when the item is shown whole; nil: it is in
    /// another block.
    func line(of offset: Int, in block: Block) -> Int? {
        switch block.content {
        case .item(let item, _) where dissection == nil && !isInParts(item):
            var line = headLines(item).count
            for piece in pieces(of: item) {
                if piece.beginsAtGap { line += 1 }
                if piece.range.contains(offset) { return line + row(of: offset, piece, item) }
                line += layout(piece, item).rows(piece.bytes, limit: .max).rows.count
            }
            return nil
        case .part(let item, let piece):
            return piece.range.contains(offset) ? (piece.beginsAtGap ? 1 : 0) + row(of: offset, piece, item) : nil
        default: return nil
        }
    }

    private func row(of offset: Int, _ piece: Piece, _ item: TrafficItem) -> Int {
        let layout = layout(piece, item)
        var low = 1
        var high = max(1, layout.rows(piece.bytes, limit: .max).rows.count)
        while low < high {
            let middle = (low + high) / 2
            let shown = layout.rows(piece.bytes, limit: middle).shown
            if piece.range.lowerBound + shown > offset { high = middle } else { low = middle + 1 }
        }
        return low - 1
    }

    /// Whether an item must be shown whole so that all of its bytes are in sight.
    func isFolded(_ item: TrafficItem) -> Bool {
        dissection == nil && !expanded.contains(item.sequence)
            && pieces(of: item).contains { piece in
                let whole = folding(piece).whole
                return layout(piece, item).rows(piece.bytes, limit: whole + 1).rows.count > whole
            }
    }
}
