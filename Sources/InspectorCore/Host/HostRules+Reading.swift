import SocketCore

/// Unread bytes that no program requests, and that block no writer.
extension HostRules {
    /// Fewer unread bytes than this on a client's side are normal for idle connection pools: TLS session tickets,
    /// notices.
    static let pool: Int64 = 16_384

    /// A connection whose bytes a program has left unread for long.
    private struct Left {
        var socket: HostSocket
        var asking: HostAsking
        var lasting: Duration
        var excuses: [String]
        var severity: Severity
    }

    /// What verdicts are gathered by.
    private struct Reader: Hashable {
        var process: Int32?
        var socket: UInt64?
        var severity: Severity
    }

    /// Returns the connections with stalled unread bytes that block no writer, and how each is requested, if that is
    /// known.
    mutating func findUnread() -> [(socket: HostSocket, asking: HostAsking?)] {
        let readers = edges.readers
        return notable.compactMap { socket in
            guard !socket.isListening, socket.transport != .udp, !readers.contains(socket.id),
                facts.isReadingStalled(socket)
            else { return nil }
            let asking = facts.steady(socket)
            if let asking, facts.isHeldUp(asking) { return nil }
            return (socket, asking)
        }
    }

    /// Returns one verdict for each program. It may have left thousands of connections alone, all for one reason.
    mutating func unread(_ kinds: Set<HostAsking.Kind>, _ after: Duration) -> [Verdict] {
        var found: [Reader: [Left]] = [:]
        for (socket, asking) in stalled {
            guard let asking, !kinds.contains(asking.kind) || isLong(socket, after) else {
                undecided.insert(socket.id)
                continue
            }
            guard kinds.contains(asking.kind) else { continue }
            let left = leaving(socket, asking)
            let process = asking.process?.number
            let reader = Reader(
                process: process, socket: process == nil ? socket.id : nil, severity: left.severity)
            found[reader, default: []].append(left)
        }
        return found.values.compactMap(verdict)
    }

    private func isLong(_ socket: HostSocket, _ after: Duration) -> Bool {
        facts.unread(socket) >= after && facts.isConfirmed(socket)
    }

    private func leaving(_ socket: HostSocket, _ asking: HostAsking) -> Left {
        let isInLoop = asking.kind == .edge || asking.kind == .stuck
        let excuses =
            isInLoop ? [] : [waitsElsewhere(asking, socket), looksNowAndThen(asking, socket)].compactMap { $0 }
        return Left(
            socket: socket, asking: asking, lasting: facts.unread(socket), excuses: excuses,
            severity: isSerious(socket, asking) && excuses.isEmpty ? .critical : .note)
    }

    private func verdict(_ all: [Left]) -> Verdict? {
        let order = all.indices.sorted {
            (all[$0].lasting, all[$1].socket.id) > (all[$1].lasting, all[$0].socket.id)
        }
        guard let left = order.first.map({ all[$0] }) else { return nil }
        let (socket, asking) = (left.socket, left.asking)
        var verdict = Verdict(
            "\(title(asking, socket)) has left \(Self.size(socket.unread)) unread",
            because: ([Self.how(asking)] + left.excuses).joined(separator: "; "), for: left.lasting, on: [socket],
            by: asking, atMost: left.severity, evidence: asking.proof)
        verdict.next = next(asking)
        verdict.ends = ends(socket, asking)
        verdict.more = order.count - 1
        verdict.sockets += order.dropFirst().map { all[$0].socket.id }
        return verdict
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
                let number = HostOrdinal.kernelProcess(thread.number)
                return "thread \(number) waits in \(call.words) on fd \(descriptor) for \(peerTitle(other))"
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
        return "it may check this socket whenever it wakes up"
    }

    /// Returns the program at the other end, or its address.
    func peerTitle(_ socket: HostSocket) -> String {
        guard let peer = scene.peer(of: socket), peer.inode != 0 else {
            return socket.peer.map { HostScene.safe("\($0)") } ?? "its peer"
        }
        return title(owner(peer), peer)
    }

    /// Returns both ends of a connection, the one at fault first.
    func ends(_ socket: HostSocket, _ asking: HostAsking) -> [Verdict.End] {
        var ends = [end(socket, asking)]
        if let peer = scene.peer(of: socket), peer.inode != 0 { ends.append(end(peer, owner(peer))) }
        return ends
    }

    private func end(_ socket: HostSocket, _ asking: HostAsking) -> Verdict.End {
        var words = [asking.words.isEmpty ? "-" : asking.words]
        if let unread = socket.unread, unread > 0 { words.append("\(Self.size(unread)) unread") }
        if let unsent = socket.unsent, unsent > 0, !socket.transport.isUnix {
            words.append("\(Self.size(unsent)) unsent")
        }
        return Verdict.End(
            name: scene.name(asking, of: socket), descriptor: asking.descriptor,
            words: words.joined(separator: "; ") + scene.namespaceSuffix(of: socket))
    }
}
