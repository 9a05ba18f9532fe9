import InspectorCore
import SocketCore

/// Dialogs about sending: auto-replies, templates, pasted text.
extension DialogsState {
    /// Asks for a rule, or which of the current rules to remove.
    mutating func openReplies(_ subject: Subject, in shared: Shared) -> Model.Notice? {
        let problem = "auto-reply needs a listener or an open connection"
        guard let selected = subject.socket else { return .hint(problem) }
        guard selected.isLive else {
            // The form opens anyway, because a rule typed next would turn into commands.
            openReplyForm(selected.id, in: shared)
            if case .form(let form) = open { refuse(form, Form.Problem(field: .when, message: problem)) }
            return nil
        }
        let id = selected.id
        let rules = shared.replies[id] ?? []
        guard !rules.isEmpty else {
            openReplyForm(id, in: shared)
            return nil
        }
        var items = [Menu.Item(key: "a", label: "add a rule", choice: .addReply(id))]
        for (index, rule) in rules.enumerated() {
            var others = rules
            others.remove(at: index)
            let key = index < 9 ? Character(String(index + 1)) : nil
            items.append(Menu.Item(key: key, label: "drop: \(rule.words)", choice: .setReplies(id, others)))
        }
        open = .menu(Menu(title: "auto-reply of \(id)", items: items))
        return nil
    }

    mutating func openReplyForm(_ id: SocketID, in shared: Shared) {
        open = .form(
            Form(
                .reply(id, shared.replies[id] ?? []),
                [
                    .text(.when, "When", "", hint: "a regular expression: ^PING, [0-9]+"),
                    .text(.reply, "Send", "", hint: "escapes and macros: +PONG\\r\\n"),
                ]))
    }

    /// Asks which template to put into the composer of a connection.
    mutating func openTemplates(_ id: SocketID) -> Model.Notice? {
        if let problem = templateSource.problem { return .error(problem) }
        guard !templates.isEmpty else {
            return .hint("there are no templates" + (templateSource.path.map { " in \($0)" } ?? ""))
        }
        let items = templates.enumerated().map { index, template in
            Menu.Item(
                key: index < 9 ? Character(String(index + 1)) : nil,
                label: "\(template.name)   \(template.body.prefix(40))", choice: .template(id, template))
        }
        open = .menu(Menu(title: "templates", items: items))
        return nil
    }

    /// Asks what to do with text pasted where keys are commands.
    mutating func openPaste(_ text: String, _ subject: Subject, in shared: Shared) -> Model.Notice? {
        let keys = shared.options.keys
        guard let selected = subject.socket, selected.acceptsWrites else {
            return .hint(keys.naming("nothing was pasted: press {write} to write to a connection first"))
        }
        let size = Format.size(text.utf8.count)
        open = .menu(
            Menu(
                title: "\(size) pasted; put them into the line \(selected.linked == nil ? "to" : "that injects into") "
                    + "\(selected.id) \(selected.peerText)?",
                items: [
                    Menu.Item(
                        key: "y", label: keys.naming("into the line; {send} sends it", in: .composer),
                        choice: .paste(text)),
                    Menu.Item(key: "n", label: "drop them", choice: .stay),
                ]))
        return nil
    }

    /// Asks before `live` live sockets, counted as in the header, are closed.
    mutating func openQuit(live: Int, running: String?) {
        let ends = live > 0 ? ["live \(live): all will close"] : []
        let all = ends + (running.map { ["\($0) will get TERM"] } ?? [])
        open = .menu(
            Menu(
                title: "quit? \(all.joined(separator: ", "))",
                items: [
                    Menu.Item(key: "y", label: "quit", choice: .quit),
                    Menu.Item(key: "n", label: "stay", choice: .stay),
                ]))
    }
}
