import InspectorCore

/// The entries below the prompt of the start screen, in a limited number of rows.
struct StartRows {
    /// A row, and the index of the match that it shows.
    struct Row {
        var line: Line
        var match: Int?
    }

    private(set) var rows: [Row] = []
    private let model: Model
    private let matches: [StartEntry]
    private let height: Int
    /// The match that Enter opens.
    private let target: Int?

    init(_ model: Model, height: Int) {
        self.model = model
        self.height = height
        matches = model.start.matches
        target = model.start.target
        guard !matches.isEmpty else {
            rows = [Row(line: Line("   no matches below", Style(.dim)))]
            return
        }
        rows = whole(isSpacious: true)
        if rows.count > height { rows = whole(isSpacious: false) }
        guard rows.count > height else { return }
        rows = target == nil && matches.count == model.start.entries.count ? outline : scrolled(rows)
    }

    private static let sections: [(section: StartEntry.Section, title: String)] = [
        (.recent, "Recent"), (.listening, "Listening on this host"), (.programs, "Inspectable programs"),
        (.words, ""),
    ]

    private func indices(of section: StartEntry.Section) -> [Int] {
        matches.indices.filter { matches[$0].section == section }
    }

    private func whole(isSpacious: Bool) -> [Row] {
        var rows: [Row] = []
        for (section, title) in Self.sections {
            let indices = indices(of: section)
            if isSpacious, !rows.isEmpty, !indices.isEmpty { rows.append(Row(line: Line())) }
            rows += self.rows(title, indices, room: indices.count + 1)
        }
        return rows
    }

    /// A part of each section. The last row of a truncated section gives the number of the others.
    private var outline: [Row] {
        let counts = Self.sections.map { indices(of: $0.section).count }
        let programs = min(counts[2] + (counts[2] > 0 ? 1 : 0), 4)
        let room = max(0, height - programs - counts[3])
        let listening = counts[1] == 0 ? 0 : min(counts[1] + 1, max(room / 2, room - counts[0] - 1))
        let rooms = [room - listening, listening, programs, counts[3]]
        return zip(Self.sections, rooms).flatMap { section, room in
            rows(section.title, indices(of: section.section), room: room)
        }
    }

    /// Returns a heading and the entries that fit.
    private func rows(_ title: String, _ indices: [Int], room: Int) -> [Row] {
        guard !indices.isEmpty, room > (title.isEmpty ? 0 : 1) else { return [] }
        var rows = title.isEmpty ? [] : [Row(line: Line(" " + title, Style(.heading)))]
        let fits = indices.count > room - rows.count ? room - rows.count - 1 : indices.count
        let titles = indices.prefix(fits).map { (match: $0, title: self.title(matches[$0])) }
        let column = titles.map(\.title.width).max() ?? 0
        for (match, title) in titles {
            let entry = matches[match]
            let number = entry.number.map { Format.padded(String($0), to: 4, right: true) + "  " } ?? "   "
            var line = Line(number, Style(.key))
            line.append(title)
            line.pad(to: line.width + column - title.width + (entry.number == nil ? 2 : 3))
            model.sanitizer.append(entry.note, Style(.dim), to: &line)
            rows.append(Row(line: line, match: match))
        }
        if fits < indices.count {
            let more = model.naming("      +\(indices.count - fits) more ({history-down})", in: .start)
            rows.append(Row(line: Line(more, Style(.dim))))
        }
        return rows
    }

    private func title(_ entry: StartEntry) -> Line {
        var line = Line()
        model.sanitizer.append(entry.title, Style(entry.number == nil ? .key : .plain), to: &line)
        let tail = entry.section == .programs ? 0 : Shorten.portTail(entry.title)
        return Shorten.middle(line, to: 40, tail: tail, model.glyphs)
    }

    /// Returns the rows around the one that Enter opens.
    private func scrolled(_ rows: [Row]) -> [Row] {
        guard height > 0 else { return [] }
        let marked = rows.firstIndex { $0.match != nil && $0.match == target } ?? 0
        let top = min(max(0, marked - height / 2), rows.count - height)
        var shown = Array(rows[top..<top + height])
        let below = rows[(top + height)...].count { $0.match != nil }
        if below > 0, height > 2 {
            let hidden = shown[height - 1].match == nil ? 0 : 1
            shown[height - 1] = Row(line: Line("      +\(below + hidden) more below", Style(.dim)))
        }
        return shown
    }
}
