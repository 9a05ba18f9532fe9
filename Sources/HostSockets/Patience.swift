import Dispatch
import SocketCore
import Synchronization

/// Runs calls that another process can block indefinitely: its memory may be locked, or backed by a file on a server
/// that does not answer. A call that takes too long is abandoned, together with the thread that makes it.
package final class Patience: Sendable {
    /// A thread and its next job. The thread ends if the job is `nil`.
    private final class Caller: Sendable {
        let next = Mutex<(@Sendable () -> Void)?>(nil)
        let wake = DispatchSemaphore(value: 0)

        func run() {
            while true {
                wake.wait()
                guard let body = next.withLock({ $0.take() }) else { return }
                body()
            }
        }

        func ask(_ body: (@Sendable () -> Void)?) {
            next.withLock { $0 = body }
            wake.signal()
        }
    }

    private struct State {
        var caller: Caller?
        /// The number of abandoned calls that have not returned.
        var stuck = 0
    }

    private final class Answer<Value: Sendable>: Sendable {
        let value = Mutex<Result<Value, HostSystem.Failure>?>(nil)
        let isThere = DispatchSemaphore(value: 0)
    }

    private let limit: Duration
    private let mostStuck: Int
    private let state = Mutex(State())

    /// - Parameter limit: The longest time that a call may take.
    /// - Parameter mostStuck: The number of stuck calls at which no new thread is created. A call then needs an idle
    ///   thread.
    package init(limit: Duration = .milliseconds(200), mostStuck: Int = 8) {
        (self.limit, self.mostStuck) = (limit, mostStuck)
    }

    deinit { state.withLock { $0.caller?.ask(nil) } }

    /// Runs `body` on another thread. Throws ETIMEDOUT if it takes too long, or EBUSY if no thread is available.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(HostSystem.Failure) -> Value
    ) throws(HostSystem.Failure) -> Value {
        guard let caller = takeCaller() else { throw HostSystem.Failure.busy }
        let answer = Answer<Value>()
        caller.ask { @Sendable in
            let result = Result { () throws(HostSystem.Failure) in try body() }
            answer.value.withLock { $0 = result }
            answer.isThere.signal()
        }
        let end = DispatchTime.now() + .nanoseconds(Int(limit.wholeNanoseconds))
        guard answer.isThere.wait(timeout: end) == .success, let result = answer.value.withLock({ $0 }) else {
            leave(caller)
            throw HostSystem.Failure.late
        }
        giveBack(caller)
        return try result.get()
    }

    /// Returns a thread that is not in use, or `nil` if too many calls are stuck or no thread can be created.
    private func takeCaller() -> Caller? {
        let (idle, isFree) = state.withLock { ($0.caller.take(), $0.stuck < mostStuck) }
        if let idle { return idle }
        let caller = Caller()
        return isFree && OwnThread.start({ @Sendable in caller.run() }) ? caller : nil
    }

    private func giveBack(_ caller: Caller) {
        let spare = state.withLock { state in
            defer { if state.caller == nil { state.caller = caller } }
            return state.caller == nil ? nil : caller
        }
        spare?.ask(nil)
    }

    /// Abandons a thread. It ends once its call has returned.
    private func leave(_ caller: Caller) {
        state.withLock { $0.stuck += 1 }
        caller.ask { @Sendable [self] in
            state.withLock { $0.stuck -= 1 }
            caller.ask(nil)
        }
    }
}
