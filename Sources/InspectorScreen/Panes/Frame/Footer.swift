import InspectorCore
import SocketCore

/// The last two rows: a sentence or a field, and the keys that have an effect now. The keys for help and leaving are on
/// the right and are never left out.
package enum Footer {
    package static func draw(_ model: Model, _ layout: ScreenLayout, on canvas: inout Canvas) {
        status(model, layout.status, on: &canvas)
        keys(model, layout.footer, on: &canvas)
    }

    /// The most keys that the last row names, those for help and leaving included. `?` and `:` have the others.
    package static let mostKeys = 12

    private static func keys(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        let context = model.context
        if model.typesToChild {
            let left = Line(" all other keys go to the program", Style(.dim))
            let right = Line("\(KeyTable.leavesTerminal.label) commands", Style(.key))
            return canvas.draw(left: left, right: right, row: 0, in: rect.left(rect.width - 1), model.glyphs)
        }
        if context == .field, model.field.open?.purpose == .command { return palette(model, rect, on: &canvas) }
        let reserved = reserved(context, model)
        let right = Line(reserved.joined(separator: "  "), Style(.key))
        let room = rect.width - right.width - 3
        var (line, shown) = (Line(), reserved.count)
        let keys = model.shared.options.keys
        let rewound = model.overlay(context).map { overlay in keys.bindings(in: overlay).map { ($0, overlay) } } ?? []
        for (binding, place) in rewound + keys.bindings(in: context).map({ ($0, context) }) {
            // Rewinding keys take precedence over the view's.
            if place == context, rewound.contains(where: { !Set($0.0.keys).isDisjoint(with: binding.keys) }) {
                continue
            }
            guard let label = binding.action?.use(in: place)?.hint(model), let key = binding.keys.first?.label else {
                continue
            }
            guard shown < mostKeys, line.width + key.count + label.count + 3 <= room else { break }
            shown += 1
            line.append(line.width == 0 ? " " : "  ")
            line.append(key, Style(.key))
            line.append(" " + label)
        }
        canvas.draw(left: line, right: right, row: 0, in: rect.left(rect.width - 1), model.glyphs)
    }

    /// Draws the actions for the selected row of the palette.
    private static func palette(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        let palette = CommandPalette(model)
        let entry = palette?.target.flatMap { index in palette?.entries[index] }
        let verb = entry?.needsMore == true ? "writes it" : "runs it"
        let left = Line(model.naming(" {history-up} {history-down} choose", in: .field), Style(.dim))
        let completes = rect.width < 60 ? "" : "{complete} completes  "
        let right = Line(model.naming("\(completes){accept} \(verb)  {cancel} cancel", in: .field), Style(.key))
        let isFitting = left.width + right.width + 2 < rect.width
        canvas.draw(
            left: isFitting ? left : Line(), right: right, row: 0, in: rect.left(rect.width - 1), model.glyphs)
    }

    /// Returns the keys for help and leaving. ^C always means quit.
    private static func reserved(_ context: KeyContext, _ model: Model) -> [String] {
        let keys = model.shared.options.keys
        let leaving = context == .list && !model.showsFound ? "quit" : "back"
        let isView = KeyContext.views.contains(context)
        let help = keys.key(for: "help", in: context).map { "\($0) help" }
        let leave = isView ? keys.key(for: leaving, in: context).map { "\($0) \(leaving)" } : nil
        return [help, leave ?? "\(KeyTable.fixed.label) quit"].compactMap { $0 }
    }

    private static func status(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        if let field = model.field.open { return drawField(field, model, rect, on: &canvas) }
        var line = Line(" ")
        if let notice = model.notice { return draw(notice, model, rect, on: &canvas) }
        model.sanitizer.append(usual(model), Style(.dim), to: &line)
        canvas.draw(line, row: 0, in: rect, model.glyphs)
    }

    /// The maximum height of a notice. One that is too long for its row covers those above it.
    private static let noticeRows = 4

    private static func draw(_ notice: Model.Notice, _ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        var text = Line()
        model.sanitizer.append(notice.text, Style(notice.isError ? .error : .plain), to: &text)
        let rows = text.wrapped(to: max(1, rect.width - 1)).prefix(noticeRows)
        for (index, row) in rows.enumerated() {
            var line = Line(" ")
            line.append(row)
            line.pad(to: rect.width)
            let place = Rect(x: rect.x, y: rect.y - rows.count + 1 + index, width: rect.width, height: 1)
            canvas.draw(line, row: 0, in: place, model.glyphs)
        }
    }

    /// Returns the text shown when there is no notice.
    private static func usual(_ model: Model) -> String {
        switch model.tab {
        case .list:
            if let found = model.list.found {
                let isPartial = found.request != nil && model.shared.isReadingFile
                let words = (isPartial ? "still reading the file; " : "") + found.words
                return Shorten.clause(words, to: model.size.width - 2)
            }
            if let programs = model.list.programs {
                let socket = Format.count(programs.rows.reduce(0) { $0 + $1.count }, "socket")
                return "\(Format.count(programs.rows.count, "program")) with \(socket), worst first"
            }
            if let host = model.currentHost {
                let words = [host.words, host.said].compactMap { $0 }.joined(separator: "; ")
                return Shorten.clause(model.sanitizer.text(words), to: model.size.width - 2)
            }
            let rows = model.list.rows.count
            let all = model.list.total
            let counts =
                model.list.filter.isEmpty
                ? "\(model.shared.summary.live) \(model.hasEnded ? "open" : "live"), \(model.shared.summary.closed) closed"
                : model.naming("\(rows) of \(all) listed; {back} lists all")
            if let hidden = hidden(model) { return Shorten.clause(counts + "; " + hidden, to: model.size.width - 2) }
            let name = model.list.sorting.column.sentenceName + model.list.exception(in: model.shared)
            let sight = inSight(model)
            return Shorten.fitting(
                [counts + ", sorted by \(name)" + sight, counts + sight, counts], in: model.size.width - 1)
        case .events:
            let shown = model.events.shown(in: model.shared).count
            let kept = model.shared.eventsEnd - model.log.first
            let all = model.shared.frozen?.nextEvent ?? model.log.next
            var text = model.events.matching == nil ? "\(all) events" : "\(shown) of \(kept) rows"
            if model.events.matching == nil, model.log.first > 0 { text += ", the latest \(kept) rows are kept" }
            if model.events.matching == nil, kept > Int(all) { text += ", \(Format.count(kept - Int(all), "note"))" }
            if model.log.lost > 0 { text += ", \(model.log.lost) lost" }
            return text
        case .traffic:
            let rules = model.selected.map { model.replies(for: $0) } ?? []
            guard let rule = rules.first else { return "" }
            return "auto-reply: " + rule.words + (rules.count > 1 ? ", +\(rules.count - 1) more" : "")
        case .start, .detail, .output: return ""
        }
    }

    /// Returns what is hidden of the host.
    private static func hidden(_ model: Model) -> String? {
        guard model.shared.showsHost || model.shared.showsCapture else { return nil }
        let summary = model.shared.summary
        let owners = HiddenOwners.text(summary.hiddenOwners, names: summary.hiddenNames).map { "owners hidden: \($0)" }
        let missing = model.shared.programs.compactMap(\.missing).first.map { "not seen: \($0)" }
        // The number of unknown owners is in the header, too.
        let folded = model.list.folded.map { "\($0.count) in TIME-WAIT: filter state:time-wait" }
        let words = [folded, missing, owners].compactMap { $0 }
        return words.isEmpty ? nil : words.joined(separator: "; ")
    }

    /// Returns `; rows 5-14 of 8012`, if not all of them are visible.
    private static func inSight(_ model: Model) -> String {
        let height = model.layout.listRows
        let rows = model.list.rows.count
        guard rows > height, height > 0 else { return "" }
        return "; rows \(model.list.top + 1)-\(min(rows, model.list.top + height)) of \(rows)"
    }

    private static func drawField(_ field: OpenField, _ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        let label =
            switch field.purpose {
            case .listFilter, .eventFilter: " filter "
            case .eventSearch, .listSearch, .trafficSearch: " search "
            case .helpFilter: " help with "
            case .command: " :"
            case .instant: " time "
            }
        canvas.draw(Line(label, Style(.key)), row: 0, in: rect, model.glyphs)
        var problem = Line()
        if let error = field.error { model.sanitizer.append(error, Style(.error), to: &problem) }
        let room = rect.width - label.count - 1
        let isBeside = problem.width <= room - 16
        if !isBeside, let error = field.error {
            let above = Rect(x: rect.x, y: rect.y - 1, width: rect.width, height: 1)
            draw(.error(error), model, above, on: &canvas)
        }
        let kept = isBeside ? problem.width : 0
        let width = max(1, kept > 0 ? room - kept - 2 : room)
        let (line, cursor) = field.editor.window(
            width: width, sanitizer: model.sanitizer, glyphs: model.glyphs, wrong: field.wrong)
        canvas.draw(line, x: rect.x + label.count, y: rect.y, width: width, model.glyphs)
        canvas.cursor = Canvas.Position(x: rect.x + label.count + cursor, y: rect.y)
        canvas.draw(problem, x: rect.x + label.count + width + 1, y: rect.y, width: kept, model.glyphs)
    }
}
