import InspectorCore
import SocketCore

/// Programs instead of sockets: the number of each one's sockets by state, its rates and its worst verdict.
enum ProgramsView {
    private typealias Row = ProgramsPane.Row

    private struct Column: Sendable {
        var title: String
        var width: Int
        var text: @Sendable (Row) -> String?
    }

    /// The columns, in order of importance. The last ones are left out first. On the screen they are in the order of
    /// `places`.
    private static let columns: [Column] = [
        Column(title: "SOCKETS", width: 7) { "\($0.count)" },
        Column(title: "WAIT", width: 5) { $0.lasting.map { Format.duration($0) } },
        Column(title: "ESTAB", width: 5) { "\($0.established)" },
        Column(title: "LISTEN", width: 6) { "\($0.listening)" },
        Column(title: "CLOSEW", width: 6) { "\($0.closeWait)" },
        Column(title: "RX", width: 5) { $0.receiveRate.map { Format.rate($0) } },
        Column(title: "TX", width: 5) { $0.sendRate.map { Format.rate($0) } },
        Column(title: "OTHER", width: 5) { "\($0.other)" },
    ]
    private static let places = ["SOCKETS", "ESTAB", "LISTEN", "CLOSEW", "OTHER", "RX", "TX", "WAIT"]
    private static let leastTitle = 14
    private static let verdict = 16

    static func draw(_ programs: ProgramsPane, _ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        let width = rect.width - (rect.width < canvas.size.width ? 1 : 0)
        var room = width - 1 - leastTitle - 3
        let hasVerdict = room >= verdict + 14
        if hasVerdict { room -= verdict + 1 }
        let shown = columns.prefix { column in
            room -= column.width + 1
            return room >= 0
        }
        let used = shown.reduce(0) { $0 + $1.width + 1 } + (hasVerdict ? verdict + 1 : 0)
        let title = width - 1 - used - 3
        let ordered = places.compactMap { name in shown.first { $0.title == name } }
        let inner = rect.left(width)
        var heading = Line(" " + Format.padded("PROGRAM", to: title), Style(.heading))
        for column in ordered {
            heading.append(" " + Format.padded(column.title, to: column.width, right: true), Style(.heading))
        }
        if hasVerdict { heading.append(" " + Format.padded("WORST", to: verdict), Style(.heading)) }
        heading.append("  !", Style(.heading))
        canvas.draw(heading, row: 0, in: inner, model.glyphs)
        let body = inner.trimmed(top: 1)
        for (index, row) in programs.rows.dropFirst(programs.top).prefix(body.height).enumerated() {
            let isSelected = row.owner == programs.current?.owner
            var line = Line(isSelected ? ">" : " ", Style(isSelected ? .cursor : .plain))
            var name = Line()
            model.sanitizer.append(row.title, Style(row.owner.isKnown ? .plain : .dim), to: &name)
            name = name.clipped(to: title, model.glyphs)
            name.pad(to: title)
            line.append(name)
            for column in ordered {
                let text = column.text(row)
                line.append(
                    " " + Format.padded(text ?? "-", to: column.width, right: true), Style(text == nil ? .dim : .plain))
            }
            line.append(mark(row, width: hasVerdict ? verdict : nil))
            canvas.draw(line, row: index, in: body, model.glyphs)
            if isSelected {
                canvas.restyle(row: index, in: body) { Style($0.role == .plain ? .cursor : $0.role, [.reverse]) }
            }
        }
        guard programs.rows.isEmpty else { return }
        canvas.draw(
            Line("  no program has a socket that matches the filter", Style(.dim)), row: 0, in: body, model.glyphs)
    }

    /// Returns the mark of the worst verdict, with its name if there is room.
    private static func mark(_ row: Row, width: Int?) -> Line {
        var line = Line()
        if let width { line.append(" " + Format.padded(row.worst?.lint ?? "", to: width), Style(.dim)) }
        line.append(" ")
        switch row.worst?.severity {
        case .critical: line.append("!!", Style(.bad, [.bold]))
        case .warning: line.append(" !", Style(.warn, [.bold]))
        case .note, nil: line.append("  ")
        }
        return line
    }
}

extension ProgramsPane.Owner {
    fileprivate var isKnown: Bool { if case .process = self { true } else { false } }
}
