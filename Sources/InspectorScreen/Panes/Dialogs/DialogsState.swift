import InspectorCore
import SocketCore

/// The dialogs: the open one, and the defaults for new ones.
package struct DialogsState: Sendable {
    /// The dialog above the screen, which takes every key.
    package internal(set) var open: Dialog?
    /// The last request, used as the default of the next one.
    var lastOpened: OpenRequest?
    package internal(set) var templates: [Template] = []
    /// The templates' file, and the problem with it, if any.
    var templateSource: (path: String?, problem: String?)

    /// What a dialog is opened about.
    struct Subject {
        /// The selected connection, while it is listed.
        var socket: SocketSnapshot?
        /// Whether the cursor is on a connection, listed or not.
        var isSelected: Bool
        var tab: Model.Tab
        /// The composer of the connection.
        var composer: Composer
    }

    // MARK: Menus

    /// Moves a menu's cursor, and wraps around.
    mutating func stepMenu(_ step: Int) {
        guard case .menu(var menu) = open else { return }
        let count = menu.items.count
        menu.selected = ((menu.selected + step) % count + count) % count
        open = .menu(menu)
    }

    /// Returns the choice of the menu item with this letter, or `nil` if there is none.
    func choice(_ key: Key) -> Menu.Choice? {
        guard case .menu(let menu) = open, case .character(let letter) = key else { return nil }
        return menu.items.first { $0.key == letter }?.choice
    }

    /// The choice of the menu item at the cursor.
    var currentChoice: Menu.Choice? {
        guard case .menu(let menu) = open else { return nil }
        return menu.items[menu.selected].choice
    }

    // MARK: Forms

    /// Whether the field with the cursor has choices.
    var isOnChoice: Bool {
        guard case .form(let form) = open, form.fields.indices.contains(form.focus) else { return false }
        if case .text = form.fields[form.focus].value { return false }
        return true
    }

    /// What Enter does in the open form.
    var verb: String? { if case .form(let form) = open { form.verb } else { nil } }

    /// Whether the open form has another field.
    var hasOtherFields: Bool {
        guard case .form(let form) = open else { return false }
        return form.shown.count > 1 || form.fields.count > form.shown.count
    }

    mutating func editForm(_ change: (inout Form) -> Void) {
        guard case .form(var form) = open else { return }
        change(&form)
        open = .form(form)
    }

    /// Moves to another field. From then on, rarely used fields are shown.
    mutating func stepField(_ step: Int) {
        editForm {
            $0.showsAll = true
            $0.move(step)
        }
    }

    /// Changes a choice. In a text field, types the key.
    mutating func toggleField(_ key: Key) {
        editForm { form in
            guard !form.type(key), form.fields.indices.contains(form.focus) else { return }
            if case .text = form.fields[form.focus].value { return }
            _ = form.type(.right)
        }
    }

    /// Keeps the form open, with its problem and the cursor unchanged.
    mutating func refuse(_ form: Form, _ problem: Form.Problem) {
        var form = form
        form.error = problem.message
        if let index = form.fields.firstIndex(where: { $0.name == problem.field }) { form.focus = index }
        open = .form(form)
    }
}
