/// The latest events of an engine. It overwrites its oldest, and a reader finds what it missed by sequence number.
package struct EventRing: ~Copyable {
    private let events: UnsafeMutablePointer<SocketEvent>
    private var count = 0
    /// Where the next event goes.
    private var slot = 0
    private let capacity: Int
    /// The sequence number that the next event gets; as many events were recorded so far.
    package private(set) var next: UInt64 = 0

    /// An empty ring for so many events; its memory is taken here and never again. One for none records nothing.
    package init(capacity: Int) {
        self.capacity = max(0, capacity)
        events = .allocate(capacity: self.capacity)
    }

    deinit { events.deallocate() }

    /// Records an event, in place of the oldest when the ring is full. It allocates nothing.
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

    /// The events from a sequence number on, oldest first, as far as they are still here; how many were overwritten
    /// before them; and the number to ask for next. A number that lies ahead finds nothing and has lost nothing.
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
