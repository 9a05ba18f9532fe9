import SocketCore

/// What to send by itself when something comes: `when /re/ send X`.
package struct ReplyRule: Hashable, Sendable {
    /// Matched with the bytes of each read on its own.
    package var pattern: Pattern
    /// What is sent, as it was typed, and what that is.
    package var text: String
    package var reply: [MessagePiece]

    /// Throws when `pattern` is not a regular expression.
    package init(pattern: String, text: String, reply: [MessagePiece]) throws(Pattern.Failure) {
        self.pattern = try Pattern(pattern, .bytes)
        self.text = text
        self.reply = reply
    }

    package var words: String { "when /\(pattern.text)/ send \(text)" }
}

extension Model {
    /// The rules that hold for a connection: its own, and those of the listener that took it.
    package func replies(for socket: SocketSnapshot) -> [ReplyRule] {
        (replies[socket.id] ?? []) + (socket.parent.flatMap { replies[$0] } ?? [])
    }

    /// Asks for a rule, or which of those that hold shall go.
    mutating func openReplies() {
        guard let selected, selected.isLive else {
            notice = hint("auto-reply needs a listener or an open connection")
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
        dialog = .menu(Menu(title: "auto-reply of \(id)", items: items))
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
            do throws(Pattern.Failure) {
                return before + [try ReplyRule(pattern: pattern, text: typed, reply: reply)]
            } catch {
                throw Problem(field: .when, message: error.message)
            }
        }
    }
}

extension ReplyRule {
    /// Reads `when /re/ send X`; X is escapes and macros.
    package static func parse(_ text: String) -> Result<ReplyRule, EscapedText.Failure> {
        let begin = "when /"
        let middle = "/ send "
        guard text.hasPrefix(begin),
            let end = text.indices.first(where: {
                $0 >= text.index(text.startIndex, offsetBy: 6) && text[$0...].hasPrefix(middle)
            })
        else { return .failure(.init(column: 1, message: "write when /regular expression/ send text")) }
        let pattern = String(text[text.index(text.startIndex, offsetBy: begin.count)..<end])
        let reply = String(text[text.index(end, offsetBy: middle.count)...])
        guard !pattern.isEmpty else { return .failure(.init(column: 7, message: "the regular expression is empty")) }
        switch MessageText.parse(reply) {
        case .failure(var failure):
            failure.column += begin.count + pattern.unicodeScalars.count + middle.count
            return .failure(failure)
        case .success(let pieces):
            guard !pieces.isEmpty, MessageText.preview(pieces, sequence: 1).files == 0 else {
                return .failure(.init(column: text.unicodeScalars.count, message: "a rule sends text, and no files"))
            }
            do throws(Pattern.Failure) {
                return .success(try ReplyRule(pattern: pattern, text: reply, reply: pieces))
            } catch {
                return .failure(.init(column: 7, message: error.message))
            }
        }
    }
}
