/// Operations that wait for the connection or for TLS, in order, and the bytes of the writes among them: to add these up
/// at each write would be quadratic.
struct HeldOperations {
    private var operations = OperationDeque<ConnectionMachine.Held>()
    /// Bytes of the writes.
    private(set) var writeBytes = 0

    var count: Int { operations.count }

    var isEmpty: Bool { operations.isEmpty }

    subscript(index: Int) -> ConnectionMachine.Held { operations[index] }

    mutating func append(_ operation: ConnectionMachine.Held) {
        writeBytes += operation.writeBytes
        operations.append(operation)
    }

    mutating func popFirst() -> ConnectionMachine.Held? {
        counting(operations.popFirst())
    }

    /// Removes the last for which `matches` holds.
    mutating func remove(where matches: (ConnectionMachine.Held) -> Bool) -> ConnectionMachine.Held? {
        counting(operations.remove(where: matches))
    }

    /// Removes the only one for which `matches` holds.
    mutating func removeOnly(where matches: (ConnectionMachine.Held) -> Bool) -> ConnectionMachine.Held? {
        counting(operations.removeOnly(where: matches))
    }

    /// Changes the first for which `change` says that it was the one; never its bytes.
    mutating func change(_ change: (inout ConnectionMachine.Held) -> Bool) -> Bool {
        operations.change(change)
    }

    private mutating func counting(_ removed: ConnectionMachine.Held?) -> ConnectionMachine.Held? {
        writeBytes -= removed?.writeBytes ?? 0
        return removed
    }
}

extension ConnectionMachine.Held {
    fileprivate var writeBytes: Int { if case .write(let request, _) = self { request.contents.count } else { 0 } }

    /// Its name; nil: it is no operation of a caller's.
    var operation: OperationID? {
        switch self {
        case .read(_, let id), .write(_, let id): id
        case .barrier: nil
        }
    }
}
