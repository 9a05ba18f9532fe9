import InspectorCore
import SocketCore

/// One row of the list.
struct ListRow {
    let model: Model
    let row: Listed
    let sight: Sight
    let layout: ListLayout

    private typealias Place = ListLayout.Place
    private var socket: SocketSnapshot { row.socket }
    private var pair: RelayPair? { row.pair }
    private var isLive: Bool { row.isLive }

    func draw(_ index: Int, in rect: Rect, on canvas: inout Canvas) {
        func put(_ line: Line, _ place: Place) {
            canvas.draw(line, x: rect.x + place.x, y: rect.y + index, width: place.width, model.glyphs)
        }
        let ids = row.legs.map(\.id)
        let isSelected = model.list.selected.map(ids.contains) ?? false
        let isLinked = pair == nil && model.selected?.linked == socket.id
        let mark = isSelected ? ">" : isLinked ? "&" : isLive ? " " : "x"
        canvas.draw(Line(mark, Style(isSelected ? .cursor : row.base)), row: index, in: rect, model.glyphs)
        for (column, place) in layout.places {
            if let (line, place) = content(of: column, in: place) { put(line, place) }
            if column.content == .mark, !model.list.marked.isDisjoint(with: ids) {
                put(Line("*", Style(.key, [.bold])), Place(x: place.x - 1, width: 1))
            }
        }
        // What was last seen of a lost host.
        if socket.host?.isLost == true { canvas.restyle(row: index, in: rect) { Style(.dim, $0.emphasis) } }
        guard isSelected else { return }
        canvas.restyle(row: index, in: rect) { Style($0.role == .plain ? .cursor : $0.role, [.reverse]) }
    }

    /// Returns what is drawn in a column, and where: the ends of a pair and the reason of a closed row take several.
    private func content(of column: ListColumn, in place: Place) -> (Line, Place)? {
        let isOver = !isLive && socket.ends ?? CapturedEnds() == CapturedEnds()
        switch column.content {
        case .ends: return ends(column, place)
        case .reading where isOver: return reason
        case .name where isOver: return place == layout.reading ? reason : nil
        case .writing where isOver: return nil
        case .reading: return reading(place)
        case .writing:
            if let pair { return (queued(pair), place) }
            guard socket.datagrams?.client == nil else {
                return (Line(socket.datagrams.map(DatagramWords.passed) ?? "", Style(.dim)), place)
            }
            return (writing, place)
        case .text, .name, .address, .mark: return (cell(column, width: place.width), place)
        }
    }

    /// Returns the cell of a column that draws itself. What a live row lacks is shown as `-`.
    private func cell(_ column: ListColumn, width: Int) -> Line {
        let isSilent = !isLive || column.name == "warnings"
        let cell = column.cell(row, sight) ?? ListColumn.Cell(isSilent ? "" : "-", .dim)
        let style = style(of: cell, in: column)
        if column.alignsRight { return Line(Format.padded(cell.text, to: width, right: true), style) }
        switch column.content {
        case .address where socket.host?.peerProgram == nil:
            return Shorten.address(cell.text, to: width, style, model)
        // The whole name is more useful than a name with half of its number.
        case .name: return safe(Shorten.fitting([cell.text, String(cell.text.prefix { $0 != "[" })], in: width), style)
        default: return safe(cell.text, style)
        }
    }

    private func style(of cell: ListColumn.Cell, in column: ListColumn) -> Style {
        guard column.marksSearch, model.list.isSearched(socket, in: model.shared) else { return cell.style }
        return Style(cell.style.role, [.bold, .underline])
    }

    /// Returns the other end, or both ends of a pair, across what it does not read itself.
    private func ends(_ column: ListColumn, _ place: Place) -> (Line, Place) {
        let style = style(of: ListColumn.Cell("", row.base), in: column)
        if let pair {
            let words = PairWords(model: model, pair: pair, style: style)
            if isLive { return (words.live(width: layout.pair.width - narrow), layout.pair) }
            return (words.ends(width: closedPair.ends.width), closedPair.ends)
        }
        if isLive, let words = PairWords(association: socket, model: model, style: style) {
            return (words.ends(width: layout.pair.width), layout.pair)
        }
        return (Shorten.address(socket.peerText, to: place.width, style, model), place)
    }

    private func reading(_ place: Place) -> (Line, Place)? {
        if let pair {
            // At the end of the two ends, if there is no other room for the effect of a rule or breakpoint.
            let end = layout.pair.x + layout.pair.width
            return narrow > 0 ? (queued(pair), Place(x: end - narrow + 1, width: narrow - 1)) : nil
        }
        guard socket.datagrams?.client == nil else { return nil }
        let fault = layout.writing == nil ? listenerFault : nil
        return (fault ?? ListWords.reading(model, socket, width: place.width), place)
    }

    /// The width for the effect of a rule or breakpoint, if there is no other room for it.
    private var narrow: Int {
        guard isLive, layout.writing == nil, let fault = pair?.client.fault else { return 0 }
        return FaultWords.cell(fault, now: model.now, width: Self.narrowest).map { $0.count + 1 } ?? 0
    }

    private static let narrowest = 11

    private var writing: Line {
        listenerFault ?? ListWords.writing(socket, file: model.shared.transmissions[socket.id]?.file(on: socket))
    }

    /// The rule that stops a listener from accepting.
    private var listenerFault: Line? {
        guard socket.role == .listener else { return nil }
        let width = (layout.writing ?? layout.reading ?? layout.ends).width
        return FaultWords.cell(socket.fault, now: model.now, width: width).map { Line($0, Style(.warn)) }
    }

    /// Why a closed row ended, across its reads and writes.
    private var reason: (Line, Place)? {
        guard let ending else { return nil }
        let room = pair == nil ? layout.reason : closedPair.reason
        let line = safe(Self.fitted(ending, to: room.width), Style(.closed))
        return (line.clippedAfterWord(to: room.width, model.glyphs), room)
    }

    /// How it ended. For a pair, which end closed first, or how the leg that ended first did.
    private var ending: String? {
        guard let pair else { return socket.shortEnding(timeout: model.shared.timeouts[socket.id]) }
        return pair.ending(timeout: model.shared.timeouts[pair.worst.id])
    }

    /// The columns of a closed pair's ends and of its reason. The reason gives up room for the ends as far as possible.
    private var closedPair: (ends: Place, reason: Place) {
        guard let pair else { return (layout.ends, layout.reason) }
        let end = layout.reason.x + layout.reason.width
        let wanted = PairWords(model: model, pair: pair, style: .plain).ends(width: end - layout.ends.x).width
        let least = end - min(layout.reason.width, ending?.count ?? 0)
        let start = min(max(layout.reason.x, layout.ends.x + wanted + 1), max(layout.reason.x, least))
        return (
            Place(x: layout.ends.x, width: start - layout.ends.x - 1),
            Place(x: start, width: end - start)
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
            pair.client.fault, now: model.now, width: layout.writing?.width ?? Self.narrowest)
        {
            return Line(words, Style(.warn, pair.client.fault?.hold == nil ? [] : [.bold]))
        }
        let text = pair.queued(width: layout.writing?.width ?? 0)
        let isHeldBack = pair.client.isHeldBack || pair.server.isHeldBack
        return text.isEmpty ? Line("-", Style(.dim)) : Line(text, Style(isHeldBack ? .warn : .sent))
    }

    private func safe(_ text: String, _ style: Style) -> Line {
        var line = Line()
        model.sanitizer.append(text, style, to: &line)
        return line
    }
}
