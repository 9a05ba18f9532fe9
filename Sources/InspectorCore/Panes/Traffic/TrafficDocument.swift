import SocketCore

/// One connection's traffic as lines: what was sent and received, and between it what happened, in order of time.
///
/// Only the blocks that are looked at are laid out; an item folds after a few rows unless it was expanded.
package struct TrafficDocument {
    package enum Content {
        case item(TrafficItem, Gap?)
        /// A part of a long item that is shown whole.
        case part(TrafficItem, Piece)
        /// Items before this one that were dropped for room, so many; 0: bytes before it are not in the capture.
        case skipped(TrafficItem, UInt64)
        /// Bytes that passed before traffic was kept.
        case unseen(UInt64)
        case sentFile(SentFile)
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
        /// Whether the item before was our request and this one is the peer's answer.
        package var isReply: Bool
    }

    package struct Block {
        package var key: BlockKey
        package var content: Content
    }

    package private(set) var blocks: [Block]
    let laidOut = LaidOut()
    /// What another program makes of the items, where they are shown so.
    let dissection: Dissection?
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
        mode = model.traffic.viewMode == .dissected ? .auto : model.traffic.viewMode
        dissection = model.showsDissection && model.whyNotDissected == nil ? model.dissection : nil
        self.width = width
        clock = model.shownClock
        sanitizer = model.sanitizer
        glyphs = model.glyphs
        expanded = model.traffic.talk.expanded
        socket = model.selected
        answerKey = model.answerKey
        expandKey = model.naming("{expand}", of: .talk)
        let traffic = model.traffic.shown(in: model.shared)
        let isHidden: (TrafficItem) -> Bool = {
            model.traffic.hidesControlFrames && $0.webSocket?.kind.isControl == true
        }
        let hidden = model.traffic.hidesControlFrames ? traffic.items.count(where: isHidden) : 0
        var blocks: [Block] = []
        if model.traffic.unseen > 0, model.traffic.socket == model.list.selected, model.payloadRefusal == nil {
            blocks.append(Block(key: .unseen, content: .unseen(model.traffic.unseen)))
        }
        let older = traffic.dropped - min(traffic.dropped, Self.gaps(traffic.items))
        if older > 0 { blocks.append(Block(key: .dropped, content: .dropped(older))) }
        if hidden > 0 { blocks.append(Block(key: .hidden, content: .hidden(hidden))) }
        let merged = Merging(items: traffic.items, notes: Self.notes(model), socket: socket).blocks(without: isHidden)
        self.blocks = []
        blocks += merged.flatMap(inParts)
        if traffic.items.count == hidden || model.selected == nil {
            for (index, text) in TalkWords.empty(model).enumerated() {
                blocks.append(Block(key: .waiting(index), content: .waiting(text)))
            }
        }
        let remarks = model.showsDissection ? Self.remarks(model) : []
        for (index, text) in remarks.enumerated() {
            blocks.append(Block(key: .remark(index), content: .waiting(text)))
        }
        if let closed = model.selected?.closed { blocks.append(Block(key: .closed, content: .closed(closed))) }
        self.blocks = blocks
    }

    /// What happened to the selected connection, with the gaps between.
    private static func notes(_ model: Model) -> [(time: MonotonicTime, block: Block)] {
        guard let socket = model.selected else { return [] }
        let end = model.shared.frozen?.nextEvent ?? .max
        let events = events(model, socket, before: end)
        let files = (model.traffic.sentFiles[socket.id] ?? []).filter { $0.time <= model.now }.map { file in
            (time: file.time, block: Block(key: .sentFile(file.number), content: .sentFile(file)))
        }
        let others = files + injections(model, socket, before: end)
        return others.isEmpty ? events : (events + others).sorted { $0.time < $1.time }
    }

    private static func events(
        _ model: Model, _ socket: SocketSnapshot, before end: UInt64
    ) -> [(time: MonotonicTime, block: Block)] {
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

    /// Items that were dropped between others.
    private static func gaps(_ items: [TrafficItem]) -> UInt64 {
        guard let first = items.first?.sequence, let last = items.last?.sequence, last >= first else { return 0 }
        let spanned = last - first + 1
        return spanned - min(spanned, UInt64(items.count))
    }

    /// A long item that is shown whole, followed by its parts.
    private func inParts(_ block: Block) -> [Block] {
        guard case .item(let item, _) = block.content, isInParts(item) else { return [block] }
        return [block]
            + parts(of: item).enumerated().map { index, piece in
                Block(key: .part(item.sequence, index), content: .part(item, piece))
            }
    }

    /// Whether an event belongs between the bytes. How a connection closed is told at the end.
    private static func isNote(_ kind: SocketEvent.Kind, closed: Bool) -> Bool {
        EventCatalogue[kind].sentence != nil && !(kind == .closed && closed)
    }
}
