import SocketCore

/// Unread bytes that no program requests, and that block no writer.
extension HostRules {
    /// Fewer unread bytes than this on a client's side are normal for idle connection pools: TLS session tickets,
    /// notices.
    static let pool: Int64 = 16_384

    mutating func judgeUnread() {
        for socket in notable where !socket.isListening && socket.transport != .udp && !handled.contains(socket.id) {
            judgeUnread(socket)
        }
    }

    private mutating func judgeUnread(_ socket: HostSocket) {
        guard facts.isReadingStalled(socket), let asking = facts.steady(socket) else {
            if facts.isReadingStalled(socket) { undecided.insert(socket.id) }
            return
        }
        guard [.edge, .stuck, .unasked, .stopped, .unseen].contains(asking.kind), !facts.isHeldUp(asking) else {
            return
        }
        let lint = Self.lint(asking.kind) ?? "unread-unasked"
        let lasting = facts.unread(socket)
        guard lasting >= time(lint), facts.isConfirmed(socket) else {
            undecided.insert(socket.id)
            return
        }
        let elsewhere = lint == "unread-unasked" ? waitsElsewhere(asking, socket) : nil
        let returning = lint == "unread-unasked" ? looksNowAndThen(asking, socket) : nil
        let excuses = [elsewhere, returning].compactMap { $0 }
        let severity: Severity = isSerious(socket, asking) && excuses.isEmpty ? .warning : .note
        let reason = ([Self.how(asking)] + excuses).joined(separator: "; ")
        let amount = Self.size(socket.unread)
        var verdict = HostVerdict(
            lint, severity, "\(title(asking, socket)) has left \(amount) unread", because: reason, for: lasting,
            on: [socket], by: asking, evidence: asking.proof)
        verdict.next = next(asking)
        verdict.sides = sides(socket, asking)
        tell(verdict)
    }

    /// Whether leaving bytes unread is more than a note here.
    private func isSerious(_ socket: HostSocket, _ asking: HostAsking) -> Bool {
        guard asking.kind != .stopped, asking.kind != .unseen, asking.proof.provesSilence, !isPeerGone(socket) else {
            return false
        }
        return scene.isServerSide(socket) || socket.unread ?? 0 >= Self.pool
    }

    /// Whether the peer has closed completely: its FIN has arrived, and its end is missing or has no program.
    private func isPeerGone(_ socket: HostSocket) -> Bool {
        if socket.transport.isUnix { return socket.peerInode == 0 && socket.transport != .unixDatagram }
        return socket.state.countsFINReceived && scene.peer(of: socket)?.inode ?? 0 == 0
    }

    /// Returns what its program waits for on another socket, which explains why it does not read this one.
    private func waitsElsewhere(_ asking: HostAsking, _ socket: HostSocket) -> String? {
        guard let number = asking.process?.number, let program = scene.programs[number] else { return nil }
        for thread in program.process.threads where thread.idle.map({ $0 > .seconds(1) }) == true {
            guard let call = thread.call, call.kind == .read || call.kind == .connect else { continue }
            for descriptor in call.reads.union(call.writes).sorted() {
                guard let inode = program.process.sockets[descriptor], inode != socket.inode,
                    let other = scene.socket(inode: inode)
                else { continue }
                return "thread \(thread.number) waits in \(call.words) on fd \(descriptor) for \(peerTitle(other))"
            }
        }
        return nil
    }

    /// Returns the explanation if its only thread sleeps now and then and has run recently. It may wait for a whole
    /// message by peeking at the input (MSG_PEEK) whenever it wakes up.
    private func looksNowAndThen(_ asking: HostAsking, _ socket: HostSocket) -> String? {
        guard let number = asking.process?.number, let idle = scene.programs[number]?.leastIdle,
            idle < HostAsker.idleProof, facts.ledger[socket.id]?.askings.contains(where: \.wakesLater) == true
        else { return nil }
        return "it may check this socket whenever it wakes"
    }

    /// Returns the program at the other end, or its address.
    func peerTitle(_ socket: HostSocket) -> String {
        guard let peer = scene.peer(of: socket), peer.inode != 0 else {
            return socket.peer.map { HostScene.safe("\($0)") } ?? "its peer"
        }
        return title(owner(peer), peer)
    }

    /// Returns both ends of a connection, the one at fault first.
    func sides(_ socket: HostSocket, _ asking: HostAsking) -> [HostVerdict.Side] {
        var sides = [side(socket, asking)]
        if let peer = scene.peer(of: socket), peer.inode != 0 { sides.append(side(peer, owner(peer))) }
        return sides
    }

    private func side(_ socket: HostSocket, _ asking: HostAsking) -> HostVerdict.Side {
        var words = [asking.words.isEmpty ? "-" : asking.words]
        if let unread = socket.unread, unread > 0 { words.append("\(Self.size(unread)) unread") }
        if let unsent = socket.unsent, unsent > 0, !socket.transport.isUnix {
            words.append("\(Self.size(unsent)) unsent")
        }
        return HostVerdict.Side(
            name: scene.name(asking, of: socket), descriptor: asking.descriptor,
            words: words.joined(separator: "; ") + scene.namespaceSuffix(of: socket))
    }
}
