/// A grid of cells that views draw on and a terminal shows. Everything outside it is clipped.
package struct Canvas: Equatable, Sendable {
    package let size: Size
    /// The cells row by row, `size.width` in each.
    package private(set) var cells: [Cell]
    /// The position of the text cursor, or `nil` if it is hidden.
    package var cursor: Position?

    package struct Position: Equatable, Sendable {
        package var x: Int
        package var y: Int
        package init(x: Int, y: Int) {
            self.x = x
            self.y = y
        }
    }

    /// Creates an empty canvas.
    package init(_ size: Size) {
        self.size = Size(max(0, size.width), max(0, size.height))
        cells = Array(repeating: .blank, count: self.size.width * self.size.height)
    }

    /// Sets one cell. Has no effect outside the canvas. If one column of a wide character is overwritten, its other
    /// column becomes blank.
    package subscript(x: Int, y: Int) -> Cell {
        get { contains(x, y) ? cells[y * size.width + x] : .blank }
        set {
            guard contains(x, y) else { return }
            let index = y * size.width + x
            let old = cells[index].width
            cells[index] = newValue
            guard old != newValue.width else { return }
            if old == 2 && x + 1 < size.width && cells[index + 1].width == 0 { cells[index + 1] = .blank }
            if old == 0 && x > 0 && cells[index - 1].width == 2 { cells[index - 1] = .blank }
        }
    }

    private func contains(_ x: Int, _ y: Int) -> Bool {
        x >= 0 && y >= 0 && x < size.width && y < size.height
    }

    /// The screen as text, one line per row, without trailing spaces. Golden tests compare it.
    package var text: String {
        (0..<size.height).map { row in
            var line = ""
            for cell in cells[row * size.width..<(row + 1) * size.width] { cell.append(to: &line) }
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }
}
