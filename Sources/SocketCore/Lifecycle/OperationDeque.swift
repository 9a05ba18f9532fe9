/// The operations queued after the current one, first in, first out, in O(1) each.
///
/// It is an array with a head index. It owns no memory until an operation is queued, and releases what a burst
/// allocated.
package struct OperationDeque<Operation> {
    /// Slots before `head` are vacated at once, so that an operation that left retains no bytes.
    private var slots: [Operation?] = []
    private var firstSlot: UInt32 = 0
    /// Stored in four bytes, because every connection has several.
    private var head: Int {
        get { Int(firstSlot) }
        set { firstSlot = UInt32(newValue) }
    }

    /// Creates an empty deque, which owns no memory.
    package init() {}

    /// The number of queued operations.
    package var count: Int { slots.count - head }

    /// Whether no operation is queued.
    package var isEmpty: Bool { slots.isEmpty }

    /// The number of operations it has memory for.
    package var reserved: Int { slots.capacity }

    /// The operation at `index`, counted from the first. Traps if there is none.
    package subscript(index: Int) -> Operation {
        guard let operation = slots[head + index] else { fatalError("slot \(index) of \(count) is vacant") }
        return operation
    }

    /// The last operation, or `nil` if none is queued.
    package var last: Operation? { slots.last ?? nil }

    /// Adds an operation at the end.
    package mutating func append(_ operation: Operation) {
        if head >= OperationDeque.keptCapacity, head >= count { compact() }
        slots.append(operation)
    }

    /// Inserts an operation before the last one. Traps if none is queued.
    package mutating func insertBeforeLast(_ operation: Operation) {
        append(operation)
        slots.swapAt(slots.count - 1, slots.count - 2)
    }

    /// Removes and returns the first operation, or returns `nil` if none is queued.
    package mutating func popFirst() -> Operation? {
        guard head < slots.count else { return nil }
        let first = slots[head].take()
        head += 1
        shrinkWhenEmpty()
        return first
    }

    /// Removes and returns the last operation, or returns `nil` if none is queued.
    package mutating func popLast() -> Operation? {
        let last = slots.popLast() ?? nil
        shrinkWhenEmpty()
        return last
    }

    /// Removes the last operation for which `matches` returns `true`, or returns `nil` if there is none. It searches
    /// from the end, so that removing all from the end is not quadratic.
    package mutating func remove(where matches: (Operation) -> Bool) -> Operation? {
        slots.indices.last { $0 >= head && slots[$0].map(matches) == true }.flatMap { remove(at: $0) }
    }

    /// Removes the only operation for which `matches` returns `true`, or returns `nil` if there is none. It searches
    /// from both ends at once, so that removing all from either end is not quadratic.
    package mutating func removeOnly(where matches: (Operation) -> Bool) -> Operation? {
        var (first, last) = (head, slots.count - 1)
        while first <= last {
            if slots[first].map(matches) == true { return remove(at: first) }
            if slots[last].map(matches) == true { return remove(at: last) }
            first += 1
            last -= 1
        }
        return nil
    }

    /// Closes the gap from the side with fewer operations to move.
    private mutating func remove(at index: Int) -> Operation? {
        defer { shrinkWhenEmpty() }
        guard index - head < slots.count - index else { return slots.remove(at: index) }
        let removed = slots[index].take()
        for place in stride(from: index, to: head, by: -1) { slots.swapAt(place, place - 1) }
        head += 1
        return removed
    }

    /// Changes the first operation for which `change` returns `true`. Returns `false` if there is none.
    package mutating func change(_ change: (inout Operation) -> Bool) -> Bool {
        for index in slots.indices where index >= head {
            guard var operation = slots[index], change(&operation) else { continue }
            slots[index] = operation
            return true
        }
        return false
    }

    /// The capacity kept when the deque empties, so that short queues don't keep reallocating.
    private static var keptCapacity: Int { 4 }

    /// Called when at least as many slots are vacant as filled, so an operation that left has paid for each move.
    private mutating func compact() {
        slots.removeSubrange(0..<head)
        head = 0
    }

    private mutating func shrinkWhenEmpty() {
        guard head == slots.count else { return }
        slots.removeAll(keepingCapacity: slots.capacity <= OperationDeque.keptCapacity)
        head = 0
    }
}

extension OperationDeque: Sendable where Operation: Sendable {}

/// What queued reads and writes have in common.
protocol QueuedOperation {
    var operation: OperationID { get }
    var tag: Int { get }
    /// How long it may be the current operation.
    var limit: TimeLimit { get set }
}

extension OperationDeque where Operation: QueuedOperation {
    /// Changes the timeout of a queued operation. Returns its tag, or `nil` if it isn't queued.
    mutating func setLimit(_ limit: TimeLimit, of operation: OperationID) -> Int? {
        var tag: Int?
        _ = change {
            guard $0.operation == operation else { return false }
            ($0.limit, tag) = (limit, $0.tag)
            return true
        }
        return tag
    }
}
