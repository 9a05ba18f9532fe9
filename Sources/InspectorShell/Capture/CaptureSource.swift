import InspectorCore
import SocketKit
import SocketRecords

/// A live capture on an interface: the conversations reassembled from its packets, with the queues and the programs of
/// the ends that are on this host.
package final class CaptureSource: SocketSource {
    private struct State {
        var sessions: CapturedSessions
        var rates = CapturedRates()
        var owners = CapturedOwners()
        var counts = CaptureCounts()
        /// The number of sessions forgotten before they ended.
        var forgotten = 0
        /// The recorder that also receives the packets.
        var recorder: SocketRecorder?
        var ending: ProgramInfo.State?
        /// Whether a scan of the host is running. `hasLooked` is set once one has finished.
        var isLooking = false
        var hasLooked = false
    }

    package let target: CaptureTarget
    private let name: String
    private let feed: PacketFeed
    private let host: HostSource
    private let state: Lock<State>

    /// The most ended sessions kept in the list. A datagram session ends `datagramPatience` after its last datagram.
    private static let endedLimit = 1_000
    /// The most sessions that are not known to have ended. A session whose last packets were lost may be among them.
    private static let liveLimit = 8_192
    private static let datagramPatience = Duration.seconds(60)

    /// Opens the capture and waits until the kernel has answered. Traffic is shown after `start()`.
    /// - Parameter looking: how programs on this host are inspected.
    /// - Throws: a sentence that says why the capture can't start.
    package init(
        _ target: CaptureTarget, keeping limits: TrafficLimits, looking: HostOptions, _ lints: LintSettings
    ) throws(AttachError) {
        self.target = target
        name = target.filter.isEmpty ? target.interface : "\(target.interface) \(target.filter)"
        feed = try PacketFeed(target)
        var looking = looking
        // The connections of other network namespaces don't use this interface, and may have the same addresses.
        looking.entersOthers = false
        looking.filter = ""
        host = HostSource(.host, looking, lints)
        var sessions = CapturedSessions(keeping: limits.each, all: limits.all)
        let clock = SystemClock()
        sessions.begin(at: clock.wallNanoseconds, as: clock.now)
        state = Lock(State(sessions: sessions))
    }

    /// Starts receiving packets.
    package func start() {
        feed.start { @Sendable [self] news in
            switch news {
            case .packets(let packets): absorb(packets)
            case .counts(let counts): state.withLock { $0.counts = counts }
            case .ended(let why): end(why)
            }
        }
    }

    private func absorb(_ packets: [CapturedPacket]) {
        let recorder = state.withLock { state in
            for packet in packets { state.sessions.absorb(packet) }
            return state.recorder
        }
        if let recorder { packets.forEach(recorder.note) }
    }

    private func end(_ why: String?) {
        state.withLock { state in
            state.sessions.finish()
            state.ending = why.map { .failed($0) } ?? .ended("the capture has ended")
        }
        record(on: nil)
    }

    // MARK: Recording

    /// What a recording states about the capture.
    package var recorded: RecordedCapture {
        RecordedCapture(interface: target.interface, link: feed.link, filter: target.filter)
    }

    /// Writes packets to a recording from now on. `nil` ends the recording with the kernel's counts.
    package func record(on recorder: SocketRecorder?) {
        let (former, counts) = state.withLock { state in
            defer { state.recorder = recorder }
            return (state.recorder, state.counts)
        }
        former?.note(counts)
    }

    // MARK: SocketSource

    package func info(ordinal: Int) -> ProgramInfo {
        let (ending, counts) = state.withLock { ($0.ending, $0.counts) }
        var info = ProgramInfo(
            ordinal: ordinal, name: name, process: 0, rights: .payload, state: ending ?? .live)
        info.dropped = counts.dropped
        info.missing = shortcomings.isEmpty ? nil : shortcomings.joined(separator: ", ")
        return info
    }

    /// Whether packets were lost that the capture was to show.
    package var hasLost: Bool { state.withLock { $0.counts.dropped > 0 || $0.sessions.refused > 0 } }

    /// What the capture is missing, in words. Empty if it is complete.
    package var shortcomings: [String] {
        state.withLock { state in
            func count(_ number: UInt64, _ what: String) -> String? { number > 0 ? "\(number) \(what)" : nil }
            return [
                count(state.counts.dropped, "packets lost by the kernel"),
                count(state.sessions.refused, "packets beyond \(CapturedSessions.limit) sessions"),
                count(UInt64(state.forgotten), "idle sessions forgotten"),
                count(state.sessions.lostFragments, "incomplete fragments"),
            ].compactMap { $0 } + state.sessions.ignored
        }
    }

    package func requestSnapshot(_ request: SnapshotRequest, then: @escaping @Sendable (EngineSnapshot?) -> Void) {
        look(request)
        then(state.withLock { snapshot(request, &$0) })
    }

    private func snapshot(_ request: SnapshotRequest, _ state: inout State) -> EngineSnapshot {
        let clock = SystemClock()
        let now = max(clock.now, state.sessions.latest)
        state.forgotten += state.sessions.forgetEnded(
            keeping: Self.endedLimit, live: Self.liveLimit, now, idle: Self.datagramPatience)
        var snapshot = EngineSnapshot(engine: name, time: now, wallNanoseconds: clock.wallNanoseconds)
        snapshot.sockets = state.sessions.sessions.map(\.snapshot)
        for index in snapshot.sockets.indices {
            let ends = state.owners.ends(of: snapshot.sockets[index])
            snapshot.sockets[index].ends = ends
            snapshot.sockets[index].kernel = ends.local?.kernel
        }
        state.rates.measure(&snapshot.sockets, now)
        state.owners.forget(but: snapshot.sockets.map(\.id))
        let open = snapshot.sockets.count { $0.phase != .closed }
        snapshot.counters.opened = state.sessions.seen
        snapshot.counters.closed = state.sessions.seen - UInt64(open)
        (snapshot.counters.sent, snapshot.counters.received) = (state.sessions.sent, state.sessions.received)
        snapshot.nextEvent = state.sessions.events.next
        if let from = request.eventsFrom { snapshot.events = Array(state.sessions.events.events(from: from)) }
        snapshot.trafficOf = request.traffic
        snapshot.traffic = request.traffic.map { traffic(of: $0, state) }
        snapshot.changedTraffic = request.trafficVersions.map { changedTraffic(of: snapshot.sockets, since: $0, state) }
        return snapshot
    }

    /// Supports rewinding: traffic counts as changed when its byte counts change.
    private func changedTraffic(
        of sockets: [SocketSnapshot], since versions: [SocketID: UInt64], _ state: State
    ) -> [SocketID: VersionedTraffic] {
        let changed = sockets.map { ($0.id, $0.sent &+ $0.received) }.filter { versions[$0.0] != $0.1 }
        return Dictionary(
            changed.map { ($0.0, VersionedTraffic(version: $0.1, traffic: traffic(of: $0.0, state))) },
            uniquingKeysWith: { first, _ in first })
    }

    private func traffic(of id: SocketID, _ state: State) -> TrafficSnapshot {
        state.sessions.index(of: id.number).map { state.sessions.sessions[$0].traffic } ?? TrafficSnapshot()
    }

    package func requestTraffic(
        of sockets: [SocketID], then: @escaping @Sendable ([SocketID: TrafficSnapshot]?) -> Void
    ) {
        then(
            state.withLock { state in
                Dictionary(sockets.map { ($0, traffic(of: $0, state)) }) { first, _ in first }
            })
    }

    /// Scans the host for the ends of the visible sessions. The next snapshot includes what was found.
    private func look(_ request: SnapshotRequest) {
        let rows: Set<SocketID>? = state.withLock { state in
            guard !state.isLooking, state.ending == nil else { return nil }
            state.isLooking = true
            let sessions = state.sessions
            switch request.kernel {
            case .none: return []
            case .only(let ids):
                return state.owners.rows(
                    of: ids.compactMap { sessions.index(of: $0.number) }.map { sessions.sessions[$0] })
            case .all: return state.owners.rows(of: sessions.sessions.suffix(Self.endedLimit))
            }
        }
        guard let rows else { return }
        host.requestSnapshot(SnapshotRequest(kernel: .only(rows))) { @Sendable [self] snapshot in
            state.withLock { state in
                (state.isLooking, state.hasLooked) = (false, true)
                if let snapshot { state.owners.absorb(snapshot) }
            }
        }
    }

    package var isAwaited: Bool { false }
    package var hasAnswered: Bool { state.withLock { $0.hasLooked || $0.ending != nil } }

    package func perform(_ command: SocketCommand) {}
    package func takeNotices() -> [String] { [] }
    package func rest() { host.rest() }
    package func close() { feed.stop() }
}
