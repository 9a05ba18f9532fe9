import SocketCore

/// Findings from the kernel's own counters.
extension HostRules {
    /// The number of tries of one segment that is a warning.
    static let graveTries: UInt8 = 3
    /// How long dropped datagrams stay recent.
    static let dropsAreNews = Duration.seconds(10)

    func drops() -> [Verdict] {
        scene.sockets(facts.ledger.dropping).compactMap { socket in
            guard socket.transport == .udp, let dropped = facts.ledger[socket.id]?.dropped, let memory = socket.memory,
                socket.time - dropped.time <= Self.dropsAreNews
            else { return nil }
            return drop(socket, memory, Int(dropped.count), within: dropped.within)
        }
    }

    private func drop(_ socket: HostSocket, _ memory: HostMemory, _ count: Int, within time: Duration) -> Verdict {
        let asking = owner(socket)
        let held = UInt64(max(memory.received, facts.ledger[socket.id]?.former?.memory?.received ?? 0))
        let size = UInt64(memory.receiveBuffer)
        return Verdict(
            "\(title(asking, socket)) lost \(Format.count(count, "datagram")) in \(Format.duration(time)) on "
                + (socket.local?.port.map { ":\($0)" } ?? "its socket"),
            because: "its buffer holds \(Format.size(held)) of \(Format.size(size)), \(memory.drops) lost in total",
            on: [socket], by: asking, atMost: held * 2 >= size ? .critical : .note)
    }

    mutating func unanswered(_ after: Duration) -> [Verdict] {
        notable.compactMap { $0.transport == .tcp && $0.state == .synSent ? unanswered($0, after) : nil }
    }

    private mutating func unanswered(_ socket: HostSocket, _ after: Duration) -> Verdict? {
        // Linux retries after one second each for the first four times, then backs off (tcp_syn_linear_timeouts).
        guard socket.retransmits > 0, let entry = facts.ledger[socket.id] else { return nil }
        let lasting = max(entry.socket.time - entry.owned, .seconds(Int(socket.retransmits)))
        guard lasting >= after else {
            undecided.insert(socket.id)
            return nil
        }
        // A full listener on this host is more informative.
        let isFull = scene.listeners(socket.peer?.port, near: socket).contains {
            $0.receiveQueue ?? 0 > $0.sendQueue ?? 0
        }
        if isFull { return nil }
        let (asking, peer) = (owner(socket), socket.peer.map { "\($0)" } ?? "its peer")
        var verdict = Verdict(
            "\(peer) has not answered \(title(asking, socket))", because: "no answer to SYN" + Self.timer(socket),
            for: lasting, on: [socket], by: asking)
        verdict.subject = peer
        verdict.next = socket.peer?.host.map { host in
            scene.there("ip route get \(host)", on: socket.host) + "  # then firewalls, and whether that host is up"
        }
        return verdict
    }

    func retransmitting() -> [Verdict] {
        notable.compactMap { socket in
            guard socket.transport == .tcp, socket.state != .synSent, !socket.isListening, socket.inode != 0,
                socket.unsent ?? 0 > 0, socket.tcp?.sendWindow != 0,
                max(socket.tcp?.tries ?? 0, socket.timer == 1 ? socket.retransmits : 0) >= Self.graveTries
            else { return nil }
            let (asking, peer) = (owner(socket), socket.peer.map { "\($0)" } ?? "its peer")
            let total = socket.tcp?.retransmitted.map { ", \($0) retransmitted in total" } ?? ""
            var verdict = Verdict(
                "\(peer) has not acknowledged \(Self.size(socket.unsent)) of \(title(asking, socket))",
                because: "retransmitted repeatedly" + Self.timer(socket) + total, for: facts.ledger.writeStall(socket),
                on: [socket], by: asking)
            verdict.subject = peer
            return verdict
        }
    }

    /// Connections that use up the ports of one address.
    private struct PortUse: Hashable {
        var namespace: UInt16
        var local: SocketAddress
        var peer: SocketAddress
    }

    /// Finds namespaces whose ports are used up by connections to one address.
    func exhaustedPorts() -> [Verdict] {
        let ranges = [scene.look.localPorts] + scene.look.namespaces.values.map(\.localPorts)
        guard let least = ranges.compactMap({ $0?.count }).min(), sockets.count * 10 > least * 9 else { return [] }
        var uses: [PortUse: [HostSocket]] = [:]
        for socket in sockets where socket.transport == .tcp && !socket.isListening && socket.state != .closed {
            guard let port = socket.local?.port, localPorts(socket)?.contains(port) == true, let peer = socket.peer,
                let local = socket.local?.with(port: 0), !scene.isServerSide(socket)
            else { continue }
            uses[PortUse(namespace: socket.namespace, local: local, peer: peer), default: []].append(socket)
        }
        return uses.compactMap { use, users in
            guard let range = localPorts(users[0]), users.count * 10 > range.count * 9 else { return nil }
            let most = Dictionary(grouping: users.map(owner)) { $0.process }.max { $0.value.count < $1.value.count }
            let asking = most?.key == nil ? nil : most?.value.first
            let who = asking.map { title($0, users[0]) + " and others have" } ?? "connections have"
            return Verdict(
                "\(who) used up the ports to \(use.peer)", because: "\(users.count) of \(range.count) are in use",
                on: Array(users.prefix(1)), by: asking)
        }
    }

    /// Returns the ports that the kernel may choose in the socket's namespace, if there are enough to be relevant.
    private func localPorts(_ socket: HostSocket) -> ClosedRange<UInt16>? {
        scene.look.localPorts(in: socket.namespace).flatMap { $0.count >= 10 ? $0 : nil }
    }

    // MARK: Slow readers

    /// Finds readers that are so slow that their window holds the sender back. Whether that is a fault or intended
    /// (curl --limit-rate) can't be determined.
    func slowReaders() -> [Verdict] {
        notable.compactMap { $0.transport == .tcp && $0.inode != 0 && $0.unsent ?? 0 > 0 ? slowReader(of: $0) : nil }
    }

    private func slowReader(of writer: HostSocket) -> Verdict? {
        guard let first = facts.ledger[writer.id]?.base, let reader = scene.peer(of: writer),
            let before = facts.ledger[reader.id]?.base, reader.unread ?? 0 > 0, before.unread ?? 0 > 0,
            let share = HostLedger.share(writer, since: first), share > 0.5,
            writer.time - first.time >= .milliseconds(900), let consumed = reader.consumed,
            let then = before.consumed, consumed > then
        else { return nil }
        let rate = Double(consumed - then) / (reader.time - before.time).inSeconds
        let asking = owner(reader)
        guard rate < 1e6, let process = asking.process, facts.holders(of: process.number).isEmpty else { return nil }
        let within = (writer.time - first.time).inSeconds
        let times = [share * within, within].map { Format.duration(.milliseconds(Int($0 * 1_000))) }
        var verdict = Verdict(
            "\(title(asking, reader)) reads only \(Format.rate(rate))/s from \(title(owner(writer), writer))",
            because: "receive window full for \(times[0]) of \(times[1])", on: [reader, writer], by: asking)
        verdict.ends = ends(reader, asking)
        return verdict
    }
}
