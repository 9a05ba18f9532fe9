import InspectorCore
import SocketCore

extension Model {
    /// Handles a mouse event. A press moves the cursor, and opens the row that already had it. The wheel scrolls the
    /// pane below the pointer. The mouse has no effect while a line is typed in a field or a dialog is open.
    mutating func mouse(_ event: MouseEvent) -> [Effect] {
        let layout = self.layout
        noteDrag(event)
        guard !layout.isTooSmall, dialogs.open == nil, field.open == nil else { return [] }
        guard help == nil else {
            switch event.kind {
            case .press, .release: break
            case .wheelUp: move(.rows(-1))
            case .wheelDown: move(.rows(1))
            }
            return []
        }
        switch event.kind {
        case .press: press(at: event, layout)
        case .release: break
        case .wheelUp: scroll(-Self.wheelRows, at: event, layout)
        case .wheelDown: scroll(Self.wheelRows, at: event, layout)
        }
        return []
    }

    /// Explains at the first drag how to select text, because the terminal now needs Shift for that.
    private mutating func noteDrag(_ event: MouseEvent) {
        switch event.kind {
        case .press: pressed = event
        case .release:
            guard let began = pressed, !knowsDrags, (began.x, began.y) != (event.x, event.y) else { return }
            knowsDrags = true
            notice = hint("hold Shift to select text; :mouse off leaves the mouse to the terminal")
        case .wheelUp, .wheelDown: break
        }
    }

    private static let wheelRows = 3

    private mutating func press(at event: MouseEvent, _ layout: ScreenLayout) {
        let row = event.y - layout.list.y - 1
        if let found = list.found, layout.list.holds(event), row >= 0 {
            isComposing = false
            let step = found.top + row - found.cursor
            return step == 0 && tab == .list ? jumpToFound() : moveInFound(step)
        }
        if let programs = list.programs, layout.list.holds(event), row >= 0 {
            let chosen = programs.top + row
            return chosen == programs.cursor && tab == .list ? openProgram() : chooseProgram(chosen)
        }
        if let hosts = list.hosts, layout.list.holds(event), row >= 0 {
            let chosen = hosts.top + row
            return chosen == hosts.cursor && tab == .list ? openHost() : chooseHost(chosen)
        }
        if layout.list.holds(event), row >= 0, list.rows.indices.contains(list.top + row) {
            press(onRow: list.top + row)
        } else if layout.tabs.holds(event), tab != .start, let tab = TabBar.tab(at: event.x, self) {
            tab == .traffic ? showTraffic(composing: false) : show(tab)
        } else if layout.trafficLayout.composer.holds(event), tab == .traffic, injection == nil, selected != nil {
            startComposing()
        }
    }

    /// A typed line stays with its connection, so the cursor leaves the line before it moves to another row.
    private mutating func press(onRow row: Int) {
        guard list.selected.flatMap({ list.row(of: $0, in: shared) }) != row else {
            if tab == .list { openSelected() }
            return
        }
        isComposing = false
        select(list.rows[row])
    }

    private mutating func scroll(_ step: Int, at event: MouseEvent, _ layout: ScreenLayout) {
        if layout.list.holds(event) {
            isComposing = false
            moveSelection(step < 0 ? -1 : 1)
        } else if layout.traffic.holds(event) {
            scrollTraffic(step)
        } else if layout.detail.holds(event) {
            scrollDetail(step)
        } else if tab == .events {
            events.move(step, in: shared)
        } else if tab == .output {
            scrollOutput(step)
        }
    }
}

extension Rect {
    fileprivate func holds(_ event: MouseEvent) -> Bool {
        (x..<x + width).contains(event.x) && (y..<y + height).contains(event.y)
    }
}
