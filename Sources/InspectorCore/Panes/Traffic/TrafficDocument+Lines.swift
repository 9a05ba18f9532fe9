import SocketCore

extension TrafficDocument {
    /// Rows shown of an item's beginning and end, and the most rows that are shown whole. Text keeps its end, since
    /// that is what somebody who follows wants to see.
    private var folding: (head: Int, tail: Int, whole: Int) {
        switch mode {
        case .text, .escaped: (20, 20, 60)
        case .hexText: (2, 0, 4)
        }
    }

    /// The most rows that are shown whole.
    var foldingLimit: Int { folding.whole }

    /// The lines of a block.
    package func lines(_ block: Block) -> [Line] {
        switch block.content {
        case .item(let item, let gap): itemLines(item, gap)
        case .note(let event): [noteLine(event)]
        case .lost(let count): [Self.mark("! \(count) events lost (ring full)", Style(.warn))]
        case .hidden(let count):
            [Self.mark("* \(Format.count(count, "control frame")) hidden (:control on)", Style(.dim))]
        case .dropped(let count): [Self.mark("! \(count) older items dropped for room", Style(.warn))]
        case .closed(let record): [closedLine(record)]
        case .waiting(let text): [waitingLine(text)]
        }
    }

    private static func mark(_ text: String, _ style: Style) -> Line {
        Line(String(repeating: " ", count: 16) + text, style)
    }

    private func noteLine(_ event: SocketEvent) -> Line {
        let row = EventCatalogue[event.kind]
        var line = Line(clock.text(event.time) + " * ", Style(.dim))
        if row.hasTag {
            line.append(Format.padded("t\(event.tag)", to: 5))
        }
        let style = Style(row.isWarning ? .warn : .plain)
        let words = EventWords.sentence(event, of: socket, isAsking: askingTag == event.tag, answer: answerKey)
        sanitizer.append(words, style, to: &line)
        return line
    }

    private func closedLine(_ record: CloseRecord) -> Line {
        var line = Line(clock.text(record.time) + " * ", Style(.dim))
        sanitizer.append("closed: " + (socket?.ending ?? CloseWords.sentence(record)), Style(.closed), to: &line)
        return line
    }

    private func waitingLine(_ text: String) -> Line {
        var line = Line("  ")
        sanitizer.append(text, Style(.dim), to: &line)
        return line
    }

    private func itemLines(_ item: TrafficItem, _ gap: Gap?) -> [Line] {
        var lines = [header(item, gap)]
        let style = Style(item.direction == .sent ? .sent : .received)
        let layout = ByteRows(mode: mode, width: width, sanitizer: sanitizer, glyphs: glyphs, style: style)
        let isExpanded = expanded.contains(item.sequence)
        if let traffic = item.webSocket, isExpanded || mode == .hexText || traffic.frameCount > 1 {
            lines += WebSocketWords.frames(traffic).map { Line("  \($0)", Style(.dim)) }
        }
        // The code of a Close is told in words.
        let isClose = item.webSocket?.kind == .close && mode != .hexText
        let bytes = isClose ? Array(item.bytes.dropFirst(2)) : item.bytes
        let (rows, _) = layout.rows(bytes, limit: isExpanded ? .max : folding.whole + 1)
        if isExpanded || rows.count <= folding.whole {
            lines += rows
            if rows.count > folding.whole { lines.append(Line("  ....  (\(expandKey) fold)", Style(.dim))) }
        } else {
            lines += folded(bytes, layout)
        }
        if item.bytes.count < item.done {
            lines.append(Line("  ....  \(item.done - item.bytes.count) more bytes were not kept", Style(.dim)))
        }
        return lines
    }

    private func folded(_ bytes: [UInt8], _ layout: ByteRows) -> [Line] {
        let (head, shown) = layout.rows(bytes, limit: folding.head)
        let start = max(shown, layout.tailStart(bytes, rows: folding.tail))
        let more = Line("  ....  \(start - shown) more bytes   (\(expandKey) expand)", Style(.dim))
        return head + [more] + layout.rows(Array(bytes[start...]), limit: folding.tail).rows
    }

    private func header(_ item: TrafficItem, _ gap: Gap?) -> Line {
        let style = Style(item.direction == .sent ? .sent : .received)
        var line = Line(clock.text(item.time), Style(.dim))
        line.append(item.direction == .sent ? " > " : " < ", style)
        if let traffic = item.webSocket {
            let words = WebSocketWords.traffic(item, traffic)
            sanitizer.append(words.text, Style(words.isNotable ? .warn : .plain), to: &line)
            return gap.map { appended($0, to: line) } ?? line
        }
        line.append(Format.padded("t\(item.tag)", to: 4) + " ", style)
        sanitizer.append(item.address.map { DatagramWords.traffic(item, $0) } ?? Self.words(item), to: &line)
        return gap.map { appended($0, to: line) } ?? line
    }

    /// How long after the item before, where there is room.
    private func appended(_ gap: Gap, to header: Line) -> Line {
        var line = header
        let words = gap.isReply ? "reply after \(Format.duration(gap.time))" : "+\(Format.duration(gap.time))"
        if line.width + words.count + 3 <= width {
            line.pad(to: width - words.count - 1)
            line.append(words, Style(.dim))
        }
        return line
    }

    /// `write 18 B, done in 0.2ms`, `length 4096, 1024 so far`, `any, 312 B`.
    private static func words(_ item: TrafficItem) -> String {
        switch (item.direction, item.state) {
        case (.sent, .complete(let after)):
            "write \(item.done) B, done" + (after > .zero ? " in \(Format.duration(after))" : "")
        case (.sent, .inProgress):
            "write \(item.total ?? item.done) B, \(item.done) so far"
        case (.sent, .failed(let reason)):
            "write \(item.total ?? item.done) B failed after \(item.done) B: \(reason)"
        case (.received, .complete):
            item.total == item.done ? "\(item.kind.words), done" : "\(item.kind.words), \(item.done) B"
        case (.received, .inProgress):
            "\(item.kind.words), \(item.done) so far"
        case (.received, .failed(let reason)):
            "\(item.kind.words) failed after \(item.done) B: \(reason)"
        }
    }
}
