import SocketCore

/// What lists and details show of one socket of the host.
extension HostJudge {
    /// How a socket is asked for, for a column: `send 47.7M`, `epoll in`, `epoll ET`, `recv`, `nobody`, `-`; and for how
    /// long, at least.
    package func asks(of id: UInt64) -> (text: String, lasting: Duration?) {
        guard let socket = scene[id], let asking = asking(of: id) else { return ("-", nil) }
        let unread = facts.standsReading(socket) ? facts.unread(socket) : nil
        switch asking.kind {
        case .asks: return (asking.short, asking.isWaiting ? asking.idle : nil)
        case .stopped, .unseen: return (asking.short, unread)
        case .edge: return (asking.short, unread)
        case .stuck: return (asking.short, unread ?? asking.idle)
        case .unasked:
            guard asking.short != "nobody" else { return ("nobody", unread) }
            return (asking.short, asking.idle)
        case .hidden, .unaccepted, .orphan: return ("-", nil)
        }
    }

    /// How a socket is asked for, as far as its programs were looked at.
    package func asking(of id: UInt64) -> HostAsking? {
        guard let socket = scene[id] else { return nil }
        return facts.asker.asking(for: socket)
    }

    /// The program that has it open: of several the one that waits on it, else the youngest.
    package func owner(of id: UInt64) -> HostOwner? {
        guard let asking = asking(of: id), let process = asking.process,
            let known = scene.look.processes[process.number]
        else { return nil }
        return HostOwner(
            title: HostScene.safe(known.title), process: process, user: known.user, cgroup: known.cgroup,
            descriptor: asking.descriptor, others: asking.others)
    }

    /// Whether the descriptor by which a program has it blocks, and whether an exec closes it; `nil`: not looked at.
    package func flags(_ asking: HostAsking) -> (blocks: Bool, closesOnExec: Bool)? {
        guard let descriptor = asking.descriptor,
            let process = asking.process.flatMap({ scene.look.processes[$0.number] }),
            process.flagsRead.contains(descriptor)
        else { return nil }
        return (!process.nonBlocking.contains(descriptor), !process.keptOverExec.contains(descriptor))
    }

    /// The other end, where it is on this host.
    package func peer(of id: UInt64) -> HostSocket? { scene[id].flatMap(scene.peer) }

    /// The processes that have it open, as far as they are known.
    package func owners(of id: UInt64) -> [Int32] { scene[id].map { scene.owners(of: $0).map(\.process) } ?? [] }

    /// The network namespace that a socket is in, as far as it is known.
    package func namespace(of socket: HostSocket) -> HostNamespace? { scene.look.namespaces[socket.namespace] }

    /// Whether it is the end that was connected to.
    package func isServerSide(_ id: UInt64) -> Bool { scene[id].map(scene.isServerSide) ?? false }

    /// The socket, as the last look had it.
    package func socket(_ id: UInt64) -> HostSocket? { scene[id] }

    /// For how long its unread bytes have been left alone, at least; `nil`: they have not.
    package func unread(for id: UInt64) -> Duration? {
        guard let socket = scene[id], facts.standsReading(socket) else { return nil }
        return facts.unread(socket)
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
