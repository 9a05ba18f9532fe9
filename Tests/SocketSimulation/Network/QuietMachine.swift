import SocketKit

/// A simulated machine without an engine, whose network delivers at once: to be held against the real kernel.
package final class QuietMachine {
    private let simulated: SimulatedKernel

    package init() {
        simulated = SimulatedKernel(chance: Chance(seed: 1), findings: Findings(), mutation: Mutation(nil))
        simulated.network.withLock { $0.isFaulty = false }
    }

    /// Its kernel.
    package var kernel: any Kernel { simulated }

    /// Answers every connect, and delivers all that is under way.
    package func deliver() {
        simulated.network.withLock { network in
            for descriptor in network.unanswered() { network.answer(descriptor) }
            while case let arrivals = network.arrivals(), !arrivals.isEmpty {
                for (link, end) in arrivals { network.deliver(to: link, end, atMost: .max) }
            }
        }
    }

    /// The address of its own machine.
    package static func address(port: UInt16) -> SocketAddress { .v4(host: Network.host, port: port) }
}
