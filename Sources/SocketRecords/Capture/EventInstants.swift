import SocketCore

/// The distinct instants of events, in ascending order.
struct EventInstants: Sendable {
    private var instants: [MonotonicTime] = []

    mutating func add(_ new: [MonotonicTime], limit: Int = .max) {
        for instant in new where instants.count < limit {
            // The events of one update are in order. A clock that steps back adds nothing.
            if let last = instants.last, instant <= last { continue }
            instants.append(instant)
        }
    }

    /// Drops unreachable instants once there are many.
    mutating func drop(before instant: MonotonicTime) {
        let count = firstIndex { $0 < instant }
        if count > 1_024, count * 2 > instants.count { instants.removeFirst(count) }
    }

    /// Returns the instants of the last event before an instant and of the first one after it.
    func neighbors(of instant: MonotonicTime) -> (previous: MonotonicTime?, next: MonotonicTime?) {
        let begin = firstIndex { $0 < instant }
        let end = firstIndex { $0 <= instant }
        return (begin > 0 ? instants[begin - 1] : nil, end < instants.count ? instants[end] : nil)
    }

    /// Returns the first index for which the condition is false.
    private func firstIndex(where isBefore: (MonotonicTime) -> Bool) -> Int {
        var (low, high) = (0, instants.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(instants[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
