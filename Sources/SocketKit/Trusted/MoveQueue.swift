/// A first-in, first-out ring whose elements are moved in and out, never copied. It owns no memory until its first element.
///
/// Proof: exactly the `count` slots from `head` hold elements. `slots` is private and never handed out, so the queue alone owns
/// its elements, as an array does, and can be sent wherever they can.
struct MoveQueue<Element: ~Copyable>: ~Copyable {
    private static var leastCapacity: Int { 16 }
    /// The capacity above which an empty queue frees its memory.
    private static var keptCapacity: Int { 1_024 }

    private var slots = UnsafeMutableBufferPointer<Element>(start: nil, count: 0)
    private var head = 0
    private(set) var count = 0

    init() {}

    deinit {
        for index in 0..<count { slots.deinitializeElement(at: (head + index) & (slots.count - 1)) }
        slots.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    @inline(__always)
    mutating func append(_ element: consuming Element) {
        if count == slots.count { move(toCapacity: max(Self.leastCapacity, slots.count * 2)) }
        slots.initializeElement(at: (head &+ count) & (slots.count &- 1), to: element)
        count += 1
    }

    @inline(__always)
    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let first = slots.moveElement(from: head)
        head = (head &+ 1) & (slots.count &- 1)
        count -= 1
        if count == 0, slots.count > Self.keptCapacity { move(toCapacity: Self.leastCapacity) }
        return first
    }

    /// Calls `body` with each element in order, in place.
    mutating func forEach(_ body: (inout Element) -> Void) {
        for index in 0..<count { body(&slots[(head + index) & (slots.count - 1)]) }
    }

    @inline(never)
    private mutating func move(toCapacity capacity: Int) {
        assert(capacity > count && capacity & (capacity - 1) == 0)
        let larger = UnsafeMutableBufferPointer<Element>.allocate(capacity: capacity)
        for index in 0..<count {
            larger.initializeElement(at: index, to: slots.moveElement(from: (head + index) & (slots.count - 1)))
        }
        slots.deallocate()
        slots = larger
        head = 0
    }
}

extension MoveQueue: @unchecked Sendable where Element: Sendable & ~Copyable {}
