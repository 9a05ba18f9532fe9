import SocketCore

/// The host's sockets as the rows of a snapshot. Each gets a number when it is first seen, which is never reused.
package struct HostRows: Sendable {
    private struct Known {
        var id: SocketID
        var seen: MonotonicTime
        /// The values of the last row, for rates.
        var time: MonotonicTime
        var received: UInt64?
        var acknowledged: UInt64?
        /// Those of the last row.
        var rates: (received: Double?, sent: Double?) = (nil, nil)
        /// Whether its host was not looked at since that.
        var isUntold = false
        /// The row as last listed, if the socket is no longer listed.
        var last: SocketSnapshot?
        /// How it was requested when its row was built, if its programs were examined then.
        var asking: HostAsking?
        /// The kernel's last report of the socket.
        @Rare var closing: HostSocket? = nil
    }

    private var closings = HostClosings()
    /// Whether the kernel lost some closings before the last look.
    private var hasLost = false
    private var known: [UInt64: Known] = [:]
    private var lastNumber: UInt64 = 0
    /// The sockets that were opened, whether there was a look between or not. TIME-WAIT is no socket.
    private var opened: UInt64 = 0
    /// The rows of the last look by number, its time, and its namespaces.
    private var rows: [SocketSnapshot] = []
    private var time: MonotonicTime?
    private var namespaces: [UInt16: HostNamespace] = [:]
    /// Sockets whose rows must be rebuilt, because they changed the last time or were examined closely.
    private var due: Set<UInt64> = []
    /// The sockets that may wait, or were examined closely, in the last look, and the number of looks.
    private var watched: Set<UInt64> = []
    private var looks: UInt64 = 0
    /// Sockets missing from the last look.
    private var missing: Set<UInt64> = []
    /// Whether the sockets in TIME-WAIT share one row, the number of that row, and the socket that it shows.
    private var folds = false
    private var folded: SocketID?
    private var shown: UInt64?
    private var alike = 1
    /// The names of users, as far as known.
    private let userNames: [UInt32: String]

    package init(userNames: [UInt32: String] = [:]) { self.userNames = userNames }

    /// Returns the number of a socket that was in a snapshot.
    package func id(of cookie: UInt64) -> SocketID? {
        known[cookie]?.id ?? closings.rows.last { $0.host?.key == cookie }?.id
    }

    /// Adds the events from this sequence number on.
    package func addEvents(from sequence: UInt64?, to snapshot: inout EngineSnapshot) {
        guard let sequence else { return }
        (snapshot.events, snapshot.eventsLost, snapshot.nextEvent) = closings.events(from: sequence)
    }

    /// Returns a look as a snapshot. `found` holds the judge's verdicts. If the look lists its changes, only rows that
    /// may have changed are rebuilt. If `folds` is set, the sockets in TIME-WAIT share one row.
    /// - Parameter sight: the inodes of the sockets whose rows are looked at, or `nil` for all. Of thousands of others
    ///   that wait, those for which only time has passed are rebuilt in turns.
    package mutating func snapshot(
        of look: HostLook, by judge: HostJudge, _ found: [Verdict], wallNanoseconds: Int64, folds: Bool = false,
        sight: Set<UInt64>? = nil
    ) -> EngineSnapshot {
        var snapshot = EngineSnapshot(engine: "host", time: look.time, wallNanoseconds: wallNanoseconds)
        let isNext =
            look.changes?.since == time && look.examined != nil && look.namespaces == namespaces && folds == self.folds
        self.folds = folds
        fold(look)
        let changes = look.changes.flatMap { isNext && !changesRoles($0, look) ? $0 : nil }
        number(look, changes)
        end(look, judge, changes)
        describe(look, judge, changes, sight)
        (time, namespaces) = (look.time, look.namespaces)
        snapshot.sockets = closings.rows.isEmpty ? rows : (rows + closings.rows).sorted { $0.id < $1.id }
        (snapshot.counters.opened, snapshot.counters.closed) = (opened, closings.count)
        for verdict in found { attach(verdict, to: &snapshot) }
        return snapshot
    }

    /// Whether a listener was added or removed, which changes which sockets are servers or clients.
    private func changesRoles(_ changes: HostLook.Changes, _ look: HostLook) -> Bool {
        changes.told.contains { known[$0] == nil && look.socket($0)?.isListening == true }
            || changes.gone.contains { known[$0].flatMap { row($0.id) }?.role == .listener }
    }

    // MARK: Numbers and positions

    private mutating func number(_ look: HostLook, _ changes: HostLook.Changes?) {
        let new = changes.map { $0.told.sorted().compactMap(look.socket) } ?? look.sockets
        if changes == nil, folds { known = known.filter { look.socket($0.key).map(isFolded) != true } }
        for socket in new where known[socket.id] == nil && !isFolded(socket) {
            if socket.state != .timeWait { opened += 1 }
            number(socket)
        }
    }

    private mutating func number(_ socket: HostSocket, as id: SocketID? = nil) {
        if id == nil { lastNumber += 1 }
        known[socket.id] = Known(id: id ?? SocketID(lastNumber), seen: socket.time, time: socket.time)
    }

    private func isFolded(_ socket: HostSocket) -> Bool {
        folds && socket.state == .timeWait && socket.id != shown
    }

    /// Chooses the socket that the row of those in TIME-WAIT shows. The row keeps its number while others take its
    /// place.
    private mutating func fold(_ look: HostLook) {
        let waiting = folds ? look.sockets.indices.filter { look.sockets[$0].state == .timeWait } : []
        alike = max(1, waiting.count)
        let former = shown
        if !folds || former.map({ look.socket($0)?.state != .timeWait }) ?? true {
            shown = waiting.last.map { look.sockets[$0].id }
        }
        guard shown != former else { return }
        if let former {
            known[former] = nil
            missing.remove(former)
        }
        if let shown, let socket = look.socket(shown) { number(socket, as: folded) }
        folded = shown.flatMap { known[$0]?.id } ?? folded
        if shown == nil { rows.removeAll { $0.id == folded } }
    }

    /// Returns the index of a number in `rows`, or where it would be.
    private func place(of id: SocketID) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func row(_ id: SocketID) -> SocketSnapshot? {
        let place = place(of: id)
        return place < rows.count && rows[place].id == id ? rows[place] : nil
    }

    private mutating func put(_ row: SocketSnapshot) {
        let place = place(of: row.id)
        if place < rows.count, rows[place].id == row.id { rows[place] = row } else { rows.insert(row, at: place) }
    }

    // MARK: Rebuilding rows

    private mutating func describe(
        _ look: HostLook, _ judge: HostJudge, _ changes: HostLook.Changes?, _ sight: Set<UInt64>?
    ) {
        looks &+= 1
        if let changes {
            let new = toldOf(changes, judge), now = judge.notable.union(closely(look, judge))
            let left = watched.subtracting(now)
            let inTurn = now.filter { !new.contains($0) && isDue($0, among: now.count, judge, sight) }
            for cookie in new.union(due).union(left).union(inTurn).union([shown].compactMap { $0 }) {
                if let socket = look.socket(cookie), let row = row(socket, judge, look, changes.since) { put(row) }
            }
            // A host that was not looked at in between has more to say of them.
            due = new.union(due.filter { known[$0]?.isUntold == true })
            watched = now
        } else {
            let made = look.sockets.compactMap { row($0, judge, look, nil) }
            rows = made.sorted { $0.id < $1.id }
            (due, watched) = (Set(look.sockets.map(\.id)), [])
        }
    }

    /// The number of waiting sockets whose rows are rebuilt with every look, and that of looks in which all others are.
    private static let few = 256
    private static let turns: UInt64 = 8

    /// Whether the row of a waiting socket must be rebuilt, though the kernel told nothing new of it.
    private func isDue(_ cookie: UInt64, among count: Int, _ judge: HostJudge, _ sight: Set<UInt64>?) -> Bool {
        guard count > Self.few, let sight, watched.contains(cookie), let socket = judge.socket(cookie) else {
            return true
        }
        if (cookie &+ looks) % Self.turns == 0 || sight.contains(socket.inode) { return true }
        guard let former = known[cookie]?.asking, let now = judge.asking(of: cookie) else { return true }
        return former.kind != now.kind || former.short != now.short || former.process != now.process
    }

    /// Returns the sockets that changed or have other owners, and the other ends of their connections.
    private func toldOf(_ changes: HostLook.Changes, _ judge: HostJudge) -> Set<UInt64> {
        let new = changes.told.union(changes.owners.compactMap { judge.socket(inode: $0)?.id })
        return new.union(new.compactMap { judge.peer(of: $0)?.id })
    }

    private func closely(_ look: HostLook, _ judge: HostJudge) -> [UInt64] {
        (look.examined ?? []).compactMap { judge.socket(inode: $0)?.id }
    }

    /// Ends the rows of sockets that are no longer listed. A socket that the kernel reports as destroyed is gone. One
    /// that is only unlisted must also be missing from the next look, because the kernel sometimes skips one while
    /// others close.
    private mutating func end(_ look: HostLook, _ judge: HostJudge, _ changes: HostLook.Changes?) {
        var unseen = 0
        for closing in look.closings where (known[closing.id]?.closing = closing) == nil {
            if !closings.release(closing.id) { unseen += 1 }
        }
        closings.count(unseen: unseen)
        opened += UInt64(unseen)
        // Closings since the look before are reported in this one at the latest.
        let isTold = look.closingsLost == 0 && !hasLost
        hasLost = look.closingsLost != 0
        let there = changes == nil ? Set(look.sockets.map(\.id)) : []
        let gone = changes.map { missing.union($0.gone) } ?? Set(known.keys.filter { !there.contains($0) })
        if changes == nil { missing.formIntersection(gone) }
        var ended: Set<SocketID> = []
        defer {
            if !ended.isEmpty { rows.removeAll { ended.contains($0.id) } }
            known.shrink()
        }
        let ends = gone.compactMap { cookie in known[cookie].map { (cookie, $0) } }.sorted { $0.1.id < $1.1.id }
        for (cookie, entry) in ends {
            if changes != nil, look.socket(cookie) != nil {
                missing.remove(cookie)
                continue
            }
            let last = entry.last ?? row(entry.id)
            ended.insert(entry.id)
            guard entry.closing != nil || missing.contains(cookie) else {
                missing.insert(cookie)
                known[cookie]?.last = last
                continue
            }
            known[cookie] = nil
            missing.remove(cookie)
            // Its program had closed a TIME-WAIT socket before.
            guard let last, let host = last.host, host.state != .timeWait else { continue }
            if isTold, entry.closing == nil, let end = HostEnd(last, isResetByPeer: judge.wasResetByPeer(cookie)) {
                closings.hold(last, at: look.time, end)
                continue
            }
            let words = HostClosings.words(host, entry.closing, isReset: judge.wasReset(cookie))
            closings.append(last, entry.closing, at: look.time, words)
        }
    }

    /// Returns bytes per second since the last look, or `nil` until there are two measurements.
    private static func rate(_ former: UInt64?, _ now: UInt64?, _ time: Duration) -> Double? {
        guard let former, let now, now >= former, time > .zero else { return nil }
        return Double(now - former) / time.inSeconds
    }

    // MARK: A row

    /// - Parameter since: the time of the last look. All traffic since this row was built is more recent than that.
    private mutating func row(
        _ socket: HostSocket, _ judge: HostJudge, _ look: HostLook, _ since: MonotonicTime?
    ) -> SocketSnapshot? {
        guard var former = known[socket.id] else { return nil }
        var facts = SocketSnapshot.Facts(
            socket, id: former.id, isServerSide: judge.isServerSide(socket.id), opened: former.seen)
        // Of several hosts, not all were looked at at that time.
        let last = look.machines.isEmpty ? since ?? former.time : former.time
        let time = socket.time - max(former.time, last)
        let isSameLook = !look.machines.isEmpty && time == .zero
        // One that is lost has no more to say.
        former.isUntold = isSameLook && look.machines[socket.host]?.isLost != true
        if !isSameLook {
            former.rates.received = Self.rate(former.received, socket.tcp?.received, time)
            former.rates.sent = Self.rate(former.acknowledged, socket.tcp?.acknowledged, time)
        }
        (facts.receiveRate, facts.sendRate) = former.rates
        let isClose = look.examined?.contains(socket.inode) ?? true
        let shown = judge.shown(socket.id, isClose: isClose)
        var host = shown?.host ?? HostSnapshot(socket)
        facts.descriptor = shown?.asking.descriptor
        if let peer = judge.peer(of: socket.id) {
            host.peer = known[peer.id]?.id
            host.peerProgram = judge.owner(of: peer.id)?.text
            host.peerMachine = look.machines[peer.host]?.name
        }
        if let machine = look.machines[socket.host] { (host.machine, host.isLost) = (machine.name, machine.isLost) }
        host.userName = (host.programUser ?? host.user).flatMap { userNames[$0] }
        if socket.id == self.shown { host.alike = alike }
        facts.host = host
        (former.time, former.last, former.asking) = (socket.time, nil, isClose ? shown?.asking : nil)
        (former.received, former.acknowledged) = (socket.tcp?.received, socket.tcp?.acknowledged)
        known[socket.id] = former
        return SocketSnapshot(facts)
    }

    private func attach(_ verdict: Verdict, to snapshot: inout EngineSnapshot) {
        let about = verdict.sockets.compactMap(id)
        guard let first = about.first, let place = snapshot.position(of: first) else { return }
        var finding = Verdict(verdict.sentence, lasting: verdict.lasting)
        (finding.lint, finding.severity, finding.evidence) = (verdict.lint, verdict.severity, verdict.evidence)
        (finding.subject, finding.next, finding.others) = (verdict.subject, verdict.next, Array(about.dropFirst()))
        snapshot.sockets[place].host?.verdicts.append(finding)
    }
}
