/// A pool of short arrays for received bytes. Most reads of a connection have the same length as those before them, and
/// malloc, free and the runtime take longer than the copy.
///
/// Each engine has one, so the pool is bounded. An array's former bytes are overwritten or cut off before it is handed
/// out.
package struct ShortArrayPool: ~Copyable {
    /// The largest capacity of an array in the pool. Longer arrays are left to malloc and to `LargeArrayPool`.
    package static let mostCapacity = 4_096
    /// The most arrays that the pool keeps.
    package static let limit = 64

    private var arrays: [[UInt8]] = []

    /// Creates an empty pool, which owns no memory.
    package init() {}

    /// The number of arrays in the pool.
    package var count: Int { arrays.count }

    /// Adds an array's memory to the pool. Has no effect if the array is long, owns no memory or is referenced
    /// elsewhere, or if the pool is full.
    package mutating func keep(_ array: consuming [UInt8]) {
        guard arrays.count < Self.limit, 1...Self.mostCapacity ~= array.capacity, LargeArrayPool.isHeldOnce(&array)
        else {
            return
        }
        arrays.append(array)
    }

    /// Returns an array with these bytes. It has no more spare capacity than `PreBuffer` allows in an array it hands
    /// over.
    package mutating func copy(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        guard bytes.count <= Self.mostCapacity, var array = arrays.popLast() else { return [UInt8](bytes) }
        if array.count == bytes.count {
            array.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
            return array
        }
        guard bytes.count...2 * bytes.count + PreBuffer.slack ~= array.capacity else { return [UInt8](bytes) }
        array.removeAll(keepingCapacity: true)
        bytes.withMemoryRebound(to: UInt8.self) { array.append(contentsOf: $0) }
        return array
    }
}
