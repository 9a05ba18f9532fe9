import InspectorCore
import SocketCore

extension DetailBuilder {
    var queues: [Row] {
        guard socket.role != .listener else {
            return [
                rule("connections"),
                Row(left: Line(" \(Format.count(Int(clamping: socket.accepted), "connection")) accepted")),
            ]
        }
        let pending = socket.writing.pendingBytes
        return queue("read queue", socket.reading, extra: "", key: readKey)
            + queue(
                "write queue", socket.writing, extra: (pending > 0 ? "   \(Format.size(pending)) pending" : "") + marks,
                key: model.canCompose && !model.isComposing ? model.naming("{write} add") : "")
    }

    private var readKey: String {
        socket.acceptsReads && socket.ownWebSocket == nil && model.allowsCommands ? model.naming("{read} add") : ""
    }

    private func queue(_ name: String, _ queue: QueueSnapshot, extra: String, key: String) -> [Row] {
        let current = queue.current == nil ? 0 : 1
        let count = queue.pendingCount > 0 ? "\(current)+\(queue.pendingCount)" : "\(current)"
        var rows = [rule("\(name) \(count)\(extra)", right: key)]
        if let current = queue.current {
            rows += inHand(current)
            if current.isAsking, model.allowsCommands {
                let words = model.naming("press {answer} to extend, fail or close").split(separator: " ")
                rows += wrapped(words.map { Line($0, Style(.warn)) }, separator: " ", indent: 5)
            }
        } else if queue.barrier != 0 {
            rows.append(Row(left: Line(" empty", Style(.dim))))
        }
        for (index, operation) in queue.pending.enumerated() {
            if queue.barrier == index + current { rows += barrier(queue) }
            rows.append(waiting(operation, number: index + 1, after: queue.current))
        }
        if queue.barrier == queue.pending.count + current { rows += barrier(queue) }
        let unlisted = queue.pendingCount - queue.pending.count
        if unlisted > 0 { rows.append(Row(left: Line("     +\(unlisted) more", Style(.dim)))) }
        return rows
    }

    /// Returns the TLS barrier, and what it waits for.
    private func barrier(_ queue: QueueSnapshot) -> [Row] {
        let (text, isWarning) = TLSWords.barrier(queue, of: socket, now: model.now, answer: model.answerKey)
        let words = text.split(separator: " ").map { safe(String($0), isWarning ? .warn : .dim) }
        return marked(
            Line(queue.barrier == 0 ? " now " : "  -- ", Style(.key)),
            wrapped([Line("startTLS ", Style(.heading))] + words, separator: " ", indent: 5))
    }

    private func name(_ operation: OperationSnapshot) -> Line {
        var line = Line(Format.padded("t\(operation.tag)", to: 4) + " ")
        switch operation.kind {
        case .read(let kind):
            line.append(safe(kind.words))
            if operation.isStanding { line.append(" (standing)", Style(.dim)) }
            if let limit = kind.values.limit { line.append(" max \(SizeText.show(limit))", Style(.dim)) }
        case .write:
            line.append("data \(operation.total.map(String.init) ?? "")")
            if operation == socket.writing.current, let file = model.shared.transmissions[socket.id]?.file(on: socket) {
                line.append(" of ")
                line.append(safe(file.name))
                line.append(", \(Format.percent(done: file.done, total: file.total)) of it")
            }
        }
        return line
    }

    private func inHand(_ operation: OperationSnapshot) -> [Row] {
        let state = state(operation)
        let name = name(operation)
        guard let total = operation.total, total > 0 else {
            var words = [name]
            if operation.done > 0 {
                words.append(Line("\(Format.size(operation.done)) so far", Style(.received)))
            }
            var rows = current(words)
            if rows.count == 1, rows[0].left.width + state.width + 2 <= width {
                rows[0].right = state
                return rows
            }
            rows = current(words + [state])
            return rows
        }
        var line = Line(" now ", Style(.key))
        line.append(name)
        if let whole = progress(operation, of: total, after: line, room: width - 2 - state.width) {
            return [Row(left: whole, right: state)]
        }
        let amount = Line("\(operation.done)/\(total) " + Format.percent(done: operation.done, total: total))
        return current([name, amount, state])
    }

    /// The words of an operation in progress.
    private func current(_ words: [Line]) -> [Row] {
        marked(Line(" now ", Style(.key)), wrapped(words, separator: "  ", indent: 5))
    }

    /// Returns numbers, bar and percentage, with the bars of both queues aligned. For lack of room the bar is left out
    /// first, then the numbers. Returns `nil` if there is no room for the percentage either.
    private func progress(_ operation: OperationSnapshot, of total: Int, after words: Line, room: Int) -> Line? {
        let numbers = "\(operation.done)/\(total) "
        let percent = Format.percent(done: operation.done, total: total)
        var line = words
        line.append("  ")
        var withBar = line
        withBar.pad(to: width >= 76 ? 42 - numbers.count : 0)
        withBar.append(numbers)
        withBar.append(
            model.glyphs.bar(done: operation.done, total: total, width: width >= 76 ? 18 : 10),
            Style(operation.kind == .write ? .sent : .received))
        withBar.append(" " + percent)
        if withBar.width <= room { return withBar }
        if line.width + numbers.count + percent.count <= room { line.append(numbers) }
        line.append(percent)
        return line.width <= room ? line : nil
    }

