import InspectorCore
import SocketCore

/// The summary of warnings: how many there are, and as many of them as fit.
package enum WarningsView {
    package static func draw(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        guard rect.height > 0 else { return }
        let warnings = model.warnings.lines(model.shared, selected: model.list.selected, width: rect.width)
        let count = model.shared.findings.count
        let shown = warnings.count(in: rect.height - 1)
        let right =
            count > shown
            ? Line(
                model.naming(
                    "\(count - shown) more: \(model.tab == .list ? "" : "{list} "){filter} lint:any", in: .list),
                Style(.dim)) : Line()
        canvas.rule(row: 0, in: rect, title: title(model.shared.findings), right: right, model.glyphs)
        for (row, line) in warnings.lines.prefix(rect.height - 1).enumerated() {
            canvas.draw(line, row: row + 1, in: rect.left(rect.width - 1), model.glyphs)
        }
    }
}

extension WarningsView {
    /// Returns `critical 1  warnings 2  notes 1`, without those that are zero.
    private static func title(_ findings: Findings) -> Line {
        var title = Line()
        let words: [(Severity, String, Role)] = [
            (.critical, "critical", .bad), (.warning, "warnings", .warn), (.note, "notes", .dim),
        ]
        for (severity, word, role) in words {
            let count = findings.count(severity)
            guard count > 0 else { continue }
            if title.width > 0 { title.append("  ") }
            title.append("\(word) \(count)", Style(role))
        }
        return title
    }
}
