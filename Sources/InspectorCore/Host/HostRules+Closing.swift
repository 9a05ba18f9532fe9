import SocketCore

/// Connections that only one end has closed, and sockets that a program holds without knowing it.
extension HostRules {
    /// Connections of one program in CLOSE-WAIT, of which the same is said.
    struct Leak: Hashable {
        var process: HostProcess.ID
        var isServer: Bool
        var far: String
    }

    typealias Leaks = [Leak: [(socket: HostSocket, asking: HostAsking)]]

    func findLeaks(_ after: Duration) -> Leaks {
        var leaks: Leaks = [:]
        for socket in notable where isOwned(socket, in: .closeWait) {
            guard let age = socket.tcp?.lastAcknowledged, age >= after, case let asking = owner(socket),
                let process = asking.process
            else { continue }
            let isServer = scene.isServerSide(socket)
            let far = isServer ? "clients of :\(socket.local?.port ?? 0)" : HostScene.safe("\(socket.peer ?? .unnamed)")
            leaks[Leak(process: process, isServer: isServer, far: far), default: []].append((socket, asking))
        }
        return leaks
    }

    private func isOwned(_ socket: HostSocket, in state: HostState) -> Bool {
        socket.transport == .tcp && socket.inode != 0 && socket.state == state
    }

    mutating func leaked() -> [Verdict] { leaks.compactMap(leaked) }

    /// A client pool has not read the FIN and closes when it next needs a connection. A program that has read the FIN
    /// leaks the connection, and so does a server.
    private func leaked(_ leak: Leak, _ members: [(socket: HostSocket, asking: HostAsking)]) -> Verdict? {
        let read = members.count { $0.socket.receiveQueue == 0 }
        let sorted = members.sorted { $0.socket.id < $1.socket.id }
        let oldest = members.compactMap(\.socket.tcp?.lastAcknowledged).max()
        guard let first = sorted.first else { return nil }
        let (what, pronoun) = members.count == 1 ? ("a connection", "it") : ("\(members.count) connections", "them")
        var verdict = Verdict(
            "\(title(first.asking, first.socket)) has left \(what) open after \(leak.far) closed \(pronoun)",
            because: members.count == 1 ? read == 1 ? "FIN read" : "FIN unread" : "FIN read on \(read)", for: oldest,
            on: sorted.map(\.socket), by: first.asking)
        verdict.count = members.count
        let isStopped = scene.programs[leak.process.number]?.halt != nil
        verdict.grave = isStopped ? 0 : leak.isServer ? members.count : read
        verdict.next = next(first.asking)
        return verdict
    }

    /// Returns the verdict if a program closed a connection with bytes unread, so that the kernel reset it: the last
    /// look shows the bytes, and nothing was read since. The peer must be on this host, to exclude that it had sent the
    /// reset.
    /// - Parameter before: the sockets closed earlier since the last look.
    func resetCause(_ closing: HostSocket, after before: Set<UInt64>) -> Verdict? {
        guard closing.transport == .tcp, let socket = scene[closing.id], let unread = socket.unread, unread > 0,
            socket.state == .established || socket.state == .closeWait, socket.inode != 0,
            let consumed = socket.consumed, closing.consumed == consumed,
            let peer = scene.peer(of: socket), peer.inode != 0, !before.contains(peer.id)
        else { return nil }
        let asking = owner(socket)
        let isSerious = scene.isServerSide(socket) || unread >= Self.pool
        var verdict = Verdict(
            "\(title(asking, socket)) closed with \(Self.size(unread)) unread, which causes a reset",
            because: "\(peerTitle(socket)) was at the other end", on: [socket, peer], by: asking,
            atMost: isSerious ? .critical : .note)
        // The program may have ended by the time this is shown.
        verdict.subject = asking.process == nil ? nil : title(asking, socket)
        return verdict
    }

    mutating func halfClosed(_ after: Duration) -> [Verdict] {
        let leaking = Set(leaks.values.joined().compactMap { scene.peer(of: $0.socket)?.id })
        return notable.compactMap { socket in
            guard isOwned(socket, in: .finWait2), !leaking.contains(socket.id), let age = socket.tcp?.lastAcknowledged,
                age >= after, case let asking = owner(socket)
            else { return nil }
            return Verdict(
                "\(title(asking, socket)) sent FIN and has been waiting for \(peerTitle(socket)) to close", for: age,
                on: [socket], by: asking)
        }
    }

    func inherited() -> [Verdict] {
        scene.sockets(facts.ledger.asked).compactMap { socket in
            guard HostFacts.mayBeInherited(socket), let asking = facts.steady(socket), asking.kind == .unasked,
                asking.proof != .queues, facts.isConfirmed(socket), let origin = facts.inheritance(of: socket)
            else { return nil }
            var verdict = Verdict(
                "\(title(asking, socket)) holds fd \(origin.descriptor), a socket older than the program itself",
                because: "the program does not use it, and the peer will not see a FIN", for: origin.life,
                on: [socket],
                by: asking, evidence: asking.proof)
            verdict.ends = ends(socket, asking)
            return verdict
        }
    }
}

extension HostFacts {
    /// Whether a connection is idle and open, like one that was passed on by an exec.
    static func mayBeInherited(_ socket: HostSocket) -> Bool {
        guard socket.transport == .tcp, socket.inode != 0, let received = socket.tcp?.lastReceived,
            let acknowledged = socket.tcp?.lastAcknowledged, min(received, acknowledged) > .seconds(5)
        else { return false }
        return [.established, .closeWait, .finWait2].contains(socket.state)
    }

    /// Returns the only owner's descriptor and age, if the socket is older than its owner, which was not started to use
    /// it. Returns `nil` if that is not so, or not known.
    func inheritance(of socket: HostSocket) -> (descriptor: Int32, life: Duration)? {
        let owners = scene.owners(of: socket)
        guard owners.count == 1, owners[0].descriptor > 2, let program = scene.programs[owners[0].process],
            let life = program.process.age, let age = Self.age(of: socket), age > life + .milliseconds(50),
            program.process.keptOverExec.contains(owners[0].descriptor), program.entries(of: socket.inode).isEmpty,
            !program.hasUnreadSets, Self.isForeign(program.process)
        else { return nil }
        return (owners[0].descriptor, life)
    }

    /// Returns the minimum time for which it has been open.
    private static func age(of socket: HostSocket) -> Duration? {
        let sent = socket.tcp?.sent ?? 0 > 0 ? socket.tcp?.lastSent : nil
        return [socket.tcp?.lastReceived, socket.tcp?.lastAcknowledged, sent].compactMap { $0 }.max()
    }

    /// Whether it runs another program than its parent.
    private static func isForeign(_ process: HostProcess) -> Bool {
        if HostOrdinal.kernelProcess(process.parent) == 1 { return true }
        guard let own = process.executable, let parent = process.parentExecutable else { return false }
        return own != parent
    }
}
