import SocketCore

/// Judges what hangs in the sockets of a host and who is at fault, from one look after another.
///
/// Each look is given twice: first its sockets alone, then with what was learnt of the programs that the first part
/// asked for. It reads no clock: time is in the looks.
package struct HostJudge: Sendable {
    private var ledger = HostLedger()
    private(set) var scene: HostScene
    /// What follows from both.
    private(set) var facts: HostFacts
    /// Who has which socket open, of all sockets of the host, as far as it was told.
    private var owners: [UInt64: Set<HostLook.Owner>] = [:]
    /// The inodes whose programs were asked for last.
    private var wanted: Set<UInt64> = []
    private let settings: LintSettings
    /// Connections that were closed with bytes unread, while that is news.
    private var resets: [(verdict: HostVerdict, time: MonotonicTime)] = []
    /// How many thread looks there were.
    package private(set) var looks = 0

    package init(_ settings: LintSettings = LintSettings()) {
        self.settings = settings
        scene = HostScene(HostLook(time: .zero, sockets: []))
        facts = HostFacts(scene, ledger)
    }

    /// Learns who has which socket open, also of sockets that nothing is wrong with: an inherited one looks like any other
    /// idle one.
    package mutating func learn(owners: [UInt64: Set<HostLook.Owner>]) { self.owners = owners }

    /// Compares the sockets with those of the last look, and answers the inodes of those whose programs should be looked
    /// at: what stands, listeners with connections waiting, and the ends that both have on this host.
    package mutating func take(_ look: HostLook) -> Set<UInt64> {
        noteResets(look)
        var next = HostScene(look)
        if look.processes.isEmpty { next.keep(programsOf: scene) }
        scene = next
        ledger.take(look)
        facts = HostFacts(scene, ledger)
        wanted = Set(ends(of: suspects()).map(\.inode))
        return wanted
    }

    /// Takes the same look with processes, threads, epoll sets and owners.
    package mutating func takeExamined(_ look: HostLook) {
        if scene.look.time != look.time || scene.look.sockets.count != look.sockets.count { _ = take(look) }
        scene.take(programsOf: look)
        looks += 1
        facts = HostFacts(scene, ledger)
        let seen = lookAtSuspects()
        // Nobody else may hold the ledger while it is changed, or all of it is copied.
        facts = HostFacts(HostScene(HostLook(time: .zero, sockets: [])), HostLedger())
        for (id, asking, isHeir) in seen {
            ledger.note(asking, of: id)
            if let isHeir { ledger.noteHeir(isHeir, of: id) }
        }
        facts = HostFacts(scene, ledger)
    }

    private func lookAtSuspects() -> [(id: UInt64, asking: HostAsking, isHeir: Bool?)] {
        ends(of: suspects()).filter { wanted.contains($0.inode) && isLookedAt($0) }.map { socket in
            let isHeir = HostFacts.mayBeInherited(socket) ? facts.inheritance(of: socket) != nil : nil
            return (socket.id, facts.asker.asking(for: socket), isHeir)
        }
    }

    /// Whether all programs that are known to have it open were looked at; a program that was not says nothing.
    private func isLookedAt(_ socket: HostSocket) -> Bool {
        scene.owners(of: socket).allSatisfy { scene.programs[$0.process] != nil }
    }

    /// What was found, the worst first, and whether something stands that a longer look may still prove.
    package func verdicts() -> (found: [HostVerdict], isUndecided: Bool) {
        var rules = HostRules(facts, settings)
        let found = rules.judge(resets.map(\.verdict))
        return (found, rules.isUndecided)
    }

    // MARK: Resets

    /// For how long a reset is news, and how many are.
    private static let news = Duration.seconds(60)
    private static let mostResets = 200

    /// Compares what the kernel tells of closed sockets with the last look, which is still the scene.
    private mutating func noteResets(_ look: HostLook) {
        resets.removeAll { look.time - $0.time > Self.news }
        let rules = HostRules(facts, settings)
        var before: Set<UInt64> = []
        let closed = Set(look.closings.map(\.id))
        for closing in look.closings {
            // The kernel tells the order within a namespace alone.
            let peer = scene[closing.id].flatMap(scene.peer)
            let isAcross = peer.map { $0.namespace != closing.namespace } ?? false
            if let verdict = rules.resetCause(closing, after: isAcross ? closed : before) {
                resets.append((verdict, look.time))
            }
            before.insert(closing.id)
        }
        if resets.count > Self.mostResets { resets.removeFirst(resets.count - Self.mostResets) }
    }

    /// Whether it was closed with bytes unread, as far as that is known.
    func wasReset(_ id: UInt64) -> Bool { resets.contains { $0.verdict.sockets.first == id } }

    /// Whether its peer was closed with bytes unread, as far as that is known.
    func wasResetByPeer(_ id: UInt64) -> Bool { resets.contains { $0.verdict.sockets.dropFirst().contains(id) } }

    // MARK: Suspects

    private func suspects() -> [HostSocket] {
        scene.look.sockets.filter(isSuspect) + inheritSuspects()
    }

    /// Sockets that have an inode, and their other ends.
    private func ends(of sockets: [HostSocket]) -> [HostSocket] {
        var seen: Set<UInt64> = []
        return sockets.flatMap { [$0, scene.peer(of: $0)].compactMap { $0 } }
            .filter { $0.inode != 0 && seen.insert($0.id).inserted }
    }

    private func isSuspect(_ socket: HostSocket) -> Bool {
        if socket.isListening { return socket.receiveQueue ?? 0 > 0 }
        if socket.transport == .udp { return ledger[socket.id]?.dropped?.time == socket.time }
        if socket.unread ?? 0 > 0, ledger.readStands(socket) > .zero { return true }
        if socket.unsent ?? 0 > 0, ledger.writeStands(socket) > .zero { return true }
        guard socket.transport == .tcp else { return false }
        if socket.state == .closeWait || socket.state == .finWait2 { return socket.inode != 0 }
        return socket.tcp?.tries ?? 0 >= HostRules.graveTries || socket.state == .synSent && socket.retransmits > 0
            || ledger.isLimited(socket)
    }

    /// A program with more sockets than this opened them itself.
    private static let fewSockets = 16

    /// Idle connections of small processes, which an exec may have passed on: never every idle socket.
    private func inheritSuspects() -> [HostSocket] {
        var counts: [Int32: Int] = [:]
        let all = owners.isEmpty ? scene.look.owners.mapValues(Set.init) : owners
        for owner in all.values.joined() { counts[owner.process, default: 0] += 1 }
        return scene.look.sockets.filter { socket in
            guard let entry = ledger[socket.id], entry.mayBeInherited, HostFacts.mayBeInherited(socket),
                let owners = all[socket.inode], let owner = owners.first, owners.count == 1
            else { return false }
            return owner.descriptor > 2 && counts[owner.process] ?? 0 <= Self.fewSockets
        }
    }
}
