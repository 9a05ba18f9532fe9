extension Line {
    /// The line in rows of `width` columns, broken at blanks where there are some.
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

    /// Where a row that begins at a column ends.
    private func breakAfter(_ start: Int, _ room: Int) -> Int {
        var end = start + room
        guard end < width else { return width }
        if let blank = (start + 1...end).last(where: isBlank) { return blank }
        // Not between the halves of a wide character.
        if cells[end].width == 0, end > start + 1 { end -= 1 }
        return end
    }

    private func isBlank(_ column: Int) -> Bool { cells[column].scalar == 0x20 }
}
