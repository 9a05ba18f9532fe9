import SocketCore

extension TrafficDocument {
    /// Merges items and notes in the order of time, and computes the time between items.
    struct Merging {
        let items: [TrafficItem]
        let notes: [(time: MonotonicTime, block: Block)]
        let socket: SocketSnapshot?

        /// Returns the blocks of the shown items, and of the notes.
        func blocks(without isHidden: (TrafficItem) -> Bool) -> [Block] {
            var blocks: [Block] = []
            blocks.reserveCapacity(items.count + notes.count)
            var rest = notes[...]
            var last: TrafficItem?
            var (next, finSent): (UInt64?, MonotonicTime?)
            var askers: [SocketAddress: TrafficItem.Direction] = [:]
            let answers = answers
            for item in items {
                while let note = rest.first, Self.comesBefore(note.time, note.block, item) {
                    blocks.append(note.block)
                    if case .note(let event) = note.block.content, event.kind == .halfClosed { finSent = note.time }
                    rest.removeFirst()
                }
                if let next, item.sequence > next {
                    let count = item.sequence - next
                    blocks.append(Block(key: .skipped(item.sequence), content: .skipped(item, count)))
                } else if item.skipped > 0, next != nil || item.sequence == 0 {
                    blocks.append(Block(key: .skipped(item.sequence), content: .skipped(item, 0)))
                }
                next = item.sequence &+ 1
                if let address = item.address, askers[address] == nil { askers[address] = item.direction }
                guard !isHidden(item) else { continue }
                let gap = last.map { last in
                    // A peer may answer only what ends with our FIN.
                    let since = max(last.time, finSent ?? last.time)
                    if let took = answers?[item.sequence] { return Gap(time: took, isReply: true) }
                    let isReply = answers == nil && isReply(item, to: last, askers)
                    return Gap(time: max(.zero, item.time - since), isReply: isReply)
                }
                last = item
                blocks.append(Block(key: .item(item.sequence), content: .item(item, gap)))
            }
            return blocks + rest.map(\.block)
        }

        /// How long each question took to be answered, by the item that begins its answer, or `nil` if that cannot be
        /// told from the items of a stream.
        private var answers: [UInt64: Duration]? {
            guard let socket, socket.exchanges != nil,
                let list = Exchange.list(TrafficSnapshot(items: items), client: socket.clientDirection, count: nil)
            else { return nil }
            var answers: [UInt64: Duration] = [:]
            for exchange in list { if let item = exchange.answer { answers[item] = exchange.firstByte } }
            return answers
        }

        /// Whether an item answers the previous one. Only a peer that we connected to answers, because one that
        /// connected to us makes requests. A datagram answers if it comes from where the previous one was sent, and
        /// that address did not send first. What a multicast group returns to its sender is not an answer.
        private func isReply(
            _ item: TrafficItem, to last: TrafficItem, _ askers: [SocketAddress: TrafficItem.Direction]
        ) -> Bool {
            guard item.direction == .received, last.direction == .sent, socket?.role != .accepted else { return false }
            guard let target = last.address, let source = item.address else { return true }
            if target == source { return askers[source] == .sent }
            let isGroup = target.ip?.isMulticast ?? false
            return askers[source] == .received && isGroup && item.bytes != last.bytes
        }

        /// Within one turn of the engine, a connection opens before its bytes are transferred. Everything else comes
        /// after them.
        private static func comesBefore(_ time: MonotonicTime, _ block: Block, _ item: TrafficItem) -> Bool {
            guard time == item.time, case .note(let event) = block.content else { return time < item.time }
            return EventCatalogue[event.kind].traits.contains(.beforeBytes)
        }
    }
}
