import SocketCore

// The blocks of the inspection wire. A field's number never changes its meaning; new fields get new numbers at the end.

extension SocketSnapshot: WireMessage {
    package static var blank: SocketSnapshot {
        SocketSnapshot(id: SocketID(0), role: .client, phase: .connected, target: "", opened: .zero)
    }

    package static var memory: Int { MemoryLayout<Facts>.stride + MemoryLayout<SocketSnapshot>.stride + 32 }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        let (isInside, listens) = (!isFromOutside, role == .listener)
        let (hasQueues, isCounted, isSeenOpening) = (isInside && !listens, countsBytes, !isOfHost)
        try coder.field(1, &id, "id", "its number")
        try coder.field(2, &role, "role", "its kind")
        try coder.field(3, &phase, "phase", "its state")
        try coder.field(4, &target, "target", "the requested address")
        try coder.field(5, &name, "name", "the name the program gave it")
        try coder.field(6, &parent, "parent", "the listener that accepted it", after: "role")
        try coder.field(7, &linked, "linked", "the other leg of a relayed pair", after: "parent")
        try coder.field(8, &local, "local", "its own address")
        try coder.field(9, &peer, "peer", "the peer's address")
        try coder.field(10, &descriptor, "fd", "its descriptor")
        try coder.field(11, &opened, "opened", "when it was opened", known: isSeenOpening)
        try coder.field(12, &connected, "connected", "when it was connected")
        try coder.field(13, &flags, "flags", "GCDAsyncSocket's flags")
        try coder.field(14, &isReadingPaused, "reading_paused", "whether the user paused reading")
        try coder.field(15, &isHeldBack, "held_back", "whether the next hop or the delegate's queue cannot keep up")
        try coder.field(16, &isWriteShut, "write_shut", "whether FIN was sent")
        try coder.field(17, &reading, "read", "the queue of reads; null for a listener", known: hasQueues)
        try coder.field(18, &writing, "write", "the queue of writes; null for a listener", known: hasQueues)
        try coder.field(
            19, &prebuffered, "prebuffered_bytes", "bytes read ahead, not yet delivered by a read", known: hasQueues)
        try coder.field(
            20, &received, "received_bytes", "over its lifetime; with TLS, those on the wire", known: isCounted)
        try coder.field(21, &sent, "sent_bytes", "over its lifetime; with TLS, those on the wire", known: isCounted)
        try coder.field(
            22, &receiveRate, "received_bytes_per_s",
            """
            an average over one second that begins at 0: a steady flow shows 63 % of its rate after \
            one second, and a burst never shows more than it was
            """)
        try coder.field(23, &sendRate, "sent_bytes_per_s", "as `received_bytes_per_s`")
        try coder.field(
            24, &accepted, "accepted", "how many connections a listener accepted", known: isInside && listens)
        try coder.field(25, &connect, "connect", "how it was connected")
        try coder.field(26, &closed)
        try coder.field(27, &kernel, "kernel", "the kernel's side")
        try coder.field(
            28, &activity, "activity", "when things last happened, and how fast operations complete",
            after: "accepted", known: hasQueues)
        try coder.field(29, &callbacks, "callbacks", "how the delegate is called", after: "accepted")
        try coder.field(30, &watermarks, "watermarks", "the watermarks of the write queue", after: "accepted")
        try coder.field(31, &isAboveHighMark)
        try coder.field(32, &tls, "tls", "its TLS")
        try coder.field(33, &datagrams, "datagrams", "the facts of datagram sockets only")
        try coder.field(34, &webSocket, "websocket", "its WebSocket")
        try coder.field(35, &relay, "relay", "null unless it is a leg of a relay")
        try coder.field(
            36, &host, "host",
            """
            null unless it is a socket of another program, seen from outside. Names that only an \
            engine knows are null or empty
            """)
        try coder.field(
            37, &fault, "fault", "null unless rules or breakpoints apply to it: [faults](faults.md)", after: "relay")
        try coder.inlined(38, &exchanges)
    }
}

extension FaultSnapshot: WireMessage {
    package static var blank: FaultSnapshot { FaultSnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &rules, "rules", "the rules")
        try coder.field(2, &delayedBytes, "delayed_bytes", "how many bytes are delayed now")
        try coder.field(3, &droppedBytes, "dropped_bytes", "how many bytes were dropped")
        try coder.field(4, &isLimitedByBuffer, "limited_by_buffer", "whether latency waits because its buffer is full")
        try coder.field(5, &hold, "held", "the bytes that a breakpoint holds; null if it holds none")
        try coder.field(
            6, &overlaps, "overlaps",
            "whether rules about single exchanges cannot apply: requests overlap or are not visible")
    }
}

