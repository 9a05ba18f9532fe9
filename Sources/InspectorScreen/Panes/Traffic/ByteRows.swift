import InspectorCore
import SocketCore

/// Bytes from or for the peer, laid out in rows of a pane.
package struct ByteRows {
    package let mode: ViewMode
    package let width: Int
    package let sanitizer: Sanitizer
    package let glyphs: Glyphs
    package let style: Style
    /// The offset of these bytes in the message, for the hex view.
    package var offset = 0
    /// Whether a line feed in the text view is an ordinary byte. In binary data it does not end a line.
    package var isBinary = false

    /// The indent of the text.
    private static let indent = 2
    private static let tabStop = 8

    package init(mode: ViewMode, width: Int, sanitizer: Sanitizer, glyphs: Glyphs, style: Style) {
        self.mode = mode
        self.width = max(Self.indent + 2, width)
        self.sanitizer = sanitizer
        self.glyphs = glyphs
        self.style = style
    }

    /// Returns the first `limit` rows, and the number of bytes that they show.
    package func rows(_ bytes: [UInt8], limit: Int) -> (rows: [Line], shown: Int) {
        switch mode {
        case .text, .auto, .dissected: text(bytes, limit: limit)
        case .hexText: hex(bytes, limit: limit)
        case .escaped: escaped(bytes, limit: limit)
        }
    }

    /// Returns an offset from which the rest surely fits in `rows`. It is at the start of a line, unless one line is
    /// longer.
    package func tailStart(_ bytes: [UInt8], rows: Int) -> Int {
        guard rows > 0 else { return bytes.count }
        if mode == .hexText { return max(0, (bytes.count - 1) / hexBytes - rows + 1) * hexBytes }
        // An escape takes up to four columns per byte.
        let columns = max(1, (width - Self.indent) / 4)
        var start = bytes.count
        var left = rows
        while start > 0 && left > 0 {
            // The start of a line that can't fit is not searched for.
            let least = max(0, start - 1 - columns * left)
            let line = (bytes[least..<(start - 1)].lastIndex(of: 0x0A) ?? least - 1) + 1
            let needed = (start - line + columns - 1) / columns
            guard needed <= left else { break }
            left -= needed
            start = line
        }
        guard start == bytes.count else { return start }
        start = max(0, bytes.count - columns * rows)
        while start < bytes.count && bytes[start] & 0xC0 == 0x80 { start += 1 }
        return start
    }

    /// The bytes in a row of the hex view.
    package var hexBytes: Int { width >= 76 ? 16 : 8 }

    private func hex(_ bytes: [UInt8], limit: Int) -> (rows: [Line], shown: Int) {
        let perRow = hexBytes
        var rows: [Line] = []
        var start = 0
        while start < bytes.count && rows.count < limit {
            let end = min(start + perRow, bytes.count)
            rows.append(hexRow(bytes[start..<end], offset: offset + start, perRow: perRow))
            start = end
        }
        return (rows, start)
    }

    private func hexRow(_ bytes: ArraySlice<UInt8>, offset: Int, perRow: Int) -> Line {
        let place = Self.hex(offset, digits: 4)
        var line = Line("  " + place + " ", Style(.dim))
        for (index, byte) in bytes.enumerated() {
            if index % 8 == 0 { line.append(" ") }
            line.append(Self.hex(Int(byte), digits: 2) + " ", style)
        }
        line.pad(to: 4 + place.count + perRow * 3 + perRow / 8)
        line.append("|", Style(.dim))
        for byte in bytes { line.append(Sanitizer.hexColumn(byte), width: 1, style) }
        line.append("|", Style(.dim))
        return line
    }

    private static func hex(_ value: Int, digits: Int) -> String {
        let text = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// Shows bytes as the peer sent them. LF and CR LF end a row, TAB advances to the next stop, unprintable bytes are
    /// escaped.
    private func text(_ bytes: [UInt8], limit: Int) -> (rows: [Line], shown: Int) {
        var page = Page(owner: self, limit: limit)
        var index = 0
        while index < bytes.count && !page.isFull {
            let before = index
            let isCRLF = !isBinary && bytes[index] == 0x0D && index + 1 < bytes.count && bytes[index + 1] == 0x0A
            if isCRLF || !isBinary && bytes[index] == 0x0A {
                index += isCRLF ? 2 : 1
                page.endRow(shown: index)
                continue
            }
            var piece = Line()
            switch Sanitizer.nextPiece(bytes, &index) {
            case .scalar("\t") where !isBinary: piece.pad(to: Self.tabStop - page.column % Self.tabStop)
            case .scalar(let scalar):
                guard case .mark = sanitizer.drawn(scalar), page.column > 0 else {
                    sanitizer.append(scalar, style, to: &piece)
                    break
                }
                if page.row.mark(scalar, style) { continue }
                piece.append(PrintableText.escape(scalar), Style(.dim, style.emphasis))
            case .invalid(let byte): sanitizer.appendInvalid(byte, style, to: &piece)
            }
            page.add(piece, from: before, to: index)
        }
        return page.finish()
    }

    /// Shows every byte in the form that the composer reads. A row ends after `\n`.
    private func escaped(_ bytes: [UInt8], limit: Int) -> (rows: [Line], shown: Int) {
        var page = Page(owner: self, limit: limit)
        for (index, byte) in bytes.enumerated() {
            guard !page.isFull else { break }
            let shown = EscapedText.show(byte)
            page.add(Line(shown, shown.utf8.count > 1 ? Style(.dim) : style), from: index, to: index + 1)
            if byte == 0x0A, !isBinary { page.endRow(shown: index + 1) }
        }
        return page.finish()
    }

    /// The rows being filled.
    private struct Page {
        let owner: ByteRows
        let limit: Int
        var rows: [Line] = []
        var row = Line(String(repeating: " ", count: ByteRows.indent))
        var hasOpenRow = false
        var shown = 0

        init(owner: ByteRows, limit: Int) {
            self.owner = owner
            self.limit = limit
        }

        var isFull: Bool { rows.count >= limit }
        var column: Int { row.width - ByteRows.indent }

        mutating func add(_ piece: Line, from: Int, to end: Int) {
            if column > 0 && row.width + piece.width > owner.width {
                endRow(shown: from)
                guard !isFull else { return }
                row = Line(String(owner.glyphs.continuation), Style(.dim))
                row.pad(to: ByteRows.indent)
            }
            row.append(piece.clipped(to: owner.width - row.width, owner.glyphs))
            hasOpenRow = true
            shown = end
        }

        mutating func endRow(shown end: Int) {
            rows.append(row)
            row = Line(String(repeating: " ", count: ByteRows.indent))
            hasOpenRow = false
            shown = end
        }

        mutating func finish() -> (rows: [Line], shown: Int) {
            if hasOpenRow && !isFull { rows.append(row) }
            return (rows, shown)
        }
    }
}
