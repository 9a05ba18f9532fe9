import SocketCore

/// The latest events of a recording or capture, as many as a rewound screen shows.
package struct EventTail: Sendable {
    /// The number of events that are kept.
    package static let limit = 8_192
    private static let slack = 1_024
    private let limit: Int

    /// The events, in ascending order of their sequence numbers.
    package private(set) var events: [SocketEvent] = []
    /// The sequence number after the last one.
    package private(set) var next: UInt64 = 0

    package init(limit: Int = Self.limit) { self.limit = limit }

    /// Adds an event, unless it was added before.
    package mutating func append(_ event: SocketEvent) {
        guard event.sequence >= next, event.sequence < .max else { return }
        events.append(event)
        next = event.sequence + 1
        if events.count > limit + Self.slack { events.removeFirst(events.count - limit) }
    }

    /// Drops all events except the latest `count`.
    mutating func trim(to count: Int) {
        if events.count > count { events = Array(events.suffix(count)) }
    }

    /// Returns the kept events from a sequence number on.
    package func events(from sequence: UInt64) -> ArraySlice<SocketEvent> {
        var (low, high) = (0, events.count)
        while low < high {
            let middle = (low + high) / 2
            if events[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return events[low...]
    }
}
