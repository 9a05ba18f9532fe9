import InspectorCore
import SocketCore

/// A WebSocket in the detail: unfinished messages, the negotiated parameters, the counts, and how it ended.
extension DetailBuilder {
    var webSocketBlock: [Row] {
        guard let facts = socket.webSocket else { return [] }
        let isOver = !socket.isLive && facts.traffic == nil && facts.openedIn == nil
        let title =
            "websocket \(isOver ? "never opened" : WebSocketWords.stage(facts.stage))"
            + (facts.observation == nil ? "" : ", relayed")
        var rows = [rule(title, right: facts.role == .client ? "client" : "server")]
        if socket.isLive, facts.observation == nil || facts.traffic != nil { rows += halfDone(facts) }
        rows += wrapped(opening(facts), separator: "   ")
        if let problem = facts.problem {
            let isOpen = facts.openedIn != nil
            rows += sentence(isOpen ? "handshake: \(problem)" : "not opened: \(problem)", isOpen ? .warn : .error)
        }
        if let traffic = facts.traffic {
            rows += [amounts("in", traffic.received, .received), amounts("out", traffic.sent, .sent)].flatMap {
                wrapped($0, separator: "  ")
            }
            rows += wrapped(liveness(facts, traffic), separator: "   ")
            rows += closing(facts, traffic)
        }
        return rows
    }

    /// Both heads as sent, below everything that changes.
    var webSocketHeads: [Row] {
        guard let facts = socket.webSocket else { return [] }
        return head("request", facts.request) + head("response", facts.response)
    }

    // MARK: Unfinished messages

    private func halfDone(_ facts: WebSocketPicture) -> [Row] {
        let lines = QueueLines(model, socket, width: width)
        var rows = [lines.webSocketIncoming(facts, label: "in"), lines.webSocketOutgoing(facts, label: "out")].map {
            Row(left: $0.left, right: $0.right)
        }
        // The next row contains all of it.
        if facts.traffic?.receiving != nil, !socket.isHeldBack, !socket.isReadingPaused { rows[0].right = Line() }
        if let message = facts.traffic?.receiving { rows += wrapped(gathering(message), separator: "  ") }
        if let message = facts.observation?.sending {
            rows += wrapped([Line("out", Style(.heading))] + gathering(message), separator: "  ")
        }
        return rows
    }

    private func gathering(_ message: WebSocketMessageProgress) -> [Line] {
        var words = [
            word("message", "\(message.id.number) of \(message.type)"),
            Line(Format.count(message.fragments, "frame")), word("so far", Format.size(message.bytes), .received),
        ]
        if message.isCompressed {
            words.append(word("wire", Format.size(message.wireBytes), .received))
            let ratio = WebSocketWords.ratio(
                message: UInt64(max(0, message.bytes)), wire: UInt64(max(0, message.wireBytes)))
            words.append(word("ratio", ratio))
        }
        return words
    }

    // MARK: The handshake

    private func opening(_ facts: WebSocketPicture) -> [Line] {
        var words = [safe(facts.request?.startLine ?? facts.target)]
        words.append(
            facts.response.map { safe($0.startLine, facts.stage == .refused ? .error : .lit) }
                ?? word("response", "-"))
        if let time = facts.openedIn { words.append(word("opened in", Format.duration(time))) }
        words.append(word("offered", WebSocketWords.list("Sec-WebSocket-Extensions", facts.request)))
        let agreed = facts.extensions.isEmpty ? "-" : facts.extensions.joined(separator: ", ")
        words.append(word("agreed", agreed, facts.extensions.isEmpty ? .plain : .lit))
        words.append(word("subprotocols", WebSocketWords.list("Sec-WebSocket-Protocol", facts.request)))
        words.append(word("chosen", facts.subprotocol ?? "-", facts.subprotocol == nil ? .plain : .lit))
        return words
    }

