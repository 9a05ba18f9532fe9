import SocketCore

// Limits another program's claims to what is possible, because views rely on it. Each number is already within
// `WireLimit`, and no count of the table of facts is below 0. Here the relations between several are corrected.

extension SocketSnapshot {
    /// Corrects contradictory values.
    mutating func makePlausible() {
        reading.makePlausible()
        writing.makePlausible()
        if connect != nil { connect?.makePlausible() }
        if datagrams != nil { datagrams?.makePlausible() }
        if kernel != nil { kernel?.makePlausible() }
        if webSocket != nil { webSocket?.makePlausible() }
        fault?.makePlausible()
        if let exchanges, exchanges.spread.count > ExchangeSnapshot.bars {
            self.exchanges?.spread = Array(exchanges.spread.prefix(ExchangeSnapshot.bars))
        }
    }
}

extension FaultSnapshot {
    fileprivate mutating func makePlausible() {
        guard var held = hold else { return }
        (held.upstreamBytes, held.downstreamBytes) = (max(0, held.upstreamBytes), max(0, held.downstreamBytes))
        held.upstreamNext = Array(held.upstreamNext.prefix(min(held.upstreamBytes, Hold.preview)))
        held.downstreamNext = Array(held.downstreamNext.prefix(min(held.downstreamBytes, Hold.preview)))
        hold = held
    }
}

extension QueueSnapshot {
    fileprivate mutating func makePlausible() {
        current?.makePlausible()
        if pending.count > Self.listingLimit { pending.removeLast(pending.count - Self.listingLimit) }
        for index in pending.indices { pending[index].makePlausible() }
        pendingCount = max(pending.count, pendingCount)
    }
}

extension OperationSnapshot {
    fileprivate mutating func makePlausible() { hold(&done, to: &total) }
}

extension TrafficItem {
    /// The item with contradictory values corrected.
    var plausible: TrafficItem {
        var item = self
        item.done = max(done, keptBytes)
        hold(&item.done, to: &item.total)
        item.webSocket?.makePlausible()
        return item
    }
}

extension WebSocketTraffic {
    fileprivate mutating func makePlausible() {
        if frames.count > Self.frameLimit { frames.removeLast(frames.count - Self.frameLimit) }
        frameCount = max(frames.count, frameCount)
        payloadBytes = max(0, payloadBytes)
        for index in frames.indices {
            frames[index].length = max(0, frames[index].length)
            frames[index].messageBytes = max(0, frames[index].messageBytes)
        }
    }
}

extension ConnectSnapshot {
    fileprivate mutating func makePlausible() { addressCount = max(attempts.count, addressCount) }
}

extension DatagramSnapshot {
    fileprivate mutating func makePlausible() { peerCount = max(peers.count, peerCount) }
}

extension KernelSnapshot {
    fileprivate mutating func makePlausible() {
        receiverWindowLimited = receiverWindowLimited.map { min($0, 1) }
        sendBufferLimited = sendBufferLimited.map { min($0, 1) }
    }
}

extension WebSocketPicture {
    fileprivate mutating func makePlausible() {
        headBytes = max(0, headBytes)
        traffic?.makePlausible()
        if let report { self.report?.unsentBytes = max(0, report.unsentBytes) }
    }
}

extension WebSocketSnapshot {
    fileprivate mutating func makePlausible() {
        awaiting = awaiting.plausible
        sending?.makePlausible()
    }
}

extension WebSocketSendProgress {
    fileprivate mutating func makePlausible() { total = max(done, total) }
}

extension WebSocketParserState {
    fileprivate var plausible: WebSocketParserState {
        func pair(_ done: Int, _ total: Int) -> (Int, Int) { (max(0, done), max(0, done, total)) }
        switch self {
        case .header(let done): return .header(done: max(0, min(done, 2)))
        case .mask(let done): return .mask(done: max(0, min(done, 4)))
        case .extendedLength(let done, let total):
            let (done, total) = pair(done, total)
            return .extendedLength(done: done, total: total)
        case .payload(let opcode, let done, let total):
            let (done, total) = pair(done, total)
            return .payload(opcode, done: done, total: total)
        case .nothing: return .nothing
        }
    }
}

extension EngineTimes {
    /// Corrects negative values.
    mutating func makePlausible() {
        (busy, longestTurn) = (max(.zero, busy), max(.zero, longestTurn))
        (queueLag, mailboxDepth) = (max(.zero, queueLag), max(0, mailboxDepth))
    }
}

/// Ensures that no more is done than there is in all.
private func hold(_ done: inout Int, to total: inout Int?) {
    done = max(0, done)
    total = total.map { max($0, done) }
}
