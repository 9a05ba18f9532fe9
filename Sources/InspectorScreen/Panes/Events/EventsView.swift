import InspectorCore
import SocketCore

/// All events, newest last, with gaps at their positions. The event at the cursor, which is the last one while
/// following, is shown in full.
package enum EventsView {
    package static func draw(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        let lines = EventLine(width: rect.width)
        canvas.draw(Line(lines.heading, Style(.heading)), row: 0, in: rect, model.glyphs)
        let body = rect.trimmed(top: 1)
        let shown = model.events.shown(in: model.shared)
        guard shown.count > 0, body.height > 0 else {
            let text = model.events.filter.isEmpty ? "  no events yet" : "  no event matches the filter"
            return canvas.draw(Line(text, Style(.dim)), row: 1, in: body, model.glyphs)
        }
        let cursor = model.events.cursor.map(shown.index)
        let current = cursor ?? shown.count - 1
        let whole = (model.log[shown[current]].map { lines.rows($0, model) } ?? []).prefix(body.height)
        let height = body.height - max(0, whole.count - 1)
        let last = cursor.map { min(shown.count - 1, max($0 + height / 2, height - 1)) } ?? shown.count - 1
        var row = 0
        for index in max(0, last - height + 1)...last {
            guard let entry = model.log[shown[index]] else { continue }
            for line in index == current ? Array(whole) : [lines.line(entry, model)] {
                let line = line.clippedAfterWord(to: body.width, model.glyphs)
                canvas.draw(line, row: row, in: body, model.glyphs)
                if cursor == index {
                    canvas.restyle(row: row, in: body) { Style($0.role == .plain ? .cursor : $0.role, [.reverse]) }
                }
                row += 1
            }
        }
    }
}
