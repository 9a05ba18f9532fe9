import InspectorCore
import SocketCore

extension TrafficDocument {
    /// Returns the rows shown of an item's beginning and end, and the most rows that are shown in full. Text keeps its
    /// end, because that is what a user who follows wants to see.
    func folding(_ piece: Piece) -> (head: Int, tail: Int, whole: Int) {
        switch piece.mode {
        case .auto, .text, .escaped, .dissected: (20, 20, 60)
        case .hexText: mode == .auto ? (8, 2, 16) : (2, 0, 4)
        }
    }

    /// Returns the lines of a block. One key press needs the visible ones several times, so they are laid out once.
    package func lines(_ block: Block) -> [Line] {
        if let lines = laidOut.lines[block.key] { return lines }
        let lines = layOut(block)
        laidOut.lines[block.key] = lines
        return lines
    }

    /// The laid-out parts of a document.
    final class LaidOut {
        var lines: [BlockKey: [Line]] = [:]
    }

    private func layOut(_ block: Block) -> [Line] {
        switch block.content {
        case .item(let item, let gap):
            dissection.map { dissectedLines(item, gap, $0) } ?? itemLines(item, gap)
        case .note(let event): rows(noteLine(event))
        case .lost(let count): mark("! \(count) events lost (buffer full)", Style(.warn))
        case .hidden(let count):
            mark("* \(Format.count(count, "control frame")) hidden (:control on)", Style(.dim))
        case .part(let item, let piece): partLines(item, piece)
        case .skipped(let item, let count): mark(Self.skipped(item, count), Style(.warn))
        case .unseen(let count):
            mark("! \(Format.size(count)) from before this was opened are not here", Style(.warn))
        case .sentFile(let file): rows(sentLine(file))
        case .dropped(let count): mark("! \(count) older items dropped to make room", Style(.warn))
        case .closed(let record): rows(closedLine(record))
        case .waiting(let text): waitingLine(text).hanging(width: width, indent: 2)
        }
    }

    /// Whether times are shown only to the second.
    private var isNarrow: Bool { width < 56 }

    private func time(_ time: MonotonicTime) -> String {
        let text = clock.text(time)
        return isNarrow ? String(text.prefix(8)) : text
    }

    /// Wraps a sentence into as many rows as needed.
    private func rows(_ line: Line) -> [Line] { line.hanging(width: width, indent: isNarrow ? 11 : 18) }

    private func mark(_ text: String, _ style: Style) -> [Line] {
        rows(Line(String(repeating: " ", count: isNarrow ? 9 : 16) + text, style))
    }

    private func noteLine(_ event: SocketEvent) -> Line {
        let row = EventCatalogue[event.kind]
        var line = Line(time(event.time) + " * ", Style(.dim))
        if row.hasTag {
            line.append(Format.padded("t\(event.tag)", to: 5))
        }
        let style = Style(row.isWarning ? .warn : .plain)
        let words = EventWords.sentence(event, of: socket, isAsking: askingTag == event.tag, answer: answerKey)
        sanitizer.append(words, style, to: &line)
        if let socket, event.socket != socket.id { line.append(" into \(event.socket)") }
        return line
    }

    private func closedLine(_ record: CloseRecord) -> Line {
        var line = Line(time(record.time) + " * ", Style(.dim))
        sanitizer.append("closed: " + (socket?.ending ?? CloseWords.sentence(record)), Style(.closed), to: &line)
        return line
    }

    private func waitingLine(_ text: String) -> Line {
        var line = Line("  ")
        sanitizer.append(text, Style(.dim), to: &line)
        return line
    }

    private func itemLines(_ item: TrafficItem, _ gap: Gap?) -> [Line] {
        var lines = headLines(item, gap)
        guard !isInParts(item) else { return lines }
        let isExpanded = expanded.contains(item.sequence)
        var wasFolded = false
        for piece in pieces(of: item) {
            let whole = folding(piece).whole
            let rows = layout(piece, item).rows(piece.bytes, limit: isExpanded ? .max : whole + 1).rows
            if piece.beginsAtGap { lines.append(missing(item)) }
            lines += isExpanded || rows.count <= whole ? rows : folded(piece, item)
            wasFolded = wasFolded || rows.count > whole
        }
        if isExpanded, wasFolded { lines.append(foldLine) }
        if item.missingBytes > 0, item.tail.isEmpty { lines.append(missing(item)) }
        return lines
    }

