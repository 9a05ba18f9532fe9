import InspectorCore
import SocketCore

/// The traffic pane: the queues, the traffic, and the composer.
package enum TrafficView {
    package static func draw(_ model: Model, _ layout: TrafficLayout, on canvas: inout Canvas) {
        if let socket = model.selected {
            QueueLines(model, socket, width: layout.queues.width).draw(in: layout.queues, on: &canvas)
        }
        let document = TrafficDocument(model, width: layout.traffic.width)
        drawRule(model, document, layout.rule, on: &canvas)
        drawTraffic(model, document, layout.traffic, on: &canvas)
    }

    private static func drawRule(_ model: Model, _ document: TrafficDocument, _ rect: Rect, on canvas: inout Canvas) {
        let mode = model.traffic.viewMode
        let automatic = model.traffic.automaticView(in: document) == .hexText ? "hex" : "text"
        let view = mode == .auto ? "auto: \(automatic)" : mode.rawValue
        var right = Line()
        if model.hasTraffic { right.append(model.naming("\(view) ({cycle-view})   ", of: .traffic), Style(.dim)) }
        right.append(
            model.naming(
                model.traffic.scroll.isFollowing ? "following ({follow})" : "not following ({follow})", of: .traffic),
            Style(.dim))
        let title = Line("traffic", Style(.heading))
        let isFocused = model.tab == .traffic && !model.isComposing
        canvas.rule(row: 0, in: rect, title: title, right: right, model.glyphs, focused: isFocused)
    }

    /// Draws the newest traffic, for a pane that shows only that.
    static func drawTail(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        let document = TrafficDocument(model, width: rect.width - 1)
        let page = document.page(from: document.followingTop(rows: rect.height), rows: rect.height)
        for (row, entry) in page.enumerated() { canvas.draw(entry.line, row: row, in: rect, model.glyphs) }
    }

    private static func drawTraffic(
        _ model: Model, _ document: TrafficDocument, _ rect: Rect, on canvas: inout Canvas
    ) {
        guard rect.height > 0 else { return }
        let scroll = model.traffic.scroll
        let top = scroll.isFollowing ? document.followingTop(rows: rect.height) : scroll.top.map(document.place)
        let cursor = scroll.isFollowing ? nil : scroll.cursor.map(document.place)
        let page = document.page(from: top ?? document.followingTop(rows: rect.height), rows: rect.height)
        for (row, entry) in page.enumerated() {
            canvas.draw(entry.line, row: row, in: rect, model.glyphs)
            if entry.place == cursor && model.tab == .traffic && !model.isComposing {
                canvas.restyle(row: row, in: rect) { Style($0.role == .plain ? .cursor : $0.role, [.reverse]) }
            }
        }
    }
}
