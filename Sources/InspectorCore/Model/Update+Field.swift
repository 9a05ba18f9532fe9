import SocketCore

extension Model {
    /// Opens the field in which a filter or a search is typed.
    mutating func openField(_ purpose: OpenField.Purpose) {
        let text =
            switch purpose {
            case .listFilter: list.filter.text
            case .eventFilter: events.filter.text
            case .helpFilter: help?.filter ?? ""
            case .eventSearch, .talkSearch, .command: ""
            }
        field = OpenField(purpose: purpose, editor: LineEditor(text), before: text)
    }

    /// Keys while a filter or search is typed.
    mutating func inField(_ key: Key, _ command: Command?) -> [Effect] {
        switch command {
        case .accept where field?.purpose == .command: return acceptCommandLine()
        case .complete where field?.purpose == .command: completeCommand()
        case .accept: acceptField()
        case .cancel:
            if let before = field?.before { typeInField { $0.set(before) } }
            field = nil
        case .historyUp, .historyDown, nil: typeInField { _ = $0.handle(key) }
        default:
            break
        }
        return []
    }

    /// Changes the text; a filter that can be read takes effect at once, one that cannot leaves the last good one.
    mutating func typeInField(_ change: (inout LineEditor) -> Void) {
        guard var field else { return }
        change(&field.editor)
        field.error = nil
        self.field = field
        switch field.purpose {
        case .eventSearch, .command: return
        case .talkSearch:
            if case .failure(let failure) = PayloadSearch.parse(field.editor.text), !field.editor.isEmpty {
                self.field?.error = "column \(failure.column): \(failure.message)"
            }
            return
        case .helpFilter:
            help?.filter = field.editor.text
            help?.top = 0
            return
        case .listFilter, .eventFilter: break
        }
        switch Filter.parse(field.editor.text) {
        case .failure(let failure): self.field?.error = failure.message
        case .success(let filter):
            if field.purpose == .listFilter {
                setFilter(filter)
            } else {
                setEventFilter(filter)
            }
        }
    }

    private mutating func acceptField() {
        guard let field, field.error == nil else { return }
        self.field = nil
        if field.purpose == .talkSearch {
            guard case .success(let search) = PayloadSearch.parse(field.editor.text) else { return }
            (payloadSearch, talkMatch) = (search, nil)
            return searchTraffic(1)
        }
        guard field.purpose == .eventSearch else { return }
        events.search = field.editor.text
        if !events.search.isEmpty { searchEvents(-1) }
    }
}
