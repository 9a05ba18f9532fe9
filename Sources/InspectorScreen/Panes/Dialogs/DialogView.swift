import InspectorCore
import SocketCore

/// Draws dialogs in the middle of the screen.
package enum DialogView {
    private static let labelWidth = 12

    /// Returns the maximum width of a dialog. On a narrow screen that is the whole width.
    private static func most(_ size: Size) -> Int { size.width < 60 ? size.width : size.width - 4 }

    /// Returns the longest of these key hints that fits below a dialog.
    private static func hint(_ texts: [String], in width: Int, _ context: KeyContext, _ model: Model) -> String {
        Shorten.fitting(texts.map { model.naming($0, in: context) }, in: width - 6)
    }

    package static func draw(_ dialog: Dialog, _ model: Model, on canvas: inout Canvas) {
        canvas.cursor = nil
        switch dialog {
        case .form(let form): draw(form, model, on: &canvas)
        case .menu(let menu): draw(menu, model, on: &canvas)
        }
    }

    private static func draw(_ menu: Menu, _ model: Model, on canvas: inout Canvas) {
        let title = model.sanitizer.text(menu.title)
        let widest = menu.items.map { $0.label.count }.max() ?? 0
        let size = canvas.size
        let rows = max(1, min(menu.items.count, size.height - 4))
        let isNoted = !menu.notes.isEmpty
        let width = min(most(size), max(TextWidth.of(title) + 6, widest + 10, isNoted ? noteWidth + 4 : 0, 50))
        let notes = notes(menu, model, width: width - 4, room: size.height - rows - 5)
        let rect = Rect(size).centered(width: width, height: rows + 4 + (notes.isEmpty ? 0 : notes.count + 1))
        let hidden = menu.items.count - rows
        let keys = hidden > 0 ? "\(hidden) more: {up} {down} and {accept}" : "a letter, or {up} {down} and {accept}"
        let brief = hidden > 0 ? "\(hidden) more: {down}" : "a letter or {accept}"
        let hint = hint(["\(keys); {cancel} cancel", "\(brief); {cancel} cancel"], in: rect.width, .menu, model)
        canvas.box(rect, title: title, hint: hint, model.glyphs)
        let inside = Rect(x: rect.x + 2, y: rect.y + 2, width: rect.width - 4, height: rect.height - 3)
        for (row, line) in notes.enumerated() { canvas.draw(line, row: row, in: inside, model.glyphs) }
        let inner = inside.trimmed(top: notes.isEmpty ? 0 : notes.count + 1)
        let top = min(max(0, menu.selected - rows / 2), hidden)
        for (row, index) in menu.items.indices.dropFirst(top).prefix(rows).enumerated() {
            var line = Line(index == menu.selected ? "> " : "  ", Style(.cursor))
            line.append(menu.items[index].key.map(String.init) ?? " ", Style(.key, [.bold]))
            line.append("  ")
            model.sanitizer.append(Shorten.clause(menu.items[index].label, to: inner.width - line.width), to: &line)
            canvas.draw(line, row: row, in: inner, model.glyphs)
            if index == menu.selected { canvas.restyle(row: row, in: inner) { Style($0.role, [.reverse]) } }
        }
    }

    /// The width of notes if the screen has it. A fingerprint then takes two rows.
    private static let noteWidth = 54

    /// Returns the notes above a menu's items, in at most `room` rows. A fingerprint that does not fit is left out.
    private static func notes(_ menu: Menu, _ model: Model, width: Int, room: Int) -> [Line] {
        var lines: [Line] = []
        for note in menu.notes {
            switch note {
            case .words(let text):
                var words: [Line] = []
                for word in text.split(separator: " ", omittingEmptySubsequences: false) {
                    var line = Line()
                    model.sanitizer.append(String(word), to: &line)
                    words.append(line)
                }
                lines += Wrapping.rows(words, separator: " ", width: width).prefix(max(0, room - lines.count))
            case .fingerprint(let bytes):
                let rows = TLSWords.fingerprint(bytes, room: width)
                if lines.count + rows.count <= room { lines += rows.map { Line($0, Style(.dim)) } }
            }
        }
        return lines
    }

    private static func draw(_ form: Form, _ model: Model, on canvas: inout Canvas) {
        let shown = form.shown
        let title = model.sanitizer.text(form.title)
        let size = canvas.size
        let more = isFolded(form) ? "more" : "next"
        let rect = Rect(size).centered(
            width: min(most(size), max(64, TextWidth.of(title) + 6)), height: shown.count + 4)
        let next = shown.count > 1 || isFolded(form) ? "   {next-field} \(more)" : ""
        let accept = "{accept} \(form.verb)"
        let hint = hint(
            ["\(accept)\(next)   {cancel} cancel", "{next-field} \(more)   {cancel} cancel"], in: rect.width, .form,
            model)
        canvas.box(rect, title: title, hint: hint, model.glyphs)
        let inner = Rect(x: rect.x + 2, y: rect.y + 2, width: rect.width - 4, height: rect.height - 3)
        let longest = shown.map { form.fields[$0].label.count }.max() ?? 0
        let labels = rect.width < 60 ? longest + 1 : max(labelWidth, longest + 1)
        for (row, index) in shown.enumerated() {
            draw(form.fields[index], labels: labels, isFocused: index == form.focus, row, inner, model, on: &canvas)
        }
        guard let error = form.error else { return }
        var line = Line()
        model.sanitizer.append(error, Style(.error), to: &line)
        canvas.draw(line, row: shown.count, in: inner, model.glyphs)
    }

    private static func isFolded(_ form: Form) -> Bool {
        switch form.purpose {
        case .connect, .listen: !form.showsAll
        case .tls, .read, .answer, .timeout, .watermarks, .pace, .save, .saveMarked, .reply, .destination: false
        }
    }

    private static func draw(
        _ field: FormField, labels: Int, isFocused: Bool, _ row: Int, _ rect: Rect, _ model: Model,
        on canvas: inout Canvas
    ) {
        guard row < rect.height else { return }
        let label = Style(isFocused ? .key : .plain, isFocused ? [.bold] : [])
        canvas.draw(Line(Format.padded(field.label, to: labels), label), row: row, in: rect, model.glyphs)
        let place = rect.right(from: labels)
        switch field.value {
        case .text(let editor): text(editor, field, isFocused: isFocused, row, place, model, on: &canvas)
        case .toggle(let isOn):
            var line = Line(isOn ? "[x]" : "[ ]", Style(isFocused ? .cursor : .plain, isFocused ? [.reverse] : []))
            line.append("  \(Shorten.clause(field.hint, to: place.width - 5))", Style(.dim))
            canvas.draw(line.clippedAfterWord(to: place.width, model.glyphs), row: row, in: place, model.glyphs)
        case .choice(let options, let chosen):
            let lines = choices(options, chosen, isFocused: isFocused)
            canvas.draw(Line.fitting(lines, in: place.width), row: row, in: place, model.glyphs)
        }
    }

    /// Returns the choices of a field in increasingly compact forms. The last one has only the selected choice.
    private static func choices(_ options: [String], _ chosen: Int, isFocused: Bool) -> [Line] {
        func joined(_ shown: Range<Int>, before: (Bool) -> String, after: (Bool) -> String, gap: String) -> Line {
            var line = Line()
            for index in shown {
                let isOn = index == chosen
                if index > shown.lowerBound { line.append(gap) }
                line.append(before(isOn), Style(isFocused ? .key : .plain))
                line.append(options[index], Style(.plain, isOn && isFocused ? [.reverse] : isOn ? [.bold] : []))
                line.append(after(isOn), Style(isFocused ? .key : .plain))
            }
            return line
        }
        func marked(_ gap: String) -> Line {
            joined(options.indices, before: { $0 ? "(*) " : "( ) " }, after: { _ in "" }, gap: gap)
        }
        let enclosed = joined(options.indices, before: { $0 ? "(" : "" }, after: { $0 ? ")" : "" }, gap: " ")
        var alone = joined(chosen..<chosen + 1, before: { _ in "(*) " }, after: { _ in "" }, gap: "")
        alone.append("   \(chosen + 1) of \(options.count)", Style(.dim))
        return [marked("   "), marked(" "), enclosed, alone]
    }

    private static func text(
        _ editor: LineEditor, _ field: FormField, isFocused: Bool, _ row: Int, _ place: Rect, _ model: Model,
        on canvas: inout Canvas
    ) {
        let short = Shorten.clause(field.hint, to: place.width - 18)
        let isWide = field.isWide || short.count > place.width - 18
        let width = isWide ? place.width : min(16, place.width)
        let (line, cursor) = editor.window(width: width, sanitizer: model.sanitizer, glyphs: model.glyphs)
        var padded = line
        if editor.isEmpty && isWide {
            let hint = Line(Shorten.clause(field.hint, to: width), Style(.dim))
            padded = hint.clippedAfterWord(to: width, model.glyphs)
        }
        padded.pad(to: width)
        canvas.draw(
            padded.restyled { Style($0.role, [.underline]) }, x: place.x, y: place.y + row, width: width, model.glyphs)
        if !isWide {
            let hint = place.right(from: width + 2)
            canvas.draw(Line(short, Style(.dim)), row: row, in: hint, model.glyphs)
        }
        if isFocused && model.help == nil { canvas.cursor = Canvas.Position(x: place.x + cursor, y: place.y + row) }
    }
}
