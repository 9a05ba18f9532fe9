import SocketCore

/// What lists and details show of one socket of the host.
extension HostJudge {
    /// What a row shows of who has a socket open, and how it is asked for; `nil`: there is no such socket.
    /// - Parameter isClose: whether its programs were looked at with a view to it.
    package func shown(_ id: UInt64, isClose: Bool = true) -> HostShown? {
        guard let socket = scene[id], case let asking = facts.asker.asking(for: socket, isClose: isClose) else {
            return nil
        }
        let (text, lasting) = words(asking, socket)
        return HostShown(
            process: asking.process, descriptor: asking.descriptor, others: asking.others,
            owners: scene.owners(of: socket).map(\.process), owner: owner(asking), asks: text, asksFor: lasting,
            asksWords: asking.words.isEmpty ? nil : asking.words, evidence: asking.proof, flags: flags(asking))
    }

    /// For a column: `send 47.7M`, `epoll in`, `epoll ET`, `recv`, `nobody`; and for how long, at least.
    private func words(_ asking: HostAsking, _ socket: HostSocket) -> (text: String?, lasting: Duration?) {
        let unread = facts.standsReading(socket) ? facts.unread(socket) : nil
        let text = asking.short == "-" ? nil : asking.short
        switch asking.kind {
        case .asks: return (text, asking.isWaiting ? asking.idle : nil)
        case .stopped, .unseen, .edge: return (text, unread)
        case .stuck: return (text, unread ?? asking.idle)
        case .unasked: return (text, text == "nobody" ? unread : asking.idle)
        case .hidden, .unaccepted, .orphan: return (nil, nil)
        }
    }

    /// How a socket is asked for, as far as its programs were looked at.
    package func asking(of id: UInt64) -> HostAsking? { scene[id].map { facts.asker.asking(for: $0) } }

    /// The program that has it open: of several the one that waits on it, else the youngest.
    package func owner(of id: UInt64) -> HostOwner? { asking(of: id).flatMap(owner) }

    private func owner(_ asking: HostAsking) -> HostOwner? {
        guard let process = asking.process, let known = scene.look.processes[process.number] else { return nil }
        return HostOwner(
            title: HostScene.safe(known.title), process: process, user: known.user, cgroup: known.cgroup,
            descriptor: asking.descriptor, others: asking.others)
    }

    /// Whether the descriptor by which a program has it blocks, and whether an exec closes it; `nil`: not looked at.
    private func flags(_ asking: HostAsking) -> HostShown.Flags? {
        guard let descriptor = asking.descriptor,
            let process = asking.process.flatMap({ scene.look.processes[$0.number] }),
            process.flagsRead.contains(descriptor)
        else { return nil }
        return HostShown.Flags(
            blocks: !process.nonBlocking.contains(descriptor), closesOnExec: !process.keptOverExec.contains(descriptor))
    }

    /// The other end, where it is on this host.
    package func peer(of id: UInt64) -> HostSocket? { scene[id].flatMap(scene.peer) }

    /// The network namespace that a socket is in, as far as it is known.
    package func namespace(of socket: HostSocket) -> HostNamespace? { scene.look.namespaces[socket.namespace] }

    /// Whether it is the end that was connected to.
    package func isServerSide(_ id: UInt64) -> Bool { scene[id].map(scene.isServerSide) ?? false }

    /// The socket, as the last look had it.
    package func socket(_ id: UInt64) -> HostSocket? { scene[id] }
    func socket(inode: UInt64) -> HostSocket? { scene.socket(inode: inode) }

    /// The sockets of which anything stands or ends.
    var notable: Set<UInt64> { scene.notable }

    /// For how long its unread bytes have been left alone, at least; `nil`: they have not.
    package func unread(for id: UInt64) -> Duration? {
        guard let socket = scene[id], facts.standsReading(socket) else { return nil }
        return facts.unread(socket)
    }
}

/// What a row shows of who has a socket open.
package struct HostShown: Hashable, Sendable {
    package var process: HostProcess.ID?
    package var descriptor: Int32?
    package var others: Int
    package var owners: [Int32]
    package var owner: HostOwner?
    package var asks: String?
    package var asksFor: Duration?
    package var asksWords: String?
    package var evidence: Evidence?
    package var flags: Flags?

    /// Of the descriptor by which a program has it: whether it blocks, and whether an exec closes it.
    package struct Flags: Hashable, Sendable {
        package var blocks: Bool
        package var closesOnExec: Bool
    }
}

/// Who has a socket open.
package struct HostOwner: Hashable, Sendable {
    /// `api.py[4711]`. Sanitized.
    package var title: String
    package var process: HostProcess.ID
    package var user: UInt32?
    package var cgroup: String?
    package var descriptor: Int32?
    /// How many more processes have it open.
    package var others: Int

    /// `nginx[812]+3`
    package var text: String { title + (others > 0 ? "+\(others)" : "") }
}
