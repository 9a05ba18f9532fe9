import Dispatch
import SocketCore
import Synchronization

/// Runs calls that another process may hold up for as long as it likes: its memory may be locked, or lie in a file of a
/// server that does not answer. A call that takes too long is left to itself, with the thread that makes it.
package final class Patience: Sendable {
    /// What one thread does next; `nil`: it ends.
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
        /// Calls that were left to themselves and have not come back.
        var stuck = 0
    }

    private final class Answer<Value: Sendable>: Sendable {
        let value = Mutex<Result<Value, HostSystem.Failure>?>(nil)
        let isThere = DispatchSemaphore(value: 0)
    }

    private let limit: Duration
    private let mostStuck: Int
    private let state = Mutex(State())

    /// - Parameter limit: how long a call may take.
    /// - Parameter mostStuck: while so many calls have not come back, no other is made.
    package init(limit: Duration = .milliseconds(200), mostStuck: Int = 8) {
        (self.limit, self.mostStuck) = (limit, mostStuck)
    }

    deinit { state.withLock { $0.caller?.ask(nil) } }

    /// Throws ETIMEDOUT if it takes too long, EBUSY if too many calls have not come back.
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

    /// A thread that nobody else uses; `nil`: too many are stuck, or there can be no more.
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

    /// What it is asked for next is done when its call has come back.
    private func leave(_ caller: Caller) {
        state.withLock { $0.stuck += 1 }
        caller.ask { @Sendable [self] in
            state.withLock { $0.stuck -= 1 }
            caller.ask(nil)
        }
    }
}
