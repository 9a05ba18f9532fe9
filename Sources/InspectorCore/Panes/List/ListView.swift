import SocketCore

/// The list of connections: one row each, live ones first.
package enum ListView {
    package static func draw(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        guard let snapshot = model.shown, !snapshot.sockets.isEmpty else { return drawEmpty(model, rect, on: &canvas) }
        // A column stays blank before what stands on the right of the list.
        let width = rect.width - (rect.width < canvas.size.width ? 1 : 0)
        let columns = ListColumns(width: width, idWidth: model.summary.idWidth, chosen: model.list.columns)
        heading(model, columns, rect.top(1), on: &canvas)
        let body = rect.trimmed(top: 1)
        for (index, id) in model.list.rows.dropFirst(model.list.top).prefix(body.height).enumerated() {
            guard let socket = snapshot.socket(id) else { continue }
            ListRow(model: model, socket: socket, columns: columns).draw(index, in: body, on: &canvas)
        }
        if model.list.rows.isEmpty {
            canvas.draw(Line("  no connection matches the filter", Style(.dim)), row: 1, in: body, model.glyphs)
        }
    }

    private static func drawEmpty(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        let text =
            model.shown == nil
            ? "  waiting for the first snapshot"
            : model.naming("  no sockets yet: {connect} connects, {listen} listens")
        canvas.draw(Line(text, Style(.dim)), row: 1, in: rect, model.glyphs)
    }

    private static func heading(_ model: Model, _ columns: ListColumns, _ rect: Rect, on canvas: inout Canvas) {
        func put(_ place: ListColumns.Column?, _ name: String) {
            guard let place, let column = ListColumn.named(name) else { return }
            let isSorted = name == model.list.sorting.name
            let title =
                name == "warnings"
                ? column.title
                : Format.padded(
                    column.title, to: place.width, right: column.alignsRight)
            let line = Line(title, Style(.heading, isSorted ? [.bold, .underline] : []))
            canvas.draw(line, x: rect.x + place.x, y: rect.y, width: place.width, model.glyphs)
        }
        put(columns.id, "id")
        put(columns.state, "state")
        put(columns.peer, "peer")
        put(columns.reading, "reading")
        put(columns.writing, "writing")
        put(columns.receiveRate, "rx")
        put(columns.sendRate, "tx")
        for (column, place) in columns.optional { put(place, column.name) }
        put(columns.warnings, "warnings")
    }
}

/// One row of the list.
private struct ListRow {
    let model: Model
    let socket: SocketSnapshot
    let columns: ListColumns

    func draw(_ row: Int, in rect: Rect, on canvas: inout Canvas) {
        let isSelected = model.list.selected == socket.id
        let base: Role = socket.isLive ? .plain : .closed
        func put(_ column: ListColumns.Column?, _ line: Line) {
            guard let column else { return }
            canvas.draw(line, x: rect.x + column.x, y: rect.y + row, width: column.width, model.glyphs)
        }
        func right(_ column: ListColumns.Column?, _ text: String, _ role: Role) {
            guard let column else { return }
            put(column, Line(Format.padded(text, to: column.width, right: true), Style(role)))
        }
        let isLinked = model.selected?.linked == socket.id
        let mark = isSelected ? ">" : isLinked ? "&" : socket.isLive ? " " : "x"
        canvas.draw(Line(mark, Style(isSelected ? .cursor : base)), row: row, in: rect, model.glyphs)
        right(columns.id, socket.id.label, base)
        if model.list.marked.contains(socket.id) {
            put(ListColumns.Column(x: columns.role.x - 1, width: 1), Line("*", Style(.key, [.bold])))
        }
        put(columns.role, Line(socket.roleMark, Style(.dim)))
        put(columns.state, safe(socket.stateWord, base))
        let isMatch = model.isSearched(socket)
        let peer = Style(base, isMatch ? [.bold, .underline] : [])
        put(columns.peer, Shorten.address(socket.peerText, to: columns.peer.width, peer, model))
        if let ending = socket.shortEnding(timeout: model.timeouts[socket.id]) {
            put(columns.reason, safe(ending, .closed))
            let sigma = String(model.glyphs.sigma)
            right(columns.receiveRate, sigma + Format.bytes(socket.received), .closed)
            right(columns.sendRate, sigma + Format.bytes(socket.sent), .closed)
        } else {
            put(columns.reading, ListWords.reading(model, socket, width: columns.reading.width))
            put(columns.writing, ListWords.writing(socket, file: model.file(on: socket)))
            right(columns.receiveRate, Format.rate(socket.receiveRate), .received)
            right(columns.sendRate, Format.rate(socket.sendRate), .sent)
        }
        for (column, place) in columns.optional { put(place, optional(column, width: place.width)) }
        let findings = model.findings[socket.id]
        let found = findings.count { $0.severity > .note }
        if findings.first?.severity == .critical {
            put(columns.warnings, Line("!!", Style(.bad, [.bold])))
        } else if found > 0 {
            put(columns.warnings, Line(found > 9 ? "!+" : "!\(found)", Style(.warn, [.bold])))
        }
        if isSelected {
            canvas.restyle(row: row, in: rect) { Style($0.role == .plain ? .cursor : $0.role, [.reverse]) }
        }
    }

    private func optional(_ column: ListColumn, width: Int) -> Line {
        guard let text = column.text(socket, model.now) else {
            return Line(Format.padded(socket.isLive ? "-" : "", to: width, right: column.alignsRight), Style(.dim))
        }
        let isUnread =
            column.name == "recvq" && socket.role != .listener && socket.reading.current == nil
            && socket.unreadBytes > 0
        let role: Role = !socket.isLive ? .closed : isUnread ? .warn : .dim
        if column.alignsRight { return Line(Format.padded(text, to: width, right: true), Style(role)) }
        return column.name == "local" ? Shorten.address(text, to: width, Style(role), model) : safe(text, role)
    }

    private func safe(_ text: String, _ role: Role) -> Line {
        var line = Line()
        model.sanitizer.append(text, Style(role), to: &line)
        return line
    }
}

/// The queues of a connection in one cell each.
package enum ListWords {
    /// `1024/4096 ASK`, `312 to CRLF`, `any`, `unread 23 B`, `12 accepted`. That somebody is asked is never cut off.
    package static func reading(_ model: Model, _ socket: SocketSnapshot, width: Int) -> Line {
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

    /// What the barrier of TLS does at the head of the read queue; nil: it is not there.
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

    /// Percent, operations behind it, bytes pending: `25% +2 1.4M`; without one in hand, what waits: `+2 30`.
    /// `12/64 of text`, `handshake`; nil: it is none, or TLS comes first.
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

    /// Of a file, its percentage and what is left of it.
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
