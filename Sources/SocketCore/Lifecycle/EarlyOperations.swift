/// Operations that wait for the connection or for TLS, in order. It also keeps the sum of their writes' bytes, because
/// adding them up at each write would be quadratic.
struct EarlyOperations {
    private struct Content {
        var operations = OperationDeque<ConnectionMachine.Early>()
        var writeBytes = 0
    }

    /// One element while operations are early, otherwise none: an open connection usually has none.
    private var content: [Content] = []

    /// The number of bytes in the early writes.
    var writeBytes: Int { content.first?.writeBytes ?? 0 }

    var count: Int { content.first?.operations.count ?? 0 }

    var isEmpty: Bool { content.isEmpty }

    subscript(index: Int) -> ConnectionMachine.Early { content[0].operations[index] }

    mutating func append(_ operation: ConnectionMachine.Early) {
        if content.isEmpty { content = [Content()] }
        content[0].writeBytes += operation.writeBytes
        content[0].operations.append(operation)
    }

    mutating func popFirst() -> ConnectionMachine.Early? {
        remove { $0.popFirst() }
    }

    /// Removes the last operation for which `matches` returns `true`.
    mutating func remove(where matches: (ConnectionMachine.Early) -> Bool) -> ConnectionMachine.Early? {
        remove { $0.remove(where: matches) }
    }

    /// Removes the only operation for which `matches` returns `true`.
    mutating func removeOnly(where matches: (ConnectionMachine.Early) -> Bool) -> ConnectionMachine.Early? {
        remove { $0.removeOnly(where: matches) }
    }

    /// Changes the first operation for which `change` returns `true`. It must not change the operation's bytes.
    mutating func change(_ change: (inout ConnectionMachine.Early) -> Bool) -> Bool {
        isEmpty ? false : content[0].operations.change(change)
    }

    private mutating func remove(
        _ take: (inout OperationDeque<ConnectionMachine.Early>) -> ConnectionMachine.Early?
    ) -> ConnectionMachine.Early? {
        guard !isEmpty, let removed = take(&content[0].operations) else { return nil }
        content[0].writeBytes -= removed.writeBytes
        if content[0].operations.isEmpty { content = [] }
        return removed
    }
}

extension ConnectionMachine.Early {
    fileprivate var writeBytes: Int { if case .write(let request, _) = self { request.contents.count } else { 0 } }

    /// The operation's identifier, or `nil` for the barrier.
    var operation: OperationID? {
        switch self {
        case .read(_, let id), .write(_, let id): id
        case .barrier: nil
        }
    }
}
