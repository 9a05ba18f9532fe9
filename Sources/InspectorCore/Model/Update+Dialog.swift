import SocketCore

extension Model {
    /// Keys while the help is open.
    mutating func inHelp(_ command: Command?) -> [Effect] {
        guard let help else { return [] }
        switch command {
        case .cancel: self.help = nil
        case .filter: openField(.helpFilter)
        case .moveUp, .moveDown, .pageUp, .pageDown, .moveFirst, .moveLast:
            let rows = HelpView.rows(size)
            let last = max(0, HelpView.lines(self, help).count - rows)
            let step = command.map { Self.step($0, page: rows) } ?? 0
            self.help?.top = min(max(0, help.top + step), last)
        default:
            break
        }
        return []
    }

    /// Keys while a menu is open: a letter does it, or the cursor and Enter.
    mutating func inMenu(_ key: Key, _ command: Command?) -> [Effect] {
        guard case .menu(var menu) = dialog else { return [] }
        if case .character(let letter) = key, let item = menu.items.first(where: { $0.key == letter }) {
            return choose(item.choice)
        }
        switch command {
        case .accept: return choose(menu.items[menu.selected].choice)
        case .cancel: dialog = nil
        case .moveUp, .moveDown:
            menu.selected = (menu.selected + (command == .moveUp ? -1 : 1) + menu.items.count) % menu.items.count
            dialog = .menu(menu)
        default:
            break
        }
        return []
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
        var items = [Menu.Item(key: "n", label: "now", choice: .close(id, .now))]
        if selected.ownWebSocket != nil {
            items = [
                Menu.Item(key: "c", label: "with Close 1000, behind what is queued", choice: .sayClose(id)),
                Menu.Item(key: "n", label: "now, without a Close", choice: .close(id, .now)),
                Menu.Item(key: "t", label: "reset: RST, drop what is queued", choice: .close(id, .reset)),
            ]
        } else if selected.role != .listener {
            items += [
                Menu.Item(key: "w", label: "after the queued writes", choice: .close(id, .afterWriting)),
                Menu.Item(key: "r", label: "after the queued reads", choice: .close(id, .afterReading)),
                Menu.Item(key: "b", label: "after both", choice: .close(id, .afterBoth)),
            ]
            if selected.acceptsWrites, selected.role != .datagram {
                items.append(
                    Menu.Item(key: "h", label: "half: send FIN, go on reading", choice: .halfClose(id)))
            }
            if selected.role != .datagram {
                items.append(
                    Menu.Item(key: "t", label: "reset: RST, drop what is queued", choice: .close(id, .reset)))
            }
        }
        dialog = .menu(Menu(title: "close \(id) \(selected.peerText)", items: items))
    }

    /// Keys while a form is open. Letters are typed into its fields.
    mutating func inForm(_ key: Key, _ command: Command?) -> [Effect] {
        guard case .form(var form) = dialog else { return [] }
        if command == .toggle || command == nil {
            _ = form.type(key)
            dialog = .form(form)
            return []
        }
        switch command {
        case .accept: return submit(form)
        case .cancel: dialog = nil
        case .nextField, .previousField:
            if !form.showsAll {
                form.showsAll = true
            }
            form.move(command == .nextField ? 1 : -1)
            dialog = .form(form)
        default:
            break
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

    private mutating func submit(_ form: Form) -> [Effect] {
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
