extension Canvas {
    /// Draws a line at a position, truncated with an ellipsis to `width` columns and to the canvas.
    package mutating func draw(_ line: Line, x: Int, y: Int, width: Int, _ glyphs: Glyphs) {
        let room = min(width, size.width - x)
        guard room > 0, y >= 0, y < size.height else { return }
        for (offset, cell) in line.clipped(to: room, glyphs).cells.enumerated() { self[x + offset, y] = cell }
    }

    /// Draws a line in a row of a rectangle, counted from its top.
    package mutating func draw(_ line: Line, row: Int, in rect: Rect, _ glyphs: Glyphs) {
        guard row >= 0, row < rect.height else { return }
        draw(line, x: rect.x, y: rect.y + row, width: rect.width, glyphs)
    }

    /// Draws one line from the left and one that ends at the right edge. If both don't fit, the left one is truncated.
    package mutating func draw(left: Line, right: Line, row: Int, in rect: Rect, _ glyphs: Glyphs) {
        let gap = right.width > 0 ? right.width + 1 : 0
        guard rect.width > gap else { return draw(left, row: row, in: rect, glyphs) }
        draw(left, row: row, in: Rect(x: rect.x, y: rect.y, width: rect.width - gap, height: rect.height), glyphs)
        guard row >= 0, row < rect.height else { return }
        draw(right, x: rect.x + rect.width - right.width, y: rect.y + row, width: right.width, glyphs)
    }

    /// Fills a rectangle with blanks.
    package mutating func clear(_ rect: Rect) {
        for y in rect.y..<rect.y + rect.height {
            for x in rect.x..<rect.x + rect.width { self[x, y] = .blank }
        }
    }

    /// Changes the style of a row of a rectangle, including its blanks.
    package mutating func restyle(row: Int, in rect: Rect, _ change: (Style) -> Style) {
        guard row >= 0, row < rect.height else { return }
        for x in rect.x..<rect.x + rect.width { self[x, rect.y + row].style = change(self[x, rect.y + row].style) }
    }

    /// Draws a rule across a rectangle with a title near its left end and a word near its right:
    /// `- title ----- right -`.
    package mutating func rule(
        row: Int, in rect: Rect, title: Line, right: Line = Line(), _ glyphs: Glyphs, focused: Bool = false
    ) {
        var line = Line(String(glyphs.horizontal), Style(.dim))
        if title.width > 0 {
            line.append(" ")
            line.append(focused ? title.restyled { Style($0.role, [.bold]) } : title)
            line.append(" ")
        }
        var tail = Line()
        let room = rect.width - line.width - 4
        if right.width > 0 && room >= min(right.width, 8) {
            tail.append(" ")
            tail.append(right.clipped(to: room, glyphs))
            tail.append(" ")
        }
        line = line.clipped(to: max(0, rect.width - 1), glyphs)
        let fill = max(0, rect.width - line.width - tail.width - 1)
        line.append(String(repeating: String(glyphs.horizontal), count: fill), Style(.dim))
        line.append(tail)
        line.append(String(glyphs.horizontal), Style(.dim))
        draw(line, row: row, in: rect, glyphs)
    }

    /// Draws an empty box with a border, a title above and a hint below.
    package mutating func box(_ rect: Rect, title: String, hint: String, _ glyphs: Glyphs) {
        clear(rect)
        guard rect.width >= 4, rect.height >= 2 else { return }
        border(row: 0, of: rect, glyphs.topLeft, glyphs.topRight, Line(title, Style(.heading)), glyphs)
        border(row: rect.height - 1, of: rect, glyphs.bottomLeft, glyphs.bottomRight, Line(hint, Style(.dim)), glyphs)
        for y in rect.y + 1..<rect.y + rect.height - 1 {
            self[rect.x, y] = Cell(glyphs.vertical, style: Style(.dim))
            self[rect.x + rect.width - 1, y] = Cell(glyphs.vertical, style: Style(.dim))
        }
    }

    private mutating func border(
        row: Int, of rect: Rect, _ left: Unicode.Scalar, _ right: Unicode.Scalar, _ text: Line, _ glyphs: Glyphs
    ) {
        self[rect.x, rect.y + row] = Cell(left, style: Style(.dim))
        self[rect.x + rect.width - 1, rect.y + row] = Cell(right, style: Style(.dim))
        let inner = Rect(x: rect.x + 1, y: rect.y, width: rect.width - 2, height: rect.height)
        rule(row: row, in: inner, title: text, glyphs)
    }
}
