import InspectorCore
import SocketCore

extension Model {
    /// Whether a message has nothing new.
    package func knows(_ message: Message) -> Bool {
        switch message {
        case .answer(let answer):
            guard answer.child == nil, answer.recording == shared.recording else { return false }
            if let news = answer.programs, !news.notices.isEmpty || news.programs != shared.programs { return false }
            return answer.snapshot.map(knows) ?? true
        case .peers(let peers): return peers == shared.peers
        case .unread(let look): return look.note == nil && unreadRequest?.socket != look.socket
        default: return false
        }
    }

    private func knows(_ snapshot: EngineSnapshot) -> Bool {
        guard let latest = shared.latest, !hasNews(snapshot.calls) else { return false }
        return latest.jump == snapshot.jump && latest.moment == snapshot.moment && latest.time == snapshot.time
            && latest.nextEvent == snapshot.nextEvent && snapshot.events.isEmpty
            && snapshot.before == nil && (snapshot.peers == nil || snapshot.peers == shared.peers)
            && latest.trafficOf == snapshot.trafficOf && SessionsMark(latest) == SessionsMark(snapshot)
    }

    private func hasNews(_ calls: CallLedger?) -> Bool {
        switch (calls, shared.latest?.calls) {
        case (nil, nil): false
        case (let calls?, let known?): !calls.isSame(as: known)
        default: true
        }
    }

    /// Absorbs a snapshot. While the screen is frozen, the snapshot is kept but not shown.
    mutating func absorb(_ snapshot: EngineSnapshot) {
        let wasLive = selected?.isLive ?? false
        // A notice about a connection's pending operation is obsolete once the connection has closed.
        defer { if wasLive, selected?.isLive == false, notice?.isError == false { notice = nil } }
        let seen = log.end
        let hasCalls = hasNews(snapshot.calls)
        remember(snapshot)
        events.add(from: seen, in: shared)
        traffic.absorb(
            snapshot.traffic, of: snapshot.trafficOf,
            facts: snapshot.trafficOf.flatMap { shared.isOurs($0) ? nil : snapshot.socket($0) })
        traffic.placeSentFiles(snapshot)
        showAwaitedMatch()
        if let expected, let socket = snapshot.socket(expected) { arrived(socket) }
        forgetVanished(snapshot)
        if shared.frozen == nil { refreshWhenDue(snapshot) }
        if hasCalls { refreshCalls() }
        if let socket = list.selected.flatMap(snapshot.socket) { composers.adoptDestination(of: socket, in: shared) }
        leaveStart(snapshot)
        greetFirst(snapshot)
    }

    /// Adds a snapshot to what accumulates over time.
    private mutating func remember(_ snapshot: EngineSnapshot) {
        shared.clock.absorb(snapshot)
        shared.cadence.absorb(snapshot.time)
        measureLoad(snapshot)
        if let latest = shared.latest, SessionsMark(latest) != SessionsMark(snapshot) {
            shared.vanished.absorb(former: latest, snapshot)
        }
        shared.latest = snapshot
        // The earlier snapshots are in the log by now, and take memory.
        shared.latest?.before = nil
        if let peers = snapshot.peers, peers != shared.peers { shared.peers = peers }
        noteTimeouts(snapshot)
        shared.log.absorb(snapshot)
        shared.histories.absorb(snapshot)
    }

    /// Adds a snapshot from before the one shown next, without showing it.
    mutating func recall(_ snapshot: EngineSnapshot) {
        let seen = log.end
        remember(snapshot)
        events.add(from: seen, in: shared)
        guard snapshot.sockets.count <= Self.many else { return }
        shared.findings.absorb(snapshot, among: surroundings, lost: log.lostLately(snapshot.time))
    }

    private mutating func measureLoad(_ snapshot: EngineSnapshot) {
        for engine in snapshot.engines {
            if let began = shared.loadsBegan[engine.ordinal] {
                guard let measured = EngineLoad(from: began, to: engine) else { continue }
                shared.loads[engine.ordinal] = measured
            }
            shared.loadsBegan[engine.ordinal] = engine
        }
    }

    private mutating func noteTimeouts(_ snapshot: EngineSnapshot) {
        for event in snapshot.events {
            switch event.kind {
            case .readTimedOut, .writeTimedOut:
                shared.timeouts[event.socket] = TimeoutNote(elapsed: .milliseconds(event.second), tag: event.tag)
            default:
                break
            }
        }
    }

    /// Drops what is remembered of sessions that are no longer listed anywhere.
    private mutating func forgetVanished(_ snapshot: EngineSnapshot) {
        let isGone: (SocketID) -> Bool = { [expected, frozen = shared.frozen] id in
            id != expected && snapshot.socket(id) == nil && frozen?.snapshot.socket(id) == nil
        }
        composers.forget(isGone)
        traffic.forget(isGone)
        for id in Array(shared.replies.keys) where isGone(id) { shared.replies[id] = nil }
        for id in Array(shared.transmissions.keys) where isGone(id) { shared.transmissions[id] = nil }
        for id in Array(shared.timeouts.keys) where isGone(id) { shared.timeouts[id] = nil }
        list.forget(isGone)
    }

