import InspectorCore
import SocketCore

/// The list of connections: one row each, live ones first.
package enum ListView {
    package static func draw(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        if let found = model.list.found { return FoundView.draw(found, model, rect, on: &canvas) }
        if let hosts = model.list.hosts { return HostsView.draw(hosts, model, rect, on: &canvas) }
        guard let snapshot = model.shown, !snapshot.sockets.isEmpty else { return drawEmpty(model, rect, on: &canvas) }
        if let programs = model.list.programs { return ProgramsView.draw(programs, model, rect, on: &canvas) }
        let visible = model.list.rows.dropFirst(model.list.top).prefix(max(0, rect.height - 1)).compactMap { id in
            snapshot.socket(id).map { model.list.listed($0, in: model.shared) }
        }
        let sight = Sight(model.now, model.shared.findings, model.glyphs)
        // One column stays blank before the pane on the right.
        let width = rect.width - (rect.width < canvas.size.width ? 1 : 0)
        let layout = ListLayout(
            model.list.kind, width: width, idWidth: model.shared.summary.idWidth,
            optional: model.list.columns.union(model.list.kind.rare(in: visible, sight)))
        heading(model, layout, rect.top(1), on: &canvas)
        let body = rect.trimmed(top: 1)
        for (index, row) in visible.enumerated() {
            ListRow(model: model, row: row, sight: sight, layout: layout).draw(index, in: body, on: &canvas)
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
                ? "  no traffic yet"
                : !programs.isEmpty && programs.allSatisfy(\.isOutside)
                    ? model.shared.hosts.isEmpty
                        ? "  no visible sockets" : model.naming("  no sockets yet: {hosts} says why")
                    : model.naming("  no sockets yet: {connect} connects, {listen} listens")
        canvas.draw(Line(text, Style(.dim)), row: 1, in: rect, model.glyphs)
    }

    private static func heading(_ model: Model, _ layout: ListLayout, _ rect: Rect, on canvas: inout Canvas) {
        for (column, place) in layout.places where !column.title.isEmpty {
            let isSorted = column == model.list.sorting.column
            let isWide = place.width > 2
            let title = isWide ? Format.padded(column.title, to: place.width, right: column.alignsRight) : column.title
            let line = Line(title, Style(.heading, isSorted ? [.bold, .underline] : []))
            canvas.draw(line, x: rect.x + place.x, y: rect.y, width: place.width, model.glyphs)
        }
    }
}
