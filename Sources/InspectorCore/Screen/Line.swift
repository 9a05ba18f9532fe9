import SocketCore

/// A row of cells under construction, before its position is known.
package struct Line: Hashable, Sendable {
    package private(set) var cells: [Cell] = []

    package init() {}

    /// Creates a line of our own text. Foreign text must go through a `Sanitizer`.
    package init(_ text: some StringProtocol, _ style: Style = .plain) {
        append(text, style)
    }

    /// The width in columns.
    package var width: Int { cells.count }

    /// Appends our own text. As a safeguard, characters that a terminal would interpret are escaped.
    package mutating func append(_ text: some StringProtocol, _ style: Style = .plain) {
        for scalar in text.unicodeScalars {
            guard !Self.isActedOn(scalar) else {
                append(PrintableText.escape(scalar), style)
                continue
            }
            let width = TextWidth.of(scalar)
            if width > 0 {
                append(scalar, width: width, style)
            } else if !mark(scalar, style) {
                append(PrintableText.escape(scalar), Style(.dim, style.emphasis))
            }
        }
    }

    /// Whether it is a control character, or a mark that reorders text.
    private static func isActedOn(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20..<0x7F: false
        case 0..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Appends one character that is known to be safe.
    package mutating func append(_ scalar: Unicode.Scalar, width: Int, _ style: Style = .plain) {
        cells.append(Cell(scalar, style: style, width: UInt32(width)))
        guard width == 2 else { return }
        var second = Cell(" ", style: style, width: 0)
        second.scalar = 0
        cells.append(second)
    }

    /// Puts a combining mark on the last character, or on a space in an empty line. Returns `false` if the character
    /// has as many as it can hold, or is the end of an escape. The mark must then be escaped too, not hidden.
    package mutating func mark(_ scalar: Unicode.Scalar, _ style: Style) -> Bool {
        if cells.isEmpty { append(" ", style) }
        guard let last = cells.lastIndex(where: { $0.width > 0 }) else { return false }
        let isEscape = cells[last].style.role == .dim && style.role != .dim
        return !isEscape && cells[last].marks.add(scalar)
    }

    /// Appends another line.
    package mutating func append(_ other: Line) {
        cells.append(contentsOf: other.cells)
    }

    /// Adds blanks up to a column.
    package mutating func pad(to column: Int, _ style: Style = .plain) {
        let missing = column - width
        if missing > 0 { cells.append(contentsOf: repeatElement(Cell(" ", style: style), count: missing)) }
    }

    /// Truncates the line to `limit` columns. If something is cut off, the last column shows it.
    package func clipped(to limit: Int, _ glyphs: Glyphs) -> Line {
        guard width > limit else { return self }
        guard limit > 0 else { return Line() }
        var cut = Line()
        cut.cells = Array(cells[..<(limit - 1)])
        if let last = cut.cells.last, last.width == 2 { cut.cells[cut.cells.count - 1] = .blank }
        cut.cells.append(Cell(glyphs.ellipsis, style: Style(.dim)))
        return cut
    }

    /// Returns a range of columns, with blanks where it cuts a wide character in two.
    package func columns(_ range: Range<Int>) -> Line {
        var part = Line()
        part.cells = Array(cells[range.clamped(to: 0..<cells.count)])
        if part.cells.first?.width == 0 { part.cells[0] = .blank }
        if let last = part.cells.last, last.width == 2 { part.cells[part.cells.count - 1] = .blank }
        return part
    }

    /// Returns the same cells in another style.
    package func restyled(_ change: (Style) -> Style) -> Line {
        var copy = self
        for index in copy.cells.indices { copy.cells[index].style = change(copy.cells[index].style) }
        return copy
    }

    /// The characters without styles.
    package var text: String {
        var text = ""
        for cell in cells { cell.append(to: &text) }
        return text
    }
}