extension FaultSnapshot.Rule: WireMessage {
    package static var blank: FaultSnapshot.Rule { .init(number: 0, effect: "", text: "") }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &number, "rule", "its number")
        try coder.field(2, &effect)
        try coder.field(3, &text, "text", "the effect as written, with its direction if it has one")
        try coder.field(4, &count, "count", "how many times it took effect")
    }
}

extension FaultSnapshot.Hold: WireMessage {
    package static var blank: FaultSnapshot.Hold { .init(breakpoint: 0, text: "", since: .zero) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &breakpoint, "breakpoint", "its number")
        try coder.field(2, &text, "point", "where it is")
        try coder.field(3, &since, "since", "when it began to hold")
        try coder.field(4, &upstreamBytes, "upstream_bytes", "bytes held on the way to the server")
        try coder.field(5, &downstreamBytes, "downstream_bytes", "bytes held on the way to the client")
        try coder.field(6, &upstreamNext)
        try coder.field(7, &downstreamNext)
    }
}

extension RelaySnapshot: WireMessage {
    package static var blank: RelaySnapshot { RelaySnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(
            1, &lostBytes, "lost_bytes",
            "for its peer, that could not be delivered because the peer or the sender was gone")
        try coder.field(2, &isOtherGone, "other_gone", "whether the other leg has ended")
        try coder.field(
            3, &isHeadRewritten, "head_rewritten",
            """
            whether the server got the request with a rewritten head, as an HTTP proxy must forward \
            it
            """)
    }
}

extension Watermarks: WireMessage {
    package static var blank: Watermarks { Watermarks(low: 0, high: 0) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &low, "low_bytes", "the low one")
        try coder.field(2, &high, "high_bytes", "the high one")
        self = Watermarks(low: low, high: high)
    }
}

extension QueueSnapshot: WireMessage {
    package static var blank: QueueSnapshot { QueueSnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        let isListed = !pending.isEmpty || pendingCount == 0
        try coder.field(1, &current, "current", "the operation in progress")
        try coder.field(
            2, &pending, "queued_head", "the first of them; null if not listed",
            limit: Self.listingLimit, known: isListed)
        try coder.field(3, &pendingCount, "queued", "how many operations follow it", after: "current")
        try coder.field(4, &pendingBytes, "pending_bytes", "the bytes of all of them")
        try coder.field(5, &completed, "completed", "how many operations were completed")
        try coder.field(6, &since, "since", "when it last became empty or non-empty")
        try coder.field(7, &barrier, "tls_barrier", "how many operations come before startTLS", after: "completed")
    }
}

extension OperationSnapshot: WireMessage {
    package static var blank: OperationSnapshot { OperationSnapshot(id: OperationID(0), kind: .write) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &id, "operation", "its number")
        try coder.field(2, &kind, "kind", "the kind of read, or `write`")
        try coder.exactField(3, &tag, "tag", "the number the program gave it")
        try coder.field(4, &done, "done_bytes", "how much is done")
        try coder.field(5, &total, "total_bytes", "how much there is to do")
        try coder.field(6, &isStanding, "standing", "whether it takes all input until it is removed")
        try coder.field(7, &isAsking, "awaiting_verdict", "whether it timed out and awaits an answer")
        try coder.field(8, &timeout, "timeout_s", "its timeout")
        try coder.field(9, &started, "started", "when it began")
        try coder.field(10, &deadline, "deadline", "when it times out")
        try coder.field(11, &lastProgress, "last_progress", "when a byte was last transferred")
        try coder.field(12, &preview, "preview", "its first 32 bytes; empty without the right to payload")
    }
}

extension ActivitySnapshot: WireMessage {
    package static var blank: ActivitySnapshot { ActivitySnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &lastByte, "last_byte", "when a byte was last transferred")
        try coder.field(2, &unreadSince, "unread_since", "since when bytes have been unread")
        try coder.field(3, &peerClosed, "peer_closed", "when the peer's FIN arrived")
        try coder.field(4, &operationRate, "operations_per_s", "completed operations")
        try coder.field(5, &queueRate, "queued_bytes_per_s", "the growth of the write queue")
        try coder.field(6, &idleTimeout, "idle_timeout_s", "after how long without a byte it is closed")
        try coder.field(7, &isKeptAlive, "keepalive", "whether the kernel probes an idle peer")
    }
}

