import SocketCore

extension SocketJSON {
    /// One event; its numbers under the names of what they are.
    package func members(_ event: SocketEvent, of socket: SocketSnapshot?) -> [JSON.Member] {
        [
            JSON.Member("time", time(event.time)), JSON.Member("sequence", JSON(event.sequence)),
            JSON.Member("id", JSON(event.socket.number)), JSON.Member("event", Self.name(event.kind)),
        ] + (EventWords.hasTag(event.kind) ? [JSON.Member("tag", JSON(event.tag))] : [])
            + numbers(event, of: socket).map { JSON.Member($0.0, $0.1) }
    }

    /// The kind's own name, except where that is not the word for it elsewhere.
    private static func name(_ kind: SocketEvent.Kind) -> JSON {
        switch kind {
        case .connectRefused: "connect_failed"
        case .turnedAway: "connection_refused"
        case .closeAsked: "close_requested"
        case .dissolved: "disconnected"
        case .tlsBegan: "tls_started"
        case .trustAsked: "trust_requested"
        default: JSON(word: kind.rawValue)
        }
    }

    /// Why datagrams were dropped on this side.
    private static func dropReason(_ number: Int) -> JSON {
        switch number {
        case 0: "receive_filter"
        case 1: "foreign"
        case 2: "backlog_full"
        default: "send_filter"
        }
    }

    private func numbers(_ event: SocketEvent, of socket: SocketSnapshot?) -> [(String, JSON)] {
        let (first, second) = (event.first, event.second)
        switch event.kind {
        case .resolving, .connected, .listening, .readingPaused, .readingResumed, .readInterestOff, .readInterestOn,
            .writeUnblocked, .turnedAway, .bound, .groupJoined, .groupLeft, .dissolved, .closed:
            return []
        case .resolved: return [("addresses", JSON(first))]
        case .connectAttempt: return address(first, of: socket)
        case .connectRefused: return address(first, of: socket) + failure(second)
        case .accepted: return [("accepted_id", JSON(first))]
        case .acceptFailed: return failure(first)
        case .readQueued: return [("operation", JSON(first))]
        case .readDone, .writeDone, .writeQueued: return [("bytes", JSON(first))]
        case .readPartial, .writePartial: return [("bytes", JSON(first)), ("done_bytes", JSON(second))]
        case .readFailed, .writeFailed:
            return [("done_bytes", JSON(first)), ("total_bytes", second > 0 ? JSON(second) : .null)]
        case .readTimedOut, .writeTimedOut:
            return [("done_bytes", JSON(first)), ("elapsed_s", JSON(seconds: .milliseconds(second)))]
        case .timeoutExtended: return [("extended_by_s", JSON(seconds: .milliseconds(first)))]
        case .timeoutChanged: return [("timeout_s", first < 0 ? .null : JSON(seconds: .milliseconds(first)))]
        case .writeBlocked, .aboveHighMark, .belowLowMark: return [("pending_bytes", JSON(first))]
        case .peerClosed:
            return [("unread_before", .bool(first > 0)), ("both_sides", .bool(first == 2))]
        case .halfClosed: return [("discards_input", .bool(first == 1))]
        case .closeAsked:
            let modes = CloseMode.allCases
            return [("mode", modes.indices.contains(first) ? JSON(word: modes[first].rawValue) : .null)]
        case .datagramsReceived: return [("datagrams", JSON(first)), ("bytes", JSON(second))]
        case .datagramSent: return [("bytes", JSON(first))]
        case .datagramFailed: return [("bytes", JSON(first))] + (second == 0 ? [] : failure(second))
        case .datagramsDropped:
            return [("datagrams", JSON(first)), ("reason", Self.dropReason(second))]
        case .datagramsTruncated: return [("datagrams", JSON(first))]
        case .datagramError: return failure(first)
        case .movedAway, .movedHere: return [("other_id", JSON(first))]
        case .tlsQueued: return [("reads_ahead", JSON(first)), ("writes_ahead", JSON(second))]
        case .tlsBegan: return [("read_ahead_bytes", JSON(first))]
        case .trustAsked: return [("verify_code", JSON(first))]
        case .trustAnswered: return [("accepted", .bool(first == 1))]
        case .secured: return [("took_s", JSON(seconds: .microseconds(first))), ("resumed", .bool(second == 1))]
        case .alertReceived, .alertSent:
            return [
                ("alert", JSON(first)), ("name", JSON(TLSFailure.alertName(UInt8(truncatingIfNeeded: first)))),
            ]
        }
    }

    private func address(_ index: Int, of socket: SocketSnapshot?) -> [(String, JSON)] {
        let attempts = socket?.connect?.attempts ?? []
        return [("address", attempts.indices.contains(index) ? JSON(attempts[index].address.description) : .null)]
    }

    private func failure(_ errno: Int) -> [(String, JSON)] {
        [("errno", JSON(errno)), ("error", JSON(ErrnoWords.name(Int32(truncatingIfNeeded: errno))))]
    }
}
