import InspectorCore
import SocketCore

/// One row of the list.
struct ListRow {
    let model: Model
    let socket: SocketSnapshot
    let columns: ListColumns
    /// The relayed connection that the row shows as one, or `nil` if it shows `socket` alone.
    let pair: RelayPair?

    func draw(_ row: Int, in rect: Rect, on canvas: inout Canvas) {
        let isSelected = model.list.selected.map(legs.contains) ?? false
        func put(_ column: ListColumns.Column?, _ line: Line) {
            guard let column else { return }
            canvas.draw(line, x: rect.x + column.x, y: rect.y + row, width: column.width, model.glyphs)
        }
        func right(_ column: ListColumns.Column?, _ text: String, _ role: Role) {
            guard let column else { return }
            put(column, Line(Format.padded(text, to: column.width, right: true), Style(role)))
        }
        let isLinked = pair == nil && model.selected?.linked == socket.id
        let mark = isSelected ? ">" : isLinked ? "&" : isLive ? " " : "x"
        canvas.draw(Line(mark, Style(isSelected ? .cursor : base)), row: row, in: rect, model.glyphs)
        right(columns.id, socket.id.label, base)
        if !model.list.marked.isDisjoint(with: legs) {
            put(ListColumns.Column(x: columns.role.x - 1, width: 1), Line("*", Style(.key, [.bold])))
        }
        put(columns.role, Line(pair?.mark ?? socket.roleMark, Style(.dim)))
        put(columns.state, safe((pair?.worst ?? socket).stateWord, base))
        let peer = Style(base, model.list.isSearched(socket, in: model.shared) ? [.bold, .underline] : [])
        if let pair, isLive {
            let words = PairWords(model: model, pair: pair, style: peer)
            put(columns.pair, words.live(width: columns.pair.width - narrow))
            put(columns.writing, queued(pair))
            put(narrowPlace, queued(pair))
        } else if isLive, let words = PairWords(association: socket, model: model, style: peer) {
            put(columns.pair, words.ends(width: columns.pair.width))
            put(columns.writing, Line(socket.datagrams.map(DatagramWords.passed) ?? "", Style(.dim)))
        } else if let pair {
            put(closedPair.ends, PairWords(model: model, pair: pair, style: peer).ends(width: closedPair.ends.width))
        } else {
            put(columns.peer, Shorten.address(socket.peerText, to: columns.peer.width, peer, model))
        }
        if let ends = socket.ends, isLive || ends != CapturedEnds() {
            put(columns.reading, program(ends.local, columns.reading.width))
            put(columns.writing, program(ends.peer, columns.writing?.width ?? 0))
            right(columns.receiveRate, isLive ? Format.rate(socket.receiveRate) : total(socket.received), .received)
            right(columns.sendRate, isLive ? Format.rate(socket.sendRate) : total(socket.sent), .sent)
        } else if !isLive, let ending = ending {
            let place = pair == nil ? columns.reason : closedPair.reason
            let line = safe(Self.fitted(ending, to: place.width), .closed)
            put(place, line.clippedAfterWord(to: place.width, model.glyphs))
            let isClient = socket.datagrams?.client != nil
            right(columns.receiveRate, total(isClient ? socket.sent : socket.received), .closed)
            right(columns.sendRate, total(isClient ? socket.received : socket.sent), .closed)
        } else {
            if pair == nil, socket.datagrams?.client == nil {
                put(columns.reading, reading)
                put(columns.writing, writing)
            }
            right(columns.receiveRate, Format.rate(socket.inRate), .received)
            right(columns.sendRate, Format.rate(socket.outRate), .sent)
        }
        for (column, place) in columns.optional { put(place, optional(column, width: place.width)) }
        if let mark = warningMark { put(columns.warnings, mark) }
        guard isSelected else { return }
        canvas.restyle(row: row, in: rect) { Style($0.role == .plain ? .cursor : $0.role, [.reverse]) }
    }

    private var warningMark: Line? {
        let findings = legs.flatMap { model.shared.findings[$0] }
        if findings.contains(where: { $0.severity == .critical }) { return Line("!!", Style(.bad, [.bold])) }
        let found = findings.count { $0.severity > .note }
        return found > 0 ? Line(found > 9 ? "!+" : "!\(found)", Style(.warn, [.bold])) : nil
    }

    private func total(_ count: UInt64) -> String { String(model.glyphs.sigma) + Format.bytes(count) }

    /// Returns the program at an end of a captured connection.
    private func program(_ end: CapturedEnds.End?, _ width: Int) -> Line {
        guard let program = CapturedWords.program(end) else { return safe("-", .dim) }
        // The whole name is more useful than a name with half of its number.
        return safe(Shorten.fitting([program, String(program.prefix { $0 != "[" })], in: width), base)
    }

