import SocketCore

extension Model {
    /// Chooses the menu's item with this letter. Returns `nil` if there is none.
    mutating func pressLetter(_ key: Key) -> [Effect]? {
        guard case .menu(let menu) = dialog, case .character(let letter) = key,
            let item = menu.items.first(where: { $0.key == letter })
        else { return nil }
        return choose(item.choice)
    }

    /// Chooses the item that the menu's cursor is on.
    mutating func chooseSelected() -> [Effect] {
        guard case .menu(let menu) = dialog else { return [] }
        return choose(menu.items[menu.selected].choice)
    }

    /// Moves a menu's cursor, around its ends.
    mutating func stepMenu(_ menu: Menu, _ step: Int) {
        var menu = menu
        let count = menu.items.count
        menu.selected = ((menu.selected + step) % count + count) % count
        dialog = .menu(menu)
    }

    private mutating func choose(_ choice: Menu.Choice) -> [Effect] {
        dialog = nil
        switch choice {
        case .close(let id, let mode): return [.send(.close(id, mode))]
        case .trust(let id, let question, let verdict): return [.send(.answerTrust(id, question, verdict))]
        case .showDetail:
            show(.detail)
            return []
        case .halfClose(let id): return [.send(.halfClose(id))]
        case .sayClose(let id): return [.send(.webSocket(id, .close(.normal, reason: "")))]
        case .paste(let text): takePaste(text)
        case .answerConnection(let id, let verdict): return [.send(.answerConnection(id, verdict))]
        case .operation(let id, let operation): openOperation(id, operation)
        case .cancel(let id, let target): return [.send(.cancel(id, target))]
        case .changeTimeout(let id, let operation): openTimeout(id, operation)
        case .answer: openAnswer()
        case .template(let id, let template): return use(template, on: id)
        case .addReply(let id): openReplyForm(id)
        case .setReplies(let id, let rules): return [.setReplies(id, rules)]
        case .quit: return [.quit]
        case .stay: break
        case .column(let name): toggleColumn(name)
        }
        return []
    }

    /// Asks how to close the selected connection.
    mutating func openCloseMenu() {
        guard let selected, selected.isLive else {
            notice = hint(list.selected == nil ? "nothing is selected" : "it is closed already")
            return
        }
        let id = selected.id
        func item(_ mode: CloseMode) -> Menu.Item {
            Menu.Item(key: mode.words.key, label: mode.words.label, choice: .close(id, mode))
        }
        let halfClose = Menu.Item(key: "h", label: "half: send FIN, go on reading", choice: .halfClose(id))
        let isStream = selected.role != .datagram
        var items: [Menu.Item]
        if selected.ownWebSocket != nil {
            items = [
                Menu.Item(key: "c", label: "with Close 1000, behind what is queued", choice: .sayClose(id)),
                Menu.Item(key: CloseMode.now.words.key, label: "now, without a Close", choice: .close(id, .now)),
                item(.reset),
            ]
        } else if selected.role == .listener {
            items = [item(.now)]
        } else {
            items = CloseWords.order.compactMap { mode in
                switch mode {
                case nil: isStream && selected.acceptsWrites ? halfClose : nil
                case .reset: isStream ? item(.reset) : nil
                case .some(let mode): item(mode)
                }
            }
        }
        dialog = .menu(Menu(title: "close \(id) \(selected.peerText)", items: items))
    }

    mutating func editForm(_ change: (inout Form) -> Void) {
        guard case .form(var form) = dialog else { return }
        change(&form)
        dialog = .form(form)
    }

    /// Goes to another field. The fields that are rarely wanted are shown from now on.
    mutating func stepField(_ step: Int) {
        editForm {
            $0.showsAll = true
            $0.move(step)
        }
    }

    /// Changes a choice. In a text field the key is typed.
    mutating func toggleField(_ key: Key) -> [Effect] {
        editForm { form in
            guard !form.type(key), form.fields.indices.contains(form.focus) else { return }
            if case .text = form.fields[form.focus].value { return }
            _ = form.type(.right)
        }
        return []
    }

    /// The form stays, with what is wrong and the cursor where it is.
    mutating func refuse(_ form: Form, _ problem: Form.Problem) {
        var form = form
        form.error = problem.message
        if let index = form.fields.firstIndex(where: { $0.name == problem.field }) { form.focus = index }
        dialog = .form(form)
    }

    mutating func submitForm() -> [Effect] {
        guard case .form(let form) = dialog else { return [] }
        if case .save = form.purpose { return save(form) }
        switch form.result {
        case .failure(let problem):
            refuse(form, problem)
            return []
        case .success(let effect):
            dialog = nil
            switch effect {
            case .send(.read(let id, _)): editComposerTag(id)
            case .setPace(let id, let pace):
                composers[id, default: Composer()].pace = pace
                return []
            case .setDestination(let id, let destination):
                composers[id, default: Composer()].destination = destination
                return []
            default: break
            }
            return [effect]
        }
    }

    private mutating func editComposerTag(_ id: SocketID) {
        var composer = composers[id] ?? Composer()
        composer.nextTag += 1
        composers[id] = composer
    }
}
