/// Large arrays whose bytes went out, kept for bytes that come in.
///
/// What malloc gets back of that size it gives back to the kernel, page by page, and a page that is asked for anew costs
/// more than the copy of its bytes. One for an engine, so that what is kept has a bound.
package struct SpareArrays: ~Copyable {
    /// Shorter arrays are left to malloc, which keeps them itself.
    package static let leastCapacity = 64 << 10
    /// Bytes that are kept at most.
    package static let limit = 4 << 20

    private var arrays: [[UInt8]] = []
    /// Bytes that are kept.
    package private(set) var bytes = 0

    /// Nothing kept; it owns no memory.
    package init() {}

    /// Takes the memory of an array away, which is empty then; unless it is short, somebody else holds it too, or enough
    /// is kept.
    package mutating func keep(_ array: inout [UInt8]) {
        let capacity = array.capacity
        guard capacity >= Self.leastCapacity, bytes + capacity <= Self.limit, Self.isHeldOnce(&array) else { return }
        array.removeAll(keepingCapacity: true)
        arrays.append(array.handOver())
        bytes += capacity
    }

    /// An empty array with room for so many bytes, if one is kept that is not far too long; else one without memory.
    package mutating func take(for count: Int) -> [UInt8] {
        guard count >= Self.leastCapacity,
            let index = arrays.firstIndex(where: { $0.capacity >= count && $0.capacity / 2 <= count })
        else { return [] }
        let taken = arrays.remove(at: index)
        bytes -= taken.capacity
        return taken
    }

    /// An array is one reference to its storage, whatever class that is of, and this asks for that one's count. Only a
    /// write to the array would tell otherwise, by copying it.
    package static func isHeldOnce(_ array: inout [UInt8]) -> Bool {
        withUnsafeMutablePointer(to: &array) {
            $0.withMemoryRebound(to: Storage.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
        }
    }

    private final class Storage {}
}
