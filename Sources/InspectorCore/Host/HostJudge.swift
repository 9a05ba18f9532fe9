import SocketCore

/// Decides which sockets of a host hang and what causes it, from successive looks.
///
/// Each look is passed twice: first its sockets alone, then with the facts about the programs that the first pass
/// requested. It reads no clock, because the looks contain the time.
package struct HostJudge: Sendable {
    private var ledger = HostLedger()
    private(set) var scene: HostScene
    /// The facts derived from both.
    private(set) var facts: HostFacts
    /// The inodes of sockets that a single small program has open, or `nil` if they must be found again.
    private var heirs: [UInt64]?
    /// The inodes whose programs were requested last.
    private var wanted: Set<UInt64> = []
    let settings: LintSettings
    /// Recent connections that were closed with bytes unread.
    private var resets: [(verdict: Verdict, time: MonotonicTime)] = []
    /// How the suspects of the last look are requested, by identity. Rows and verdicts ask for thousands of them.
    private var looked: [UInt64: HostAsking] = [:]
    /// The number of thread looks.
    package private(set) var looks = 0

    package init(_ settings: LintSettings = LintSettings()) {
        self.settings = settings
        (scene, facts) = (HostFacts.none.scene, .none)
    }

    /// Compares the sockets with the last look. Returns the inodes whose programs should be examined: sockets with
    /// stalled bytes, listeners with waiting connections, and their other ends on this host.
    package mutating func absorb(_ look: HostLook) -> Set<UInt64> {
        noteResets(look.closings, at: look.time)
        looked = [:]
        change { scene, ledger in
            scene.absorb(look)
            ledger.absorb(scene)
        }
        if look.changes == nil { heirs = nil }
        wanted = Set(ends(of: suspects()).map(\.inode))
        return wanted
    }

    /// Absorbs the same look again, with processes, threads, epoll sets and owners.
    package mutating func absorbExamined(_ look: HostLook) {
        if scene.look.time != look.time || scene.look.sockets.count != look.sockets.count { _ = absorb(look) }
        change { scene, _ in scene.absorb(programsOf: look) }
        noteExamined(look)
    }

    private mutating func noteExamined(_ look: HostLook) {
        change { scene, ledger in
            ledger.note(scene.programs.values, of: look.changes?.host, at: look.time)
            // A child may have inherited it since.
            for inode in look.changes?.owners ?? [] {
                if let id = scene.socket(inode: inode)?.id { ledger.noteHeir(true, of: id) }
            }
        }
        if look.changes?.owners.isEmpty != true { heirs = nil }
        looks += 1
        looked = [:]
        let (seen, time) = (lookAtSuspects(), scene.look.time)
        change { _, ledger in
            for (id, asking, isHeir) in seen {
                if asking.time == time { ledger.note(asking, of: id) }
                if let isHeir { ledger.noteHeir(isHeir, of: id) }
            }
        }
        looked = Dictionary(seen.map { ($0.id, $0.asking) }) { first, _ in first }
    }

    /// Returns how a socket is requested. `isClose` says whether its programs were examined because of it.
    func asking(for socket: HostSocket, isClose: Bool = true) -> HostAsking {
        (isClose ? looked[socket.id] : nil) ?? facts.asker.asking(for: socket, isClose: isClose)
    }

    /// Absorbs a look that one of several hosts told, with its processes, into what the others told. The sockets are
    /// changed in place, so nothing else may hold the last look.
    package mutating func absorb(_ merge: HostMerge) {
        noteResets(merge.closings, at: merge.time)
        looked = [:]
        change { scene, ledger in
            scene.absorb(merge)
            ledger.absorb(scene)
        }
        wanted = Set(ends(of: suspects()).map(\.inode))
        noteExamined(scene.look)
    }

    /// Notes that a host is there, or whether its looks arrive.
    package mutating func note(_ machine: HostMachine, _ host: HostOrdinal) {
        change { scene, _ in scene.note(machine, host) }
    }

    /// The last look, of all hosts.
    package var look: HostLook { scene.look }

    /// Clears `facts` first: a second reference to the scene and the ledger would cause both to be copied.
    private mutating func change(_ body: (inout HostScene, inout HostLedger) -> Void) {
        facts = .none
        body(&scene, &ledger)
        facts = HostFacts(scene, ledger)
    }

    private mutating func lookAtSuspects() -> [(id: UInt64, asking: HostAsking, isHeir: Bool?)] {
        let host = scene.look.changes?.host
        let found = ends(of: suspects()).filter {
            wanted.contains($0.inode) && isLookedAt($0) && (host == nil || $0.host == host)
        }
        return found.map { socket in
            if found.count > Self.many, let former = recent(socket) { return (socket.id, former, nil) }
            let isHeir = HostFacts.mayBeInherited(socket) ? facts.inheritance(of: socket) != nil : nil
            return (socket.id, facts.asker.asking(for: socket), isHeir)
        }
    }

    /// Of more suspects than this, those of which two looks agree are looked at in turns, in so many looks, and again
    /// after so long.
    private static let many = 1_024
    private static let turns: UInt64 = 4
    private static let askingIsNew = Duration.seconds(5)

    /// Returns how a socket was requested in a recent look, if nothing is told of it or its program since and it is not
    /// its turn.
    private func recent(_ socket: HostSocket) -> HostAsking? {
        let askings = ledger.askings(of: socket.id)
        guard let changes = scene.look.changes, !changes.told.contains(socket.id),
            !changes.owners.contains(socket.inode), let last = askings.last, facts.isConfirmed(socket),
            askings.allSatisfy({ $0.kind == last.kind && $0.process == last.process }),
            last.process.map({ scene.programs[$0.number]?.process.id == $0 }) ?? false,
            scene.look.time - last.time < Self.askingIsNew, (socket.id &+ UInt64(looks)) % Self.turns != 0
        else { return nil }
        return last
    }

    /// Whether all known owners of the socket were examined. A program that was not examined reveals nothing.
    private func isLookedAt(_ socket: HostSocket) -> Bool {
        scene.owners(of: socket).allSatisfy { scene.programs[$0.process] != nil }
    }

    /// Returns the verdicts, the worst first, and the sockets with stalled bytes that a longer look may still prove.
    package func verdicts() -> (found: [Verdict], undecided: Set<UInt64>) {
        var rules = HostRules(facts, settings, resets: resets.map(\.verdict))
        let found = rules.judge()
        return (scene.look.machines.isEmpty ? found : found.filter { !isLost($0) }, rules.undecided)
    }

    /// Whether it is about what was last seen of a host that is lost.
    private func isLost(_ verdict: Verdict) -> Bool {
        verdict.sockets.first.flatMap { scene[$0]?.host }.flatMap { scene.look.machines[$0] }?.isLost ?? false
    }

    /// Returns these sockets, all other sockets of their programs with waiting data, their other ends, and so on:
    /// everything that may be related to a hang.
    package func related(to sockets: [HostSocket], _ processes: Set<Int32> = []) -> Set<UInt64> {
        let waiting = scene.sockets(scene.notable)
        let held = Dictionary(grouping: waiting.flatMap { socket in owners(of: socket).map { ($0, socket) } }) { $0.0 }
        var found: Set<UInt64> = []
        var left = sockets
        var seen = processes
        for process in processes { left += held[process]?.map(\.1) ?? [] }
        while let socket = left.popLast() {
            guard found.insert(socket.id).inserted else { continue }
            if let peer = scene.peer(of: socket) { left.append(peer) }
            for process in owners(of: socket) where seen.insert(process).inserted {
                left += held[process]?.map(\.1) ?? []
            }
        }
        return found
    }

    private func owners(of socket: HostSocket) -> [Int32] { scene.owners(of: socket).map(\.process) }

    // MARK: Resets

    /// How long resets stay recent, and the most that are kept.
    private static let news = Duration.seconds(60)
    private static let mostResets = 200

    /// Compares the kernel's reports of closed sockets with the last look, which is still the scene.
    private mutating func noteResets(_ closings: [HostSocket], at time: MonotonicTime) {
        resets.removeAll { time - $0.time > Self.news }
        let rules = HostRules(facts, settings)
        var before: Set<UInt64> = []
        let closed = Set(closings.map(\.id))
        for closing in closings {
            // The kernel reports the order only within a namespace.
            let peer = scene[closing.id].flatMap(scene.peer)
            if let peer, peer.host != closing.host { continue }
            let isAcross = peer.map { $0.namespace != closing.namespace } ?? false
            if let verdict = rules.resetCause(closing, after: isAcross ? closed : before) {
                resets.append((verdict, time))
            }
            before.insert(closing.id)
        }
        if resets.count > Self.mostResets { resets.removeFirst(resets.count - Self.mostResets) }
    }

    /// Whether the socket was closed with bytes unread, as far as known.
    func wasReset(_ id: UInt64) -> Bool { resets.contains { $0.verdict.sockets.first == id } }

    /// Whether its peer was closed with bytes unread, as far as known.
    func wasResetByPeer(_ id: UInt64) -> Bool { resets.contains { $0.verdict.sockets.dropFirst().contains(id) } }

    // MARK: Suspects

    private mutating func suspects() -> [HostSocket] {
        scene.sockets(scene.notable.union(ledger.dropping)).filter(isSuspect) + inheritSuspects()
    }

    /// Returns these sockets and their other ends, if they have an inode.
    private func ends(of sockets: [HostSocket]) -> [HostSocket] {
        var seen: Set<UInt64> = []
        return sockets.flatMap { [$0, scene.peer(of: $0)].compactMap { $0 } }
            .filter { $0.inode != 0 && seen.insert($0.id).inserted }
    }

    private func isSuspect(_ socket: HostSocket) -> Bool {
        if socket.isListening { return socket.receiveQueue ?? 0 > 0 }
        if socket.transport == .udp { return ledger[socket.id]?.dropped?.time == socket.time }
        if socket.unread ?? 0 > 0, ledger.readStall(socket) > .zero { return true }
        if socket.unsent ?? 0 > 0, ledger.writeStall(socket) > .zero { return true }
        guard socket.transport == .tcp else { return false }
        if socket.state == .closeWait || socket.state == .finWait2 { return socket.inode != 0 }
        return socket.tcp?.tries ?? 0 >= HostRules.graveTries || socket.state == .synSent && socket.retransmits > 0
            || ledger.isLimited(socket)
    }

    /// A program that alone holds more sockets than this opened them itself. What others hold as well was passed on.
    private static let fewSockets = 16

    /// Returns idle connections of small processes, which an exec may have passed on. Never returns every idle socket.
    private mutating func inheritSuspects() -> [HostSocket] {
        let inodes = heirs ?? ownedBySmallPrograms()
        heirs = inodes
        return inodes.compactMap { scene.socket(inode: $0) }.filter {
            HostFacts.mayBeInherited($0) && ledger[$0.id]?.mayBeInherited == true
        }
    }

    private func ownedBySmallPrograms() -> [UInt64] {
        var counts: [Int32: Int] = [:]
        for owners in scene.look.owners.values where owners.count == 1 { counts[owners[0].process, default: 0] += 1 }
        return scene.look.owners.compactMap { inode, owners in
            guard owners.count == 1, owners[0].descriptor > 2, counts[owners[0].process] ?? 0 <= Self.fewSockets else {
                return nil
            }
            return inode
        }.sorted()
    }
}
