import InspectorCore
import SocketCore

/// The queues of a connection in one cell each.
package enum ListWords {
    /// Returns `1024/4096 ASK`, `312 to CRLF`, `any`, `unread 23 B`, `12 accepted`. ASK is never cut off.
    package static func reading(_ model: Model, _ socket: SocketSnapshot, width: Int) -> Line {
        if let host = socket.host {
            var line = Line()
            model.sanitizer.append(host.asks ?? "-", Style(host.asks == nil ? .dim : .plain), to: &line)
            return line
        }
        if socket.role == .listener { return Line("\(socket.accepted) accepted") }
        if let facts = socket.datagrams { return DatagramWords.receiving(facts, socket, width: width) }
        if let words = webSocket(socket) { return words.clipped(to: max(1, width), model.glyphs) }
        guard let operation = socket.reading.current else {
            if let words = barrier(socket) { return words }
            guard socket.unreadBytes > 0 else { return Line("-", Style(.dim)) }
            return Line("unread \(Format.size(socket.unreadBytes))", Style(.warn))
        }
        var end = Line()
        if operation.isAsking {
            end.append(" ASK", Style(.warn, [.bold]))
        } else if socket.isHeldBack {
            end.append(" held", Style(.warn))
        } else if socket.isReadingPaused {
            end.append(" paused", Style(.warn))
        }
        var line = progress(operation, model).clipped(to: max(1, width - end.width), model.glyphs)
        line.append(end)
        return line
    }

    /// Returns the state of the TLS barrier at the head of the read queue, or `nil` if it is not there.
    private static func barrier(_ socket: SocketSnapshot) -> Line? {
        guard let tls = socket.tls, socket.reading.barrier == 0 else { return nil }
        switch tls.phase {
        case .queued: return Line("startTLS", Style(.dim))
        case .handshaking: return Line("handshake")
        case .asking: return Line("cert ASK", Style(.warn, [.bold]))
        case .secure, .failed: return nil
        }
    }

    private static func progress(_ operation: OperationSnapshot, _ model: Model) -> Line {
        var line = Line()
        let done = Format.whole(operation.done)
        if let total = operation.total {
            line.append("\(done)/\(Format.whole(total))")
        } else if case .read(.delimiter(let terminator, _)) = operation.kind {
            model.sanitizer.append("\(done) to \(TerminatorText.show(terminator))", to: &line)
        } else {
            line.append(operation.done > 0 ? "\(operation.kind.word), \(done)" : operation.kind.word)
        }
        return line
    }

    /// Returns `12/64 of text` or `handshake`, or `nil` if it is not a WebSocket or TLS comes first.
    private static func webSocket(_ socket: SocketSnapshot) -> Line? {
        guard let facts = socket.ownWebSocket ?? socket.passingWebSocket, socket.isLive, socket.reading.barrier != 0,
            facts.observation == nil || socket.reading.current != nil
        else { return nil }
        if socket.isHeldBack { return Line("held", Style(.warn)) }
        if socket.isReadingPaused { return Line("paused", Style(.warn)) }
        guard let traffic = facts.traffic else { return Line(WebSocketWords.stage(facts.stage)) }
        switch traffic.awaiting {
        case .payload(let opcode, let done, let total):
            return Line("\(done)/\(total) \(WebSocketWords.name(opcode))", Style(.received))
        case .header(done: 0) where traffic.receiving != nil: return Line("more frames", Style(.received))
        case .header(done: 0):
            return Line(Format.count(Int(clamping: traffic.received.messages), "message"), Style(.dim))
        case .header, .extendedLength, .mask: return Line("frame header", Style(.received))
        case .nothing:
            guard let passing = facts.observation else { return Line("discards", Style(.warn)) }
            return passing.receivedFailure == nil ? Line("closed", Style(.dim)) : Line("no frames", Style(.warn))
        }
    }

    /// Returns percent, queued writes and pending bytes: `25% +2 1.4M`. Without a current write: `+2 30`. For a file,
    /// returns its percentage and the remaining bytes.
    package static func writing(_ socket: SocketSnapshot, file: (name: String, done: Int, total: Int)? = nil) -> Line {
        guard let operation = socket.writing.current else {
            if let frame = socket.passingWebSocket?.traffic?.sending, socket.isLive {
                let percent = Format.percent(done: frame.done, total: frame.total)
                return Line("\(percent) \(WebSocketWords.name(frame.opcode))", Style(.sent))
            }
            if socket.writing.pendingCount > 0, socket.datagrams == nil {
                var line = Line("+\(socket.writing.pendingCount)")
                line.append(" \(Format.bytes(socket.writing.pendingBytes))", Style(.sent))
                return line
            }
            return Line(socket.datagrams.map { "\(Format.number($0.counters.sent)) out" } ?? "-", Style(.dim))
        }
        var line = Line()
        if let file {
            line.append(Format.percent(done: file.done, total: file.total))
            line.append(" \(Format.bytes(file.total - file.done))", Style(.sent))
            return line
        }
        if let total = operation.total, total > 0 {
            line.append(Format.percent(done: operation.done, total: total))
        } else {
            line.append(Format.bytes(operation.done))
        }
        if operation.isAsking { line.append(" ASK", Style(.warn, [.bold])) }
        if socket.writing.pendingCount > 0 { line.append(" +\(socket.writing.pendingCount)") }
        if !operation.isAsking { line.append(" \(Format.bytes(socket.writing.pendingBytes))", Style(.sent)) }
        return line
    }
}