    /// Returns the lines above an item's bytes.
    func headLines(_ item: TrafficItem, _ gap: Gap? = nil) -> [Line] {
        var lines = rows(header(item, gap))
        if let traffic = item.webSocket,
            expanded.contains(item.sequence) || mode == .hexText || traffic.frameCount > 1
        {
            lines += WebSocketWords.frames(traffic).map { Line("  \($0)", Style(.dim)) }
        }
        return lines
    }

    private func partLines(_ item: TrafficItem, _ piece: Piece) -> [Line] {
        var lines = layout(piece, item).rows(piece.bytes, limit: .max).rows
        if piece.beginsAtGap { lines.insert(missing(item), at: 0) }
        let isLast = piece.range.upperBound == (item.tail.isEmpty ? item.bytes.count : item.done)
        guard isLast else { return lines }
        lines.append(foldLine)
        if item.missingBytes > 0, item.tail.isEmpty { lines.append(missing(item)) }
        return lines
    }

    private var foldLine: Line { Line("  ....  (\(expandKey) fold)", Style(.dim)) }

    /// Returns `....  2.9M not kept here`. For an unfinished item, more is shown when it is complete.
    private func missing(_ item: TrafficItem) -> Line {
        let words = item.state == .inProgress ? "more so far" : "not kept here"
        return Line("  ....  \(Format.size(item.missingBytes)) \(words)", Style(.dim))
    }

    /// `! 2990 items with 187M received here were not kept`
    private static func skipped(_ item: TrafficItem, _ count: UInt64) -> String {
        if count == 0 { return "! \(Format.size(item.skipped)) missing here" }
        let noun = count == 1 ? "item" : "items"
        let amount = item.skipped > 0 ? " with \(Format.size(item.skipped))" : ""
        return "! \(count) \(noun)\(amount) not kept here"
    }

    private func sentLine(_ file: SentFile) -> Line {
        var line = Line(time(file.time) + " * ", Style(.dim))
        sanitizer.append(file.words, Style(.sent), to: &line)
        return line
    }

    /// Returns the beginning and the end of a piece, without the side whose bytes are not kept anyway.
    private func folded(_ piece: Piece, _ item: TrafficItem) -> [Line] {
        let layout = layout(piece, item)
        let folding = folding(piece)
        let (head, shown) = piece.beginsAtGap ? ([], 0) : layout.rows(piece.bytes, limit: folding.head)
        let count = piece.bytes.count
        let start = piece.endsAtGap ? count : max(shown, layout.tailStart(piece.bytes, rows: folding.tail))
        let more = Line("  ....  \(start - shown) more bytes   (\(expandKey) expand)", Style(.dim))
        var ending = layout
        ending.offset += start
        return head + [more] + ending.rows(Array(piece.bytes[start...]), limit: folding.tail).rows
    }

    private func header(_ item: TrafficItem, _ gap: Gap?) -> Line {
        let style = style(of: item)
        var line = Line(time(item.time), Style(.dim))
        line.append(goesToServer(item) ?? (item.direction == .sent) ? " > " : " < ", style)
        if let traffic = item.webSocket {
            let words = WebSocketWords.traffic(item, traffic)
            sanitizer.append(words.text, Style(words.isNotable ? .warn : .plain), to: &line)
            return gap.map { appended($0, to: line) } ?? line
        }
        guard speaks(item) == nil else {
            sanitizer.append(speakerWords(item), to: &line)
            let tells = socket?.exchanges != nil
            return gap.map { appended(Gap(time: $0.time, isReply: $0.isReply && tells), to: line) } ?? line
        }
        line.append(Format.padded("t\(item.tag)", to: 4) + " ", style)
        if item.isInjected { line.append("INJECTED ", Style(.warn)) }
        sanitizer.append(item.address.map { DatagramWords.traffic(item, $0) } ?? Self.words(item), to: &line)
        return gap.map { appended($0, to: line) } ?? line
    }

    /// Appends the time since the previous item, if there is room.
    private func appended(_ gap: Gap, to header: Line) -> Line {
        var line = header
        // A relay's own faults delay what the client sees.
        let isDelayed = socket?.linked != nil && socket?.fault?.rules.contains { $0.count > 0 } == true
        let words =
            gap.isReply
            ? "reply after \(Format.duration(gap.time))\(isDelayed ? " with faults" : "")"
            : "+\(Format.duration(gap.time))"
        if line.width + words.count + 3 <= width {
            line.pad(to: width - words.count - 1)
            line.append(words, Style(.dim))
        }
        return line
    }

    /// `write 18 B, done in 0.2ms`, `length 4096, 1024 so far`, `any, 312 B`.
    private static func words(_ item: TrafficItem) -> String {
        if item.done == 0, item.skipped > 0 { return "nothing after it" }
        return switch (item.direction, item.state) {
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
