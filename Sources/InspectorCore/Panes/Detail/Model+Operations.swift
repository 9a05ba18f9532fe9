import SocketCore

extension Model {
    /// Asks which of the selected connection's operations something shall be done with.
    mutating func openOperations() {
        guard let selected, selected.isLive, selected.role != .listener else {
            notice = hint("operations are queued on live connections")
            return
        }
        let queues = [selected.reading, selected.writing]
        let operations = queues.flatMap { ([$0.current].compactMap { $0 }) + $0.pending }
        guard !operations.isEmpty else {
            notice = hint("nothing is queued on \(selected.id)")
            return
        }
        if operations.count == 1 { return openOperation(selected.id, operations[0]) }
        var items = operations.enumerated().map { index, operation in
            Menu.Item(
                key: index < 9 ? Character(String(index + 1)) : nil, label: Self.words(operation),
                choice: .operation(selected.id, operation))
        }
        if selected.reading.pendingCount > 0 {
            items.append(Menu.Item(key: "r", label: "cancel every read", choice: .cancel(selected.id, .reads)))
        }
        if selected.writing.pendingCount > 0 {
            items.append(
                Menu.Item(key: "w", label: "cancel every write not started", choice: .cancel(selected.id, .writes)))
        }
        dialog = .menu(Menu(title: "queued on \(selected.id): which?", items: items))
    }

    /// `t42 length 4096, 1024/4096, 30s`
    private static func words(_ operation: OperationSnapshot) -> String {
        var words = "t\(operation.tag) \(operation.kind.words)"
        if operation.isStanding { words += " (standing)" }
        if let total = operation.total {
            words += ", \(operation.done)/\(total)"
        } else if operation.done > 0 {
            words += ", \(operation.done) so far"
        }
        if let timeout = operation.timeout { words += ", timeout \(Format.duration(timeout))" }
        if operation.isAsking { words += ", ASK" }
        return words
    }

    /// Asks what shall be done with an operation.
    mutating func openOperation(_ id: SocketID, _ operation: OperationSnapshot) {
        var items = [Menu.Item(key: "c", label: "cancel it", choice: .cancel(id, .operation(operation.id)))]
        if operation.kind == .write, operation.done > 0 { items = [] }
        if operation.isAsking {
            items.append(Menu.Item(key: "a", label: "answer: extend, fail it, close", choice: .answer))
        } else {
            items.append(Menu.Item(key: "t", label: "change its timeout", choice: .changeTimeout(id, operation)))
        }
        dialog = .menu(Menu(title: "\(id) " + Self.words(operation), items: items))
    }

    /// Asks for an operation's timeout.
    mutating func openTimeout(_ id: SocketID, _ operation: OperationSnapshot) {
        let now = operation.timeout.map { Format.duration($0) } ?? ""
        let begun = operation.started.map { ", started \(Format.duration(self.now - $0)) ago" } ?? ""
        dialog = .form(
            Form(
                .timeout(id, operation),
                [.text(.timeout, "Timeout", now, hint: "such as 30s\(begun); empty: none")]))
    }

    /// Asks what becomes of the connection that waits at a listener.
    mutating func openConnectionMenu(_ listener: SocketSnapshot) {
        guard let waiting = listener.kernel?.receiveQueue, waiting > 0 else {
            notice = hint(
                listener.isReadingPaused ? "nobody waits at \(listener.id)" : "every connection is taken as it comes")
            return
        }
        let title = "\(Format.count(waiting, "connection")) wait\(waiting == 1 ? "s" : "") at \(listener.id)"
        dialog = .menu(
            Menu(
                title: title,
                items: [
                    Menu.Item(key: "t", label: "take the first", choice: .answerConnection(listener.id, .take)),
                    Menu.Item(
                        key: "r", label: "refuse it, with RST", choice: .answerConnection(listener.id, .refuse)),
                ]))
    }

    /// Asks for the marks of the selected connection's write queue.
    mutating func openWatermarks() {
        guard let selected, selected.isLive, selected.role != .listener else {
            notice = hint("watermarks are set on live connections")
            return
        }
        let marks = selected.watermarks
        dialog = .form(
            Form(
                .watermarks(selected.id),
                [
                    .text(.high, "High", marks.map { String($0.high) } ?? "", hint: "bytes, or empty: none"),
                    .text(.low, "Low", marks.map { String($0.low) } ?? "0", hint: "bytes"),
                ]))
    }
}

extension Form {
    /// The marks that the form asks for; nil: none.
    func watermarks() throws(Problem) -> Watermarks? {
        guard !text(.high).isEmpty else { return nil }
        let high = try number(.high, 0...Int.max, "a number of bytes")
        let low = try number(.low, 0...Int.max, "a number of bytes")
        guard low <= high else { throw Problem(field: .low, message: "the low mark is above the high one") }
        return Watermarks(low: low, high: high)
    }

    /// How lines shall go out.
    func pace() throws(Problem) -> Pace {
        var pace = Pace()
        pace.interval = try duration(.interval)
        pace.timeout = try duration(.timeout)
        guard !text(.pieces).isEmpty else { return pace }
        let bytes = try number(.pieces, 1...1 << 20, "a number of bytes from 1 to 1048576")
        guard let gap = try duration(.gap) else { throw Problem(field: .gap, message: "how long between the pieces?") }
        pace.dribble = Pace.Dribble(bytes: bytes, interval: gap)
        return pace
    }
}

extension DetailBuilder {
    /// The marks of the write queue, where some are set.
    var marks: String {
        guard let marks = socket.watermarks else { return "" }
        let bounds = "   marks \(Format.bytes(marks.low)) to \(Format.bytes(marks.high))"
        return socket.isAboveHighMark ? bounds + ", above" : bounds
    }
}
