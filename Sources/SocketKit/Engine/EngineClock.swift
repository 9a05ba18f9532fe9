import Glibc
import SocketCore

/// The engine's clock, which tests replace to control time.
package protocol EngineClock: AnyObject, Sendable {
    var now: MonotonicTime { get }
    /// Nanoseconds since 1970 (UTC).
    var wallNanoseconds: Int64 { get }
}

/// CLOCK_MONOTONIC and CLOCK_REALTIME.
package final class SystemClock: EngineClock {
    package init() {}

    package var now: MonotonicTime { MonotonicTime(nanoseconds: read(CLOCK_MONOTONIC)) }

    package var wallNanoseconds: Int64 { read(CLOCK_REALTIME) }

    private func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
