import SocketCore

extension Model {
    /// Takes what the mouse did: a press puts the cursor there, and opens the row that had it; the wheel scrolls what
    /// it stands over. While a line is typed or something is asked, the mouse means nothing.
    mutating func mouse(_ event: MouseEvent) -> [Effect] {
        let layout = self.layout
        guard !layout.isTooSmall, dialog == nil, field == nil else { return [] }
        guard help == nil else {
            if event.kind != .press { move(.rows(event.kind == .wheelUp ? -1 : 1)) }
            return []
        }
        switch event.kind {
        case .press: press(at: event, layout)
        case .wheelUp: scroll(-Self.wheelRows, at: event, layout)
        case .wheelDown: scroll(Self.wheelRows, at: event, layout)
        }
        return []
    }

    private static let wheelRows = 3

    private mutating func press(at event: MouseEvent, _ layout: ScreenLayout) {
        let row = event.y - layout.list.y - 1
        if layout.list.holds(event), row >= 0, list.rows.indices.contains(list.top + row) {
            let id = list.rows[list.top + row]
            if id == list.selected, tab == .list { showTalk(composing: true) } else { select(id) }
        } else if layout.tabs.holds(event), tab != .start, let tab = TabBar.tab(at: event.x, options.keys) {
            tab == .talk ? showTalk(composing: false) : show(tab)
        }
    }

    private mutating func scroll(_ step: Int, at event: MouseEvent, _ layout: ScreenLayout) {
        if layout.list.holds(event) {
            moveSelection(step < 0 ? -1 : 1)
        } else if layout.traffic.holds(event) {
            scrollTraffic(step)
        } else if layout.detail.holds(event) {
            scrollDetail(step)
        } else if tab == .events {
            events.move(step, in: shared)
        }
    }
}

extension Rect {
    fileprivate func holds(_ event: MouseEvent) -> Bool {
        (x..<x + width).contains(event.x) && (y..<y + height).contains(event.y)
    }
}
