import SocketCore

/// What lists and details show about one socket of the host.
extension HostJudge {
    /// Returns a socket as a row shows it, and how it is requested, or `nil` if there is no such socket.
    /// - Parameter isClose: whether its programs were examined because of it.
    package func shown(_ id: UInt64, isClose: Bool = true) -> (host: HostSnapshot, asking: HostAsking)? {
        guard let socket = scene[id], case let asking = asking(for: socket, isClose: isClose) else { return nil }
        var host = HostSnapshot(socket)
        host.namespace = scene.look.namespaces[socket.namespace]
        (host.process, host.others) = (asking.process.map { HostOrdinal.kernelProcess($0.number) }, asking.others)
        host.owners = scene.owners(of: socket).map { HostOrdinal.kernelProcess($0.process) }
        if let owner = owner(asking) {
            (host.program, host.programUser, host.cgroup) = (owner.title, owner.user, owner.cgroup)
            host.container = owner.cgroup.flatMap(ContainerName.text)
        }
        (host.asks, host.asksFor) = words(asking, socket)
        (host.asksWords, host.evidence) = (asking.words.isEmpty ? nil : asking.words, asking.proof)
        if let descriptor = asking.descriptor,
            let process = asking.process.flatMap({ scene.look.processes[$0.number] }),
            process.flagsRead.contains(descriptor)
        {
            host.blocks = !process.nonBlocking.contains(descriptor)
            host.closesOnExec = !process.keptOverExec.contains(descriptor)
        }
        return (host, asking)
    }

    /// Returns the text for a column, `send 47.7M`, `epoll in`, `epoll ET`, `recv` or `nobody`, and its minimum
    /// duration.
    private func words(_ asking: HostAsking, _ socket: HostSocket) -> (text: String?, lasting: Duration?) {
        let unread = facts.isReadingStalled(socket) ? facts.unread(socket) : nil
        let text = asking.short == "-" ? nil : asking.short
        switch asking.kind {
        case .asks: return (text, asking.waited)
        case .stopped, .unseen, .edge: return (text, unread)
        case .stuck: return (text, unread ?? asking.idle)
        case .unasked: return (text, text == "nobody" ? unread : asking.idle)
        case .hidden, .unaccepted, .orphan: return (nil, nil)
        }
    }

    /// Returns how a socket is requested, as far as its programs were examined.
    package func asking(of id: UInt64) -> HostAsking? { scene[id].map { asking(for: $0) } }

    /// Returns the program that has it open. If there are several, the one that waits on it, or else the youngest.
    package func owner(of id: UInt64) -> HostOwner? { asking(of: id).flatMap(owner) }

    private func owner(_ asking: HostAsking) -> HostOwner? {
        guard let process = asking.process, let known = scene.look.processes[process.number] else { return nil }
        return HostOwner(
            title: HostScene.safe(known.title), process: process, user: known.user, cgroup: known.cgroup,
            descriptor: asking.descriptor, others: asking.others)
    }

    /// Returns the other end, if it is on this host.
    package func peer(of id: UInt64) -> HostSocket? { scene[id].flatMap(scene.peer) }

    /// Whether it is the end that accepted the connection.
    package func isServerSide(_ id: UInt64) -> Bool { scene[id].map(scene.isServerSide) ?? false }

    /// Returns the socket from the last look.
    package func socket(_ id: UInt64) -> HostSocket? { scene[id] }
    func socket(inode: UInt64) -> HostSocket? { scene.socket(inode: inode) }

    /// The sockets with stalled bytes or a pending end.
    var notable: Set<UInt64> { scene.notable }

    /// Returns the minimum time for which its unread bytes have been left alone, or `nil` if they have not.
    package func unread(for id: UInt64) -> Duration? {
        guard let socket = scene[id], facts.isReadingStalled(socket) else { return nil }
        return facts.unread(socket)
    }
}

/// The program that has a socket open.
package struct HostOwner: Equatable, Sendable {
    /// `api.py[4711]`. Sanitized.
    package var title: String
    package var process: HostProcess.ID
    package var user: UInt32?
    package var cgroup: String?
    package var descriptor: Int32?
    /// The number of other processes that have it open.
    package var others: Int

    /// `nginx[812]+3`
    package var text: String { title + (others > 0 ? "+\(others)" : "") }
}
