/// The latest events of an engine. New events overwrite the oldest, and a reader detects what it missed by sequence
/// number.
package struct EventRing: ~Copyable {
    private var events: UnsafeMutablePointer<SocketEvent>
    private var count = 0
    /// The slot of the next event.
    private var slot = 0
    private var capacity: Int
    /// The sequence number of the next event, which is also the number of events recorded so far.
    package private(set) var next: UInt64 = 0

    /// Creates an empty ring for `capacity` events. All its memory is allocated here. With a capacity of 0, it records
    /// nothing.
    package init(capacity: Int) {
        self.capacity = max(0, capacity)
        events = .allocate(capacity: self.capacity)
    }

    deinit { events.deallocate() }

    /// Records an event, in place of the oldest if the ring is full. Allocates nothing.
    package mutating func record(
        _ kind: SocketEvent.Kind, of socket: SocketID, at time: MonotonicTime, tag: Int = 0, first: Int = 0,
        second: Int = 0
    ) {
        guard capacity > 0 else { return }
        (events + slot).initialize(
            to: SocketEvent(
                sequence: next, time: time, socket: socket, kind: kind, tag: tag, first: first, second: second))
        if count < capacity { count += 1 }
        slot = slot + 1 == capacity ? 0 : slot + 1
        next += 1
    }

    /// Makes room for `more` events before any that is kept now is overwritten. With a capacity of 0, it stays so.
    package mutating func makeRoom(for more: Int) {
        guard capacity > 0, more > capacity - count else { return }
        let kept = read(from: 0).events
        events.deallocate()
        capacity = count + more
        events = .allocate(capacity: capacity)
        events.initialize(from: kept, count: count)
        slot = count
    }

    /// Returns the events from a sequence number on that are still kept, oldest first, how many were overwritten before
    /// them, and the number to request next. For a number not yet reached it returns no events and no loss.
    package func read(from sequence: UInt64) -> (events: [SocketEvent], lost: UInt64, next: UInt64) {
        guard sequence < next else { return ([], 0, next) }
        let oldest = next - UInt64(count)
        let start = max(sequence, oldest)
        let behind = count - Int(start - oldest)
        let first = slot >= behind ? slot - behind : slot - behind + capacity
        let end = min(count, first + behind)
        let recorded = UnsafeBufferPointer(start: events, count: count)
        return (Array(recorded[first..<end]) + recorded[..<(behind - (end - first))], start - sequence, next)
    }
}
