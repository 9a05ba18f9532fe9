import InspectorCore
import SocketKit

extension SourceList {
    /// The traffic versions that the recording and the history already have.
    package struct TrafficVersions {
        package var known: [SocketID: UInt64] = [:]
        /// The number of times that either one was started.
        package private(set) var generation = 0

        /// Makes all traffic count as changed.
        package mutating func startOver() {
            generation += 1
            known = [:]
        }
    }

    /// What keeps the requested snapshot.
    package struct Keeping {
        package var history: LiveHistory?
        /// The generation of the versions in the request.
        package var generation = 0
    }

    /// Keeps the last `span` of this run for rewinding on the screen, or stops keeping it if `span` is `nil`.
    /// - Throws: the reason if that is not possible.
    package func keepHistory(_ span: Duration?) throws(SocketError) {
        guard let span else {
            history.withLock { $0 = nil }
            return
        }
        if hasOpenedFiles {
            throw SocketError(
                .badParameter, operation: "rewind", detail: "an opened file can always be rewound to its beginning")
        }
        let new = LiveHistory(span: span, keeping: limits, jump: jump)
        history.withLock { $0 = new }
        // Traffic kept before this is stored again.
        trafficVersions.withLock { $0.startOver() }
    }

    /// Stores the peers of connections. Snapshots include them from now on.
    package func learn(_ ends: [SocketID: PeerEnd]) { peers.withLock { $0 = ends } }

    /// Returns the request for the present, with the traffic versions for recording and rewinding.
    package func live(_ request: SnapshotRequest, with history: LiveHistory?) -> (SnapshotRequest, generation: Int) {
        var live = request
        if history != nil { live.instant = nil }
        let versions = trafficVersions.withLock { $0 }
        if history != nil || recording.withLock({ $0 }) != nil { live.trafficVersions = versions.known }
        return (live, versions.generation)
    }

    /// Takes the traffic that changed since the last call, for recording and rewinding.
    package func takeTraffic(of snapshot: inout EngineSnapshot, _ generation: Int) -> [SocketID: TrafficSnapshot] {
        let changed = snapshot.changedTraffic ?? [:]
        snapshot.changedTraffic = nil
        var traffic = changed.mapValues(\.traffic)
        if let id = snapshot.trafficOf, let shown = snapshot.traffic { traffic[id] = shown }
        trafficVersions.withLock { versions in
            // A request made before either one was started does not count for it.
            guard versions.generation == generation else { return }
            for (id, change) in changed { versions.known[id] = change.version }
            guard versions.known.count > 2 * snapshot.sockets.count + 64 else { return }
            let listed = Set(snapshot.sockets.map(\.id))
            versions.known = versions.known.filter { listed.contains($0.key) }
        }
        return traffic
    }
}
