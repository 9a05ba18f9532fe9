import SocketCore

/// Everything that happened, newest last; gaps stand where they are.
package enum EventsView {
    package static func draw(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        canvas.draw(
            Line(
                " TIME" + Format.padded("", to: timeWidth(rect) - 4) + " CONN   KIND           TAG  DETAIL",
                Style(.heading)),
            row: 0, in: rect, model.glyphs)
        let body = rect.trimmed(top: 1)
        let shown = model.shownEvents
        guard shown.count > 0, body.height > 0 else {
            let text = model.events.filter.isEmpty ? "  nothing has happened yet" : "  no event matches the filter"
            return canvas.draw(Line(text, Style(.dim)), row: 1, in: body, model.glyphs)
        }
        let cursor = model.events.cursor.map(shown.index)
        let last = cursor.map { min(shown.count - 1, max($0 + body.height / 2, body.height - 1)) } ?? shown.count - 1
        let first = max(0, last - body.height + 1)
        for row in 0..<min(body.height, shown.count - first) {
            guard let entry = model.log[shown[first + row]] else { continue }
            canvas.draw(line(entry, model, rect), row: row, in: body, model.glyphs)
            if cursor == first + row {
                canvas.restyle(row: row, in: body) { Style($0.role == .plain ? .cursor : $0.role, [.reverse]) }
            }
        }
    }

    /// Columns of the time: to the microsecond, or to the millisecond where there is little room.
    private static func timeWidth(_ rect: Rect) -> Int { rect.width >= 76 ? 15 : 12 }

    /// One row.
    static func line(_ entry: EventLog.Entry, _ model: Model, _ rect: Rect) -> Line {
        switch entry {
        case .lost(let count, let next):
            return Line(
                " -- lost \(count) --   overwritten before they were read: \(next - count)..\(next - 1)", Style(.warn))
        case .note(let text, let time, _):
            var line = Line(" " + model.shownClock.text(time).prefix(timeWidth(rect)) + " ", Style(.dim))
            line.append(Format.padded("-", to: 6) + " socktui        -    ", Style(.heading))
            model.sanitizer.append(text, Style(.plain), to: &line)
            return line
        case .event(let event):
            let row = EventCatalogue[event.kind]
            let isMatch = model.isMatch(event)
            let plain = Style(row.isWarning ? .warn : .plain, isMatch ? [.bold, .underline] : [])
            var line = Line(" " + model.shownClock.text(event.time).prefix(timeWidth(rect)) + " ", Style(.dim))
            line.append(Format.padded(event.socket.description, to: 6) + " ", Style(.heading))
            line.append(Format.padded(row.label, to: 14) + " ", plain)
            let hasTag = event.tag != 0 || row.hasTag
            line.append(Format.padded(hasTag ? "t\(event.tag)" : "-", to: 4) + " ", Style(hasTag ? .plain : .dim))
            let detail = EventWords.detail(event, of: model.socket(of: event), answer: model.answerKey)
            model.sanitizer.append(detail, plain, to: &line)
            return line
        }
    }
}
