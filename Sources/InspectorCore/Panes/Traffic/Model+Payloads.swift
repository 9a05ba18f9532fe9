import SocketCore

/// What the user does with the bytes that passed: copy, save, edit.
extension Model {
    /// The item at the cursor, or the last one while following.
    var itemAtCursor: TrafficItem? { itemAtCursor(in: document) }

    /// The same in the document as it is laid out.
    func itemAtCursor(in document: TrafficDocument) -> TrafficItem? {
        guard let id = list.selected else { return nil }
        let place = talks[id]?.cursor.map(document.place) ?? document.end
        for block in document.blocks.prefix(place.block + 1).reversed() {
            if case .item(let item, _) = block.content { return item }
        }
        return nil
    }

    private mutating func withItem(_ act: (TrafficItem) -> [Effect]) -> [Effect] {
        guard let item = itemAtCursor else {
            notice = hint("nothing has passed here yet")
            return []
        }
        guard !item.bytes.isEmpty else {
            notice = hint("no byte of it was kept")
            return []
        }
        if item.missingBytes > 0 { notice = hint("without the \(Format.size(item.missingBytes)) that are not kept") }
        return act(item)
    }

    mutating func copyItem() -> [Effect] { withItem { [.copy($0.bytes + $0.tail)] } }

    mutating func editItem() -> [Effect] {
        let id = list.selected
        return withItem { item in id.map { [.edit(.item($0), item.bytes + item.tail)] } ?? [] }
    }

    /// Asks where to save what passed.
    mutating func openSave() -> [Effect] {
        guard let id = list.selected, let item = itemAtCursor else {
            notice = hint("nothing has passed here yet")
            return []
        }
        let names = [
            "socktui-\(id.number)-\(item.direction == .sent ? "sent" : "received")-\(item.sequence).bin",
            "socktui-\(id.number)-received.bin", "socktui-\(id.number)-sent.bin",
        ]
        dialog = .form(
            Form(
                .save(id, item: item.sequence, names: names),
                [
                    .text(.path, "File", names[0], hint: ""),
                    FormField(.what, "What", .choice(["this item", "received", "sent"], 0)),
                ]))
        return []
    }

    /// What the form asks to save; the shell writes it to a file that is not there yet.
    mutating func save(_ form: Form) -> [Effect] {
        guard case .save(_, let sequence, _) = form.purpose else { return [] }
        let path = form.text(.path)
        guard !path.isEmpty else {
            dialogs.refuse(form, Form.Problem(field: .path, message: "a path is missing"))
            return []
        }
        let items = shownTraffic.items.filter { item in
            switch form.chosen(.what) {
            case 1: item.direction == .received
            case 2: item.direction == .sent
            default: item.sequence == sequence
            }
        }
        let lost = items.reduce(UInt64(0)) { $0.saturatingAdd(UInt64($1.missingBytes)) }
        let dropped = form.chosen(.what) == 0 ? 0 : shownTraffic.dropped
        dialog = nil
        guard items.contains(where: { !$0.bytes.isEmpty }) else {
            notice = hint("there is no byte to save")
            return []
        }
        return [.save(path, items.flatMap { $0.bytes + $0.tail }, missing: lost, droppedItems: dropped)]
    }

    /// The editor is closed: the line goes back to its composer; other bytes go there when they were changed.
    mutating func edited(_ subject: EditSubject, _ bytes: [UInt8], wasChanged: Bool) {
        guard wasChanged else { return }
        switch subject {
        case .line(let id):
            var text = String(decoding: bytes, as: UTF8.self)
            if text.hasSuffix("\n") { text.removeLast() }
            setLine(of: id) {
                $0.editor.set(text.split(separator: "\r\n", omittingEmptySubsequences: false).joined(separator: "\n"))
            }
        case .item(let id):
            guard let socket = latest?.socket(id), TalkWords.whyNoWriting(socket) == nil else {
                notice = hint("\(id) takes no more bytes, so what was edited went nowhere")
                return
            }
            setLine(of: id) {
                $0.mode = .escapes
                $0.ending = .none
                $0.editor.set(EscapedText.showLiteral(bytes))
            }
            if list.selected == id { showTalk(composing: true) }
            notice = hint(
                isComposing
                    ? naming("{send} sends what was edited")
                    : naming("the line of \(id) holds what was edited: {write} goes there"))
        }
    }

    private mutating func setLine(of id: SocketID, _ change: (inout Composer) -> Void) {
        var composer = composer(of: id)
        change(&composer)
        composers[id] = composer
    }
}

/// The place that was found last.
package struct TalkMatch: Hashable, Sendable {
    package var item: UInt64
    package var offset: Int
}

/// What an editor was opened for.
package enum EditSubject: Hashable, Sendable {
    /// The line in a connection's composer.
    case line(SocketID)
    /// Bytes that passed on a connection.
    case item(SocketID)
}
