import SocketCore

/// The layout of an item's bytes: its beginning and its end, or for a long expanded one, its consecutive parts.
extension TrafficDocument {
    /// Bytes of a message that are laid out together.
    package struct Piece {
        /// Their range in the message.
        var range: Range<Int>
        var bytes: [UInt8]
        /// How they are shown. Never `auto`.
        var mode: ViewMode
        var isBinary: Bool
        /// Whether the bytes after it are not kept.
        var endsAtGap = false
        /// Whether the bytes before it are not kept.
        var beginsAtGap = false
    }

    /// The length of the parts in which longer items are laid out when they are expanded. A part may be slightly
    /// longer.
    private static let partLength = 4_096

    /// Whether an item is shown in parts, so that a screen of it costs no more than one of a short item.
    func isInParts(_ item: TrafficItem) -> Bool {
        dissection == nil && expanded.contains(item.sequence) && item.keptBytes > 2 * Self.partLength
    }

    /// Returns the beginning of a message and, if the middle is not kept, its end. The head of an HTTP message is a
    /// separate piece, so that it is shown as text and its binary body as hex.
    func pieces(of item: TrafficItem) -> [Piece] {
        // The code of a Close is shown in words.
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

    /// Returns the length of the text up to an empty line, if the bytes start with text. The empty line is only
    /// searched for near the beginning.
    private static func textHead(_ bytes: [UInt8]) -> Int? {
        let end = min(bytes.count, 8_192)
        for index in stride(from: 16, to: end - 4, by: 1)
        where bytes[index] == 0x0D && bytes[index..<(index + 4)].elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) {
            return ViewMode.isBinary(bytes[..<(index + 4)]) ? nil : index + 4
        }
        return nil
    }

    /// Returns the pieces cut into parts. A part ends at the end of a line if one is near, and otherwise of a
    /// character.
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

    /// Returns the line of a block that contains a byte, if the item is expanded, or `nil` if the byte is in another
    /// block.
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

    /// Whether an item must be expanded to make all of its bytes visible.
    func isFolded(_ item: TrafficItem) -> Bool {
        dissection == nil && !expanded.contains(item.sequence)
            && pieces(of: item).contains { piece in
                let whole = folding(piece).whole
                return layout(piece, item).rows(piece.bytes, limit: whole + 1).rows.count > whole
            }
    }
}
