import Glibc
import SocketCore

/// Receives and delivers datagrams.
extension DatagramSession {
    /// The most batches before other sockets get their share of the turn.
    private static let receiveBudget = 16

    /// Changes what happens to datagrams that arrive.
    func receive(_ mode: DatagramReceiveMode) {
        guard reception.mode != mode else { return }
        reception.receive(mode)
        record(mode == .paused ? .readingPaused : .readQueued)
        finishStep()
    }

    /// Receives waiting datagrams. What is left is reported again, because reports are level-triggered.
    func receive(_ link: Link) {
        if shared.backPressure.isHolding { isHeldBack = true }
        let limit = configuration.receiveLength(link.family.family)
        var weight = 0
        for _ in 0..<Self.receiveBudget {
            let most = isHeldBack ? 0 : reception.wanted(most: DatagramInbox.most)
            // Whether the delegate keeps up shows only when these are delivered.
            guard most > 0, !isClosed, weight <= BackPressure.limit else { return }
            switch engine.kernel.receiveDatagrams(link.socket.descriptor, into: engine.inbox, most: most, limit: limit)
            {
            case .bytes(let count):
                let batch = engine.inbox.batch(count, port: link.local?.port ?? 0)
                weight += batch.weight
                absorb(batch)
                if engine.mustLeaveOff { return }
                // Fewer than requested means that there are no more, unless long datagrams left no room.
                if count < most, limit <= 65_535 { return }
            case .wouldBlock: return
            case .failed(let errno):
                // An error of an earlier datagram, which this call has cleared. Datagrams may be waiting behind it.
                met(errno)
            }
        }
    }

    private func absorb(_ batch: DatagramBatch) {
        count(batch)
        let own = dropForeign(batch)
        guard !own.isEmpty else { return }
        guard let filter = receiveFilter else { return deliver(own) }
        guard let queue = filter.queue else { return deliver(judge(own, filter)) }
        reception.beginJudgement(of: own.count)
        let (id, mailbox, requestTurn) = (id, engine.mailbox, engine.requestTurn)
        queue.async {
            let passed = Self.passing(own, filter)
            if mailbox.post(.datagram(.receiveJudged(id, passed))) == .turn { requestTurn() }
        }
    }

    private func count(_ batch: DatagramBatch) {
        let bytes = batch.byteCount
        counters.received += UInt64(batch.count)
        received += UInt64(bytes)
        engine.counters.received += UInt64(bytes)
        record(.datagramsReceived, batch.count, bytes)
        let truncated = batch.entries.reduce(0) { $0 + ($1.length > $1.count ? 1 : 0) }
        if truncated > 0 {
            counters.truncated += UInt64(truncated)
            record(.datagramsTruncated, truncated)
        }
        countPeers(batch)
        if traffic != nil { log(batch) }
        if engine.tapes != nil {
            for datagram in batch {
                tape(datagram.bytes, isSent: false, datagram.source, length: datagram.length)
            }
        }
    }

    /// Counts runs of one source together.
    private func countPeers(_ batch: DatagramBatch) {
        var (packets, bytes) = (0, 0)
        for (index, entry) in batch.entries.enumerated() {
            packets += 1
            bytes += Int(entry.count)
            let isLast = index + 1 == batch.entries.count || batch.entries[index + 1].source != entry.source
            guard isLast else { continue }
            peers.received(from: batch.sources[Int(entry.source)], packets: packets, bytes: bytes, now: engine.now)
            (packets, bytes) = (0, 0)
        }
    }

    private func log(_ batch: DatagramBatch) {
        for datagram in batch {
            traffic?.record(
                engine.names.nextOperation(), direction: .received, tag: 0, kind: .read(.available(limit: nil)),
                done: datagram.bytes.count, total: datagram.length, state: .complete(after: .zero), now: engine.now,
                address: datagram.source
            ) { datagram.bytes.part($0) }
        }
    }

    /// The kernel keeps other senders away from a connected socket, but not their datagrams from before it was
    /// connected.
    private func dropForeign(_ batch: DatagramBatch) -> DatagramBatch {
        guard let peer, batch.sources.contains(where: { $0 != peer }) else { return batch }
        let own = batch.keeping { batch.source(at: $0) == peer }
        drop(batch.count - own.count, from: \.foreign, reason: 1)
        return own
    }

    private func drop(_ count: Int, from counter: WritableKeyPath<DatagramCounters, UInt64>, reason: Int) {
        guard count > 0 else { return }
        counters[keyPath: counter] += UInt64(count)
        record(.datagramsDropped, count, reason)
    }

    // MARK: The filter

    /// The filter, retired because the caller may replace it while it is in use.
    private var receiveFilter: DatagramReceiveFilter? {
        let filter = shared.receiveFilter
        engine.retire(filter)
        return filter?.value
    }

    private func judge(_ batch: DatagramBatch, _ filter: DatagramReceiveFilter) -> DatagramBatch {
        let passed = engine.runUserCode { Self.passing(batch, filter) }
        drop(batch.count - passed.count, from: \.filteredIn, reason: 0)
        return passed
    }

    private static func passing(_ batch: DatagramBatch, _ filter: DatagramReceiveFilter) -> DatagramBatch {
        var (kept, contexts): (Set<Int>, [(any Sendable)?]) = ([], [])
        for (index, datagram) in batch.enumerated() {
            guard case .pass(let context) = filter.evaluate(datagram) else { continue }
            kept.insert(index)
            contexts.append(context)
        }
        var passed = batch.keeping(kept.contains)
        passed.contexts = contexts
        return passed
    }

    /// Handles the answer of a filter that has its own queue.
    func judged(_ passed: DatagramBatch) {
        drop(reception.judged - passed.count, from: \.filteredIn, reason: 0)
        reception.endJudgement()
        deliver(passed)
        finishStep()
    }

    // MARK: Delivery

    private func deliver(_ batch: DatagramBatch) {
        guard !batch.isEmpty else { return }
        reception.delivered(batch.count)
        var unfetched: Int?
        handle.load { handle in
            unfetched = handle.keep(batch)
            guard unfetched != nil else { return engine.outbox.append(.datagram(handle, .received(batch))) }
            engine.retire(handle)
            // Datagrams that don't fit are dropped with what the filter added.
            if !batch.contexts.isEmpty { engine.retire(Shared(batch)) }
        }
        if let unfetched { drop(unfetched, from: \.unfetched, reason: 2) }
    }
}
