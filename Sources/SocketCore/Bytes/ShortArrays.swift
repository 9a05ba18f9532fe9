/// Short arrays whose bytes nobody holds any more, for bytes that come in: most reads of a connection are of the same
/// length as those before them, and malloc, free and the runtime take longer than the copy.
///
/// One for an engine, so that what is kept has a bound. What an array held before is overwritten, or cut off, before
/// anybody sees it.
package struct ShortArrays: ~Copyable {
    /// Longer arrays are left to malloc, and to `SpareArrays`.
    package static let mostCapacity = 4_096
    /// Arrays that are kept at most.
    package static let limit = 64

    private var arrays: [[UInt8]] = []

    /// Nothing kept; it owns no memory.
    package init() {}

    /// How many are kept.
    package var count: Int { arrays.count }

    /// Keeps the memory of an array, unless it is long or none, somebody else holds it too, or enough is kept.
    package mutating func keep(_ array: consuming [UInt8]) {
        guard arrays.count < Self.limit, 1...Self.mostCapacity ~= array.capacity, SpareArrays.isHeldOnce(&array) else {
            return
        }
        arrays.append(array)
    }

    /// An array with these bytes. It has no more room to spare than `PreBuffer` leaves to whoever keeps one.
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
