import SocketCore

/// Everything that is known about one connection, from top to bottom.
package enum DetailView {
    /// One row: a rule or text, with something at its right edge.
    package struct Row: Hashable {
        package var left: Line
        package var right = Line()
        package var isRule = false
    }

    package static func draw(_ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        guard rect.height > 0 else { return }
        let rows = lines(model, width: rect.width)
        let top = min(model.detailTop, max(0, rows.count - rect.height))
        let inner = rect.left(rect.width - 1)
        for (index, row) in rows.dropFirst(top).prefix(rect.height).enumerated() {
            if row.isRule {
                canvas.rule(row: index, in: rect, title: row.left, right: row.right, model.glyphs)
            } else {
                canvas.draw(left: row.left, right: row.right, row: index, in: inner, model.glyphs)
            }
        }
        let below = rows.count - top - rect.height
        guard below > 0 else { return }
        // The keys scroll it only where it has them.
        let key = model.context == .detail ? model.options.keys.key(for: "down", in: .detail) : nil
        var more = Line("\(below + 1) more lines below" + (key.map { " (\($0))" } ?? ""), Style(.dim))
        more.pad(to: rect.width)
        canvas.draw(more, row: rect.height - 1, in: rect, model.glyphs)
    }

    /// All rows at a width.
    package static func lines(_ model: Model, width: Int) -> [Row] {
        guard let socket = model.selected else {
            let text = model.list.selected.map { " \($0) is no longer listed" } ?? " nothing is selected"
            return [Row(left: Line(text, Style(.dim)))]
        }

        let builder = DetailBuilder(model: model, socket: socket, width: width)
        let queues = socket.isLive || socket.role == .listener ? builder.queues : []
        let flags = socket.isLive ? builder.flags : []
        let facts = builder.identity + builder.kernel + builder.warnings + builder.datagrams + builder.webSocketBlock
        return facts + queues + builder.tlsBlock + builder.minute + flags + builder.totals + builder.webSocketHeads
            + builder.engine
    }
}

/// Puts the rows of the detail together.
struct DetailBuilder {
    typealias Row = DetailView.Row

    let model: Model
    let socket: SocketSnapshot
    let width: Int

    func safe(_ text: String, _ role: Role = .plain) -> Line {
        var line = Line()
        model.sanitizer.append(text, Style(role), to: &line)
        return line
    }

    func rule(_ title: String, right: String = "") -> Row {
        Row(left: Line(title, Style(.heading)), right: Line(right, Style(.dim)), isRule: true)
    }

    /// Words joined to as few rows as hold them.
    func wrapped(_ words: [Line], separator: String, indent: Int = 1) -> [Row] {
        var rows: [Row] = []
        let blank = Line(String(repeating: " ", count: indent))
        var line = blank
        for word in words {
            if line.width > indent && line.width + separator.count + word.width > width - 1 {
                rows.append(Row(left: line))
                line = blank
            }
            if line.width > indent { line.append(separator) }
            line.append(word)
        }
        if line.width > indent { rows.append(Row(left: line)) }
        return rows
    }

    var identity: [Row] {
        var rows = wrapped(who, separator: "   ")
        if let closed = socket.closed {
            rows += wrapped(
                [
                    Line("closed \(model.shownClock.text(closed.time))", Style(.closed)),
                    safe(socket.ending ?? "", .closed),
                ], separator: "  ")
        }
        rows += wrapped(ConnectWords.steps(socket).map { safe($0) }, separator: ", ")
        return rows
    }

    private var who: [Line] {
        var first = Line("\(socket.id) \(socket.role.rawValue) ", Style(.heading))
        switch socket.role {
        case .listener: first.append(safe(socket.local?.description ?? socket.target))
        case .client, .accepted, .datagram:
            let peer = socket.peer?.description ?? (socket.role == .datagram ? "any" : socket.target)
            first.append(safe(socket.local.map { "\($0.description) > \(peer)" } ?? peer))
        }
        var words = [first]
        if !socket.target.isEmpty && socket.role == .client && socket.target != socket.peer?.description
            && socket.peer != nil
        {
            words.append(safe("asked for \(socket.target)", .dim))
        }
        if !socket.name.isEmpty { words.append(safe("name \(socket.name)")) }
        if let linked = socket.linked {
            let other = model.shown?.socket(linked)?.peerText
            words.append(safe("relayed to \(linked)\(other.map { " " + $0 } ?? "")"))
            if socket.relay?.isOtherGone == true, socket.isLive { words.append(Line("which is gone", Style(.warn))) }
            if let lost = socket.lossWords, socket.isLive { words.append(Line(lost, Style(.warn))) }
        }
        if let program = model.peers[socket.id]?.program {
            words.append(safe("peer \(program.title) fd \(program.descriptor)"))
        }
        if let parent = socket.parent { words.append(Line("by \(parent)", Style(.dim))) }
        if socket.isLive {
            let isTrying = socket.phase == .resolving || socket.phase == .connecting
            let since = socket.connected ?? socket.opened
            words.append(
                Line(isTrying ? "for \(Format.duration(model.now - since))" : "up \(Format.age(model.now - since))"))
        }
        if let descriptor = socket.descriptor { words.append(Line("fd \(descriptor)")) }
        return words
    }

    var flags: [Row] {
        if let facts = socket.datagrams { return datagramFlags(facts) }
        let lit = FlagWords.lit(socket.flags)
        var rows = [rule("flags \(FlagWords.word(socket.flags))  \(lit.count) of \(SocketFlags.names.count) set")]
        for (name, reason) in FlagWords.reasons(socket, model.now) {
            var words = [Line(name + ":", Style(.lit))]
            words += reason.split(separator: " ").map { Line($0, Style(.dim)) }
            rows += wrapped(words, separator: " ")
        }
        return rows
    }
}
