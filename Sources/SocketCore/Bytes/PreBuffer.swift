/// Bytes that were read ahead, before a read wants them.
///
/// This is an array with a head index, not a ring: the unread bytes stay contiguous, so a terminator that spans two
/// arrivals is found without a second search. It owns memory only while it holds bytes, so an idle connection owns
/// none.
package struct PreBuffer: Sendable {
    /// The bytes, preceded by `head` bytes that are already consumed.
    private var storage: [UInt8] = []
    private var head = 0

    /// Creates an empty buffer, which owns no memory.
    package init() {}

    /// The number of bytes.
    package var count: Int { storage.count - head }

    /// Whether the buffer is empty.
    package var isEmpty: Bool { storage.isEmpty }

    /// The size of the memory it owns, in bytes, or 0 if it is empty.
    package var reserved: Int { storage.capacity }

    /// Appends bytes.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        compactBeforeAppending()
        bytes.withMemoryRebound(to: UInt8.self) { storage.append(contentsOf: $0) }
    }

    /// Puts bytes back in front.
    package mutating func prepend(_ bytes: [UInt8]) {
        if storage.isEmpty {
            storage = bytes
        } else {
            let room = min(head, bytes.count)
            storage.replaceSubrange(head - room..<head, with: bytes)
            head -= room
        }
    }

    /// Drops the first `amount` bytes, and the memory with the last of them. Traps if there are fewer.
    package mutating func consume(_ amount: Int) {
        precondition(0...count ~= amount, "consume(\(amount)) of \(count) bytes")
        head += amount
        if head == storage.count { reset() }
    }

    /// Removes and returns the first `amount` bytes. Traps if there are fewer.
    package mutating func take(_ amount: Int) -> [UInt8] {
        precondition(0...count ~= amount, "take(\(amount)) of \(count) bytes")
        if amount == storage.count, storage.capacity <= 2 * amount + PreBuffer.slack { return handOver() }
        let taken = prefix(amount)
        consume(amount)
        return taken
    }

    /// Removes and returns the first `amount` bytes. Traps if there are fewer. A copy uses memory from `spares`.
    package mutating func take(_ amount: Int, from spares: inout ShortArrayPool) -> [UInt8] {
        guard amount < storage.count else { return take(amount) }
        let taken = withUnsafeBytes { spares.copy(UnsafeRawBufferPointer(rebasing: $0[..<amount])) }
        consume(amount)
        return taken
    }

    /// Returns the first `most` bytes, or all if there are fewer, without removing them. The result is a copy in its
    /// own memory. An array made from a slice might share the whole storage.
    package func prefix(_ most: Int) -> [UInt8] {
        withUnsafeBytes { [UInt8](UnsafeRawBufferPointer(rebasing: $0[..<min(most, $0.count)])) }
    }

    /// Returns the last `most` bytes, or all if there are fewer, without removing them.
    package func suffix(_ most: Int) -> [UInt8] {
        withUnsafeBytes { [UInt8](UnsafeRawBufferPointer(rebasing: $0[max(0, $0.count - most)...])) }
    }

    /// Lends all bytes for the length of the call.
    package func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        storage.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[head...])) }
    }

    /// The spare capacity that an array handed over can always have, in bytes.
    static let slack = 64

    /// Hands over its storage instead of a copy. Not used for an array with much spare capacity, which the new owner
    /// would keep alive.
    private mutating func handOver() -> [UInt8] {
        let all = storage
        reset()
        return all
    }

    /// Moves the unread bytes to the front once the consumed part is at least as long. Each byte moved is paid for by a
    /// byte consumed, so consuming costs O(1) amortized.
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
