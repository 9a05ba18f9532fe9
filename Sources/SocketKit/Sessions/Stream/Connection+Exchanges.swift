import SocketCore

/// Tells who waits for whom. Called at the end of each step, so that an engine that nobody inspects does nothing for it.
extension Connection {
    /// Counts the bytes that have passed since the last time.
    ///
    /// Each call is its last deed, so that it has no registers to save.
    @inline(never)
    func tallyExchanges() {
        guard let known = rare?.exchanges, known.isSettled, layers.isWirePlain else { return tallyUnsettled() }
        known.countSettled(upTo: received, sent, at: engine.now)
    }

    @inline(never)
    private func tallyUnsettled() {
        guard let known = rare?.exchanges ?? beginTally() else { return }
        guard layers.isWirePlain else { return tallyPlaintext(known) }
        if known.count(upTo: received, sent, at: engine.now) { judgeExchanges(known) }
    }

    /// Does the same where the wire has TLS, or will have it.
    @inline(never)
    private func tallyPlaintext(_ known: ConnectionExchanges) {
        if isWireEncrypted { known.countPlaintext() }
        let (received, sent) = plaintextTotals
        if known.count(upTo: received, sent, at: engine.now) { judgeExchanges(known) }
    }

    @inline(never)
    private func judgeExchanges(_ known: ConnectionExchanges) {
        known.judge(overlaps: tls?.facts?.applicationProtocol == "h2") {
            rare?.taps.traffic.first?.snapshot.items ?? []
        }
    }

    /// Begins to count in the midst of a conversation, if there is one.
    func joinTally() { beginTally(isJoined: true) }

    /// Begins to count, or returns `nil` if no byte has passed, it is not known who asks, or the bytes are frames of a
    /// WebSocket.
    @discardableResult
    private func beginTally(isJoined: Bool = false) -> ConnectionExchanges? {
        guard plaintextTotals != (0, 0), knowsClient, layers.isTakenByHandle, !seesFrames else { return nil }
        var tally = ExchangeTally(client: clientDirection, isJoined: isJoined)
        if isJoined { _ = tally.advance(to: plaintextTotals.received, plaintextTotals.sent) }
        let made = ConnectionExchanges(tally, isSecure: isWireEncrypted)
        madeRare.exchanges = made
        return made
    }

    /// The facts for a snapshot, or `nil` if they are not known.
    var exchangeFacts: ExchangeSnapshot? {
        guard engine.talliesExchanges, knowsClient, layers.isTakenByHandle, !seesFrames else { return nil }
        tallyExchanges()
        if let known = rare?.exchanges { return known.snapshot }
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
