import InspectorCore
import SocketKit

extension SourceList {
    /// The versions of the traffic that recording and rewinding have.
    struct TrafficVersions {
        var known: [SocketID: UInt64] = [:]
        /// Counts how often one of the two began.
        private(set) var generation = 0

        /// All traffic is told once more.
        mutating func startOver() {
            generation += 1
            known = [:]
        }
    }

    /// What keeps the snapshot that is asked for.
    struct Keeping {
        var history: LiveHistory?
        /// That of the versions which the request has.
        var generation = 0
    }

    /// Keeps the last so much of this run, so that its screen can go back in it; `nil`: nothing is kept from now on.
    /// - Throws: what is in the way.
    func keepHistory(_ span: Duration?) throws(SocketError) {
        guard let span else {
            history.withLock { $0 = nil }
            return
        }
        if hasOpenedFiles {
            throw SocketError(
                .badParameter, operation: "rewind", detail: "an opened file can be rewound as it is, to its beginning")
        }
        let new = LiveHistory(span: span, keeping: limits, turn: turn)
        history.withLock { $0 = new }
        // Traffic that was kept before is told once more.
        trafficVersions.withLock { $0.startOver() }
    }

    /// Keeps what the configuration says of a run that goes on. A file has its whole past.
    func keepHistory(_ configuration: Configuration, _ invocation: Invocation) {
        for case .openFile in invocation.opening { return }
        try? keepHistory(configuration.rewind)
    }

    /// Takes in who is at the other ends of connections; snapshots have it from now on.
    func learn(_ ends: [SocketID: PeerEnd]) { peers.withLock { $0 = ends } }

    /// The same request of the present, with what recording and rewinding need.
    func live(_ request: SnapshotRequest, with history: LiveHistory?) -> (SnapshotRequest, generation: Int) {
        var live = request
        if history != nil { live.instant = nil }
        let versions = trafficVersions.withLock { $0 }
        if history != nil || recording.withLock({ $0 }) != nil { live.trafficVersions = versions.known }
        return (live, versions.generation)
    }

    /// The traffic that changed since the last time, for recording and rewinding.
    func takeTraffic(of snapshot: inout EngineSnapshot, _ generation: Int) -> [SocketID: TrafficSnapshot] {
        let changed = snapshot.changedTraffic ?? [:]
        snapshot.changedTraffic = nil
        var traffic = changed.mapValues(\.traffic)
        if let id = snapshot.trafficOf, let shown = snapshot.traffic { traffic[id] = shown }
        trafficVersions.withLock { versions in
            // What was asked for before one of the two began was not told to that one.
            guard versions.generation == generation else { return }
            for (id, change) in changed { versions.known[id] = change.version }
            guard versions.known.count > 2 * snapshot.sockets.count + 64 else { return }
            let listed = Set(snapshot.sockets.map(\.id))
            versions.known = versions.known.filter { listed.contains($0.key) }
        }
        return traffic
    }
}
