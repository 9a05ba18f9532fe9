import InspectorCore

/// The field and the pane that it affects.
extension Model {
    /// What `/` searches at the cursor's position.
    var searchPurpose: OpenField.Purpose {
        tab == .list ? .listSearch : tab == .traffic ? .trafficSearch : .eventSearch
    }

    /// What a filter applies to at the cursor's position.
    var filterPurpose: OpenField.Purpose {
        help != nil ? .helpFilter : tab == .events ? .eventFilter : .listFilter
    }

    /// Opens the field with the current filter.
    mutating func openField(_ purpose: OpenField.Purpose) {
        switch purpose {
        case .listFilter: field.begin(purpose, with: list.filter.text)
        case .eventFilter: field.begin(purpose, with: events.filter.text)
        case .helpFilter: field.begin(purpose, with: help?.filter ?? "")
        case .eventSearch, .listSearch, .trafficSearch, .command, .instant: field.begin(purpose)
        }
    }

    /// Changes the typed text. A filter of the help takes effect at once.
    mutating func typeInField(_ change: (inout LineEditor) -> Void) {
        field.type(change)
        if let open = field.open, open.purpose == .helpFilter { help?.show(open.editor.text) }
    }

    /// Closes the field. Restores what it changed while it was typed.
    mutating func cancelField() {
        if let before = field.open?.before { typeInField { $0.set(before) } }
        field.open = nil
    }

    /// Applies the typed filter.
    mutating func applyTypedFilter() {
        guard let typed = field.takeTypedFilter() else { return }
        if typed.isOfEvents {
            setEventFilter(typed.filter)
        } else {
            setFilter(typed.filter)
            keepInSight()
        }
    }

    /// Closes the field and performs its line.
    mutating func acceptField() -> [Effect] {
        if let palette = CommandPalette(self) { return field.acceptCommand(palette).map { run($0) } ?? [] }
        guard let accepted = field.accept() else { return [] }
        let text = accepted.editor.text
        switch accepted.purpose {
        case .trafficSearch:
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

    /// Moves to the next or the previous match.
    mutating func searchAgain(_ step: Int) {
        switch searchPurpose {
        case .listSearch: searchList(step)
        case .trafficSearch: searchTraffic(step)
        case .eventSearch, .listFilter, .eventFilter, .helpFilter, .command, .instant: searchEvents(step)
        }
    }

    /// Moves in the palette, or if there is none, in the history of typed lines.
    mutating func stepPalette(_ step: Int) {
        guard let palette = CommandPalette(self) else { return typeInField { $0.edit(step < 0 ? .older : .newer) } }
        field.step(step, in: palette)
    }

    mutating func completeCommand() {
        if let palette = CommandPalette(self) { field.complete(from: palette) }
    }
}