extension CallbackSnapshot: WireMessage {
    package static var blank: CallbackSnapshot { CallbackSnapshot(isHeard: false) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &isHeard, "has_receiver", "whether the current read has a receiver")
        try coder.field(2, &lag, "lag_s", "of the delegate's queue; null if callbacks run on the engine's")
        try coder.field(3, &ran, "last_batch", "when callbacks last ran")
        try coder.field(4, &undelivered, "undelivered_bytes", "bytes not delivered yet")
    }
}

extension KernelSnapshot: WireMessage {
    package static var blank: KernelSnapshot { KernelSnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(
            1, &receiveQueue, "recv_q",
            """
            unread bytes. After the peer's FIN `ss` may count one more. For a listener, the waiting \
            connections; for datagrams and Multipath TCP, it includes the kernel's overhead
            """)
        try coder.field(
            2, &sendQueue, "send_q",
            """
            unacknowledged bytes. For a listener, its backlog; for a Unix-domain socket, it includes \
            the kernel's overhead
            """)
        try coder.field(3, &notSent, "notsent", "how many of `send_q` are unsent")
        try coder.field(
            4, &state, "state", "`ESTAB` for every connected Unix-domain socket, half-closed ones too", after: "")
        try coder.field(5, &roundTripTime, "rtt_ms", "the round-trip time")
        try coder.field(6, &congestionWindow, "cwnd", "the congestion window, in segments")
        try coder.field(7, &retransmits, "retrans", "retransmitted segments")
        try coder.field(
            8, &receiverWindowLimited, "rwnd_limited_share", "how much of the time the peer's window limited sending")
        try coder.field(9, &bytesSent, "bytes_sent", "retransmissions included")
        try coder.field(10, &bytesReceived, "bytes_received", "the peer's FIN counts as one")
        try coder.field(11, &deliveryRate)
        try coder.field(
            12, &drops, "drops", "datagrams that the kernel dropped for lack of room (`skmem` d); null for streams")
        try coder.field(13, &receiveBuffer, "rcvbuf", "`skmem` rb")
        try coder.field(
            14, &sendBufferLimited, "sndbuf_limited_share", "how much of the time the send buffer limited sending",
            after: "rwnd_limited_share")
        try coder.field(
            15, &isApplicationLimited, "app_limited", "whether the application limits sending",
            after: "sndbuf_limited_share")
    }
}

extension CloseRecord: WireMessage {
    package static var blank: CloseRecord { CloseRecord(time: .zero) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &time, "time", "when it ended")
        try coder.field(2, &error)
        try coder.field(3, &mode)
        try coder.field(4, &readsLost, "reads_lost", "reads that ended with it")
        try coder.field(5, &writesLost, "writes_lost", "writes that ended with it")
        try coder.field(
            6, &unreadBytes, "unread_bytes",
            """
            bytes that were read ahead but delivered by no read. Bytes that the kernel held are not \
            included
            """)
    }
}

extension ConnectSnapshot: WireMessage {
    package static var blank: ConnectSnapshot { ConnectSnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &resolvedIn, "resolved_in_s", "how long name resolution took")
        try coder.field(2, &addressCount, "addresses", "how many addresses there are")
        try coder.field(3, &attempts, "attempts", "the addresses that were tried")
        try coder.field(4, &deadline, "deadline", "when connecting times out", after: "resolved_in_s")
    }
}

extension ConnectSnapshot.Attempt: WireMessage {
    package static var blank: ConnectSnapshot.Attempt { .init(address: .unnamed, outcome: .trying, duration: .zero) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &address, "address", "the address")
        try coder.field(2, &outcome, "outcome", "the result so far")
        try coder.field(3, &duration, "took_s", "how long it took")
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
        try coder.field(1, &turns, "turns", "the engine's turns")
        try coder.field(2, &readinessEvents, "readiness_events", "kernel events")
        try coder.field(3, &commands, "commands", "commands executed")
        try coder.field(4, &opened, "opened", "sessions that began")
        try coder.field(5, &closed, "closed", "sessions that ended")
        try coder.field(6, &received, "received_bytes", "by all sessions")
        try coder.field(7, &sent, "sent_bytes", "by all sessions")
        try coder.field(
            8, &descriptorsRefused, "descriptors_refused",
            "how many times the process or the system ran out of descriptors")
        try coder.field(
            9, &unfinishedMessageBytes, "unfinished_message_bytes",
            "the memory used by unfinished messages now, without the first 64 KiB of each")
        try coder.field(
            10, &messagesWithoutRoom, "messages_without_room",
            """
            WebSockets that failed because unfinished messages had taken up all the memory that an \
            engine allows them
            """)
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
