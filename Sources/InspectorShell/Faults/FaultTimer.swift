import Dispatch
import SocketKit

/// A timer on the engine's queue without leeway: it is never delayed to coalesce it with others.
package final class FaultTimer: Sendable {
    private let source: Lock<any DispatchSourceTimer>

    package init(_ queue: DispatchQueue, whenDue: @escaping @Sendable () -> Void) {
        let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.schedule(deadline: .distantFuture)
        timer.setEventHandler(handler: whenDue)
        timer.activate()
        source = Lock(timer)
    }

    deinit { source.withLock { $0.cancel() } }

    package func set(after time: Duration) {
        let nanoseconds = Int(clamping: max(0, time.wholeNanoseconds))
        source.withLock { $0.schedule(deadline: .now() + .nanoseconds(nanoseconds), leeway: .nanoseconds(0)) }
    }
}

/// The earliest of the times at which rules want to act. Its timer exists once there was such a time.
package final class FaultAlarm: Sendable {
    private struct State {
        var time: MonotonicTime?
        var timer: FaultTimer?
    }

    private let state = Lock(State())
    private let queue: DispatchQueue

    package init(_ queue: DispatchQueue) { self.queue = queue }

    /// Makes the alarm go off at `time`. Has no effect if it goes off earlier. `whenDue` must be the same each time.
    package func set(_ time: MonotonicTime, _ now: MonotonicTime, whenDue: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard state.time.map({ time < $0 }) ?? true else { return }
            let timer =
                state.timer
                ?? FaultTimer(queue) { @Sendable [weak self] in
                    self?.state.withLock { $0.time = nil }
                    whenDue()
                }
            (state.time, state.timer) = (time, timer)
            timer.set(after: time - now)
        }
    }
}
