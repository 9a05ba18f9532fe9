import InspectorCore

/// All keys and commands, starting with those of the context where the help was opened.
package enum HelpView {
    package static func draw(_ model: Model, _ help: HelpState, on canvas: inout Canvas) {
        let rect = HelpLayout.box(canvas.size)
        let layout = HelpLayout(HelpContents(model, help), canvas.size)
        let height = HelpLayout.height(canvas.size)
        let below = max(0, layout.rows.count - help.top - height)
        let chip = help.filter.isEmpty ? "" : ", matching \"\(model.sanitizer.text(help.filter))\""
        let hint = model.naming("{accept} run   {filter} filter   {cancel} close", in: .help)
        let more = below > 0 ? ["\(hint)   \(below) more below"] : []
        let brief = model.naming("{accept} run  {cancel} close", in: .help)
        canvas.box(
            rect, title: "help: \(help.context.title)\(chip)",
            hint: Shorten.fitting(more + [hint, brief], in: rect.width - 6), model.glyphs)
        let inner = Rect(x: rect.x + 2, y: rect.y + 1, width: rect.width - 3, height: height)
        for (row, line) in layout.rows.dropFirst(help.top).prefix(height).enumerated() {
            canvas.draw(line, row: row, in: inner, model.glyphs)
        }
        if layout.places.indices.contains(help.cursor) {
            mark(layout.places[help.cursor], layout.width, help.top, inner, model, on: &canvas)
        }
        if model.field.open == nil { canvas.cursor = nil }
    }

    private static func mark(
        _ place: HelpLayout.Place, _ width: Int, _ top: Int, _ rect: Rect, _ model: Model, on canvas: inout Canvas
    ) {
        let marked = Rect(x: rect.x + place.x, y: rect.y, width: width, height: rect.height)
        for row in place.row - top..<place.row - top + place.height {
            canvas.restyle(row: row, in: marked) { Style($0.role, [.reverse]) }
        }
        guard (0..<rect.height).contains(place.row - top) else { return }
        canvas.draw(Line(">", Style(.key)), x: marked.x - 1, y: rect.y + place.row - top, width: 1, model.glyphs)
    }

    /// Returns the help as lines of the width on the model's screen.
    package static func lines(_ model: Model, _ help: HelpState) -> [Line] {
        HelpLayout(HelpContents(model, help), model.size).rows
    }
}
