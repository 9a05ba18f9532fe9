import Dispatch
import SocketCore
import Synchronization

/// Observes the local programs at the other ends of the visible connections, and what they have not read.
///
/// It works on its own queue, one round at a time. A snapshot that arrives during a round is skipped, because the next
/// one covers the same connections.
package final class PeerObserver: Sendable {
    private let queue = DispatchQueue(label: "peers", qos: .utility)
    private let state = Mutex(State())
    private let ends: Mutex<OtherEnds>
    private let tell: @Sendable ([SocketID: PeerEnd]) -> Void

    private struct State {
        var isBusy = false
        var told: [SocketID: PeerEnd] = [:]
        /// The snapshot of the last round, and when that round began.
        var looked: (snapshot: MonotonicTime, time: ContinuousClock.Instant)?
    }

    /// The most connections examined in one round.
    private static let limit = 128
    /// The minimum interval between two rounds on the same snapshot.
    private static let glance = Duration.milliseconds(500)

    /// - Parameter tell: called with the result, on the observer's queue. Not called if the result is unchanged.
    package init(_ system: HostSystem = .live, tell: @escaping @Sendable ([SocketID: PeerEnd]) -> Void) {
        ends = Mutex(OtherEnds(system))
        self.tell = tell
    }

    /// Looks up the connections whose kernel state was requested: the visible ones. `process` returns a session's
    /// process.
    package func look(
        _ snapshot: EngineSnapshot, _ asked: SnapshotRequest.KernelChoice,
        process: @escaping @Sendable (SocketID) -> Int
    ) {
        let isDue = state.withLock { state in
            if let (former, time) = state.looked, former == snapshot.time, .now - time < Self.glance { return false }
            guard !state.isBusy else { return false }
            state.isBusy = true
            state.looked = (snapshot.time, .now)
            return true
        }
        guard isDue else { return }
        let wanted = Self.connections(in: snapshot, asked)
        queue.async { @Sendable [self] in
            let found = ends.withLock { $0.find(wanted, process: process) }
            let isNew = state.withLock { state in
                defer { (state.isBusy, state.told) = (false, found) }
                return state.told != found
            }
            if isNew { tell(found) }
        }
    }

    /// Returns the sockets whose snapshot has kernel state. For a full list, returns only the requested ones.
    private static func connections(
        in snapshot: EngineSnapshot, _ asked: SnapshotRequest.KernelChoice
    ) -> [SocketSnapshot] {
        var found: [SocketSnapshot] = []
        func add(_ index: Int) {
            // Both ends of a captured connection are already known.
            guard let kernel = snapshot.sockets[index].kernel, snapshot.sockets[index].ends == nil else { return }
            let isListening = snapshot.sockets[index].role == .listener && kernel.receiveQueue ?? 0 > 0
            guard isListening || snapshot.sockets[index].phase == .connected else { return }
            found.append(snapshot.sockets[index])
        }
        switch asked {
        case .none: break
        case .only(let ids): ids.sorted().prefix(limit).compactMap(snapshot.position).forEach(add)
        case .all: for index in snapshot.sockets.indices where found.count < limit { add(index) }
        }
        return found
    }
}
