import InspectorCore

/// The layout of the help's entries: in two columns if the window is wide enough, each wrapped to its column.
package struct HelpLayout {
    /// The rows and columns of the screen that an entry takes, counted from the first of the text.
    package struct Place: Equatable, Sendable {
        package var row: Int
        package var height: Int
        package var x: Int
    }

    package private(set) var rows: [Line] = []
    /// The places, in the order of the entries.
    package private(set) var places: [Place] = []
    /// The width of one entry.
    package let width: Int
    private let columns: Int

    private static let gap = 3
    /// The width of the keys.
    private static let keys = 17
    /// The width from which the command's name is shown after the text. `name` is the width of the name.
    private static let withNames = 74
    private static let name = 16

    package static func box(_ size: Size) -> Rect {
        Rect(size).trimmed(top: 1, bottom: 2).centered(width: size.width - 2, height: size.height)
    }

    /// Returns the number of visible rows.
    package static func height(_ size: Size) -> Int { max(1, box(size).height - 2) }

    package init(_ contents: HelpContents, _ size: Size) {
        let room = Self.box(size).width - 4
        columns = room >= 110 ? 2 : 1
        width = columns == 2 ? (room - Self.gap) / 2 : room
        guard !contents.sections.isEmpty else {
            rows = [Line("no matches", Style(.dim))]
            return
        }
        for section in contents.sections { add(section) }
    }

    private mutating func add(_ section: HelpContents.Section) {
        if !rows.isEmpty { rows.append(Line()) }
        if !section.title.isEmpty {
            rows += Line(section.title, Style(.heading, [.bold])).wrapped(to: max(1, width))
        }
        let longest = section.entries.map(\.lead.count).max() ?? 0
        let isKeys = section.entries.contains { !$0.name.isEmpty }
        let lead = longest == 0 ? 0 : min(isKeys ? Self.keys : longest + 2, width * 2 / 5)
        let texts = section.entries.map { text($0, lead: lead) }
        let split = columns == 1 ? texts.count : Self.half(texts.map(\.count))
        let top = rows.count
        var heights = [0, 0]
        for (index, text) in texts.enumerated() {
            let column = index < split ? 0 : 1
            places.append(Place(row: top + heights[column], height: text.count, x: column * (width + Self.gap)))
            for line in text {
                put(line, row: top + heights[column], column: column)
                heights[column] += 1
            }
        }
    }

    private mutating func put(_ line: Line, row: Int, column: Int) {
        while rows.count <= row { rows.append(Line()) }
        rows[row].pad(to: column * (width + Self.gap))
        rows[row].append(line)
    }

    /// Returns how many of these go on the left, so that both sides have about the same height.
    private static func half(_ heights: [Int]) -> Int {
        let all = heights.reduce(0, +)
        var left = 0
        for (index, height) in heights.enumerated() {
            if left * 2 >= all { return index }
            left += height
        }
        return heights.count
    }

    /// Returns the rows of one entry.
    private func text(_ entry: HelpContents.Entry, lead: Int) -> [Line] {
        let hasName = width >= Self.withNames && !entry.name.isEmpty
        let room = max(1, width - lead - (hasName ? Self.name + 1 : 0))
        let leads = Line(entry.lead, Style(.key)).wrapped(to: max(1, lead - 1))
        let texts = Line(entry.text).wrapped(to: room)
        return (0..<max(entry.lead.isEmpty ? 1 : leads.count, texts.count)).map { row in
            var line = lead > 0 && row < leads.count ? leads[row] : Line()
            line.pad(to: lead)
            if row < texts.count { line.append(texts[row]) }
            guard hasName, row == 0 else { return line }
            line.pad(to: width - Self.name)
            line.append(Line(entry.name, Style(.dim)))
            return line
        }
    }
}
