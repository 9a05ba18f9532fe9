import SocketCore

/// One connection's traffic as lines: what was sent and received, and between it what happened, in order of time.
///
/// Only the blocks that are looked at are laid out; an item folds after a few rows unless it was expanded.
package struct TrafficDocument {
    package enum Content {
        case item(TrafficItem, Gap?)
        case note(SocketEvent)
        case lost(UInt64)
        case dropped(UInt64)
        /// Control frames that are left out.
        case hidden(Int)
        case closed(CloseRecord)
        /// What stands there while nothing has passed.
        case waiting(String)
    }

    /// The time since the item before; nil for the first.
    package struct Gap {
        package var time: Duration
        /// Whether the item before was sent and this one came.
        package var isReply: Bool
    }

    package struct Block {
        package var key: BlockKey
        package var content: Content
    }

    package let blocks: [Block]
    package let mode: ViewMode
    package let width: Int
    package let clock: WallClock
    package let expanded: Set<UInt64>
    package let sanitizer: Sanitizer
    package let glyphs: Glyphs
    /// The connection whose traffic it is, while it is listed.
    let socket: SocketSnapshot?
    /// Tag of the operation that waits for an answer.
    var askingTag: Int? { socket?.asking?.tag }
    /// The key that gives it.
    let answerKey: String
    /// The key that expands and folds an item.
    let expandKey: String

    /// The traffic of the selected connection as the model knows it.
    package init(_ model: Model, width: Int) {
        mode = model.viewMode
        self.width = width
        clock = model.shownClock
        sanitizer = model.sanitizer
        glyphs = model.glyphs
        expanded = model.list.selected.flatMap { model.talks[$0]?.expanded } ?? []
        socket = model.selected
        answerKey = model.answerKey
        expandKey = model.naming("{expand}")
        var items = model.shownTraffic
        let all = items.items.count
        if model.hidesControlFrames { items.items.removeAll { $0.webSocket?.kind.isControl == true } }
        var blocks: [Block] = []
        if items.dropped > 0 { blocks.append(Block(key: .dropped, content: .dropped(items.dropped))) }
        if items.items.count < all {
            blocks.append(Block(key: .hidden, content: .hidden(all - items.items.count)))
        }
        blocks += Self.merge(items.items, Self.notes(model))
        if items.items.isEmpty || model.selected == nil {
            for (index, text) in TalkWords.empty(model).enumerated() {
                blocks.append(Block(key: .waiting(index), content: .waiting(text)))
            }
        }
        if let closed = model.selected?.closed { blocks.append(Block(key: .closed, content: .closed(closed))) }
        self.blocks = blocks
    }

    /// What happened to the selected connection, with the gaps between.
    private static func notes(_ model: Model) -> [(time: MonotonicTime, block: Block)] {
        guard let socket = model.selected else { return [] }
        let end = model.frozen?.nextEvent ?? .max
        var notes: [(time: MonotonicTime, block: Block)] = []
        var time = MonotonicTime(nanoseconds: .min)
        var gap: Block?
        for entry in model.log.entries(about: socket.id) {
            switch entry {
            case .lost(let count, let next):
                if next <= end { gap = Block(key: .lost(next), content: .lost(count)) }
            case .note: continue
            case .event(let event):
                guard event.sequence < end else { return notes }
                time = max(time, event.time)
                // A gap from before this connection was opened is none of its matter.
                if let lost = gap, time >= socket.opened { notes.append((time, lost)) }
                gap = nil
                guard event.socket == socket.id, isNote(event.kind, closed: socket.closed != nil) else { continue }
                notes.append((event.time, Block(key: .note(event.sequence), content: .note(event))))
            }
        }
        if let gap { notes.append((.init(nanoseconds: .max), gap)) }
        return notes
    }

    private static func merge(_ items: [TrafficItem], _ notes: [(time: MonotonicTime, block: Block)]) -> [Block] {
        var blocks: [Block] = []
        blocks.reserveCapacity(items.count + notes.count)
        var rest = notes[...]
        var last: TrafficItem?
        for item in items {
            while let note = rest.first, comesBefore(note.time, note.block, item) {
                blocks.append(note.block)
                rest.removeFirst()
            }
            let gap = last.map { last in
                Gap(
                    time: max(.zero, item.time - last.time),
                    isReply: item.direction == .received && last.direction == .sent)
            }
            last = item
            blocks.append(Block(key: .item(item.sequence), content: .item(item, gap)))
        }
        return blocks + rest.map(\.block)
    }

    /// Within one turn of the engine a connection opens before its bytes pass, and everything else comes after them.
    private static func comesBefore(_ time: MonotonicTime, _ block: Block, _ item: TrafficItem) -> Bool {
        guard time == item.time, case .note(let event) = block.content else { return time < item.time }
        return EventCatalogue[event.kind].traits.contains(.beforeBytes)
    }

    /// Whether an event belongs between the bytes. How a connection closed is told at the end.
    private static func isNote(_ kind: SocketEvent.Kind, closed: Bool) -> Bool {
        EventCatalogue[kind].sentence != nil && !(kind == .closed && closed)
    }
}
