import SocketCore

/// What a person sees who started the program without saying what to look at.
package enum StartView {
    package static func draw(_ model: Model, _ layout: ScreenLayout, on canvas: inout Canvas) {
        let glyphs = model.glyphs
        let whole = Rect(layout.size)
        canvas.draw(Line(" socktui \(model.options.version)", Style(.title)), row: 0, in: whole, glyphs)
        canvas.draw(Line(" Connect to, or listen on", Style(.heading)), row: 2, in: whole, glyphs)
        prompt(model, whole, on: &canvas)
        canvas.draw(
            Line("   host:port   [::1]:port   unix:/path   listen :8080", Style(.dim)), row: 4, in: whole, glyphs)
        if let error = model.start.error {
            var line = Line("   ")
            model.sanitizer.append(error, Style(.error), to: &line)
            canvas.draw(line, row: 5, in: whole, glyphs)
        }
        lists(model, whole.trimmed(top: 6, bottom: 2), on: &canvas)
        if model.notice == nil && model.field == nil {
            let hint = " Type an address, demo, or a line's number, then Enter; Tab completes."
            canvas.draw(Line(hint, Style(.dim)), row: 0, in: layout.status, glyphs)
        }
    }

    private static func prompt(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        canvas.draw(Line(" > ", Style(.key)), row: 3, in: rect, model.glyphs)
        let room = rect.width - 4
        let (line, cursor) = model.start.editor.window(width: room, sanitizer: model.sanitizer, glyphs: model.glyphs)
        canvas.draw(line, x: rect.x + 3, y: rect.y + 3, width: room, model.glyphs)
        if model.dialog == nil && model.help == nil {
            canvas.cursor = Canvas.Position(x: rect.x + 3 + cursor, y: rect.y + 3)
        }
    }

    /// What was opened before and what listens here, as much as fits; demo always does.
    private static func lists(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        var rows: [Line] = []
        let offers = model.start.offers
        let recent = offers.recent.map { (text: $0.text, note: $0.age) }
        let listening = offers.listening.map { (text: $0.address, note: $0.program) }
        let room = max(0, rect.height - 2)
        let heads = (recent.isEmpty ? 0 : 2) + (listening.isEmpty ? 0 : 2)
        let recentRoom =
            listening.isEmpty ? room - heads : max(1, (room - heads) - min(listening.count, (room - heads) / 2))
        rows += section("Recent", recent, from: 1, room: recentRoom, model)
        rows += section(
            "Listening on this host", listening, from: recent.count + 1, room: room - rows.count - 2, model)
        rows.append(Line("  demo  a small world of sockets to look at", Style(.dim)))
        for (index, line) in rows.enumerated() { canvas.draw(line, row: index, in: rect, model.glyphs) }
    }

    private static func section(
        _ title: String, _ entries: [(text: String, note: String)], from number: Int, room: Int, _ model: Model
    ) -> [Line] {
        guard !entries.isEmpty, room > 0 else { return [] }
        var rows = [Line(" " + title, Style(.heading))]
        let fits = entries.count > room ? max(0, room - 1) : room
        let shown = entries.prefix(fits)
        var column = 0
        let safe = shown.map { entry in
            var line = Line()
            model.sanitizer.append(entry.text, to: &line)
            column = max(column, line.width)
            return line
        }
        for (index, entry) in shown.enumerated() {
            var line = Line(Format.padded(String(number + index), to: 4, right: true) + "  ", Style(.key))
            line.append(Shorten.middle(safe[index], to: 40, tail: 6, model.glyphs))
            line.pad(to: 6 + min(column, 40) + 3)
            model.sanitizer.append(entry.note, Style(.dim), to: &line)
            rows.append(line)
        }
        if entries.count > fits { rows.append(Line("    +\(entries.count - fits) more", Style(.dim))) }
        rows.append(Line())
        return rows
    }
}
