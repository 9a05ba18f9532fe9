import SocketCore

/// Judges what hangs in the sockets of a host and who is at fault, from one look after another.
///
/// Each look is given twice: first its sockets alone, then with what was learnt of the programs that the first part
/// asked for. It reads no clock: time is in the looks.
package struct HostJudge: Sendable {
    private(set) var ledger = HostLedger()
    private(set) var scene: HostScene
    private let settings: LintSettings
    /// How many thread looks there were.
    package private(set) var looks = 0

    package init(_ settings: LintSettings = LintSettings()) {
        self.settings = settings
        scene = HostScene(HostLook(time: .zero, sockets: []))
    }

    /// Compares the sockets with those of the last look, and answers the inodes of those whose programs should be looked
    /// at: what stands, listeners with connections waiting, and the ends that both have on this host.
    package mutating func take(_ look: HostLook) -> Set<UInt64> {
        var next = HostScene(look)
        if look.processes.isEmpty { next.keep(programsOf: scene) }
        scene = next
        ledger.take(look)
        var inodes: Set<UInt64> = []
        for socket in suspects() {
            for end in [socket, scene.peer(of: socket)].compactMap({ $0 }) where end.inode != 0 {
                inodes.insert(end.inode)
            }
        }
        return inodes
    }

    /// Takes the same look with processes, threads, epoll sets and owners.
    package mutating func takeExamined(_ look: HostLook) {
        if scene.look.time == look.time, scene.look.sockets.count == look.sockets.count {
            scene.take(programsOf: look)
        } else {
            _ = take(look)
        }
        looks += 1
        let asker = HostAsker(scene: scene, ledger: ledger)
        for socket in suspects() {
            for end in [socket, scene.peer(of: socket)].compactMap({ $0 }) {
                ledger.note(asker.asking(for: end), of: end.id)
            }
        }
        let facts = HostFacts(scene, ledger)
        for socket in inheritSuspects() {
            ledger.noteInheritLook(of: socket.id, mayBe: facts.inheritance(of: socket) != nil)
        }
    }

    /// What was found, the worst first, and whether something stands that a longer look may still prove.
    package func verdicts() -> (found: [HostVerdict], isUndecided: Bool) {
        var rules = HostRules(facts, settings)
        let found = rules.judge()
        return (found, rules.isUndecided)
    }

    var facts: HostFacts { HostFacts(scene, ledger) }

    // MARK: Suspects

    private func suspects() -> [HostSocket] {
        scene.look.sockets.filter(isSuspect) + inheritSuspects()
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

    /// Idle connections of small processes, which an exec may have passed on: once each, never every idle socket.
    private func inheritSuspects() -> [HostSocket] {
        var counts: [Int32: Int] = [:]
        for owner in scene.look.owners.values.joined() { counts[owner.process, default: 0] += 1 }
        return scene.look.sockets.filter { socket in
            guard let entry = ledger[socket.id], entry.inheritLooks != nil, HostFacts.mayBeInherited(socket),
                let owners = scene.look.owners[socket.inode], owners.count == 1
            else { return false }
            return owners[0].descriptor > 2 && counts[owners[0].process] ?? 0 <= 16
        }
    }
}
