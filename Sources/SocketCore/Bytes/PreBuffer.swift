/// Bytes that were read ahead of the reads that will take them.
///
/// An array with a head index, not a ring: what is left stays contiguous, so a terminator is found across the seam of
/// two arrivals without a second search. It owns memory only while it holds bytes, so an idle connection owns none.
package struct PreBuffer: Sendable {
    /// The bytes, behind `head` bytes that are already consumed.
    private var storage: [UInt8] = []
    private var head = 0

    /// An empty buffer, which owns no memory.
    package init() {}

    /// How many bytes are there.
    package var count: Int { storage.count - head }

    /// Whether no byte is there.
    package var isEmpty: Bool { storage.isEmpty }

    /// How many bytes of memory it owns; 0 when it is empty.
    package var reserved: Int { storage.capacity }

    /// Adds bytes behind those that are there.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        compactBeforeAppending()
        bytes.withMemoryRebound(to: UInt8.self) { storage.append(contentsOf: $0) }
    }

    /// Puts bytes back before those that are there.
    package mutating func prepend(_ bytes: [UInt8]) {
        if storage.isEmpty {
            storage = bytes
        } else {
            let room = min(head, bytes.count)
            storage.replaceSubrange(head - room..<head, with: bytes)
            head -= room
        }
    }

    /// Drops the first `amount` bytes, and the memory with the last of them. Traps when there are fewer.
    package mutating func consume(_ amount: Int) {
        precondition(0...count ~= amount, "consume(\(amount)) of \(count) bytes")
        head += amount
        if head == storage.count { reset() }
    }

    /// Takes the first `amount` bytes out. Traps when there are fewer.
    package mutating func take(_ amount: Int) -> [UInt8] {
        precondition(0...count ~= amount, "take(\(amount)) of \(count) bytes")
        if amount == storage.count, storage.capacity <= 2 * amount + PreBuffer.slack { return handOver() }
        let taken = prefix(amount)
        consume(amount)
        return taken
    }

    /// Takes the first `amount` bytes out, likewise, in memory that is used again if it has to be a copy.
    package mutating func take(_ amount: Int, from spares: inout ShortArrays) -> [UInt8] {
        guard amount < storage.count else { return take(amount) }
        let taken = withUnsafeBytes { spares.copy(UnsafeRawBufferPointer(rebasing: $0[..<amount])) }
        consume(amount)
        return taken
    }

    /// The first `most` bytes, or all when there are fewer; they stay. It is a copy in memory of its own, where an array
    /// made of a slice might share the whole storage.
    package func prefix(_ most: Int) -> [UInt8] {
        withUnsafeBytes { [UInt8](UnsafeRawBufferPointer(rebasing: $0[..<min(most, $0.count)])) }
    }

    /// The last `most` bytes, or all when there are fewer; they stay.
    package func suffix(_ most: Int) -> [UInt8] {
        withUnsafeBytes { [UInt8](UnsafeRawBufferPointer(rebasing: $0[max(0, $0.count - most)...])) }
    }

    /// Lends all bytes for the length of the call.
    package func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        storage.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[head...])) }
    }

    /// The spare memory that a handed-over array may always have, in bytes.
    static let slack = 64

    /// Gives its own memory away in place of a copy. Not done for an array with much spare room, which whoever keeps
    /// the bytes would keep as well.
    private mutating func handOver() -> [UInt8] {
        let all = storage
        reset()
        return all
    }

    /// Moves what is left to the front once the consumed part is as long: each byte moved was paid for by a byte
    /// consumed, so that consumption costs O(1) in the mean.
    private mutating func compactBeforeAppending() {
        guard head > 0, head >= count else { return }
        storage.removeSubrange(0..<head)
        head = 0
    }

    private mutating func reset() {
        storage = []
        head = 0
    }
}
