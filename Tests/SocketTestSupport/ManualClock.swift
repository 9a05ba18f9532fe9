import SocketKit

/// A clock that stands still until it is told to go on.
package final class ManualClock: EngineClock {
    private let time = Lock(MonotonicTime(nanoseconds: 1_000_000_000))

    package init() {}

    package var now: MonotonicTime { time.withLock { $0 } }
    package var wallNanoseconds: Int64 { now.nanoseconds }

    package func advance(by interval: Duration) {
        time.withLock { $0 = $0 + interval }
    }
}
