import InspectorCore
import SocketCore

/// The output of the running program, below a row with its state.
package enum OutputView {
    package static func draw(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        guard rect.height > 0, let child = model.shared.child else { return }
        let text = model.output.text
        canvas.draw(
            left: heading(child, model), right: counts(text, model), row: 0, in: rect.left(rect.width - 1), model.glyphs
        )
        let body = rect.trimmed(top: 1)
        guard text.end > text.first else {
            let words = child.ending == nil ? "no output yet" : "no output"
            return canvas.draw(Line(" " + words, Style(.dim)), row: 0, in: body, model.glyphs)
        }
        let layout = OutputLayout(text, width: body.width, model.sanitizer)
        let place = model.output.top ?? layout.top(endingAt: text.end, height: body.height)
        let rows = layout.rows(from: place, height: body.height)
        for (row, line) in rows.enumerated() { canvas.draw(line, row: row, in: body, model.glyphs) }
        guard model.typesToChild, model.output.top == nil, let line = text.line else { return }
        let part = min(line.column / layout.width, layout.lines(text.end - 1).count - 1)
        let row = rows.count - layout.lines(text.end - 1).count + part
        let column = min(line.column - part * layout.width, layout.width - 1)
        canvas.cursor = Canvas.Position(x: body.x + column, y: body.y + max(0, row))
    }

    private static func heading(_ child: ChildState, _ model: Model) -> Line {
        var line = Line(" ")
        let style: Style =
            switch child.ending {
            case nil: Style(.lit)
            case .exit(0): Style(.heading)
            default: Style(.warn)
            }
        model.sanitizer.append(child.chip, style, to: &line)
        return line
    }

    /// Returns `12 lines  3.4K`, and how much of that is not kept.
    private static func counts(_ text: OutputText, _ model: Model) -> Line {
        var line = Line()
        if text.lost > 0 { line.append("\(Format.size(text.lost)) not kept  ", Style(.warn)) }
        line.append("\(Format.count(text.end, "line"))  \(Format.size(text.total))", Style(.dim))
        return line
    }
}
