import InspectorCore
import SocketCore

/// The cursor in the laid-out traffic.
extension TrafficState {
    /// The scroll position of the selected connection's traffic.
    package var scroll: TrafficScroll { socket.flatMap { scrolls[$0] } ?? TrafficScroll() }

    mutating func editScroll(_ change: (inout TrafficScroll) -> Void) {
        guard let socket else { return }
        var scroll = scroll
        change(&scroll)
        scrolls[socket] = scroll
    }

    /// Returns the item at the cursor, or the last one while following.
    func item(in document: TrafficDocument) -> TrafficItem? {
        guard socket != nil else { return nil }
        let place = scroll.cursor.map(document.place) ?? document.end
        for block in document.blocks.prefix(place.block + 1).reversed() {
            if case .item(let item, _) = block.content { return item }
        }
        return nil
    }

    /// Switches to the next way to show bytes, starting with one that the item at the cursor does not have.
    mutating func cycleView(in document: TrafficDocument) {
        viewMode = viewMode.next(after: automaticView(in: document), dissects: true)
    }

    /// Returns how the item at the cursor, or the last one, is shown by default.
    func automaticView(in document: TrafficDocument) -> ViewMode {
        guard let item = item(in: document) else { return .text }
        let isClose = item.webSocket?.kind == .close
        return ViewMode.automatic(isClose ? item.bytes.dropFirst(2) : item.bytes[...])
    }

    /// Moves the cursor by `step` lines. Moving up stops following, and reaching the last line resumes it.
    mutating func scroll(_ step: Int, in document: TrafficDocument, height: Int) {
        guard step != 0, !document.blocks.isEmpty else { return }
        let scroll = scroll
        if scroll.isFollowing && step > 0 { return }
        let rows = max(1, height)
        let end = document.end
        let cursor = document.moved(scroll.isFollowing ? end : scroll.cursor.map(document.place) ?? end, by: step)
        var top = scroll.isFollowing ? document.followingTop(rows: rows) : scroll.top.map(document.place) ?? cursor
        if cursor < top { top = cursor }
        let bottom = document.moved(top, by: rows - 1)
        if bottom < cursor { top = document.moved(cursor, by: 1 - rows) }
        editScroll {
            $0.isFollowing = step > 0 && cursor == end
            $0.cursor = $0.isFollowing ? nil : document.position(cursor)
            $0.top = $0.isFollowing ? nil : document.position(top)
        }
    }

    mutating func toggleFollow(in document: TrafficDocument, height: Int) {
        if scroll.isFollowing {
            guard !document.blocks.isEmpty else { return }
            editScroll {
                $0.isFollowing = false
                $0.cursor = document.position(document.end)
                $0.top = document.position(document.followingTop(rows: max(1, height)))
            }
        } else {
            editScroll {
                $0.isFollowing = true
                $0.cursor = nil
                $0.top = nil
            }
        }
    }

    /// Expands or folds the item at the cursor, or the last one while following.
    mutating func toggleExpanded(in document: TrafficDocument) {
        guard socket != nil else { return }
        let place = scroll.cursor.map(document.place) ?? document.end
        for block in document.blocks.prefix(place.block + 1).reversed() {
            guard case .item(let sequence) = block.key else { continue }
            return editScroll { scroll in
                if scroll.expanded.remove(sequence) == nil { scroll.expanded.insert(sequence) }
                // Expanding adds or removes its parts.
                guard scroll.cursor != nil else { return }
                (scroll.cursor, scroll.top) = (TrafficPosition(block.key), TrafficPosition(block.key))
            }
        }
    }

    // MARK: Acting on an item

    /// Copies the item at the cursor.
    func copy(in document: TrafficDocument) -> Outcome {
        withItem(in: document) { .screen(.copy($0.bytes + $0.tail)) }
    }

    /// Opens the item at the cursor in the user's editor.
    func edit(in document: TrafficDocument) -> Outcome {
        withItem(in: document) { item in socket.map { .screen(.edit(.item($0), item.bytes + item.tail)) } }
    }

    private func withItem(in document: TrafficDocument, _ act: (TrafficItem) -> Effect?) -> Outcome {
        guard let item = item(in: document) else { return .hint("no traffic here yet") }
        guard !item.bytes.isEmpty else { return .hint("none of its bytes were kept") }
        let missing = "without the \(Format.size(item.missingBytes)) that are not kept"
        return Outcome(
            effects: [act(item)].compactMap { $0 }, notice: item.missingBytes > 0 ? .hint(missing) : nil)
    }
}