    /// The width for the effect of a rule or breakpoint, if there is no other room for it.
    private var narrow: Int {
        guard columns.writing == nil, let fault = pair?.client.fault else { return 0 }
        return FaultWords.cell(fault, now: model.now, width: Self.narrowest).map { $0.count + 1 } ?? 0
    }

    /// The place of these columns, at the end of the two ends.
    private var narrowPlace: ListColumns.Column? {
        let end = columns.pair.x + columns.pair.width
        return narrow > 0 ? ListColumns.Column(x: end - narrow + 1, width: narrow - 1) : nil
    }

    private static let narrowest = 11

    private var reading: Line {
        let fault = columns.writing == nil ? listenerFault : nil
        return fault ?? ListWords.reading(model, socket, width: columns.reading.width)
    }

    private var writing: Line {
        listenerFault ?? ListWords.writing(socket, file: model.shared.transmissions[socket.id]?.file(on: socket))
    }

    /// The rule that stops a listener from accepting.
    private var listenerFault: Line? {
        guard socket.role == .listener else { return nil }
        let width = (columns.writing ?? columns.reading).width
        return FaultWords.cell(socket.fault, now: model.now, width: width).map { Line($0, Style(.warn)) }
    }

    private var legs: [SocketID] { pair?.legs.map(\.id) ?? [socket.id] }
    private var isLive: Bool { pair?.isLive ?? socket.isLive }
    private var base: Role { isLive ? .plain : .closed }

    /// How it ended. For a pair, which end closed first, or how the leg that ended first did.
    private var ending: String? {
        guard let pair else { return socket.shortEnding(timeout: model.shared.timeouts[socket.id]) }
        return pair.ending(timeout: model.shared.timeouts[pair.worst.id])
    }

    /// The columns of a closed pair's ends and of its reason. The reason gives up room for the ends as far as possible.
    private var closedPair: (ends: ListColumns.Column, reason: ListColumns.Column) {
        guard let pair else { return (columns.peer, columns.reason) }
        let end = columns.reason.x + columns.reason.width
        let wanted = PairWords(model: model, pair: pair, style: .plain).ends(width: end - columns.peer.x).width
        let least = end - min(columns.reason.width, ending?.count ?? 0)
        let start = min(max(columns.reason.x, columns.peer.x + wanted + 1), max(columns.reason.x, least))
        return (
            ListColumns.Column(x: columns.peer.x, width: start - columns.peer.x - 1),
            ListColumns.Column(x: start, width: end - start)
        )
    }

    /// Returns a reason, without its less important words if it does not fit.
    private static func fitted(_ text: String, to width: Int) -> String {
        var forms = [text]
        for word in [" its side", " (FIN)", " first", "client: ", "server: "] {
            forms.append((forms.last ?? text).replacing(word, with: ""))
        }
        return Shorten.fitting(forms.dropLast(2) + forms.suffix(1), in: width)
    }

    /// Returns the bytes that the relay still has to forward, in each direction.
    private func queued(_ pair: RelayPair) -> Line {
        if let words = FaultWords.cell(
            pair.client.fault, now: model.now, width: columns.writing?.width ?? Self.narrowest)
        {
            return Line(words, Style(.warn, pair.client.fault?.hold == nil ? [] : [.bold]))
        }
        let text = pair.queued(width: columns.writing?.width ?? 0)
        let isHeldBack = pair.client.isHeldBack || pair.server.isHeldBack
        return text.isEmpty ? Line("-", Style(.dim)) : Line(text, Style(isHeldBack ? .warn : .sent))
    }

    private func optional(_ column: ListColumn, width: Int) -> Line {
        let text = pair.map { column.text(of: $0, model.now) } ?? column.text(socket, model.now)
        guard let text else {
            return Line(Format.padded(isLive ? "-" : "", to: width, right: column.alignsRight), Style(.dim))
        }
        let isUnread =
            column.name == "recvq" && socket.role != .listener && socket.reading.current == nil
            && socket.unreadBytes > 0
        let role: Role = !isLive ? .closed : isUnread ? .warn : .dim
        if column.alignsRight { return Line(Format.padded(text, to: width, right: true), Style(role)) }
        return column.name == "local" ? Shorten.address(text, to: width, Style(role), model) : safe(text, role)
    }

    private func safe(_ text: String, _ role: Role) -> Line {
        var line = Line()
        model.sanitizer.append(text, Style(role), to: &line)
        return line
    }
}
