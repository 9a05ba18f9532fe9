/// Operations that wait behind the one in hand, first in, first out, in O(1) each.
///
/// An array with a head index. It owns no memory until something waits, and gives back what a burst made it take.
package struct OperationDeque<Operation> {
    /// Slots before `head` are vacated at once, so that an operation that left keeps no bytes alive.
    private var slots: [Operation?] = []
    private var firstSlot: UInt32 = 0
    /// Four bytes, since every connection holds some.
    private var head: Int {
        get { Int(firstSlot) }
        set { firstSlot = UInt32(newValue) }
    }

    /// An empty deque, which owns no memory.
    package init() {}

    /// How many wait.
    package var count: Int { slots.count - head }

    /// Whether none waits.
    package var isEmpty: Bool { slots.isEmpty }

    /// For how many operations it owns memory.
    package var reserved: Int { slots.capacity }

    /// The one that waits `index` places behind the first. Traps when there is none.
    package subscript(index: Int) -> Operation {
        guard let operation = slots[head + index] else { fatalError("slot \(index) of \(count) is vacant") }
        return operation
    }

    /// The one that waits at the end; nil when none waits.
    package var last: Operation? { slots.last ?? nil }

    /// Puts one at the end.
    package mutating func append(_ operation: Operation) {
        if head >= OperationDeque.keptCapacity, head >= count { compact() }
        slots.append(operation)
    }

    /// Puts one before that at the end. Traps when none waits.
    package mutating func insertBeforeLast(_ operation: Operation) {
        append(operation)
        slots.swapAt(slots.count - 1, slots.count - 2)
    }

    /// Takes the first out; nil when none waits.
    package mutating func popFirst() -> Operation? {
        guard head < slots.count else { return nil }
        let first = slots[head].take()
        head += 1
        shrinkWhenEmpty()
        return first
    }

    /// Takes that at the end out; nil when none waits.
    package mutating func popLast() -> Operation? {
        let last = slots.popLast() ?? nil
        shrinkWhenEmpty()
        return last
    }

    /// Removes the last for which `matches` holds; nil when there is none. It looks from the end, so that removing all
    /// from the end is not quadratic.
    package mutating func remove(where matches: (Operation) -> Bool) -> Operation? {
        slots.indices.last { $0 >= head && slots[$0].map(matches) == true }.flatMap { remove(at: $0) }
    }

    /// Removes the only one for which `matches` holds; nil when there is none. It looks from both ends at once, so that
    /// removing all from either end is not quadratic.
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

    /// Closes the gap from the side where fewer have to move.
    private mutating func remove(at index: Int) -> Operation? {
        defer { shrinkWhenEmpty() }
        guard index - head < slots.count - index else { return slots.remove(at: index) }
        let removed = slots[index].take()
        for place in stride(from: index, to: head, by: -1) { slots.swapAt(place, place - 1) }
        head += 1
        return removed
    }

    /// Changes the first for which `change` says that it was the one; false when there is none.
    package mutating func change(_ change: (inout Operation) -> Bool) -> Bool {
        for index in slots.indices where index >= head {
            guard var operation = slots[index], change(&operation) else { continue }
            slots[index] = operation
            return true
        }
        return false
    }

    /// Room for so many operations is kept when all have left, so that short queues do not allocate again and again.
    private static var keptCapacity: Int { 4 }

    /// Done when as many slots are vacant as are filled, so each move was paid for by an operation that left.
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
