import InspectorCore

/// The commands above the command line: key, name and description.
package enum PaletteView {
    private static let most = 12

    package static func draw(_ model: Model, _ layout: ScreenLayout, on canvas: inout Canvas) {
        // An error of the line replaces the commands.
        guard model.field.open?.error == nil, let palette = CommandPalette(model) else { return }
        let above = Rect(layout.size).trimmed(bottom: 2)
        let usage = Line(palette.usage).wrapped(to: max(1, above.width - 2)).prefix(
            palette.usage.isEmpty ? 0 : max(3, above.height / 3))
        let height = min(palette.entries.count, most, max(2, above.height * 2 / 3 - 1 - usage.count))
        let rect = above.bottom(height + usage.count + 1)
        canvas.clear(rect)
        let top = min(max(0, (palette.target ?? 0) - height / 2), palette.entries.count - height)
        let below = palette.entries.count - top - height
        canvas.rule(
            row: 0, in: rect, title: Line(palette.usage.isEmpty ? "commands" : "arguments", Style(.heading)),
            right: Line(below > 0 ? "\(below) more" : ""),
            model.glyphs)
        for (row, line) in usage.enumerated() {
            canvas.draw(line, x: rect.x + 1, y: rect.y + 1 + row, width: rect.width - 1, model.glyphs)
        }
        let list = rect.trimmed(top: 1 + usage.count)
        let names = max(12, (palette.entries.map(\.name.count).max() ?? 0) + 2)
        for row in 0..<height {
            let isTarget = top + row == palette.target
            var line = Line(isTarget ? "> " : "  ", Style(.key))
            line.append(self.line(palette.entries[top + row], names: names, width: rect.width, model))
            canvas.draw(line.clippedAfterWord(to: rect.width, model.glyphs), row: row, in: list, model.glyphs)
            if isTarget { canvas.restyle(row: row, in: list) { Style($0.role, [.reverse]) } }
        }
    }

    private static func line(_ entry: CommandPalette.Entry, names: Int, width: Int, _ model: Model) -> Line {
        let keys = width >= 60 ? 8 : 5
        var line = Line(entry.keys + " ", Style(.key))
        line.pad(to: keys)
        model.sanitizer.append(entry.name, Style(.heading), to: &line)
        line.pad(to: keys + min(names, 20))
        line.append(entry.help)
        if !entry.arguments.isEmpty { line.append("  " + entry.arguments, Style(.dim)) }
        return line
    }
}
