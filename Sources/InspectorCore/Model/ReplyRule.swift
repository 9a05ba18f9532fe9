import SocketCore

/// What to send by itself when something comes: `when /re/ send X`.
package struct ReplyRule: Hashable, Sendable {
    /// A POSIX extended regular expression, matched with the bytes of each read on its own.
    package var pattern: String
    /// What is sent, as it was typed, and what that is.
    package var text: String
    package var reply: [MessagePiece]

    package init(pattern: String, text: String, reply: [MessagePiece]) {
        self.pattern = pattern
        self.text = text
        self.reply = reply
    }

    package var words: String { "when /\(pattern)/ send \(text)" }
}

extension Model {
    /// The rules that hold for a connection: its own, and those of the listener that took it.
    package func replies(for socket: SocketSnapshot) -> [ReplyRule] {
        (replies[socket.id] ?? []) + (socket.parent.flatMap { replies[$0] } ?? [])
    }

    /// Asks for a rule, or which of those that hold shall go.
    mutating func openReplies() {
        guard let selected, selected.isLive else {
            notice = hint("a listener or a connection that lives can reply by itself")
            return
        }
        let id = selected.id
        let rules = replies[id] ?? []
        guard !rules.isEmpty else { return openReplyForm(id) }
        var items = [Menu.Item(key: "a", label: "add a rule", choice: .addReply(id))]
        for (index, rule) in rules.enumerated() {
            var others = rules
            others.remove(at: index)
            let key = index < 9 ? Character(String(index + 1)) : nil
            items.append(Menu.Item(key: key, label: "drop: \(rule.words)", choice: .setReplies(id, others)))
        }
        dialog = .menu(Menu(title: "\(id) replies by itself", items: items))
    }

    mutating func openReplyForm(_ id: SocketID) {
        dialog = .form(
            Form(
                .reply(id, replies[id] ?? []),
                [
                    .text(.when, "When", "", hint: "a regular expression: ^PING, [0-9]+"),
                    .text(.reply, "Send", "", hint: "escapes and macros: +PONG\\r\\n"),
                ]))
    }
}

extension Form {
    /// The rules with the one that the form asks for.
    func rules(_ before: [ReplyRule]) throws(Problem) -> [ReplyRule] {
        let pattern = text(.when)
        guard !pattern.isEmpty else { throw Problem(field: .when, message: "a regular expression is missing") }
        let typed = text(.reply)
        switch MessageText.parse(typed) {
        case .failure(let failure):
            throw Problem(field: .reply, message: "column \(failure.column): \(failure.message)")
        case .success(let reply):
            guard !reply.isEmpty else { throw Problem(field: .reply, message: "what shall be sent?") }
            guard MessageText.preview(reply, sequence: 1).files == 0 else {
                throw Problem(field: .reply, message: "a rule sends no files")
            }
            return before + [ReplyRule(pattern: pattern, text: typed, reply: reply)]
        }
    }
}
