import InspectorCore
import SocketCore

extension QueueLines {
    /// Returns the rows that replace READ and WRITE for a WebSocket: what its parser waits for, and the frame being
    /// sent. The queues below it hold parts of frames, which are not informative.
    func webSocketRows(_ facts: WebSocketPicture) -> [Row] {
        [webSocketIncoming(facts), webSocketOutgoing(facts), bytes]
    }

    /// Returns the rows of a WebSocket that is only observed. If no frame is incomplete, the queues below are more
    /// informative.
    func passingRows(_ facts: WebSocketPicture) -> [Row] {
        let isRead = socket.reading.current != nil
        let isSending = facts.traffic?.sending != nil
        return [isRead ? webSocketIncoming(facts) : reading, isSending ? webSocketOutgoing(facts) : writing, bytes]
    }

    func webSocketIncoming(_ facts: WebSocketPicture, label text: String = "READ") -> Row {
        let now = WebSocketWords.incoming(facts)
        var words = label(text)
        words.append(now.what, Style(now.what == "nothing" ? .dim : .plain))
        words.append(" ")
        var right = Line()
        if socket.isHeldBack {
            if socket.linked == nil {
                right.append("held back: its user can't keep up", Style(.warn))
            } else {
                right.append(heldBack)
            }
        } else if socket.isReadingPaused {
            right.append("paused", Style(.warn))
        } else if let message = facts.traffic?.receiving, message.fragments > 1 || message.isCompressed {
            right.append("message \(Format.size(message.bytes))", Style(.received))
        } else if let deadline = facts.openingDeadline {
            right.append("times out in \(Format.duration(max(.zero, deadline - model.now)))", Style(.dim))
        }
        guard let total = now.total else {
            if now.done > 0 { words.append(" \(Format.size(now.done)) so far", Style(.received)) }
            return Row(left: words, right: right)
        }
        let room = width - 2 - right.width
        return Row(left: portion(now.done, total, after: words, .received, room: room), right: right)
    }

    func webSocketOutgoing(_ facts: WebSocketPicture, label text: String = "WRITE") -> Row {
        var words = label(text)
        var right = Line()
        if let traffic = facts.traffic, traffic.queuedMessages > 0 {
            right.append("+\(traffic.queuedMessages) queued")
        }
        guard let frame = facts.traffic?.sending else {
            words.append(facts.traffic == nil ? "not open yet" : "nothing queued", Style(.dim))
            return Row(left: words, right: right)
        }
        words.append("frame of \(WebSocketWords.name(frame.opcode)) ")
        let still = socket.writing.current.flatMap { $0.lastProgress ?? $0.started }.map { model.now - $0 } ?? .zero
        if still >= .seconds(2) {
            if right.width > 0 { right.append("  ") }
            right.append("stalled \(Format.duration(still))", Style(.warn))
        }
        let room = width - 2 - right.width
        return Row(left: portion(frame.done, frame.total, after: words, .sent, room: room), right: right)
    }

    /// Returns numbers, bar and percentage. The bar is left out for lack of room.
    private func portion(_ done: Int, _ total: Int, after words: Line, _ role: Role, room: Int) -> Line {
        let percent = Format.percent(done: done, total: total)
        var line = words
        line.append("\(done)/\(total) ")
        var withBar = line
        // A header's few bytes need no bar.
        guard total > 14 else { return line }
        withBar.pad(to: width >= 76 ? 40 : 0)
        withBar.append(model.glyphs.bar(done: done, total: total, width: width >= 76 ? 18 : 10), Style(role))
        withBar.append(" \(percent)")
        line.append(percent)
        var brief = words
        brief.append(percent)
        return Line.fitting([withBar, line, brief], in: room)
    }
}
