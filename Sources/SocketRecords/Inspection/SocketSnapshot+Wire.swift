import SocketCore

// The blocks of the inspection wire. A field's number never changes its meaning; new fields get new numbers at the end.

extension SocketSnapshot: WireMessage {
    package static var blank: SocketSnapshot {
        SocketSnapshot(id: SocketID(0), role: .client, phase: .connected, target: "", opened: .zero)
    }

    package static var memory: Int { MemoryLayout<Facts>.stride + MemoryLayout<SocketSnapshot>.stride + 32 }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &id)
        try coder.field(2, &role)
        try coder.field(3, &phase)
        try coder.field(4, &target)
        try coder.field(5, &name)
        try coder.field(6, &parent)
        try coder.field(7, &linked)
        try coder.field(8, &local)
        try coder.field(9, &peer)
        try coder.field(10, &descriptor)
        try coder.field(11, &opened)
        try coder.field(12, &connected)
        try coder.field(13, &flags)
        try coder.field(14, &isReadingPaused)
        try coder.field(15, &isHeldBack)
        try coder.field(16, &isWriteShut)
        try coder.field(17, &reading)
        try coder.field(18, &writing)
        try coder.field(19, &prebuffered)
        try coder.field(20, &received)
        try coder.field(21, &sent)
        try coder.field(22, &receiveRate)
        try coder.field(23, &sendRate)
        try coder.field(24, &accepted)
        try coder.field(25, &connect)
        try coder.field(26, &closed)
        try coder.field(27, &kernel)
        try coder.field(28, &activity)
        try coder.field(29, &callbacks)
        try coder.field(30, &watermarks)
        try coder.field(31, &isAboveHighMark)
        try coder.field(32, &tls)
        try coder.field(33, &datagrams)
        try coder.field(34, &webSocket)
        try coder.field(35, &relay)
        try coder.field(36, &host)
        try coder.field(37, &fault)
    }
}

extension FaultSnapshot: WireMessage {
    package static var blank: FaultSnapshot { FaultSnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &rules)
        try coder.field(2, &delayedBytes)
        try coder.field(3, &droppedBytes)
        try coder.field(4, &isLimitedByBuffer)
        try coder.field(5, &hold)
    }
}

extension FaultSnapshot.Rule: WireMessage {
    package static var blank: FaultSnapshot.Rule { .init(number: 0, effect: "", text: "") }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &number)
        try coder.field(2, &effect)
        try coder.field(3, &text)
        try coder.field(4, &count)
    }
}

extension FaultSnapshot.Hold: WireMessage {
    package static var blank: FaultSnapshot.Hold { .init(breakpoint: 0, text: "", since: .zero) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &breakpoint)
        try coder.field(2, &text)
        try coder.field(3, &since)
        try coder.field(4, &upstreamBytes)
        try coder.field(5, &downstreamBytes)
        try coder.field(6, &upstreamNext)
        try coder.field(7, &downstreamNext)
    }
}

extension RelaySnapshot: WireMessage {
    package static var blank: RelaySnapshot { RelaySnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &lostBytes)
        try coder.field(2, &isOtherGone)
        try coder.field(3, &isHeadRewritten)
    }
}

extension Watermarks: WireMessage {
    package static var blank: Watermarks { Watermarks(low: 0, high: 0) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &low)
        try coder.field(2, &high)
        self = Watermarks(low: low, high: high)
    }
}

extension QueueSnapshot: WireMessage {
    package static var blank: QueueSnapshot { QueueSnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &current)
        try coder.field(2, &pending)
        try coder.field(3, &pendingCount)
        try coder.field(4, &pendingBytes)
        try coder.field(5, &completed)
        try coder.field(6, &since)
        try coder.field(7, &barrier)
    }
}

extension OperationSnapshot: WireMessage {
    package static var blank: OperationSnapshot { OperationSnapshot(id: OperationID(0), kind: .write) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &id)
        try coder.field(2, &kind)
        try coder.exactField(3, &tag)
        try coder.field(4, &done)
        try coder.field(5, &total)
        try coder.field(6, &isStanding)
        try coder.field(7, &isAsking)
        try coder.field(8, &timeout)
        try coder.field(9, &started)
        try coder.field(10, &deadline)
        try coder.field(11, &lastProgress)
        try coder.field(12, &preview)
    }
}

extension ActivitySnapshot: WireMessage {
    package static var blank: ActivitySnapshot { ActivitySnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &lastByte)
        try coder.field(2, &unreadSince)
        try coder.field(3, &peerClosed)
        try coder.field(4, &operationRate)
        try coder.field(5, &queueRate)
        try coder.field(6, &idleTimeout)
        try coder.field(7, &isKeptAlive)
    }
}

