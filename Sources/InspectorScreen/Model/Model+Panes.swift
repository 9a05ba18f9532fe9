import InspectorCore
import SocketCore

extension Model {
    /// How far an action moves the cursor.
    enum Motion {
        case rows(Int), pages(Int), halfPages(Int)
        case toFirst, toLast

        /// Returns the number of rows to move by, if `page` rows are visible.
        func step(page: Int) -> Int {
            switch self {
            case .rows(let count): count
            case .pages(let count): count * max(1, page - 1)
            case .halfPages(let count): count * max(1, page / 2)
            case .toFirst: -1_000_000_000
            case .toLast: 1_000_000_000
            }
        }
    }

    /// Moves the cursor of the menu, the help or the pane that has it.
    mutating func move(_ motion: Motion) {
        if help != nil { return moveHelp(motion.step(page: HelpLayout.height(size))) }
        if case .menu(let menu) = dialogs.open { return dialogs.stepMenu(motion.step(page: menu.items.count)) }
        let layout = self.layout
        switch tab {
        case .start: start.step(motion.step(page: size.height / 2))
        case .list: moveSelection(motion.step(page: layout.listRows))
        case .traffic: scrollTraffic(motion.step(page: layout.traffic.height))
        case .detail: scrollDetail(motion.step(page: layout.detail.height))
        case .events: events.move(motion.step(page: layout.eventRows), in: shared)
        case .output: scrollOutput(motion.step(page: layout.outputRows))
        }
    }

    /// Returns to the list. In the list itself, drops the filter.
    mutating func goBack() {
        if tab == .list, !list.filter.isEmpty { setFilter(Filter()) }
        show(.list)
    }

    /// Switches to a screen. Leaving Traffic stops waiting for a listener's first connection.
    mutating func show(_ tab: Tab) {
        if tab != .traffic { awaiting = nil }
        self.tab = tab
        isComposing = false
        if tab == .list, list.found != nil { selectFound() }
    }

    /// Shows the selected connection's traffic. The cursor moves to its composer only if something can be written and
    /// would not be injected. For that, see `startComposing`.
    mutating func showTraffic(composing: Bool) {
        show(.traffic)
        isComposing = composing && canCompose && injection == nil
    }

    /// Moves through the panes in the order of the Tab key.
    mutating func stepPane(_ step: Int) {
        let canWrite = selected != nil && canCompose && injection == nil
        var panes: [(Tab, Bool)] = [(.list, false), (.traffic, false)]
        if canWrite { panes.append((.traffic, true)) }
        panes += [(.detail, false), (.events, false)] + (shared.child == nil ? [] : [(.output, false)])
        let current = panes.firstIndex { $0.0 == tab && $0.1 == isComposing } ?? 0
        let (next, composing) = panes[(current + step + panes.count) % panes.count]
        show(next)
        isComposing = composing
    }

    mutating func stepConnection(_ step: Int) {
        awaiting = nil
        moveSelection(step)
    }

    mutating func openSelected() {
        if tab == .list, list.found != nil { return jumpToFound() }
        if showsPrograms { return openProgram() }
        if showsHosts { return openHost() }
        guard list.selected != nil else {
            notice = hint(naming("nothing is selected: {connect} connects, {listen} listens"))
            return
        }
        if selected?.host != nil { return show(.detail) }
        // A line typed there would be injected into a relayed connection.
        showTraffic(composing: selected?.linked == nil)
    }

    mutating func togglePause() -> [Effect] {
        if tab == .list, !list.marked.isEmpty {
            openMarkedMenu()
            return []
        }
        guard let selected, selected.isLive else {
            notice = hint("only live sockets can be paused")
            return []
        }
        return [.send(.pauseReading(selected.id, !selected.isReadingPaused))]
    }

    mutating func scrollDetail(_ step: Int) {
        let rect = layout.detail
        detail.scroll(step, count: DetailDocument(self, width: rect.width).rows.count, height: rect.height)
    }
}
