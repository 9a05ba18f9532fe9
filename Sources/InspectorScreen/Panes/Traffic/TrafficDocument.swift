import InspectorCore
import SocketCore

/// One connection's traffic as lines: what was sent and received, with events in between, in the order of time.
///
/// Only the visible blocks are laid out. An item is folded after a few rows unless it is expanded.
package struct TrafficDocument {
    package enum Content {
        case item(TrafficItem, Gap?)
        /// A part of a long expanded item.
        case part(TrafficItem, Piece)
        /// The number of items dropped before this one for lack of room, or 0 if earlier bytes are missing from the
        /// capture.
        case skipped(TrafficItem, UInt64)
        /// The number of bytes transferred before the traffic was kept.
        case unseen(UInt64)
        case sentFile(SentFile)
        case note(SocketEvent)
        case lost(UInt64)
        case dropped(UInt64)
        /// The number of hidden control frames.
        case hidden(Int)
        case closed(CloseRecord)
        /// A text shown while there is no traffic.
        case waiting(String)
    }

    /// The time since the previous item, or `nil` for the first.
    package struct Gap {
        package var time: Duration
        /// Whether the previous item was our request and this one is the peer's answer.
        package var isReply: Bool
    }

    package struct Block {
        package var key: BlockKey
        package var content: Content
    }

    package private(set) var blocks: [Block]
    let laidOut = LaidOut()
    /// The dissection of the items, if it is shown.
    let dissection: Dissection?
    package let mode: ViewMode
    package let width: Int
    package let clock: WallClock
    package let expanded: Set<UInt64>
    package let sanitizer: Sanitizer
    package let glyphs: Glyphs
    /// The connection of this traffic, while it is listed.
    let socket: SocketSnapshot?
    /// The tag of the operation that waits for a verdict.
    var askingTag: Int? { socket?.asking?.tag }
    /// When the client began TLS inside another protocol, or `nil`.
    private(set) var upgraded: MonotonicTime?
    /// The key that answers it.
    let answerKey: String
    /// The key that expands and folds an item.
    let expandKey: String

    /// The traffic of the selected connection, from the model.
    package init(_ model: Model, width: Int) {
        mode = model.traffic.viewMode == .dissected ? .auto : model.traffic.viewMode
        dissection = model.showsDissection && model.whyNotDissected == nil ? model.dissection : nil
        self.width = width
        clock = model.shownClock
        sanitizer = model.sanitizer
        glyphs = model.glyphs
        expanded = model.traffic.scroll.expanded
        socket = model.selected
        answerKey = model.answerKey
        expandKey = model.naming("{expand}", of: .traffic)
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
        upgraded = merged.lazy.compactMap(Self.upgrade).first
        blocks += merged.flatMap(inParts)
        if traffic.items.count == hidden || model.selected == nil {
            for (index, text) in TrafficWords.empty(model).enumerated() {
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

    /// Returns the events of the selected connection, with the gaps between them.
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
                // A gap from before this connection was opened is irrelevant.
                if let lost = gap, time >= socket.opened { notes.append((time, lost)) }
                gap = nil
                guard event.socket == socket.id, isNote(event.kind, closed: socket.closed != nil) else { continue }
                notes.append((event.time, Block(key: .note(event.sequence), content: .note(event))))
            }
        }
        if let gap { notes.append((.init(nanoseconds: .max), gap)) }
        return notes
    }

    /// Returns the number of items dropped between others.
    private static func gaps(_ items: [TrafficItem]) -> UInt64 {
        guard let first = items.first?.sequence, let last = items.last?.sequence, last >= first else { return 0 }
        let spanned = last - first + 1
        return spanned - min(spanned, UInt64(items.count))
    }

    /// Returns a long expanded item, followed by its parts.
    private func inParts(_ block: Block) -> [Block] {
        guard case .item(let item, _) = block.content, isInParts(item) else { return [block] }
        return [block]
            + parts(of: item).enumerated().map { index, piece in
                Block(key: .part(item.sequence, index), content: .part(item, piece))
            }
    }

    private static func upgrade(_ block: Block) -> MonotonicTime? {
        if case .note(let event) = block.content, event.kind == .tlsUpgraded { event.time } else { nil }
    }

    /// Whether an event is shown between the bytes. The end of a connection is shown below them.
    private static func isNote(_ kind: SocketEvent.Kind, closed: Bool) -> Bool {
        EventCatalogue[kind].sentence != nil && !(kind == .closed && closed)
    }
}
