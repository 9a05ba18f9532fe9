import SocketCore

/// The summary of warnings: how many there are, and as many of them as there is room for.
package enum WarningsView {
    package static func draw(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        guard rect.height > 0 else { return }
        let warnings = model.warnings.lines(model.shared, selected: model.list.selected, width: rect.width)
        let count = model.findings.count
        let shown = warnings.count(in: rect.height - 1)
        let right =
            count > shown
            ? Line(
                model.naming(
                    "\(count - shown) more: \(model.tab == .list ? "" : "{list} "){filter} lint:any", in: .list),
                Style(.dim)) : Line()
        canvas.rule(row: 0, in: rect, title: Line("warnings \(count)", Style(.warn)), right: right, model.glyphs)
        for (row, line) in warnings.lines.prefix(rect.height - 1).enumerated() {
            canvas.draw(line, row: row + 1, in: rect.left(rect.width - 1), model.glyphs)
        }
    }
}