    private func head(_ title: String, _ head: HTTPHead?) -> [Row] {
        guard let head = head?.withoutSecrets else { return [] }
        var rows = [rule(title)] + wrapped([safe(head.startLine)], separator: " ")
        for field in head.fields {
            var line = safe(field.name + ": ", .dim)
            line.append(safe(field.value))
            rows += wrapped([line], separator: "")
        }
        return rows
    }

    // MARK: Counts

    private func amounts(_ name: String, _ counters: WebSocketCounters, _ role: Role) -> [Line] {
        [
            Line(Format.padded(name, to: 3), Style(.heading)),
            word("messages", Format.number(counters.messages), role), word("frames", Format.number(counters.frames)),
            word("bytes", Format.size(counters.messageBytes), role),
            word("wire", Format.size(counters.payloadBytes)), word("ratio", WebSocketWords.ratio(counters)),
            word("ping/pong", "\(Format.number(counters.pings))/\(Format.number(counters.pongs))"),
        ]
    }

    private func liveness(_ facts: WebSocketPicture, _ traffic: WebSocketSnapshot) -> [Line] {
        var words = [word("rtt", traffic.roundTrip.map { Format.duration($0) } ?? "-")]
        if traffic.pendingPings > 0 { words.append(word("pings unanswered", "\(traffic.pendingPings)", .warn)) }
        if let passing = facts.observation {
            let skipped = passing.receivedSkipped + passing.sentSkipped
            if skipped > 0 {
                words.append(word("not inflated", Format.count(Int(clamping: skipped), "message"), .warn))
            }
        } else {
            words.append(word("buffered", Format.size(traffic.bufferedBytes)))
        }
        if traffic.heldBytes > 0 { words.append(word("held", Format.size(traffic.heldBytes), .warn)) }
        if facts.undeliveredBytes > 0 { words.append(word("undelivered", Format.size(facts.undeliveredBytes), .warn)) }
        let unread = facts.observation == nil ? "discarded" : "outside frames"
        if traffic.discardedBytes > 0 { words.append(word(unread, Format.size(traffic.discardedBytes), .warn)) }
        if traffic.supersededPings > 0 {
            words.append(word("pings not answered", Format.number(traffic.supersededPings), .warn))
        }
        return words
    }

    // MARK: The end

    private func closing(_ facts: WebSocketPicture, _ traffic: WebSocketSnapshot) -> [Row] {
        let origin = facts.report?.origin ?? traffic.closeOrigin
        let failure = facts.report?.failure ?? traffic.failure
        guard origin != nil || failure != nil else { return [] }
        let sent = facts.report?.sent ?? traffic.closeSent
        let received = facts.report?.received ?? traffic.closeReceived
        var words = [
            Line("close", Style(.heading)), end("sent", sent), end("received", received),
            word("started by", origin.map { WebSocketWords.starter($0, of: facts) } ?? "-"),
        ]
        if let report = facts.report {
            words.append(Line(report.wasClean ? "clean" : "NOT CLEAN", Style(report.wasClean ? .dim : .warn)))
            words.append(word("took", Format.duration(max(.zero, report.ended - report.began))))
            if report.unsentBytes > 0 { words.append(word("unsent", Format.size(report.unsentBytes), .warn)) }
        }
        let breaches = WebSocketWords.breaches(facts)
        if !breaches.isEmpty { return wrapped(words, separator: "  ") + breaches.flatMap { sentence($0, .error) } }
        return wrapped(words, separator: "  ") + (failure.map { sentence($0.description, .error) } ?? [])
    }

    private func end(_ name: String, _ frame: WebSocketCloseFrame?) -> Line {
        word(name, WebSocketWords.close(frame), frame == nil || WebSocketWords.isOrderly(frame) ? .plain : .warn)
    }

    // MARK: Words

    private func word(_ name: String, _ value: String, _ role: Role = .plain) -> Line {
        var line = Line(name + " ", Style(.dim))
        line.append(safe(value, role))
        return line
    }

    private func sentence(_ text: String, _ role: Role) -> [Row] {
        wrapped(text.split(separator: " ").map { safe(String($0), role) }, separator: " ")
    }
}
