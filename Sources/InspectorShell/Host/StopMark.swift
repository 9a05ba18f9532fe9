import Dispatch
import SocketKit

/// Lets another thread stop work that takes seconds.
package final class StopMark: Sendable {
    private let state = Lock(false)
    private let bell = DispatchSemaphore(value: 0)

    package init() {}

    package var isStopped: Bool { state.withLock { $0 } }

    /// Stops the work at its next pause, and ends a pause in progress.
    package func stop() {
        state.withLock { $0 = true }
        bell.signal()
    }

    /// Blocks the calling thread for this time, or until the work is stopped.
    package func pause(_ time: Duration) {
        guard !isStopped else { return }
        _ = bell.wait(timeout: .now() + .nanoseconds(Int(max(0, time.wholeNanoseconds))))
    }

    /// Waits for a signal, at most this long, or until the work is stopped.
    package func wait(for semaphore: DispatchSemaphore, atMost limit: Duration) {
        let end = ContinuousClock.now + limit
        while !isStopped, .now < end {
            if semaphore.wait(timeout: .now() + .milliseconds(20)) == .success { return }
        }
    }
}
