import SocketCore

/// What a person sees who started the program without saying what to look at.
package enum StartView {
    package static func draw(_ model: Model, _ layout: ScreenLayout, on canvas: inout Canvas) {
        let glyphs = model.glyphs
        let whole = Rect(layout.size)
        canvas.draw(Line(" socktui \(model.options.version)", Style(.title)), row: 0, in: whole, glyphs)
        canvas.draw(Line(" Connect to, or listen on", Style(.heading)), row: 2, in: whole, glyphs)
        prompt(model, whole, on: &canvas)
        let relay = whole.width < 76 ? "" : "   relay :9000 host:80"
        let forms = "   host:port   [::1]:port   unix:/path   listen :8080" + relay
        canvas.draw(Line(forms, Style(.dim)), row: 4, in: whole, glyphs)
        if let error = model.start.error {
            var line = Line("   ")
            model.sanitizer.append(error, Style(.error), to: &line)
            canvas.draw(line, row: 5, in: whole, glyphs)
        }
        lists(model, whole.trimmed(top: 6, bottom: 2), on: &canvas)
        if model.notice == nil && model.field == nil {
            let hint = model.naming(
                " Type an address, demo, or a line's number, then {accept}; {complete} completes.", in: .start)
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

    private typealias Entry = (text: String, note: String)

    /// What was opened before and what listens here, as much as fits; demo always does.
    private static func lists(_ model: Model, _ whole: Rect, on canvas: inout Canvas) {
        let offers = model.start.offers
        let recent: [Entry] = offers.recent.map { ($0.text, $0.age) }
        let listening: [Entry] = offers.listening.map { ($0.address, $0.program) }
        let programs: [Entry] = offers.programs.map { ($0.title, $0.age) }
        let bottom = min(programs.count + 1, 5)
        let rect = whole.trimmed(bottom: programs.isEmpty ? 0 : bottom)
        let heads = (recent.isEmpty ? 0 : 1) + (listening.isEmpty ? 0 : 1)
        let isSpacious = rect.height >= recent.count + listening.count + heads * 2 + 1
        let room = max(0, rect.height - 1 - heads)
        let forListening = min(listening.count, max(room / 2, room - recent.count))
        var rows = section("Recent", recent, from: 1, room: isSpacious ? room : room - forListening, model)
        if isSpacious && !rows.isEmpty { rows.append(Line()) }
        rows += section(
            "Listening on this host", listening, from: recent.count + 1, room: isSpacious ? room : forListening, model)
        if isSpacious && !listening.isEmpty { rows.append(Line()) }
        rows += section(
            "Programs that can be inspected", programs, from: recent.count + listening.count + 1, room: bottom - 1,
            model)
        if isSpacious && !programs.isEmpty { rows.append(Line()) }
        rows.append(Line("   demo  a small world of sockets to look at", Style(.dim)))
        for (index, line) in rows.enumerated() { canvas.draw(line, row: index, in: whole, model.glyphs) }
    }

    /// A heading and so many entries; where not all fit, the last row says how many more there are.
    private static func section(
        _ title: String, _ entries: [Entry], from number: Int, room: Int, _ model: Model
    ) -> [Line] {
        guard !entries.isEmpty, room > 0 else { return [] }
        let fits = entries.count > room ? room - 1 : room
        let texts = entries.prefix(fits).map { entry in
            var line = Line()
            model.sanitizer.append(entry.text, to: &line)
            return Shorten.middle(line, to: 40, tail: Shorten.portTail(entry.text), model.glyphs)
        }
        let column = texts.map(\.width).max() ?? 0
        var rows = [Line(" " + title, Style(.heading))]
        for (index, text) in texts.enumerated() {
            var line = Line(Format.padded(String(number + index), to: 4, right: true) + "  ", Style(.key))
            line.append(text)
            line.pad(to: 6 + column + 3)
            model.sanitizer.append(entries[index].note, Style(.dim), to: &line)
            rows.append(line)
        }
        if entries.count > fits { rows.append(Line("      +\(entries.count - fits) more", Style(.dim))) }
        return rows
    }
}
