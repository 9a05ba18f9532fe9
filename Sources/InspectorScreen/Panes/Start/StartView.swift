import InspectorCore
import SocketCore

/// The screen shown if the program is started without anything to open.
package enum StartView {
    package static func draw(_ model: Model, _ layout: ScreenLayout, on canvas: inout Canvas) {
        let glyphs = model.glyphs
        let whole = Rect(layout.size)
        canvas.draw(Line(" socktui \(model.shared.options.version)", Style(.title)), row: 0, in: whole, glyphs)
        canvas.draw(Line(" Connect to, or listen on", Style(.heading)), row: 2, in: whole, glyphs)
        prompt(model, whole, on: &canvas)
        let problem = problem(model, whole.width)
        // In a low window, the reason why nothing was opened takes precedence over the offers.
        let top = problem.isEmpty || whole.height >= 16 ? 5 : 4
        if top == 5 { canvas.draw(Line(forms(whole.width), Style(.dim)), row: 4, in: whole, glyphs) }
        let rest = whole.trimmed(top: top, bottom: 2)
        for (row, line) in problem.enumerated() { canvas.draw(line, row: row, in: rest, glyphs) }
        list(model, rest.trimmed(top: max(6 - top, problem.count)), on: &canvas)
        if model.notice == nil && model.field.open == nil { hint(model, layout.status, on: &canvas) }
    }

    /// Returns as many of the valid forms as fit.
    private static func forms(_ width: Int) -> String {
        let forms = [
            "host:port", "listen :8080", "attach PID", "unix:/path", "relay :9000 host:80", "ws://host/path",
            "udp://host:port", "tls://host:port", "[::1]:port",
        ]
        return forms.reduce("") { $0.count + 3 + $1.count <= width ? "\($0)   \($1)" : $0 }
    }

    private static func hint(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        let text: String
        if model.start.target != nil {
            text = " {accept} opens the selected line."
        } else if !model.start.editor.isEmpty {
            text = " {accept} opens what is typed."
        } else {
            let hasHelp = model.shared.options.keys.binding(for: "?", in: .start)?.line == "help"
            let what = rect.width >= 60 ? "part of a line below." : "part of one."
            text = (hasHelp ? " ? help." : "") + " Type an address or \(what)"
        }
        canvas.draw(Line(model.naming(text, in: .start), Style(.dim)), row: 0, in: rect, model.glyphs)
    }

    private static func prompt(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        canvas.draw(Line(" > ", Style(.key)), row: 3, in: rect, model.glyphs)
        let room = rect.width - 4
        let (line, cursor) = model.start.editor.window(width: room, sanitizer: model.sanitizer, glyphs: model.glyphs)
        canvas.draw(line, x: rect.x + 3, y: rect.y + 3, width: room, model.glyphs)
        if model.dialogs.open == nil && model.help == nil {
            canvas.cursor = Canvas.Position(x: rect.x + 3 + cursor, y: rect.y + 3)
        }
    }

    /// Returns the reason why nothing was opened, in as many rows as needed.
    private static func problem(_ model: Model, _ width: Int) -> [Line] {
        guard let error = model.start.error else { return [] }
        var line = Line()
        model.sanitizer.append(error, Style(.error), to: &line)
        return line.wrapped(to: max(1, width - 6)).map { part in
            var indented = Line("   ")
            indented.append(part)
            return indented
        }
    }

    private static func list(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        let target = model.start.target
        for (index, row) in StartRows(model, height: rect.height).rows.enumerated() {
            canvas.draw(row.line, row: index, in: rect, model.glyphs)
            guard row.match != nil, row.match == target else { continue }
            canvas.draw(Line(">", Style(.key)), row: index, in: rect, model.glyphs)
            canvas.restyle(row: index, in: rect) { Style($0.role, [.reverse]) }
        }
    }
}
