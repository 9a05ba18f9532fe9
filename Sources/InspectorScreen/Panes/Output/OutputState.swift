import InspectorCore
import SocketCore

/// The output of the running program, and its scroll position.
package struct OutputState: Sendable {
    package private(set) var text = OutputText()
    /// The first visible screen row, or `nil` while it follows new output.
    package private(set) var top: Place?
    /// Whether keys are typed into the program's terminal.
    var isTyping = false
    /// The size that the program's terminal was given.
    var terminal: Size?

    /// A screen row. A row that is too wide for the screen takes several.
    package struct Place: Equatable, Comparable, Sendable {
        var row: Int
        var part: Int

        package static func < (one: Place, other: Place) -> Bool { (one.row, one.part) < (other.row, other.part) }
    }

    mutating func absorb(_ news: ChildNews) {
        if news.state.hasTerminal, text.total == 0 { text = OutputText(isTerminal: true) }
        text.add(news.output, dropped: news.dropped)
    }

    /// Follows new output from now on.
    mutating func follow() { top = nil }

    /// Scrolls by screen rows. At the end it starts to follow.
    mutating func scroll(_ step: Int, width: Int, height: Int, _ sanitizer: Sanitizer) {
        guard text.end > text.first else { return }
        let layout = OutputLayout(text, width: width, sanitizer)
        let last = layout.top(endingAt: text.end, height: height)
        let place = layout.move(top ?? last, by: step)
        top = place >= last ? nil : place
    }

    mutating func toggleFollow(width: Int, height: Int, _ sanitizer: Sanitizer) {
        let layout = OutputLayout(text, width: width, sanitizer)
        top = top == nil && text.end > text.first ? layout.top(endingAt: text.end, height: height) : nil
    }
}

/// Rows of output as screen rows of a given width. Only the requested rows are measured.
struct OutputLayout {
    let text: OutputText
    let width: Int
    let sanitizer: Sanitizer

    init(_ text: OutputText, width: Int, _ sanitizer: Sanitizer) {
        (self.text, self.width, self.sanitizer) = (text, max(1, width), sanitizer)
    }

    /// Returns the screen rows of one row, at least one.
    func lines(_ row: Int) -> [Line] {
        switch text[row] {
        case .dropped(let count): return [Line("... \(Format.size(count)) not kept: output too fast", Style(.warn))]
        case .line(let bytes, _):
            var line = Line()
            sanitizer.append(bytes: Self.expanded(bytes), to: &line)
            return line.cut(to: width)
        }
    }

    /// Returns a line with its tabs expanded.
    private static func expanded(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(0x09) else { return bytes }
        var wide: [UInt8] = []
        for byte in bytes {
            guard byte == 0x09 else {
                wide.append(byte)
                continue
            }
            wide += repeatElement(0x20, count: 8 - wide.count % 8)
        }
        return wide
    }

    /// Returns the place `step` screen rows on, limited to both ends.
    func move(_ place: OutputState.Place, by step: Int) -> OutputState.Place {
        var place = OutputState.Place(row: max(place.row, text.first), part: place.part)
        if place.row >= text.end { place = OutputState.Place(row: text.end - 1, part: 0) }
        if step <= -1_000_000 { return OutputState.Place(row: text.first, part: 0) }
        if step >= 1_000_000 { return OutputState.Place(row: text.end, part: 0) }
        for _ in 0..<abs(step) {
            if step < 0 {
                guard place.part == 0 else {
                    place.part -= 1
                    continue
                }
                guard place.row > text.first else { return place }
                place = OutputState.Place(row: place.row - 1, part: lines(place.row - 1).count - 1)
            } else if place.part + 1 < lines(place.row).count {
                place.part += 1
            } else {
                guard place.row + 1 < text.end else { return place }
                place = OutputState.Place(row: place.row + 1, part: 0)
            }
        }
        return place
    }

    /// Returns the top of the screen that ends before a row.
    func top(endingAt end: Int, height: Int) -> OutputState.Place {
        move(OutputState.Place(row: end, part: 0).last(in: self), by: 1 - max(1, height))
    }

    /// Returns the screen rows from a place on.
    func rows(from place: OutputState.Place, height: Int) -> [Line] {
        var rows: [Line] = []
        var row = max(place.row, text.first)
        var skipped = row == place.row ? place.part : 0
        while rows.count < height, row < text.end {
            rows += lines(row).dropFirst(skipped)
            (skipped, row) = (0, row + 1)
        }
        return Array(rows.prefix(height))
    }
}

extension OutputState.Place {
    /// Returns the screen row before this place, which must be the start of a row.
    fileprivate func last(in layout: OutputLayout) -> OutputState.Place {
        guard row > layout.text.first else { return self }
        return OutputState.Place(row: row - 1, part: layout.lines(row - 1).count - 1)
    }
}

extension Line {
    /// Splits the line into rows of `width` columns, at least one.
    fileprivate func cut(to width: Int) -> [Line] {
        guard self.width > width else { return [self] }
        var rows: [Line] = []
        var start = 0
        while start < self.width {
            var end = min(start + width, self.width)
            // Not between the halves of a wide character.
            if end < self.width, cells[end].width == 0, end > start + 1 { end -= 1 }
            rows.append(columns(start..<end))
            start = end
        }
        return rows
    }
}
