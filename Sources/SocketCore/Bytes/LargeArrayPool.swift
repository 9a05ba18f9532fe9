/// A pool of large arrays whose bytes were sent, for received bytes.
///
/// malloc returns memory of that size to the kernel page by page, and faulting in a new page costs more than copying
/// its bytes. Each engine has one pool, so it is bounded.
package struct LargeArrayPool: ~Copyable {
    /// The smallest capacity of an array in the pool. malloc caches shorter arrays itself.
    package static let leastCapacity = 64 << 10
    /// The most bytes that the pool keeps.
    package static let limit = 4 << 20

    private var arrays: [[UInt8]] = []
    /// The number of bytes in the pool.
    package private(set) var bytes = 0

    /// Creates an empty pool, which owns no memory.
    package init() {}

    /// Moves an array's memory to the pool and leaves the array empty. Has no effect if the array is short or is
    /// referenced elsewhere, or if the pool is full.
    package mutating func keep(_ array: inout [UInt8]) {
        let capacity = array.capacity
        guard capacity >= Self.leastCapacity, bytes + capacity <= Self.limit, Self.isHeldOnce(&array) else { return }
        array.removeAll(keepingCapacity: true)
        arrays.append(array.handOver())
        bytes += capacity
    }

    /// Returns an empty array with room for `count` bytes, if the pool has one that is not far too long, or else an
    /// empty array without memory.
    package mutating func take(for count: Int) -> [UInt8] {
        guard count >= Self.leastCapacity,
            let index = arrays.firstIndex(where: { $0.capacity >= count && $0.capacity / 2 <= count })
        else { return [] }
        let taken = arrays.remove(at: index)
        bytes -= taken.capacity
        return taken
    }

    /// Whether this is the only reference to the array's storage. An array is a single reference, whatever the class of
    /// its storage, so its count can be checked directly. Otherwise only a write to the array would tell, by copying
    /// it.
    package static func isHeldOnce(_ array: inout [UInt8]) -> Bool {
        withUnsafeMutablePointer(to: &array) {
            $0.withMemoryRebound(to: Storage.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
        }
    }

    private final class Storage {}
}
