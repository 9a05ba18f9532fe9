import SocketCore

/// Dialogs stand in the middle over the screen.
package enum DialogView {
    private static let labelWidth = 12

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
        let width = min(size.width - 4, max(TextWidth.of(title) + 6, widest + 10, isNoted ? noteWidth + 4 : 0, 50))
        let notes = notes(menu, model, width: width - 4, room: size.height - rows - 5)
        let rect = Rect(size).centered(width: width, height: rows + 4 + (notes.isEmpty ? 0 : notes.count + 1))
        let hidden = menu.items.count - rows
        let hint =
            hidden > 0
            ? "\(hidden) more: {up} {down} and {accept}; {cancel} cancel"
            : "a letter, or {up} {down} and {accept}; {cancel} cancel"
        canvas.box(rect, title: title, hint: model.naming(hint, in: .menu), model.glyphs)
        let inside = Rect(x: rect.x + 2, y: rect.y + 2, width: rect.width - 4, height: rect.height - 3)
        for (row, line) in notes.enumerated() { canvas.draw(line, row: row, in: inside, model.glyphs) }
        let inner = inside.trimmed(top: notes.isEmpty ? 0 : notes.count + 1)
        let top = min(max(0, menu.selected - rows / 2), hidden)
        for (row, index) in menu.items.indices.dropFirst(top).prefix(rows).enumerated() {
            var line = Line(index == menu.selected ? "> " : "  ", Style(.cursor))
            line.append(menu.items[index].key.map(String.init) ?? " ", Style(.key, [.bold]))
            line.append("  ")
            model.sanitizer.append(menu.items[index].label, to: &line)
            canvas.draw(line, row: row, in: inner, model.glyphs)
            if index == menu.selected { canvas.restyle(row: row, in: inner) { Style($0.role, [.reverse]) } }
        }
    }

    /// Columns that notes are given where the screen has them: a fingerprint takes two rows.
    private static let noteWidth = 54

    /// What stands above a menu's items, in so many rows at most. A fingerprint that does not fit is left out.
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
        let hint = model.naming(
            "{accept} \(verb(form.purpose))   {next-field} \(more)   {cancel} cancel", in: .form)
        let rect = Rect(size).centered(
            width: min(size.width - 4, max(64, TextWidth.of(title) + 6)), height: shown.count + 4)
        canvas.box(rect, title: title, hint: hint, model.glyphs)
        let inner = Rect(x: rect.x + 2, y: rect.y + 2, width: rect.width - 4, height: rect.height - 3)
        for (row, index) in shown.enumerated() {
            draw(form.fields[index], isFocused: index == form.focus, row, inner, model, on: &canvas)
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

    private static func verb(_ purpose: Form.Purpose) -> String {
        switch purpose {
        case .connect: "connect"
        case .listen: "listen"
        case .read: "queue it"
        case .tls: "secure"
        case .answer: "answer"
        case .timeout, .watermarks, .pace, .reply, .destination: "set it"
        case .save, .saveMarked: "save"
        }
    }

    private static func draw(
        _ field: FormField, isFocused: Bool, _ row: Int, _ rect: Rect, _ model: Model, on canvas: inout Canvas
    ) {
        guard row < rect.height else { return }
        let label = Style(isFocused ? .key : .plain, isFocused ? [.bold] : [])
        canvas.draw(Line(Format.padded(field.label, to: labelWidth), label), row: row, in: rect, model.glyphs)
        let place = rect.right(from: labelWidth)
        switch field.value {
        case .text(let editor): text(editor, field, isFocused: isFocused, row, place, model, on: &canvas)
        case .toggle(let isOn):
            var line = Line(isOn ? "[x]" : "[ ]", Style(isFocused ? .cursor : .plain, isFocused ? [.reverse] : []))
            line.append("  \(field.hint)", Style(.dim))
            canvas.draw(line, row: row, in: place, model.glyphs)
        case .choice(let options, let chosen):
            var line = Line()
            let letters = options.reduce(0) { $0 + $1.count + 4 }
            let gap = letters + 3 * options.count <= place.width ? "   " : " "
            for (index, option) in options.enumerated() {
                let isOn = index == chosen
                line.append(isOn ? "(*) " : "( ) ", Style(isFocused ? .key : .plain))
                line.append(option, Style(.plain, isOn && isFocused ? [.reverse] : isOn ? [.bold] : []))
                line.append(gap)
            }
            canvas.draw(line, row: row, in: place, model.glyphs)
        }
    }

    private static func text(
        _ editor: LineEditor, _ field: FormField, isFocused: Bool, _ row: Int, _ place: Rect, _ model: Model,
        on canvas: inout Canvas
    ) {
        let width = field.isWide ? place.width : min(16, place.width)
        let (line, cursor) = editor.window(width: width, sanitizer: model.sanitizer, glyphs: model.glyphs)
        var padded = line
        if editor.isEmpty && field.isWide { padded = Line(field.hint, Style(.dim)) }
        padded.pad(to: width)
        canvas.draw(
            padded.restyled { Style($0.role, [.underline]) }, x: place.x, y: place.y + row, width: width, model.glyphs)
        if !field.isWide {
            let hint = place.right(from: width + 2)
            canvas.draw(Line(field.hint, Style(.dim)), row: row, in: hint, model.glyphs)
        }
        if isFocused && model.help == nil { canvas.cursor = Canvas.Position(x: place.x + cursor, y: place.y + row) }
    }
}