extension CallbackSnapshot: WireMessage {
    package static var blank: CallbackSnapshot { CallbackSnapshot(isHeard: false) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &isHeard)
        try coder.field(2, &lag)
        try coder.field(3, &ran)
        try coder.field(4, &undelivered)
    }
}

extension KernelSnapshot: WireMessage {
    package static var blank: KernelSnapshot { KernelSnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &receiveQueue)
        try coder.field(2, &sendQueue)
        try coder.field(3, &notSent)
        try coder.field(4, &state)
        try coder.field(5, &roundTripTime)
        try coder.field(6, &congestionWindow)
        try coder.field(7, &retransmits)
        try coder.field(8, &receiverWindowLimited)
        try coder.field(9, &bytesSent)
        try coder.field(10, &bytesReceived)
        try coder.field(11, &deliveryRate)
        try coder.field(12, &drops)
        try coder.field(13, &receiveBuffer)
        try coder.field(14, &sendBufferLimited)
        try coder.field(15, &isApplicationLimited)
    }
}

extension CloseRecord: WireMessage {
    package static var blank: CloseRecord { CloseRecord(time: .zero) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &time)
        try coder.field(2, &error)
        try coder.field(3, &mode)
        try coder.field(4, &readsLost)
        try coder.field(5, &writesLost)
        try coder.field(6, &unreadBytes)
    }
}

extension ConnectSnapshot: WireMessage {
    package static var blank: ConnectSnapshot { ConnectSnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &resolvedIn)
        try coder.field(2, &addressCount)
        try coder.field(3, &attempts)
        try coder.field(4, &deadline)
    }
}

extension ConnectSnapshot.Attempt: WireMessage {
    package static var blank: ConnectSnapshot.Attempt { .init(address: .unnamed, outcome: .trying, duration: .zero) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &address)
        try coder.field(2, &outcome)
        try coder.field(3, &duration)
    }
}

extension SocketError: WireMessage {
    package static var blank: SocketError { SocketError(.other, operation: "", detail: "") }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &reason)
        try coder.field(2, &operation)
        try coder.field(3, &detail)
        try coder.field(4, &attempts)
    }
}

extension SocketError.Attempt: WireMessage {
    package static var blank: SocketError.Attempt { .init(address: .unnamed, errno: nil, duration: .zero) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &address)
        try coder.field(2, &errno)
        try coder.field(3, &duration)
    }
}

extension SocketEvent: WireMessage {
    package static var blank: SocketEvent {
        SocketEvent(sequence: 0, time: .zero, socket: SocketID(0), kind: .resolving)
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &sequence)
        try coder.field(2, &time)
        try coder.field(3, &socket)
        try coder.field(4, &kind)
        try coder.exactField(5, &tag)
        try coder.field(6, &first)
        try coder.field(7, &second)
    }
}

extension TrafficItem: WireMessage {
    package static var blank: TrafficItem {
        TrafficItem(
            sequence: 0, operation: OperationID(0), time: .zero, direction: .received, tag: 0, kind: .write, done: 0,
            total: nil, state: .inProgress, bytes: [])
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &sequence)
        try coder.field(2, &operation)
        try coder.field(3, &time)
        try coder.field(4, &direction)
        try coder.exactField(5, &tag)
        try coder.field(6, &kind)
        try coder.field(7, &done)
        try coder.field(8, &total)
        try coder.field(9, &state)
        try coder.field(10, &bytes)
        try coder.field(11, &address)
        try coder.field(12, &webSocket)
        try coder.field(13, &tail)
        try coder.field(14, &skipped)
        try coder.field(15, &isInjected)
    }
}

extension EngineCounters: WireMessage {
    package static var blank: EngineCounters { EngineCounters() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &turns)
        try coder.field(2, &readinessEvents)
        try coder.field(3, &commands)
        try coder.field(4, &opened)
        try coder.field(5, &closed)
        try coder.field(6, &received)
        try coder.field(7, &sent)
        try coder.field(8, &descriptorsRefused)
        try coder.field(9, &unfinishedMessageBytes)
        try coder.field(10, &messagesWithoutRoom)
    }
}

extension EngineTimes: WireMessage {
    package static var blank: EngineTimes { EngineTimes() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &busy)
        try coder.field(2, &longestTurn)
        try coder.field(3, &queueLag)
        try coder.field(4, &mailboxDepth)
        try coder.field(5, &outOfDescriptors)
    }
}
