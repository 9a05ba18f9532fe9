/// What is typed in the field acts on the pane that it is about.
extension Model {
    /// What `/` searches where the cursor is.
    var searchPurpose: OpenField.Purpose { tab == .list ? .listSearch : tab == .talk ? .talkSearch : .eventSearch }

    /// What is filtered where the cursor is.
    var filterPurpose: OpenField.Purpose {
        help != nil ? .helpFilter : tab == .events ? .eventFilter : .listFilter
    }

    /// Opens the field with the filter that holds.
    mutating func openField(_ purpose: OpenField.Purpose) {
        switch purpose {
        case .listFilter: field.begin(purpose, with: list.filter.text)
        case .eventFilter: field.begin(purpose, with: events.filter.text)
        case .helpFilter: field.begin(purpose, with: help?.filter ?? "")
        case .eventSearch, .listSearch, .talkSearch, .command, .instant: field.begin(purpose)
        }
    }

    /// Changes what is typed. A filter of the help takes effect at once.
    mutating func typeInField(_ change: (inout LineEditor) -> Void) {
        field.type(change)
        if let open = field.open, open.purpose == .helpFilter { help?.show(open.editor.text) }
    }

    /// Closes the field. What it showed while it was typed is as it was before.
    mutating func cancelField() {
        if let before = field.open?.before { typeInField { $0.set(before) } }
        field.open = nil
    }

    /// Lets the filter that was typed take effect.
    mutating func applyTypedFilter() {
        guard let typed = field.takeTypedFilter() else { return }
        if typed.isOfEvents {
            setEventFilter(typed.filter)
        } else {
            setFilter(typed.filter)
            keepInSight()
        }
    }

    /// Closes the field and does what it asks for.
    mutating func acceptField() -> [Effect] {
        if let palette = CommandPalette(self) { return field.acceptCommand(palette).map { run($0) } ?? [] }
        guard let accepted = field.accept() else { return [] }
        let text = accepted.editor.text
        switch accepted.purpose {
        case .talkSearch:
            guard case .success(let search) = PayloadSearch.parse(text) else { return [] }
            traffic.begin(search)
            searchTraffic(1)
        case .listSearch:
            list.search = text
            if !text.isEmpty { searchList(1) }
        case .eventSearch:
            events.search = text
            if !text.isEmpty { searchEvents(-1) }
        case .instant: if let instant = InstantText.parse(text) { return goToInstant(instant) }
        case .listFilter, .eventFilter, .helpFilter, .command: break
        }
        return []
    }

    /// Goes to the next match, or to the one before.
    mutating func searchAgain(_ step: Int) {
        switch searchPurpose {
        case .listSearch: searchList(step)
        case .talkSearch: searchTraffic(step)
        case .eventSearch, .listFilter, .eventFilter, .helpFilter, .command, .instant: searchEvents(step)
        }
    }

    /// Goes through the palette, or where there is none through the lines that were typed before.
    mutating func stepPalette(_ step: Int) {
        guard let palette = CommandPalette(self) else { return typeInField { $0.edit(step < 0 ? .older : .newer) } }
        field.step(step, in: palette)
    }

    mutating func completeCommand() {
        if let palette = CommandPalette(self) { field.complete(from: palette) }
    }
}
