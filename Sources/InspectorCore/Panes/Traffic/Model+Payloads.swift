import SocketCore

/// What a person does with the bytes that passed: search, copy, save, edit.
extension Model {
    /// One place where what is searched begins.
    private struct Match {
        var block: Int
        var item: TrafficItem
        var offset: Int
    }

    private func matches(_ search: PayloadSearch, _ document: TrafficDocument) -> [Match] {
        document.blocks.indices.flatMap { index -> [Match] in
            guard case .item(let item, _) = document.blocks[index].content else { return [] }
            return search.matches(in: item.bytes).map { Match(block: index, item: item, offset: $0) }
        }
    }

    /// Goes to the next place that holds what is searched, and around the end; a folded item is unfolded.
    mutating func searchTraffic(_ step: Int) {
        guard let search = payloadSearch else {
            notice = hint(naming("nothing is searched: {search} begins"))
            return
        }
        let document = document
        let matches = matches(search, document)
        guard !matches.isEmpty else {
            notice = error("not found: \(search.text)")
            return
        }
        let index = next(step, in: matches, document)
        let match = matches[index]
        talkMatch = TalkMatch(item: match.item.sequence, offset: match.offset)
        show(match, document)
        notice = hint("match \(index + 1) of \(matches.count) for \(search.text)")
    }

    /// The match behind the one gone to last, or behind the cursor.
    private func next(_ step: Int, in matches: [Match], _ document: TrafficDocument) -> Int {
        let count = matches.count
        if let last = talkMatch,
            let index = matches.firstIndex(where: { $0.item.sequence == last.item && $0.offset == last.offset })
        {
            return ((index + step) % count + count) % count
        }
        guard let cursor = list.selected.flatMap({ talks[$0]?.cursor }) else { return step > 0 ? 0 : count - 1 }
        let block = document.place(cursor).block
        if step > 0 { return matches.firstIndex { $0.block >= block } ?? 0 }
        return matches.lastIndex { $0.block <= block } ?? count - 1
    }

    private mutating func show(_ match: Match, _ document: TrafficDocument) {
        let key = document.blocks[match.block].key
        let (row, mustUnfold) = document.row(of: match.offset, in: match.item)
        editTalk {
            if mustUnfold { $0.expanded.insert(match.item.sequence) }
            $0.isFollowing = false
            $0.cursor = TrafficPosition(key, line: row + 1)
        }
        let laidOut = self.document
        let place = laidOut.place(TrafficPosition(key, line: row + 1))
        let rows = layout.traffic.height
        editTalk { $0.top = laidOut.position(laidOut.moved(place, by: -(rows / 3))) }
    }

    /// The item at the cursor, or the last one while following.
    private var itemAtCursor: TrafficItem? {
        guard let id = list.selected else { return nil }
        let document = document
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
        return act(item)
    }

    mutating func copyItem() -> [Effect] { withItem { [.copy($0.bytes)] } }

    mutating func editItem() -> [Effect] {
        let id = list.selected
        return withItem { item in id.map { [.edit(.item($0), item.bytes)] } ?? [] }
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
        let lost = items.reduce(UInt64(0)) { $0.saturatingAdd(UInt64(max(0, $1.done - $1.bytes.count))) }
        let dropped = form.chosen(.what) == 0 ? 0 : shownTraffic.dropped
        dialog = nil
        guard items.contains(where: { !$0.bytes.isEmpty }) else {
            notice = hint("there is no byte to save")
            return []
        }
        return [.save(path, items.flatMap(\.bytes), missing: lost, droppedItems: dropped)]
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
            notice = hint(naming("{send} sends what was edited", in: .composer))
            if list.selected == id { showTalk(composing: true) }
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

extension TrafficDocument {
    /// In which row of an item, counted behind its header, a byte stands when it is shown whole; and whether it must be
    /// unfolded for that.
    func row(of offset: Int, in item: TrafficItem) -> (row: Int, mustUnfold: Bool) {
        let layout = ByteRows(mode: mode, width: width, sanitizer: sanitizer, glyphs: glyphs, style: .plain)
        let all = layout.rows(item.bytes, limit: .max).rows.count
        var low = 1
        var high = max(1, all)
        while low < high {
            let middle = (low + high) / 2
            if layout.rows(item.bytes, limit: middle).shown > offset { high = middle } else { low = middle + 1 }
        }
        return (low - 1, all > foldingLimit && !expanded.contains(item.sequence))
    }
}
