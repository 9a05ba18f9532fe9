import InspectorCore
import SocketCore

/// The field: the open line, and the lines typed in it before.
package struct FieldState: Sendable {
    /// A typed filter, and whether it is for the events.
    struct TypedFilter: Sendable {
        var filter: Filter
        var isOfEvents: Bool
    }

    package internal(set) var open: OpenField?
    /// The filter in the open field, if it has not taken effect yet.
    private(set) var typedFilter: TypedFilter?
    /// Lines typed after `:`, oldest first.
    private var history: [String] = []

    /// Opens the field with the current value.
    mutating func begin(_ purpose: OpenField.Purpose, with text: String = "") {
        open = OpenField(purpose: purpose, editor: LineEditor(text), before: text)
        if purpose == .command { open?.editor.remember(history) }
    }

    /// Changes the text, and sets its error. The last valid filter is kept to take effect.
    mutating func type(_ change: (inout LineEditor) -> Void) {
        guard var field = open else { return }
        change(&field.editor)
        (field.error, field.wrong, field.choice) = (nil, nil, nil)
        if field.purpose == .trafficSearch, !field.editor.isEmpty,
            case .failure(let failure) = PayloadSearch.parse(field.editor.text)
        {
            field.error = "column \(failure.column): \(failure.message)"
        }
        if field.purpose == .instant, !field.editor.isEmpty, InstantText.parse(field.editor.text) == nil {
            field.error = "write seconds, or 1:30, or 1:02:03.5"
        }
        if field.purpose.isFilter {
            switch Filter.parse(field.editor.text) {
            case .failure(let failure): (field.error, field.wrong) = (failure.message, failure.range)
            case .success(let filter):
                typedFilter = TypedFilter(filter: filter, isOfEvents: field.purpose == .eventFilter)
            }
        }
        open = field
    }

    /// Whether a message only changes the text of the open filter.
    func isTypedInFilter(_ message: Message, _ keys: KeyTable) -> Bool {
        guard open?.purpose.isFilter == true else { return false }
        switch message {
        case .key(let key):
            return keys.binding(for: key, in: .field).map { LineEditor.Edit(rawValue: $0.line) != nil } ?? true
        case .paste: return true
        default: return false
        }
    }

    /// Takes the typed filter, which takes effect now.
    mutating func takeTypedFilter() -> TypedFilter? {
        defer { typedFilter = nil }
        return typedFilter
    }

    /// Closes the field and returns its contents, or returns `nil` if they are invalid and stay open for correction.
    mutating func accept() -> OpenField? {
        guard let field = open, field.error == nil else { return nil }
        open = nil
        return field
    }

    // MARK: Commands

    /// Ends the command line. Returns the typed line or that of the palette's row, or `nil` if there is nothing to run.
    /// An invalid line stays open for correction.
    mutating func acceptCommand(_ palette: CommandPalette?) -> String? {
        let accepted = palette?.accepted
        if let accepted, accepted.needsMore {
            type { $0.set(accepted.line) }
            return nil
        }
        guard let line = accepted?.line ?? open?.editor.text, line.contains(where: { $0 != " " }) else {
            open = nil
            return nil
        }
        if case .failure(let failure) = Instruction.parse(line) {
            open?.error = failure.message
            return nil
        }
        open = nil
        history.removeAll { $0 == line }
        history = (history + [line]).suffix(LineEditor.historyLimit)
        return line
    }

    /// Moves by `step` rows in the palette. Above the first row are the lines typed before.
    mutating func step(_ step: Int, in palette: CommandPalette) {
        guard let field = open else { return }
        if field.choice == nil, step < 0 { return type { $0.edit(.older) } }
        if field.editor.isRecalling { return type { $0.edit(.newer) } }
        let next = (palette.target ?? -1) + step
        open?.choice = next < 0 || palette.entries.isEmpty ? nil : min(next, palette.entries.count - 1)
    }

    /// Completes the command line.
    mutating func complete(from palette: CommandPalette) {
        guard let line = palette.completed else { return }
        type { $0.set(line) }
    }
}
