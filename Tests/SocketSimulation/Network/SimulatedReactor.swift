import Glibc
import SocketKit

/// The engine's reactor, which waits for nobody: the run asks for what is ready, and enters the engine on its own
/// thread.
package final class SimulatedReactor: Reactor {
    private struct State {
        var turn: (@Sendable ([Readiness]) -> Void)?
        var wakeTime: MonotonicTime?
        /// What a planted bug reports for ever, or never again.
        var mutated: ReactorToken?
    }

    private let kernel: SimulatedKernel
    /// Tells its set from that of another one of the same machine.
    private let number: Int
    private let mutation: Mutation
    private let state = Lock(State())

    init(kernel: SimulatedKernel, mutation: Mutation, number: Int = 0) {
        self.kernel = kernel
        self.number = number
        self.mutation = mutation
    }

    // MARK: For the engine

    package func start(_ turn: @escaping @Sendable ([Readiness]) -> Void) -> Int32 {
        state.withLock { $0.turn = turn }
        return 0
    }

    package func add(_ descriptor: Int32, _ interest: Interest, _ token: ReactorToken) -> Int32 {
        kernel.network.withLock { network in
            if network.fails(oneIn: 150) { return network.chance.pick([ENOSPC, ENOMEM]) }
            return network.watch(descriptor, interest, token, by: number)
        }
    }

    package func modify(_ descriptor: Int32, _ interest: Interest, _ token: ReactorToken) -> Int32 {
        kernel.network.withLock { $0.changeWatch(descriptor, interest, token, by: number) }
        return 0
    }

    package func remove(_ descriptor: Int32) {
        kernel.network.withLock { $0.unwatch(descriptor) }
    }

    package func wake(at deadline: MonotonicTime?) {
        state.withLock { $0.wakeTime = mutation.isPlanted(.losesTheTimer) ? nil : deadline }
    }

    package func stop() {
        state.withLock { $0.turn = nil }
    }

    // MARK: For the run

    /// When the timer comes; nil: it is not set.
    var wakeTime: MonotonicTime? { state.withLock { $0.wakeTime } }

    /// The timer came: it is set for one time only.
    func takeTimer() {
        state.withLock { $0.wakeTime = nil }
    }

    /// What is ready now.
    var ready: [Readiness] {
        var ready = kernel.network.withLock { $0.ready(for: number) }
        if mutation.isPlanted(.readyForEver) || mutation.isPlanted(.forgetsADescriptor) { mutate(&ready) }
        return ready
    }

    private func mutate(_ ready: inout [Readiness]) {
        let isForgetting = mutation.isPlanted(.forgetsADescriptor)
        // Of a connection that stands (its token is the highest), and that nothing but bytes happens to.
        if let victim = ready.first(where: { $0.token.index == .max && $0.readable && !$0.peerClosed && !$0.hungUp }),
            mutation.strikes(isForgetting ? .forgetsADescriptor : .readyForEver)
        {
            state.withLock { $0.mutated = victim.token }
        }
        guard let token = state.withLock({ $0.mutated }) else { return }
        if isForgetting {
            ready.removeAll { $0.token == token }
        } else if !ready.contains(where: { $0.token == token }) {
            ready.append(Readiness(token, readable: true))
        }
    }

    /// Enters the engine with what is ready.
    func turn(_ batch: [Readiness]) {
        state.withLock { $0.turn }?(batch)
    }
}
