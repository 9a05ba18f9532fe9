import SocketCore

/// Tells who waits for whom. Called at the end of each step, so that an engine that nobody inspects does nothing for it.
extension Connection {
    /// Counts the bytes that have passed since the last time.
    func tallyExchanges() {
        let (received, sent) = plaintextTotals
        guard received | sent != 0 else { return }
        guard let known = rare?.exchanges ?? beginTally(isJoined: false) else { return }
        if isWireEncrypted, !known.isSecure { (known.isSecure, known.tally.counted) = (true, (0, 0)) }
        let counted = known.tally.counted
        let now = (received: UInt32(truncatingIfNeeded: received), sent: UInt32(truncatingIfNeeded: sent))
        let (new, newlySent) = (now.received &- counted.received, now.sent &- counted.sent)
        guard new | newlySent != 0 else { return }
        known.tally.counted = now
        // Within a step, bytes are received before any are sent.
        if new != 0 { pass(.received, Int(new), in: known) }
        if newlySent != 0 { pass(.sent, Int(newlySent), in: known) }
    }

    private func pass(_ direction: TrafficItem.Direction, _ count: Int, in known: ConnectionExchanges) {
        let step = known.tally.pass(direction, count, at: engine.now)
        guard known.tally.wantsQuestion, step != .more else { return }
        if tls?.facts?.applicationProtocol == "h2" { return known.tally.tellOverlap() }
        known.tally.judge(rare?.taps.traffic.first?.snapshot.items ?? [], after: step)
    }

    /// Begins to count in the midst of a conversation, if there is one.
    func joinTally() {
        if plaintextTotals != (0, 0) { beginTally(isJoined: true) }
    }

    /// Begins to count, or returns `nil` if it is not known who asks or the bytes are frames of a WebSocket.
    @discardableResult
    private func beginTally(isJoined: Bool) -> ConnectionExchanges? {
        guard knowsClient, layers.isTakenByHandle, !seesFrames else { return nil }
        let made = ConnectionExchanges(
            ExchangeTally(client: clientDirection, isJoined: isJoined), isSecure: isWireEncrypted)
        if isJoined {
            let (received, sent) = plaintextTotals
            made.tally.counted = (UInt32(truncatingIfNeeded: received), UInt32(truncatingIfNeeded: sent))
        }
        madeRare.exchanges = made
        return made
    }

    /// The facts for a snapshot, or `nil` if they are not known.
    var exchangeFacts: ExchangeSnapshot? {
        guard engine.talliesExchanges, knowsClient, layers.isTakenByHandle, !seesFrames else { return nil }
        tallyExchanges()
        if let known = rare?.exchanges { return known.tally.snapshot }
        return plaintextTotals == (0, 0) ? ExchangeSnapshot() : nil
    }

    /// The bytes of the stream above TLS.
    private var plaintextTotals: (received: UInt64, sent: UInt64) {
        guard isWireEncrypted, let tls else { return (received, sent) }
        return (tls.plaintextReceived, tls.plaintextSent)
    }

    private var clientDirection: TrafficItem.Direction { role == .client ? .sent : .received }

    /// Whether it is known which end connected. A descriptor that the program got elsewhere does not tell.
    private var knowsClient: Bool { role != .client || connector != nil }
}
