import SocketCore

extension Model {
    /// A line above the footer in which a filter, a search or a command is typed.
    package struct OpenField: Hashable, Sendable {
        package enum Purpose: Hashable, Sendable {
            case listFilter, listSearch, eventFilter, eventSearch, talkSearch, helpFilter, command
        }
        package var purpose: Purpose
        package var editor: LineEditor
        /// What held when the field was opened.
        package var before: String
        package var error: String?
        /// The characters that the error is about.
        package var wrong: Range<Int>?
        /// The row of the palette that the user has gone to.
        package var choice: Int?

        /// What Enter does with the text.
        var verb: String {
            switch purpose {
            case .listFilter, .eventFilter, .helpFilter: "apply"
            case .listSearch, .eventSearch, .talkSearch: "search"
            case .command: "run"
            }
        }
    }

    /// Opens the field in which a filter or a search is typed.
    mutating func openField(_ purpose: OpenField.Purpose) {
        let text =
            switch purpose {
            case .listFilter: list.filter.text
            case .eventFilter: events.filter.text
            case .helpFilter: help?.filter ?? ""
            case .eventSearch, .listSearch, .talkSearch, .command: ""
            }
        field = OpenField(purpose: purpose, editor: LineEditor(text), before: text)
    }

    /// Closes the field. What it showed while it was typed is as it was before.
    mutating func cancelField() {
        if let before = field?.before { typeInField { $0.set(before) } }
        field = nil
    }

    /// Changes the text; a filter that can be read takes effect at once, one that cannot leaves the last good one.
    mutating func typeInField(_ change: (inout LineEditor) -> Void) {
        guard var field else { return }
        change(&field.editor)
        (field.error, field.wrong, field.choice) = (nil, nil, nil)
        self.field = field
        switch field.purpose {
        case .eventSearch, .listSearch, .command: return
        case .talkSearch:
            if case .failure(let failure) = PayloadSearch.parse(field.editor.text), !field.editor.isEmpty {
                self.field?.error = "column \(failure.column): \(failure.message)"
            }
            return
        case .helpFilter:
            help?.show(field.editor.text)
            return
        case .listFilter, .eventFilter: break
        }
        switch Filter.parse(field.editor.text) {
        case .failure(let failure):
            self.field?.error = failure.message
            self.field?.wrong = failure.range
        case .success(let filter): typedFilter = (filter, field.purpose == .eventFilter)
        }
    }

    /// Whether a message only changes the text of the filter that is open.
    func isTypedInFilter(_ message: Message) -> Bool {
        guard let purpose = field?.purpose, purpose == .listFilter || purpose == .eventFilter else { return false }
        switch message {
        case .key(let key):
            let binding = options.keys.binding(for: key, in: .field)
            return binding.map { LineEditor.Edit(rawValue: $0.line) != nil } ?? true
        case .paste: return true
        default: return false
        }
    }

    /// Lets the filter that was typed take effect.
    mutating func applyTypedFilter() {
        guard let (filter, isOfEvents) = typedFilter else { return }
        typedFilter = nil
        if isOfEvents {
            setEventFilter(filter)
        } else {
            setFilter(filter)
            keepInSight()
        }
    }

    /// Closes the field and does what it asks for.
    mutating func acceptField() -> [Effect] {
        if field?.purpose == .command { return acceptCommandLine() }
        guard let field, field.error == nil else { return [] }
        self.field = nil
        switch field.purpose {
        case .talkSearch:
            guard case .success(let search) = PayloadSearch.parse(field.editor.text) else { return [] }
            (payloadSearch, talkMatch) = (search, nil)
            searchTraffic(1)
        case .listSearch:
            list.search = field.editor.text
            if !list.search.isEmpty { searchList(1) }
        case .eventSearch:
            events.search = field.editor.text
            if !events.search.isEmpty { searchEvents(-1) }
        case .listFilter, .eventFilter, .helpFilter, .command: break
        }
        return []
    }
}