    /// Above this number, all sessions are checked only once a second, or soon after sessions were added or removed.
    /// The visible ones are checked each time.
    private static let many = 500

    private mutating func refreshWhenDue(_ snapshot: EngineSnapshot) {
        guard snapshot.sockets.count > Self.many, let (mark, time) = refreshed else { return refresh() }
        let passed = snapshot.time - time
        let due: Duration = mark == SessionsMark(snapshot) ? .seconds(1) : .milliseconds(300)
        guard passed < due else { return refresh() }
        let rows = list.rows.dropFirst(list.top).prefix(layout.listRows)
        let seen = Array(rows) + (list.selected.map { [$0] } ?? [])
        shared.findings.glance(
            snapshot, at: seen + seen.compactMap { snapshot.pair(of: $0)?.server.id }, among: surroundings,
            lost: log.lostLately(snapshot.time))
    }

    /// What is known beyond the sessions themselves.
    private var surroundings: Surroundings { Surroundings(programs: shared.programs, peers: shared.peers) }

    /// Recomputes sums and rows from the snapshot on the screen.
    mutating func refresh() {
        guard let snapshot = shown else { return }
        refreshed = (SessionsMark(snapshot), snapshot.time)
        shared.summary = SnapshotSummary(snapshot, joinsPairs: !list.showsLegs)
        shared.findings.absorb(snapshot, among: surroundings, lost: log.lostLately(snapshot.time))
        refreshRows(snapshot)
    }

    /// Recomputes sums and rows now and with the next snapshot, because what is shown has ended.
    mutating func refreshAtEnd() {
        if shared.frozen == nil { refresh() }
        refreshed = nil
    }

    /// Leaves the start screen, which is for users without sockets.
    private mutating func leaveStart(_ snapshot: EngineSnapshot) {
        guard tab == .start, !snapshot.sockets.isEmpty, start.editor.isEmpty, expected == nil, dialogs.open == nil
        else {
            return
        }
        tab = .list
    }

    /// Shows the traffic of the first connection that a listener accepted, if the user still waits for it.
    private mutating func greetFirst(_ snapshot: EngineSnapshot) {
        guard let listener = awaiting, dialogs.open == nil, field.open == nil, help == nil else { return }
        guard let first = snapshot.sockets.first(where: { $0.parent == listener }) else { return }
        awaiting = nil
        returnToPresent()
        if shared.frozen != nil { thaw() }
        select(first.id)
        // Keys stay commands: one pressed at this moment must not become bytes for the peer.
        showTraffic(composing: false)
    }

    /// Shows a socket that the user requested and that now exists.
    mutating func opened(_ id: SocketID, _ request: OpenRequest) -> [Effect] {
        dialogs.lastOpened = request
        if shared.frozen != nil { thaw() }
        returnToPresent()
        composers.inherit(id, target: request.target.sessionTarget, in: shared)
        start.change { $0.commit() }
        notice = nil
        select(id)
        expected = id
        show(.traffic)
        // Even if it has failed already, because the user may be typing.
        isComposing = true
        if let socket = shared.latest?.socket(id) { arrived(socket) }
        return []
    }

    /// Handles a relay that is now listening. Its connections show in the list.
    mutating func relays(_ listener: SocketID) {
        returnToPresent()
        start.change { $0.commit() }
        notice = nil
        if tab == .start { tab = .list }
        if !list.isChosen {
            select(listener)
            // The first connection is more interesting.
            list.isChosen = false
        }
        if let socket = shared.latest?.socket(listener) { warnOfReach(socket) } else { expected = listener }
    }

    /// Handles a requested socket that is now in a snapshot. A listener's traffic pane waits for its first connection.
    /// Any other socket gets the cursor in its composer.
    private mutating func arrived(_ socket: SocketSnapshot) {
        expected = nil
        warnOfReach(socket)
        guard tab == .traffic, list.selected == socket.id else { return }
        if socket.role == .datagram { composers.greet(socket, in: shared) }
        guard socket.role == .listener else { return }
        awaiting = socket.id
        isComposing = false
    }

    /// Warns that other hosts can connect to a listener, which a user who typed `:8080` may not have intended.
    private mutating func warnOfReach(_ socket: SocketSnapshot) {
        guard socket.role == .listener, let local = socket.local, !local.staysOnHost else { return }
        let alone = local.port.map { "; 127.0.0.1:\($0) would not be" } ?? ""
        notice = hint("\(local) is reachable from other hosts\(alone)")
    }

    mutating func thaw() {
        shared.frozen = nil
        refresh()
    }

    /// Freezes the screen, or resumes it. The engine runs in either case.
    mutating func toggleFreeze() {
        if shared.frozen != nil { return thaw() }
        guard let latest = shared.latest else { return }
        shared.frozen = Shared.Frozen(
            snapshot: latest, clock: shared.clock, nextEvent: log.next,
            trafficOf: traffic.isKnown ? traffic.socket : nil,
            traffic: traffic.snapshot)
    }
}
