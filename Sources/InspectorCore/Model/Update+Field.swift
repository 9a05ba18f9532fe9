import SocketCore

extension Model {
    /// Opens the field in which a filter or a search is typed.
    mutating func openField(_ purpose: OpenField.Purpose) {
        let text =
            switch purpose {
            case .listFilter: list.filter.text
            case .eventFilter: events.filter.text
            case .eventSearch: ""
            }
        field = OpenField(purpose: purpose, editor: LineEditor(text), before: text)
    }

    /// Keys while a filter or search is typed.
    mutating func inField(_ key: Key, _ command: Command?) -> [Effect] {
        switch command {
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
        guard field.purpose != .eventSearch else { return }
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
        guard field.purpose == .eventSearch else { return }
        events.search = field.editor.text
        if !events.search.isEmpty { searchEvents(-1) }
    }
}
