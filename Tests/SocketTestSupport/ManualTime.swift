import SocketKit

/// The time of an engine in the hand of a test: clock and reactor in one. Descriptors are reported as the kernel does;
/// time stands still until it is told to pass, and deadlines come exactly then.
package final class ManualTime: EngineClock, Reactor {
    private struct State {
        var turn: (@Sendable ([Readiness]) -> Void)?
        var deadline: MonotonicTime?
    }

    private let clock = ManualClock()
    private let kernel = EpollReactor()
    private let state = Lock(State())

    package init() {}

    package var now: MonotonicTime { clock.now }
    package var wallNanoseconds: Int64 { clock.wallNanoseconds }

    /// The deadline that the engine asked for last; it may be of an operation that is over.
    package var deadline: MonotonicTime? { state.withLock { $0.deadline } }

    /// Lets time pass and runs a turn: when this returns, whatever came due is done, callbacks on the engine's queue
    /// included. Not to be called on that queue.
    package func pass(_ interval: Duration) {
        clock.advance(by: interval)
        let turn = state.withLock { $0.turn }
        turn?([])
    }

    package func start(_ turn: @escaping @Sendable ([Readiness]) -> Void) -> Int32 {
        state.withLock { $0.turn = turn }
        return kernel.start(turn)
    }

    package func add(_ descriptor: Int32, _ interest: Interest, _ token: ReactorToken) -> Int32 {
        kernel.add(descriptor, interest, token)
    }

    package func modify(_ descriptor: Int32, _ interest: Interest, _ token: ReactorToken) -> Int32 {
        kernel.modify(descriptor, interest, token)
    }

    package func remove(_ descriptor: Int32) { kernel.remove(descriptor) }

    package func wake(at deadline: MonotonicTime?) { state.withLock { $0.deadline = deadline } }

    package func stop() {
        state.withLock { $0.turn = nil }
        kernel.stop()
    }
}
