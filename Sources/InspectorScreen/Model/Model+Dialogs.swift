import InspectorCore
import SocketCore

/// Interaction between dialogs and other panes.
extension Model {
    private var subject: DialogsState.Subject {
        DialogsState.Subject(socket: selected, isSelected: list.selected != nil, tab: tab, composer: composer)
    }

    /// Opens a dialog about the selected connection, or says why there is nothing to ask.
    mutating func ask(_ open: (inout DialogsState, DialogsState.Subject, Shared) -> Notice?) {
        tell(open(&dialogs, subject, shared))
    }

    // MARK: Menus

    /// Chooses the menu item with this letter. Returns `nil` if there is none.
    mutating func pressLetter(_ key: Key) -> [Effect]? { dialogs.choice(key).map { choose($0) } }

    /// Chooses the menu item at the cursor.
    mutating func chooseSelected() -> [Effect] { dialogs.currentChoice.map { choose($0) } ?? [] }

    private mutating func choose(_ choice: Menu.Choice) -> [Effect] {
        dialogs.open = nil
        switch choice {
        case .close(let id, let mode): return [.send(.close(id, mode))]
        case .trust(let id, let question, let verdict): return [.send(.answerTrust(id, question, verdict))]
        case .showDetail: show(.detail)
        case .halfClose(let id): return [.send(.halfClose(id))]
        case .sayClose(let id): return [.send(.webSocket(id, .close(.normal, reason: "")))]
        case .paste(let text): absorbPaste(text)
        case .answerConnection(let id, let verdict): return [.send(.answerConnection(id, verdict))]
        case .operation(let id, let operation): dialogs.openOperation(id, operation)
        case .cancel(let id, let target): return [.send(.cancel(id, target))]
        case .changeTimeout(let id, let operation): dialogs.openTimeout(id, operation, in: shared)
        case .answer: ask { $0.openAnswer($1, in: $2) }
        case .template(let id, let template): return use(template, on: id)
        case .addReply(let id): dialogs.openReplyForm(id, in: shared)
        case .setReplies(let id, let rules): return [.setReplies(id, rules)]
        case .marked(let act): return self.act(onMarked: act)
        case .quit: return [.screen(.quit)]
        case .stay: break
        case .peek(let id): confirmUnread(id)
        case .column(let name): toggleColumn(name)
        case .release(let id, let release): return [.fault(.release(release, id, nil))]
        case .typeRelease(let id): field.begin(.command, with: "release \(id) ")
        case .editHeld(let id): return [.fetchHeld(id)]
        case .askReset(let id): askReset(id)
        case .resetHeld(let id): return [.fault(.reset(id))]
        case .breaksOff: return [.fault(.clearBreaks)]
        }
        return []
    }

    /// Puts a template into the composer. The previous text is in the history only if it was sent.
    private mutating func use(_ template: Template, on id: SocketID) -> [Effect] {
        composers.edit(id, in: shared) {
            ($0.mode, $0.ending, $0.readAfter) = (template.mode, template.ending, template.readAfter)
            $0.editor.set(template.body)
        }
        return examineFile()
    }

    /// Asks which template to put into the composer.
    mutating func openTemplates() {
        guard canCompose, let id = list.selected else { return }
        ask { dialogs, _, _ in dialogs.openTemplates(id) }
    }

    // MARK: Forms

    /// Performs the filled-in form.
    mutating func submitForm() -> [Effect] {
        guard case .form(let form) = dialogs.open else { return [] }
        if case .save = form.purpose { return absorb(dialogs.save(form, of: traffic.shown(in: shared))) }
        switch form.result {
        case .failure(let problem):
            dialogs.refuse(form, problem)
            return []
        case .success(.effect(let effect)):
            dialogs.open = nil
            if case .send(let command) = effect, case .read = command.action {
                _ = composers.takeTag(of: command.socket)
            }
            return [effect]
        case .success(.pace(let id, let pace)):
            dialogs.open = nil
            composers.edit(id, in: shared) { $0.pace = pace }
        case .success(.destination(let id, let destination)):
            dialogs.open = nil
            composers.edit(id, in: shared) { $0.destination = destination }
        }
        return []
    }

    // MARK: Auto-replies

    /// Returns the rules that apply to a connection: its own, and those of its listener.
    package func replies(for socket: SocketSnapshot) -> [ReplyRule] {
        (shared.replies[socket.id] ?? []) + (socket.parent.flatMap { shared.replies[$0] } ?? [])
    }
}
