import SocketCore

extension Model {
    /// The selected connection's traffic, laid out for the pane as it is.
    var document: TrafficDocument {
        TrafficDocument(self, width: layout.traffic.width)
    }

    /// Shows bytes the next way, beginning with what the item at the cursor is not shown as.
    mutating func cycleView() { viewMode = viewMode.next(after: automaticView(in: document)) }

    /// What the item at the cursor, or the last one, is shown as where nothing else is asked for.
    func automaticView(in document: TrafficDocument) -> ViewMode {
        guard let item = itemAtCursor(in: document) else { return .text }
        let isClose = item.webSocket?.kind == .close
        return ViewMode.automatic(isClose ? item.bytes.dropFirst(2) : item.bytes[...])
    }

    mutating func editTalk(_ change: (inout TalkState) -> Void) {
        guard let id = list.selected else { return }
        var talk = talks[id] ?? TalkState()
        change(&talk)
        talks[id] = talk
    }

    /// Moves the cursor so many lines. Upwards leaves following, reaching the last line takes it up again.
    mutating func scrollTraffic(_ step: Int) {
        guard let id = list.selected, step != 0 else { return }
        let document = document
        guard !document.blocks.isEmpty else { return }
        let talk = talks[id] ?? TalkState()
        if talk.isFollowing && step > 0 { return }
        let rows = max(1, layout.traffic.height)
        let end = document.end
        let cursor = document.moved(talk.isFollowing ? end : talk.cursor.map(document.place) ?? end, by: step)
        var top = talk.isFollowing ? document.followingTop(rows: rows) : talk.top.map(document.place) ?? cursor
        if cursor < top { top = cursor }
        let bottom = document.moved(top, by: rows - 1)
        if bottom < cursor { top = document.moved(cursor, by: 1 - rows) }
        editTalk {
            $0.isFollowing = step > 0 && cursor == end
            $0.cursor = $0.isFollowing ? nil : document.position(cursor)
            $0.top = $0.isFollowing ? nil : document.position(top)
        }
    }

    mutating func toggleFollow() {
        if tab == .events { return events.toggleFollow(in: shared) }
        if tab == .list { return followInList() }
        guard let id = list.selected else { return }
        if talks[id]?.isFollowing ?? true {
            let document = document
            guard !document.blocks.isEmpty else { return }
            let rows = max(1, layout.traffic.height)
            editTalk {
                $0.isFollowing = false
                $0.cursor = document.position(document.end)
                $0.top = document.position(document.followingTop(rows: rows))
            }
        } else {
            editTalk {
                $0.isFollowing = true
                $0.cursor = nil
                $0.top = nil
            }
        }
    }

    /// Shows the item at the cursor whole, or folds it. While following it is the last item.
    mutating func toggleExpanded() {
        guard let id = list.selected else { return }
        let document = document
        let place = talks[id]?.cursor.map(document.place) ?? document.end
        for block in document.blocks.prefix(place.block + 1).reversed() {
            guard case .item(let sequence) = block.key else { continue }
            editTalk { talk in
                if talk.expanded.remove(sequence) == nil { talk.expanded.insert(sequence) }
                // Its parts come and go.
                guard talk.cursor != nil else { return }
                (talk.cursor, talk.top) = (TrafficPosition(block.key), TrafficPosition(block.key))
            }
            return
        }
    }
}
