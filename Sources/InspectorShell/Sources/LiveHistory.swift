import Dispatch
import InspectorCore
import SocketKit
import SocketRecords

/// The recent past of a live run, so that the screen can rewind while the run continues.
package final class LiveHistory: Sendable {
    fileprivate struct State {
        var recent: RecentRecording
        /// The past state that is shown, and its instant, or `nil` while the present is shown.
        var past: (state: OpenedCapture, instant: MonotonicTime)?
        /// The last instant jumped to. See `SnapshotRequest.jump`.
        var jump: UInt64
    }

    package let span: Duration
    private let queue = DispatchQueue(label: "rewind", qos: .userInitiated)
    /// Accessed only on `queue`.
    private let state: Lock<State>

    /// The minimum size in bytes, however little traffic is kept.
    private static let least = 1 << 20

    /// `limits` bounds the kept traffic, and also the whole history. `jump` is that of the last request.
    package init(span: Duration, keeping limits: TrafficLimits, jump: UInt64) {
        self.span = span
        let recent = RecentRecording(
            span: span, limit: max(Self.least, limits.all), keeping: limits.each, all: limits.all)
        state = Lock(State(recent: recent, jump: jump))
    }

    /// Keeps a snapshot of the present with its changed traffic. Answers the request, on any thread, with that snapshot
    /// or with the state at an earlier instant.
    package func absorb(
        _ present: EngineSnapshot, _ traffic: [SocketID: TrafficSnapshot], for request: SnapshotRequest,
        then: @escaping @Sendable (EngineSnapshot) -> Void
    ) {
        queue.async { @Sendable [self] in
            then(
                state.withLock { state in
                    state.recent.add(present, traffic)
                    return state.answer(request, present)
                })
        }
    }

    /// Answers with the traffic of these sockets at the instant shown, or with `nil` if the present is shown.
    package func requestTraffic(of ids: [SocketID], then: @escaping @Sendable ([SocketID: TrafficSnapshot]?) -> Void) {
        queue.async { @Sendable [self] in
            then(
                state.withLock { state in
                    state.past.map { past in
                        Dictionary(ids.map { ($0, past.state.traffic(of: $0)) }) { first, _ in first }
                    }
                })
        }
    }
}

extension LiveHistory.State {
    fileprivate mutating func answer(_ request: SnapshotRequest, _ present: EngineSnapshot) -> EngineSnapshot {
        let isNew = request.jump != jump
        jump = request.jump
        var shown: EngineSnapshot
        if let wanted = request.instant.flatMap(recent.time) {
            shown = state(at: wanted, isNew: isNew, request) ?? present
            shown.moment = recent.moment(at: past?.instant)
            shown.moment?.livePresent = SnapshotSummary(present, joinsPairs: true).live
        } else {
            past = nil
            shown = present
            if isNew { addHistory(to: &shown, recent.state(at: present.time, notesPassed: true)) }
            shown.moment = recent.moment()
        }
        shown.jump = request.jump
        return shown
    }

    /// Returns the state at an instant. An instant no longer kept is still shown until the user leaves it.
    private mutating func state(
        at wanted: MonotonicTime, isNew: Bool, _ request: SnapshotRequest
    ) -> EngineSnapshot? {
        guard let first = recent.first, let last = recent.last else { return nil }
        let isHeld = !isNew && past?.instant == wanted
        let instant = isHeld ? wanted : min(max(wanted, first), last)
        if !isHeld {
            let state = recent.state(at: instant, from: isNew ? nil : past?.state, notesPassed: isNew)
            past = (state, instant)
        }
        guard let state = past?.state, var shown = state.snapshot(request, named: "", at: instant) else { return nil }
        if isNew { addHistory(to: &shown, state) }
        past?.state.passing = nil
        return shown
    }

    /// Adds the earlier snapshots, and all events.
    private func addHistory(to shown: inout EngineSnapshot, _ state: OpenedCapture) {
        var state = state
        let before = state.takePassed()
        shown.before = before
        let request = SnapshotRequest(eventsFrom: before.last?.nextEvent ?? 0)
        shown.events = state.snapshot(request, named: "", at: shown.time)?.events ?? shown.events
    }
}
