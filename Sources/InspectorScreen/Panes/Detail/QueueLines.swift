import InspectorCore
import SocketCore

/// The three rows that show the state of a connection: READ, WRITE and BYTES, or their replacements.
package struct QueueLines {
    let model: Model
    let socket: SocketSnapshot
    let width: Int

    /// A row, with text from the left and text at the right edge.
    package struct Row: Hashable {
        package var left: Line
        package var right = Line()
    }

    package init(_ model: Model, _ socket: SocketSnapshot, width: Int) {
        self.model = model
        self.socket = socket
        self.width = width
    }

    /// The width of the words before the progress bars.
    private var barColumn: Int { width >= 76 ? 30 : 26 }
    private var barWidth: Int { width >= 76 ? 18 : 10 }
    /// Whether there is room only for what is most important.
    var isNarrow: Bool { width < 56 }

    package var rows: [Row] {
        if let pair = model.list.pair(of: socket, in: model.shared) { return pairRows(pair) }
        if let host = socket.host { return hostRows(host) }
        if let ends = socket.ends, socket.isLive { return capturedRows(ends) }
        switch socket.phase {
        case .closed: return closed
        case .listening: return listening
        case .resolving, .connecting: return connecting
        case .connected, .open, .lingering:
            if let webSocket = socket.ownWebSocket, socket.reading.barrier != 0 { return webSocketRows(webSocket) }
            if let webSocket = socket.passingWebSocket { return passingRows(webSocket) }
            return socket.datagrams.map(datagramRows) ?? [reading, writing, bytes]
        }
    }

    func label(_ text: String) -> Line {
        Line(Format.padded(" " + text, to: 8), Style(.heading))
    }

    func safe(_ text: String, _ role: Role = .plain) -> Line {
        var line = Line()
        model.sanitizer.append(text, Style(role), to: &line)
        return line
    }

    private var closed: [Row] {
        guard let record = socket.closed else {
            return [Row(left: label("CLOSED")), Row(left: Line()), Row(left: Line())]
        }
        var why = label("CLOSED")
        why.append(safe(Shorten.clause(socket.ending ?? "", to: width - 1 - why.width), .closed))
        var when = label("WHEN")
        when.append(model.shownClock.text(record.time))
        when.append(lasted(until: record.time), Style(.dim))
        var totals = label("TOTAL")
        if socket.role == .listener {
            totals.append("\(Format.count(Int(clamping: socket.accepted), "connection")) accepted")
        } else {
            totals.append("received \(Format.size(socket.received))", Style(.received))
            totals.append("  ")
            totals.append("sent \(Format.size(socket.sent))", Style(.sent))
            if let traffic = socket.webSocket?.traffic {
                let (received, sent) = (traffic.received.messages, traffic.sent.messages)
                totals.append("  messages \(Format.number(received)) in, \(Format.number(sent)) out", Style(.dim))
            }
            if let facts = socket.datagrams { totals.append("  \(DatagramWords.totals(facts))", Style(.dim)) }
        }
        return [Row(left: why), Row(left: when), Row(left: totals)]
    }

    /// Returns how long it was open, or how long it tried to connect.
    private func lasted(until end: MonotonicTime) -> String {
        if let connected = socket.connected { return ", open for \(Format.age(end - connected))" }
        if socket.role == .client { return ", never opened; tried for \(Format.duration(end - socket.opened))" }
        return ", open for \(Format.age(end - socket.opened))"
    }

    private var listening: [Row] {
        let state =
            if let rule = socket.fault?.rules.first {
                Line(
                    "fault \(rule.number) accepts no connections"
                        + (socket.isReadingPaused ? model.naming("; paused too ({pause})") : ""),
                    Style(.warn))
            } else if socket.isReadingPaused {
                Line(model.naming("accepting is paused ({pause})"), Style(.warn))
            } else if socket.isHeldBack {
                Line("held back: the program can't keep up", Style(.warn))
            } else {
                Line((model.hasEnded(socket.id) ? "was " : "") + "waiting for connections", Style(.dim))
            }
        let first = named("LISTEN", socket.peerText, state)
        var second = label("TOTAL")
        var parts = [Line(Format.count(Int(clamping: socket.accepted), "connection") + " accepted")]
        if let waiting = socket.kernel?.receiveQueue, waiting > 0 {
            parts.append(Line(model.naming("\(waiting) waiting in the backlog ({answer})"), Style(.warn)))
            if second.width + parts[0].width + parts[1].width + 3 > width { parts.reverse() }
        }
        for (index, part) in parts.enumerated() {
            if index > 0 { second.append("  ") }
            second.append(part)
        }
        var third = Line()
        let rules = model.replies(for: socket)
        if let rule = rules.first {
            third = label("REPLY")
            third.append(safe(rule.words))
            if rules.count > 1 { third.append("  +\(rules.count - 1) more", Style(.dim)) }
        }
        return [Row(left: first), Row(left: second), Row(left: third)]
    }

    private var connecting: [Row] {
        var state = Line("since \(Format.duration(model.now - socket.opened))", Style(.dim))
        if let deadline = socket.connect?.deadline {
            state.append(", times out in \(Format.duration(max(.zero, deadline - model.now)))", Style(.warn))
        }
        var first = Row(left: named("CONN", socket.target, state))
        let hasRoom = first.left.width + held.width + 2 < width
        if hasRoom { first.right = held }
        let below = hasRoom || held.width == 0 ? [] : [held]
        let steps = ConnectWords.steps(socket).suffix(2 - below.count).map { safe($0, .dim) }
        var rows = [first]
        for step in below + steps {
            var line = Line(String(repeating: " ", count: 8))
            line.append(step)
            rows.append(Row(left: line))
        }
        while rows.count < 3 { rows.append(Row(left: Line())) }
        return rows
    }

    /// Returns an address and its state. If there is no room for both, the address is shortened in its middle.
    private func named(_ word: String, _ address: String, _ state: Line) -> Line {
        var line = label(word)
        line.append(Shorten.address(address, to: max(8, width - line.width - state.width - 3), .plain, model))
        line.append("  ")
        line.append(state)
        return line
    }

    /// The operations that wait for the connection to be established.
    private var held: Line {
        func count(_ queue: QueueSnapshot) -> Int { min(queue.pendingCount, 1 << 40) + (queue.current == nil ? 0 : 1) }
        var parts: [String] = []
        if count(socket.reading) > 0 { parts.append(Format.count(count(socket.reading), "read")) }
        if count(socket.writing) > 0 {
            parts.append(
                "\(Format.count(count(socket.writing), "write")) (\(Format.size(socket.writing.pendingBytes)))")
        }
        return parts.isEmpty ? Line() : Line("waiting: " + parts.joined(separator: ", "), Style(.sent))
    }

    private func queued(_ count: Int) -> Line {
        count > 0 ? Line(isNarrow ? "+\(count)" : "+\(count) queued") : Line()
    }

    /// Returns the progress as a bar and a percentage, if the total is known, and what delays the operation. For lack
    /// of room the bar is left out.
    private func progress(_ operation: OperationSnapshot, after words: Line, room: Int) -> Line {
        let note = note(operation)
        guard let total = operation.total, total > 0 else { return joined(words, note, room: room) }
        if operation.kind == .write, let file = model.shared.transmissions[socket.id]?.file(on: socket) {
            var words = words
            words.append(safe(file.name))
            words.append(" \(Format.size(file.done)) of ")
            return progress(operation, file.done, file.total, Format.size(file.total), note, after: words, room: room)
        }
        return progress(
            operation, operation.done, total, "\(operation.done)/\(total)", note, after: words, room: room)
    }

    private func progress(
        _ operation: OperationSnapshot, _ done: Int, _ total: Int, _ numbers: String, _ note: Line, after words: Line,
        room: Int
    ) -> Line {
        var line = words
        line.append(numbers + " ")
        var withBar = line
        withBar.pad(to: barColumn)
        withBar.append(
            model.glyphs.bar(done: done, total: total, width: barWidth),
            Style(operation.kind == .write ? .sent : .received))
        let percent = Format.percent(done: done, total: total)
        withBar.append(" " + percent)
        withBar = joined(withBar, note, room: .max)
        if withBar.width <= room { return withBar }
        line.append(percent)
        var brief = words
        brief.append(percent)
        let most = room - (note.width > 0 ? note.width + 2 : 0)
        return joined(Line.fitting([line, brief], in: most), note, room: room)
    }

    /// Joins a line and a note. The note says what delays the operation, so only the line is cut off.
    private func joined(_ line: Line, _ note: Line, room: Int) -> Line {
        guard note.width > 0 else { return line }
        var line = line.clipped(to: max(8, room == .max ? room : room - note.width - 2), model.glyphs)
        line.append("  ")
        line.append(note)
        return line
    }

    /// Returns the row of an operation, in the room left by the count of later ones.
    private func row(_ queue: QueueSnapshot, _ build: (_ room: Int) -> Line) -> Row {
        let right = queued(queue.pendingCount)
        return Row(left: build(width - 1 - right.width - (right.width > 0 ? 1 : 0)), right: right)
    }

    /// Returns what delays the current operation.
    private func note(_ operation: OperationSnapshot) -> Line {
        if operation.isAsking { return Line(isNarrow ? "ASK" : "timed out: ASK", Style(.warn, [.bold])) }
        if operation.kind != .write && socket.flags.contains(.readStreamClosed) {
            return Line(CloseWords.peerClosed, Style(.closed))
        }
        if operation.kind != .write && socket.isHeldBack { return heldBack }
        if operation.kind != .write && socket.isReadingPaused { return Line("paused", Style(.warn)) }
        let still = (operation.lastProgress ?? operation.started).map { model.now - $0 } ?? .zero
        if operation.kind == .write && still >= .seconds(2) {
            return Line("stalled \(Format.duration(still))", Style(.warn))
        }
        if let deadline = operation.deadline, deadline > model.now {
            return Line("times out in \(Format.duration(deadline - model.now))", Style(.dim))
        }
        return Line()
    }

    /// The reason why reading from the kernel has stopped.
    var heldBack: Line {
        guard let linked = socket.linked else { return Line("held back: delegate can't keep up", Style(.warn)) }
        if socket.relay?.isOtherGone == true { return Line("held back: \(linked) is gone", Style(.warn)) }
        return Line("held back: \(linked) can't keep up", Style(.warn))
    }

    var reading: Row {
        var line = label("READ")
        if socket.reading.barrier == 0 { return barrier(socket.reading, after: line) }
        guard let operation = socket.reading.current else {
            line.append(safe(noRead.text, noRead.role))
            return Row(left: line, right: queued(socket.reading.pendingCount))
        }
        line.append(Format.padded("t\(operation.tag)", to: 4))
        guard operation.total != nil else {
            line.append(safe(operation.kind.words))
            line.append(unknownTotal(operation))
            return row(socket.reading) { joined(line, note(operation), room: $0) }
        }
        line.append(operation.kind.word + " ")
        return row(socket.reading) { progress(operation, after: line, room: $0) }
    }

    /// Returns the TLS barrier at the head of a queue.
    private func barrier(_ queue: QueueSnapshot, after label: Line) -> Row {
        var line = label
        line.append("startTLS  ")
        let (text, isWarning) = TLSWords.barrier(queue, of: socket, now: model.now, answer: model.answerKey)
        line.append(safe(text, isWarning ? .warn : .dim))
        return row(queue) { line.clippedAfterWord(to: $0, model.glyphs) }
    }

    private var noRead: (text: String, role: Role) {
        if socket.flags.contains(.readStreamClosed) || socket.flags.contains(.socketHasReadEOF) {
            return ("\(CloseWords.peerClosed): no more data", .closed)
        }
        if socket.phase == .lingering { return ("further input is discarded", .dim) }
        let mayAct = model.allowsCommands
        if socket.isReadingPaused {
            return (mayAct ? model.naming("paused: {pause} resumes") : "paused", .warn)
        }
        guard socket.unreadBytes > 0 else { return ("no read queued", .dim) }
        return (mayAct ? model.naming("no read queued: {read} queues one") : "no read queued", .warn)
    }

    /// `any (standing)  1.2K/s`, `until CRLF  312 B so far, max 8K`.
    private func unknownTotal(_ operation: OperationSnapshot) -> Line {
        var line = Line()
        if operation.isStanding { line.append(" (standing)") }
        if operation.done > 0 {
            line.append("  \(Format.size(operation.done)) so far", Style(.received))
        } else if let rate = socket.receiveRate, rate >= 1 {
            line.append("  \(Format.size(UInt64(rate)))/s", Style(.received))
        }
        if case .read(let kind) = operation.kind, let limit = kind.values.limit {
            line.append((operation.done > 0 ? ", max " : "  max ") + SizeText.show(limit), Style(.dim))
        }
        return line
    }

    var writing: Row {
        var line = label("WRITE")
        if socket.writing.barrier == 0 { return barrier(socket.writing, after: line) }
        guard let operation = socket.writing.current else {
            line.append(socket.isWriteShut ? "we sent FIN" : "nothing queued", Style(.dim))
            return Row(left: line, right: queued(socket.writing.pendingCount))
        }
        line.append(Format.padded("t\(operation.tag)", to: 4) + " ")
        return row(socket.writing) { progress(operation, after: line, room: $0) }
    }

    /// Where the bytes are: from our queue through the kernel to the peer, and what arrived but was not read.
    var bytes: Row { bytes(label: "BYTES") }

    func bytes(label text: String) -> Row {
        var line = label(text)
        let (outgoing, incoming) = BytesPipeline(model, socket).fitted(to: width - 1 - line.width)
        line.append(outgoing)
        return Row(left: line, right: incoming)
    }

    /// Draws the rows from the top of a rectangle.
    package func draw(in rect: Rect, on canvas: inout Canvas) {
        let inner = rect.left(rect.width - 1)
        for (index, row) in rows.enumerated() {
            canvas.draw(left: row.left, right: row.right, row: index, in: inner, model.glyphs)
        }
    }
}
