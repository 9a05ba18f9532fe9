import InspectorCore
import SocketCore

/// The list of connections: one row each, live ones first.
package enum ListView {
    package static func draw(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        if let found = model.list.found { return FoundView.draw(found, model, rect, on: &canvas) }
        guard let snapshot = model.shown, !snapshot.sockets.isEmpty else { return drawEmpty(model, rect, on: &canvas) }
        if let programs = model.list.programs { return ProgramsView.draw(programs, model, rect, on: &canvas) }
        if model.shared.showsHost { return drawHost(model, snapshot, rect, on: &canvas) }
        // One column stays blank before the pane on the right.
        let width = rect.width - (rect.width < canvas.size.width ? 1 : 0)
        let columns = ListColumns(width: width, idWidth: model.shared.summary.idWidth, chosen: model.list.columns)
        heading(model, columns, rect.top(1), on: &canvas)
        let body = rect.trimmed(top: 1)
        for (index, id) in model.list.rows.dropFirst(model.list.top).prefix(body.height).enumerated() {
            guard let socket = snapshot.socket(id) else { continue }
            ListRow(model: model, socket: socket, columns: columns, pair: model.list.pair(of: socket, in: model.shared))
                .draw(index, in: body, on: &canvas)
        }
        if model.list.rows.isEmpty {
            canvas.draw(Line("  no connection matches the filter", Style(.dim)), row: 1, in: body, model.glyphs)
        }
    }

    private static func drawEmpty(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        let programs = model.shared.programs
        let text =
            model.shown == nil
            ? "  waiting for the first snapshot"
            : model.shared.showsCapture
                ? "  nothing has passed yet"
                : !programs.isEmpty && programs.allSatisfy(\.isOutside)
                    ? "  no sockets that can be seen"
                    : model.naming("  no sockets yet: {connect} connects, {listen} listens")
        canvas.draw(Line(text, Style(.dim)), row: 1, in: rect, model.glyphs)
    }

    private static func heading(_ model: Model, _ columns: ListColumns, _ rect: Rect, on canvas: inout Canvas) {
        // Reads and writes of captured programs are unknown. The columns show the programs instead.
        let captured = model.shared.showsCapture ? ["peer": "ADDRESS", "reading": "CLIENT", "writing": "SERVER"] : [:]
        func put(_ place: ListColumns.Column?, _ name: String) {
            guard let place, let column = ListColumn.named(name) else { return }
            let isSorted = name == model.list.sorting.name
            let title =
                name == "warnings"
                ? column.title
                : Format.padded(
                    captured[name] ?? column.title, to: place.width, right: column.alignsRight)
            let line = Line(title, Style(.heading, isSorted ? [.bold, .underline] : []))
            canvas.draw(line, x: rect.x + place.x, y: rect.y, width: place.width, model.glyphs)
        }
        put(columns.id, "id")
        put(columns.state, "state")
        put(columns.peer, "peer")
        put(columns.reading, "reading")
        put(columns.writing, "writing")
        put(columns.receiveRate, "rx")
        put(columns.sendRate, "tx")
        for (column, place) in columns.optional { put(place, column.name) }
        put(columns.warnings, "warnings")
    }
}
