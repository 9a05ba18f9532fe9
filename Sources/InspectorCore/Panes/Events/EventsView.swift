import SocketCore

/// Everything that happened, newest last; gaps stand where they are.
package enum EventsView {
    package static func draw(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        let lines = EventLine(width: rect.width)
        canvas.draw(Line(lines.heading, Style(.heading)), row: 0, in: rect, model.glyphs)
        let body = rect.trimmed(top: 1)
        let shown = model.events.shown(in: model.shared)
        guard shown.count > 0, body.height > 0 else {
            let text = model.events.filter.isEmpty ? "  nothing has happened yet" : "  no event matches the filter"
            return canvas.draw(Line(text, Style(.dim)), row: 1, in: body, model.glyphs)
        }
        let cursor = model.events.cursor.map(shown.index)
        let last = cursor.map { min(shown.count - 1, max($0 + body.height / 2, body.height - 1)) } ?? shown.count - 1
        let first = max(0, last - body.height + 1)
        for row in 0..<min(body.height, shown.count - first) {
            guard let entry = model.log[shown[first + row]] else { continue }
            canvas.draw(lines.line(entry, model), row: row, in: body, model.glyphs)
            if cursor == first + row {
                canvas.restyle(row: row, in: body) { Style($0.role == .plain ? .cursor : $0.role, [.reverse]) }
            }
        }
    }
}
