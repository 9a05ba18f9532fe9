import SocketCore

/// The dialogs: the one that is open, and what new ones begin with.
package struct DialogsState: Sendable {
    /// What stands over the screen and takes every key.
    package internal(set) var open: Dialog?
    /// What was opened last, for the next one to be opened like it.
    var lastOpened: OpenRequest?
    package internal(set) var templates: [Template] = []
    /// The file of the templates, and what is wrong with it.
    var templateSource: (path: String?, problem: String?)

    /// What a dialog is opened about.
    struct Subject {
        /// The connection that the cursor is on, while it is listed.
        var socket: SocketSnapshot?
        /// Whether the cursor is on a connection, listed or not.
        var isSelected: Bool
        var tab: Model.Tab
        /// The composer of the connection.
        var composer: Composer
    }

    // MARK: Menus

    /// Moves a menu's cursor, around its ends.
    mutating func stepMenu(_ step: Int) {
        guard case .menu(var menu) = open else { return }
        let count = menu.items.count
        menu.selected = ((menu.selected + step) % count + count) % count
        open = .menu(menu)
    }

    /// What the menu's item with this letter does, or `nil` if there is none.
    func choice(_ key: Key) -> Menu.Choice? {
        guard case .menu(let menu) = open, case .character(let letter) = key else { return nil }
        return menu.items.first { $0.key == letter }?.choice
    }

    /// What the item that the menu's cursor is on does.
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

    /// What Enter does in the form that is open.
    var verb: String? { if case .form(let form) = open { form.verb } else { nil } }

    /// Whether the open form has another field to go to.
    var hasOtherFields: Bool {
        guard case .form(let form) = open else { return false }
        return form.shown.count > 1 || form.fields.count > form.shown.count
    }

    mutating func editForm(_ change: (inout Form) -> Void) {
        guard case .form(var form) = open else { return }
        change(&form)
        open = .form(form)
    }

    /// Goes to another field. The fields that are rarely wanted are shown from now on.
    mutating func stepField(_ step: Int) {
        editForm {
            $0.showsAll = true
            $0.move(step)
        }
    }

    /// Changes a choice. In a text field the key is typed.
    mutating func toggleField(_ key: Key) {
        editForm { form in
            guard !form.type(key), form.fields.indices.contains(form.focus) else { return }
            if case .text = form.fields[form.focus].value { return }
            _ = form.type(.right)
        }
    }

    /// The form stays, with what is wrong and the cursor where it is.
    mutating func refuse(_ form: Form, _ problem: Form.Problem) {
        var form = form
        form.error = problem.message
        if let index = form.fields.firstIndex(where: { $0.name == problem.field }) { form.focus = index }
        open = .form(form)
    }
}
