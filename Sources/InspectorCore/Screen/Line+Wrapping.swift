extension Line {
    /// Returns the line in rows of `width` columns, broken at blanks if there are any.
    package func wrapped(to width: Int) -> [Line] {
        guard width > 0, self.width > width else { return [self] }
        var rows: [Line] = []
        var start = 0
        while start < self.width {
            let end = breakAfter(start, width)
            rows.append(columns(start..<end))
            start = end
            while start < self.width, isBlank(start) { start += 1 }
        }
        return rows
    }

    /// Returns the line in rows of `width` columns, with all rows after the first indented.
    package func hanging(width: Int, indent: Int) -> [Line] {
        guard width > indent, self.width > width, let first = wrapped(to: width).first else { return [self] }
        let rest = columns(first.width..<self.width).withoutLeadingBlanks
        return [first]
            + rest.wrapped(to: width - indent).map { row in
                var line = Line(String(repeating: " ", count: indent))
                line.append(row)
                return line
            }
    }

    /// The line without its leading blanks.
    package var withoutLeadingBlanks: Line {
        let start = (0..<width).first { !isBlank($0) } ?? width
        return start == 0 ? self : columns(start..<width)
    }

    /// Truncates the line to `limit` columns, after a word unless that would be too short.
    package func clippedAfterWord(to limit: Int, _ glyphs: Glyphs) -> Line {
        guard width > limit, let blank = (limit / 2..<max(limit / 2, limit)).last(where: isBlank) else {
            return clipped(to: limit, glyphs)
        }
        var cut = columns(0..<blank)
        while cut.width > 0, cut.isBlank(cut.width - 1) { cut = cut.columns(0..<cut.width - 1) }
        cut.append(String(glyphs.ellipsis), Style(.dim))
        return cut
    }

    /// Returns the first of these that fits in `width` columns, or else the last.
    package static func fitting(_ lines: [Line], in width: Int) -> Line {
        lines.first { $0.width <= width } ?? lines.last ?? Line()
    }

    /// Returns the end of a row that starts at a column.
    package func breakAfter(_ start: Int, _ room: Int) -> Int {
        var end = start + room
        guard end < width else { return width }
        if let blank = (start + 1...end).last(where: isBlank) { return blank }
        // Not between the halves of a wide character.
        if cells[end].width == 0, end > start + 1 { end -= 1 }
        return end
    }

    private func isBlank(_ column: Int) -> Bool { cells[column].scalar == 0x20 }
}
