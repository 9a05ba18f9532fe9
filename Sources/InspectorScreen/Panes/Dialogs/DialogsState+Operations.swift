import InspectorCore
import SocketCore

/// Dialogs about queued operations.
extension DialogsState {
    /// Asks which of the selected connection's operations to act on.
    mutating func openOperations(_ subject: Subject) -> Model.Notice? {
        guard let selected = subject.socket, selected.isLive, selected.role != .listener else {
            return .hint("operations can be queued only on live connections")
        }
        let queues = [selected.reading, selected.writing]
        let operations = queues.flatMap { ([$0.current].compactMap { $0 }) + $0.pending }
        guard !operations.isEmpty else {
            return .hint("nothing is queued on \(selected.id)")
        }
        if operations.count == 1 {
            openOperation(selected.id, operations[0])
            return nil
        }
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
        open = .menu(Menu(title: "queued on \(selected.id): which?", items: items))
        return nil
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

    /// Asks what to do with an operation.
    mutating func openOperation(_ id: SocketID, _ operation: OperationSnapshot) {
        var items = [Menu.Item(key: "c", label: "cancel it", choice: .cancel(id, .operation(operation.id)))]
        if operation.kind == .write, operation.done > 0 { items = [] }
        if operation.isAsking {
            items.append(Menu.Item(key: "a", label: "answer: extend, fail it, close", choice: .answer))
        } else {
            items.append(Menu.Item(key: "t", label: "change its timeout", choice: .changeTimeout(id, operation)))
        }
        open = .menu(Menu(title: "\(id) " + Self.words(operation), items: items))
    }

    /// Asks for an operation's timeout.
    mutating func openTimeout(_ id: SocketID, _ operation: OperationSnapshot, in shared: Shared) {
        let now = operation.timeout.map { Format.duration($0) } ?? ""
        let begun = operation.started.map { ", started \(Format.duration(shared.now - $0)) ago" } ?? ""
        open = .form(
            Form(
                .timeout(id, operation),
                [.text(.timeout, "Timeout", now, hint: "such as 30s\(begun); empty: none")]))
    }

    /// Asks for the watermarks of the selected connection's write queue.
    mutating func openWatermarks(_ subject: Subject) -> Model.Notice? {
        guard let selected = subject.socket, selected.isLive, selected.role != .listener else {
            return .hint("watermarks can be set only on live connections")
        }
        let marks = selected.watermarks
        open = .form(
            Form(
                .watermarks(selected.id),
                [
                    .text(.high, "High", marks.map { String($0.high) } ?? "", hint: "bytes, or empty: none"),
                    .text(.low, "Low", marks.map { String($0.low) } ?? "0", hint: "bytes"),
                ]))
        return nil
    }
}