    private func state(_ operation: OperationSnapshot) -> Line {
        if operation.isAsking {
            let after = operation.timeout.map { " after \(Format.duration($0))" } ?? ""
            return Line("ASK\(after)", Style(.warn, [.bold]))
        }
        let still = (operation.lastProgress ?? operation.started).map { model.now - $0 } ?? .zero
        if operation.kind == .write && still >= .seconds(2) {
            return Line("stalled \(Format.duration(still))", Style(.warn))
        }
        if let deadline = operation.deadline {
            return Line("\(Format.duration(max(.zero, deadline - model.now))) left", Style(.dim))
        }
        return Line("no timeout", Style(.dim))
    }

    private func waiting(_ operation: OperationSnapshot, number: Int, after current: OperationSnapshot?) -> Row {
        var line = Line(Format.padded(String(number), to: 4, right: true) + " ", Style(.dim))
        switch operation.kind {
        case .read: line.append(name(operation))
        case .write:
            line.append(Format.padded("t\(operation.tag)", to: 4) + " ")
            line.append("\(Format.size(operation.total ?? operation.preview.count)) ")
            line.append("\"\(EscapedText.show(operation.preview))\"", Style(.dim))
            if let total = operation.total, total > operation.preview.count { line.append("...", Style(.dim)) }
        }
        let isFirst = number == 1
        if isFirst, let current, line.width + 20 < width { line.append("   waits for t\(current.tag)", Style(.dim)) }
        return Row(left: line, right: Line(operation.timeout.map { Format.duration($0) } ?? "", Style(.dim)))
    }

    private var ways: (in: String, out: String) { CapturedWords.ways(socket) }

    /// The last sixty seconds.
    var minute: [Row] {
        guard socket.role != .listener, let series = model.shared.histories[socket.id], !series.received.isEmpty else {
            return []
        }
        func peak(_ values: [Float]) -> String { Format.rate(values.max().map(Double.init)) }
        let title = "peak \(ways.in) \(peak(series.received))/s \(ways.out) \(peak(series.sent))/s"
        let room = max(0, min(RateHistories.seconds, width - ways.in.count - 4))
        var received = Line(" \(ways.in) ", Style(.dim))
        received.append(model.glyphs.sparkline(series.received, width: room), Style(.received))
        var sent = Line(" \(ways.out) ", Style(.dim))
        sent.append(model.glyphs.sparkline(series.sent, width: room), Style(.sent))
        return [rule("60s", right: title), Row(left: received), Row(left: sent)]
            + EventMarks(model, socket, seconds: min(room, series.received.count)).rows(width: width)
    }

    var totals: [Row] {
        guard socket.role != .listener else { return [] }
        let rows = [rule("totals")]
        func word(_ name: String, _ value: String, _ role: Role = .plain) -> Line {
            var line = Line(name + " ", Style(.dim))
            line.append(value, Style(role))
            return line
        }
        var words = [
            word(ways.in, Format.size(socket.received), .received), word(ways.out, Format.size(socket.sent), .sent),
        ]
        // The operations of other programs are not known.
        if socket.ends == nil, socket.host == nil {
            words += [
                word("reads done", String(socket.reading.completed)),
                word("writes done", String(socket.writing.completed)),
                word("prebuffer", Format.size(socket.prebuffered)),
            ]
        }
        return rows + wrapped(words, separator: "   ") + lastBytes
    }

    /// The newest bytes of both directions, as far as the traffic is known.
    private var lastBytes: [Row] {
        guard model.traffic.socket == socket.id else { return [] }
        let items = model.traffic.shown(in: model.shared).items
        let room = max(8, min(32, (width - 28) / 2))
        func tail(_ direction: TrafficItem.Direction) -> String {
            let item = items.last { $0.direction == direction && !$0.bytes.isEmpty }
            let bytes = item.map { $0.tail.isEmpty ? $0.bytes : $0.tail }?.suffix(room) ?? []
            var text = ""
            for byte in bytes { text.unicodeScalars.append(Sanitizer.hexColumn(byte)) }
            return text
        }
        guard !items.isEmpty else { return [] }
        func row(_ name: String, _ text: String, _ role: Role) -> Line {
            var line = Line("\(name) |", Style(.dim))
            line.append(text, Style(role))
            line.append("|", Style(.dim))
            return line
        }
        return wrapped(
            [
                row("last bytes  rx", tail(.received), .received), row("tx", tail(.sent), .sent),
            ], separator: "   ")
    }

    /// The watermarks of the write queue, if some are set.
    var marks: String {
        guard let marks = socket.watermarks else { return "" }
        let bounds = "   marks \(Format.bytes(marks.low)) to \(Format.bytes(marks.high))"
        return socket.isAboveHighMark ? bounds + ", above" : bounds
    }
}
