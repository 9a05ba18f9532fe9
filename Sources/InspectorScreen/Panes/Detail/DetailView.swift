import InspectorCore
import SocketCore

/// Draws the visible rows of the detail.
package enum DetailView {
    package static func draw(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        guard rect.height > 0 else { return }
        let rows = DetailDocument(model, width: rect.width).rows
        let top = min(model.detail.top, max(0, rows.count - rect.height))
        let inner = rect.left(rect.width - 1)
        for (index, row) in rows.dropFirst(top).prefix(rect.height).enumerated() {
            if row.isRule {
                canvas.rule(row: index, in: rect, title: row.left, right: row.right, model.glyphs)
            } else {
                canvas.draw(left: row.left, right: row.right, row: index, in: inner, model.glyphs)
            }
        }
        let below = rows.count - top - rect.height
        guard below > 0 else { return }
        // The keys scroll the detail only while it has the focus.
        let key = model.context == .detail ? model.shared.options.keys.key(for: "down", in: .detail) : nil
        var more = Line("\(below + 1) more lines below" + (key.map { " (\($0))" } ?? ""), Style(.dim))
        more.pad(to: rect.width)
        canvas.draw(more, row: rect.height - 1, in: rect, model.glyphs)
    }
}
