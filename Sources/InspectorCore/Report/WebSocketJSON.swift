import SocketCore

extension SocketJSON {
    /// Returns a WebSocket, with unfinished items first. Values of fields that hold secrets are left out.
    func webSocket(_ facts: WebSocketPicture) -> JSON {
        let traffic = facts.traffic
        return [
            "role": JSON(word: facts.role.rawValue), "stage": JSON(word: facts.stage.rawValue),
            "awaiting": awaiting(facts), "receiving": traffic?.receiving.map(message) ?? .null,
            "sending": traffic?.sending.map(frame) ?? .null, "target": JSON(facts.target),
            "request": facts.request.map(head) ?? .null, "response": facts.response.map(head) ?? .null,
            "subprotocol": JSON(facts.subprotocol), "extensions": .array(facts.extensions.map { JSON($0) }),
            "problem": JSON(facts.problem), "opening_deadline": time(facts.openingDeadline),
            "opened_in_s": JSON(seconds: facts.openedIn), "undelivered_bytes": JSON(facts.undeliveredBytes),
            "received": traffic.map { counters($0.received) } ?? .null,
            "sent": traffic.map { counters($0.sent) } ?? .null, "queued_messages": JSON(traffic?.queuedMessages),
            "buffered_bytes": JSON(traffic?.bufferedBytes), "held_bytes": JSON(traffic?.heldBytes),
            "discarded_bytes": JSON(traffic?.discardedBytes), "pings_unanswered": JSON(traffic?.pendingPings),
            "pings_superseded": JSON(traffic?.supersededPings), "rtt_ms": JSON(milliseconds: traffic?.roundTrip),
            "close": close(facts), "observed": facts.observation.map(observed) ?? .null,
        ]
    }

    /// Returns the facts about a WebSocket whose frames are only forwarded.
    private func observed(_ facts: WebSocketObservation) -> JSON {
        [
            "sending": facts.sending.map(message) ?? .null,
            "received_failure": JSON(facts.receivedFailure?.description),
            "sent_failure": JSON(facts.sentFailure?.description),
            "received_not_inflated": JSON(facts.receivedSkipped), "sent_not_inflated": JSON(facts.sentSkipped),
        ]
    }

    /// Returns what the parser needs next, and how much of it has arrived.
    private func awaiting(_ facts: WebSocketPicture) -> JSON {
        let now = WebSocketWords.incoming(facts)
        let (what, opcode) = Self.part(facts)
        return [
            "what": what, "opcode": JSON(opcode.map(WebSocketWords.name)), "done_bytes": JSON(now.done),
            "total_bytes": JSON(now.total),
        ]
    }

    private static func part(_ facts: WebSocketPicture) -> (JSON, WebSocketOpcode?) {
        switch facts.traffic?.awaiting {
        case .header: return ("frame_header", nil)
        case .extendedLength: return ("extended_length", nil)
        case .mask: return ("mask", nil)
        case .payload(let opcode, _, _): return ("payload", opcode)
        case .nothing: return ("nothing", nil)
        case nil: break
        }
        switch facts.stage {
        case .connecting: return ("connection", nil)
        case .tunnelling: return ("proxy_response", nil)
        case .opening: return (facts.role == .client ? "response" : "request", nil)
        case .open, .closing, .refused, .closed: return ("nothing", nil)
        }
    }

    private func message(_ message: WebSocketMessageProgress) -> JSON {
        [
            "message": JSON(message.id.number), "type": JSON(message.type.rawValue),
            "compressed": .bool(message.isCompressed), "frames": JSON(message.fragments),
            "bytes": JSON(message.bytes), "payload_bytes": JSON(message.wireBytes),
        ]
    }

    private func frame(_ frame: WebSocketSendProgress) -> JSON {
        [
            "opcode": JSON(WebSocketWords.name(frame.opcode)), "message": JSON(frame.message?.number),
            "done_bytes": JSON(frame.done), "total_bytes": JSON(frame.total),
        ]
    }

    private func head(_ head: HTTPHead) -> JSON {
        [
            "start_line": JSON(head.startLine),
            "fields": .array(
                head.withoutSecrets.fields.map { ["name": JSON($0.name), "value": JSON($0.value)] }),
        ]
    }

    private func counters(_ counters: WebSocketCounters) -> JSON {
        [
            "messages": JSON(counters.messages), "compressed_messages": JSON(counters.compressedMessages),
            "frames": JSON(counters.frames), "message_bytes": JSON(counters.messageBytes),
            "payload_bytes": JSON(counters.payloadBytes), "wire_bytes": JSON(counters.wireBytes),
            "pings": JSON(counters.pings), "pongs": JSON(counters.pongs),
        ]
    }

    /// Returns the closing handshake, or null while neither side has started it.
    private func close(_ facts: WebSocketPicture) -> JSON {
        let origin = facts.report?.origin ?? facts.traffic?.closeOrigin
        let failure = facts.report?.failure ?? facts.traffic?.failure
        guard origin != nil || failure != nil else { return .null }
        let sent = facts.report?.sent ?? facts.traffic?.closeSent
        let received = facts.report?.received ?? facts.traffic?.closeReceived
        return [
            "initiated_by": JSON(origin?.rawValue),
            "sent": sent.map(frame) ?? .null, "received": received.map(frame) ?? .null,
            "code": JSON(facts.report.map { Int($0.code.rawValue) }), "failure": JSON(failure?.description),
            "clean": facts.report.map { .bool($0.wasClean) } ?? .null, "unsent_bytes": JSON(facts.report?.unsentBytes),
        ]
    }

    private func frame(_ frame: WebSocketCloseFrame) -> JSON {
        ["code": JSON(frame.code.map { Int($0.rawValue) }), "reason": JSON(frame.reason)]
    }
}
