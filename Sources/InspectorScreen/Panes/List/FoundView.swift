import InspectorCore
import SocketCore

/// The results of `:find`: one row for each match, with the bytes around it.
enum FoundView {
    static func draw(_ found: FoundPane, _ model: Model, _ rect: Rect, on canvas: inout Canvas) {
        let width = rect.width - (rect.width < canvas.size.width ? 1 : 0)
        let columns = Columns(width: width, idWidth: model.shared.summary.idWidth)
        if found.request == nil {
            let heading = found.listsCalls ? CallRows.heading(width) : ExchangeRows.heading(width)
            canvas.draw(heading, row: 0, in: rect.top(1), model.glyphs)
        } else {
            heading(found, columns, model, rect.top(1), on: &canvas)
        }
        let body = rect.trimmed(top: 1)
        for (row, index) in found.matches.indices.dropFirst(found.top).prefix(body.height).enumerated() {
            let isSelected = index == found.cursor
            let match = found.matches[index]
            let line =
                match.exchange.map { ExchangeRows.line($0, isSelected: isSelected, width, model) }
                ?? match.call.map { CallRows.line($0, isSelected: isSelected, width, model) }
                ?? line(match, isSelected: isSelected, columns, model)
            canvas.draw(line, row: row, in: body.left(width), model.glyphs)
            if isSelected {
                canvas.restyle(row: row, in: body.left(width)) {
                    Style($0.role == .plain ? .cursor : $0.role, [.reverse])
                }
            }
        }
        guard found.matches.isEmpty, body.height > 0, found.request != nil else { return }
        var line = Line("  ")
        let isOver = found.progress.isOver && !model.shared.isReadingFile
        let state = isOver ? "no kept payload contains " : "searching for "
        model.sanitizer.append(state + found.searched, Style(.dim), to: &line)
        canvas.draw(line, row: 0, in: body, model.glyphs)
    }

    /// The columns. Without enough room for the bytes, the time and the peer are left out.
    private struct Columns {
        let width: Int
        let idWidth: Int
        let timeWidth: Int
        let peerWidth: Int

        init(width: Int, idWidth: Int) {
            (self.width, self.idWidth) = (width, idWidth)
            let room = width - idWidth - 4
            timeWidth = room >= 44 ? 16 : 0
            let left = room - timeWidth - 30
            peerWidth = left >= 12 ? min(24, left) : 0
        }
    }

    private static func heading(
        _ found: FoundPane, _ columns: Columns, _ model: Model, _ rect: Rect, on canvas: inout Canvas
    ) {
        var title = Format.padded("ID", to: columns.idWidth + 1, right: true)
        if columns.timeWidth > 0 { title += "  " + Format.padded("TIME", to: columns.timeWidth) }
        title += columns.timeWidth > 0 ? "  " : "    "
        if columns.peerWidth > 0 { title += Format.padded("PEER", to: columns.peerWidth) + " " }
        var line = Line(title, Style(.heading))
        line.append("FOUND ", Style(.heading))
        model.sanitizer.append(found.searched, Style(.chip), to: &line)
        canvas.draw(line, row: 0, in: rect, model.glyphs)
    }

    private static func line(_ match: FoundMatch, isSelected: Bool, _ columns: Columns, _ model: Model) -> Line {
        var line = Line(isSelected ? ">" : " ", Style(isSelected ? .cursor : .plain))
        line.append(Format.padded(match.socket.label, to: columns.idWidth, right: true))
        if columns.timeWidth > 0 {
            line.append("  ")
            line.append(Format.padded(model.shownClock.text(match.time), to: columns.timeWidth), Style(.dim))
        }
        let socket = model.shown?.socket(match.socket)
        // For a relayed connection, `>` marks what the client sent, as in its traffic.
        let goesOut = socket.flatMap { $0.linked == nil ? nil : (match.direction == .received) == $0.isClientLeg }
        let isSent = goesOut ?? (match.direction == .sent)
        let style = Style(isSent ? .sent : .received)
        line.append(isSent ? "> " : "< ", style)
        if columns.peerWidth > 0 {
            var short = Shorten.address(socket?.peerText ?? "-", to: columns.peerWidth, .plain, model)
            short.pad(to: columns.peerWidth + 1)
            line.append(short)
        }
        line.append(excerpt(match, style, width: columns.width - line.width, model))
        return line
    }

    /// Returns the bytes on one line, with the match in bold. A line break is shown as a blank. For lack of room, the
    /// bytes before the match are cut.
    private static func excerpt(_ match: FoundMatch, _ style: Style, width: Int, _ model: Model) -> Line {
        func part(_ range: Range<Int>, _ style: Style) -> Line {
            var line = Line()
            let bytes = match.excerpt[range].map { $0 == 10 || $0 == 13 ? 32 : $0 }
            model.sanitizer.append(String(decoding: bytes, as: UTF8.self), style, to: &line)
            return line
        }
        let found = part(match.matched, Style(style.role, [.bold, .underline]))
        var line = part(0..<match.matched.lowerBound, style)
        let room = max(0, min(width / 3, width - found.width - 1))
        if line.width > room {
            let kept = line.columns(line.width - max(0, room - 1)..<line.width)
            line = room > 0 ? Line(String(model.glyphs.ellipsis), Style(.dim)) : Line()
            line.append(kept)
        }
        line.append(found)
        line.append(part(match.matched.upperBound..<match.excerpt.count, style))
        return line
    }
}
