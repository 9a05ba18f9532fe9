import SocketCore

extension Model {
    /// Does what a key asks for in list, talk, detail or events.
    mutating func perform(_ command: Command) -> [Effect] {
        switch command {
        case .moveUp, .moveDown, .pageUp, .pageDown, .halfPageUp, .halfPageDown, .moveFirst, .moveLast: move(command)
        case .showList, .showTalk, .showDetail, .showEvents, .nextPane, .previousPane, .back: navigate(command)
        case .nextConnection: stepConnection(1)
        case .previousConnection: stepConnection(-1)
        case .open: openSelected()
        case .expand: toggleExpanded()
        case .jump: jumpToEvent()
        case .search: openField(searchPurpose)
        case .searchNext: searchAgain(1)
        case .searchPrevious: searchAgain(-1)
        case .mark: toggleMark()
        case .showMarked: toggleMarkedOnly()
        case .chooseColumns: openColumnsMenu()
        case .copy: return copyItem()
        case .save: return openSave()
        case .edit: return editItem()
        case .filter: openField(tab == .events ? .eventFilter : .listFilter)
        case .sortNext: sortByColumn(1)
        case .sortPrevious: sortByColumn(-1)
        case .sortReverse:
            var sorting = list.sorting
            sorting.descending.toggle()
            sort(sorting)
        case .follow: toggleFollow()
        case .freeze: toggleFreeze()
        case .cycleView: viewMode = viewMode.next
        case .connect: dialog = .form(connectForm())
        case .listen: dialog = .form(Form(.listen, Self.openFields(.listen, address: "")))
        case .read: openReadForm()
        case .write: startComposing()
        case .close: openCloseMenu()
        case .answer: openAnswer()
        case .secure: openTLSForm()
        case .pause: return togglePause()
        case .operations: openOperations()
        case .watermarks: openWatermarks()
        case .replies: openReplies()
        case .quit: return quit()
        default:
            break
        }
        return []
    }

    /// Moves the cursor of the pane that has it.
    private mutating func move(_ command: Command) {
        let layout = self.layout
        switch tab {
        case .start: break
        case .list: moveSelection(Self.step(command, page: layout.listRows))
        case .talk: scrollTraffic(Self.step(command, page: layout.traffic.height))
        case .detail: scrollDetail(Self.step(command, page: layout.detail.height))
        case .events: moveEventCursor(Self.step(command, page: layout.eventRows))
        }
    }

    /// How many rows a moving key means.
    static func step(_ command: Command, page: Int) -> Int {
        switch command {
        case .moveUp: -1
        case .moveDown: 1
        case .pageUp: -max(1, page - 1)
        case .pageDown: max(1, page - 1)
        case .halfPageUp: -max(1, page / 2)
        case .halfPageDown: max(1, page / 2)
        case .moveFirst: -1_000_000_000
        case .moveLast: 1_000_000_000
        default:
            0
        }
    }

    /// Goes to another screen or pane.
    mutating func navigate(_ command: Command) {
        switch command {
        case .showList: show(.list)
        case .showTalk: showTalk(composing: false)
        case .showDetail: show(.detail)
        case .showEvents: show(.events)
        case .nextPane: stepPane(1)
        case .previousPane: stepPane(-1)
        case .back:
            if tab == .list, !list.filter.isEmpty { setFilter(Filter()) }
            show(.list)
        default:
            break
        }
    }

    /// Goes to a screen; whoever goes elsewhere no longer waits for a listener's first connection.
    mutating func show(_ tab: Tab) {
        if tab != .talk { awaiting = nil }
        self.tab = tab
        isComposing = false
    }

    /// Goes to the selected connection's talk; the cursor goes to its composer only where something can be written.
    mutating func showTalk(composing: Bool) {
        show(.talk)
        guard let selected else {
            isComposing = composing && expected != nil
            return
        }
        isComposing = composing && TalkWords.whyNoWriting(selected) == nil
    }

    /// The panes in the order in which Tab goes through them.
    private mutating func stepPane(_ step: Int) {
        let canWrite = selected.map { TalkWords.whyNoWriting($0) == nil } ?? false
        var panes: [(Tab, Bool)] = [(.list, false), (.talk, false)]
        if canWrite { panes.append((.talk, true)) }
        panes += [(.detail, false), (.events, false)]
        let current = panes.firstIndex { $0.0 == tab && $0.1 == isComposing } ?? 0
        let (next, composing) = panes[(current + step + panes.count) % panes.count]
        show(next)
        isComposing = composing
    }

    private mutating func stepConnection(_ step: Int) {
        awaiting = nil
        moveSelection(step)
    }

    private mutating func openSelected() {
        guard list.selected != nil else {
            notice = hint(naming("nothing is selected: {connect} connects, {listen} listens"))
            return
        }
        showTalk(composing: true)
    }

    private mutating func togglePause() -> [Effect] {
        guard let selected, selected.isLive else {
            notice = hint("only what is live can be paused")
            return []
        }
        return [.send(.pauseReading(selected.id, !selected.isReadingPaused))]
    }

    /// Beyond every last row.
    private static let detailEnd = 1_000_000_000

    mutating func scrollDetail(_ step: Int) {
        let layout = self.layout
        let total = DetailView.lines(self, width: layout.detail.width).count
        let last = max(0, total - layout.detail.height)
        let target = max(0, min(detailTop, last) + step)
        // Whoever is at the end stays there when rows are added, as its events and its first minute come.
        detailTop = step > 0 && target >= last && last > 0 ? Self.detailEnd : min(target, last)
    }
}
