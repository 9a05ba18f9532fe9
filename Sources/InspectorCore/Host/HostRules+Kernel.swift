import SocketCore

/// Findings from the kernel's own counters.
extension HostRules {
    /// The number of tries of one segment that is a warning.
    static let graveTries: UInt8 = 3
    /// How long dropped datagrams stay recent.
    static let dropsAreNews = Duration.seconds(10)

    mutating func judgeKernel() {
        for socket in scene.sockets(facts.ledger.dropping) where socket.transport == .udp { judgeDrops(socket) }
        for socket in notable {
            switch socket.transport {
            case .tcp where socket.state == .synSent: judgeSilence(socket)
            case .tcp: judgeTries(socket)
            default: break
            }
        }
        judgePorts()
    }

    private mutating func judgeDrops(_ socket: HostSocket) {
        guard let entry = facts.ledger[socket.id], let dropped = entry.dropped, let memory = socket.memory,
            socket.time - dropped.time <= Self.dropsAreNews
        else { return }
        let asking = owner(socket)
        let held = max(memory.received, entry.former?.memory?.received ?? 0)
        let isFull = UInt64(held) * 2 >= UInt64(memory.receiveBuffer)
        let time = Format.duration(dropped.within)
        var verdict = HostVerdict(
            "udp-dropped", isFull ? .warning : .note,
            "\(title(asking, socket)) lost \(Format.count(Int(dropped.count), "datagram")) within \(time) on "
                + (socket.local?.port.map { ":\($0)" } ?? "its socket"),
            because: "its buffer holds \(Format.size(UInt64(held))) of \(Format.size(UInt64(memory.receiveBuffer))), "
                + "\(memory.drops) lost in all",
            on: [socket], by: asking, evidence: .queues)
        verdict.next = next(asking)
        tell(verdict)
    }

    private mutating func judgeSilence(_ socket: HostSocket) {
        // Linux retries after one second each for the first four times, then backs off (tcp_syn_linear_timeouts).
        guard socket.retransmits > 0, let entry = facts.ledger[socket.id] else { return }
        let lasting = max(entry.socket.time - entry.owned, .seconds(Int(socket.retransmits)))
        let listeners = scene.listeners(socket.peer?.port, near: socket).filter {
            $0.receiveQueue ?? 0 > $0.sendQueue ?? 0
        }
        guard lasting >= time("connecting-silent") else {
            undecided.insert(socket.id)
            return
        }
        // A full listener on this host is more informative.
        guard listeners.isEmpty else { return }
        let (asking, peer) = (owner(socket), socket.peer.map { "\($0)" } ?? "its peer")
        var verdict = HostVerdict(
            "connecting-silent", .warning, "\(peer) has not answered \(title(asking, socket))",
            because: "no answer to SYN" + Self.timer(socket), for: lasting, on: [socket], by: asking, evidence: .queues)
        verdict.subject = peer
        tell(verdict)
    }

    private mutating func judgeTries(_ socket: HostSocket) {
        guard !socket.isListening, socket.inode != 0, socket.unsent ?? 0 > 0, socket.tcp?.sendWindow != 0,
            max(socket.tcp?.tries ?? 0, socket.timer == 1 ? socket.retransmits : 0) >= Self.graveTries
        else { return }
        let (asking, peer) = (owner(socket), socket.peer.map { "\($0)" } ?? "its peer")
        let total = socket.tcp?.retransmitted.map { ", \($0) retransmitted in all" } ?? ""
        var verdict = HostVerdict(
            "retransmitting", .warning,
            "\(peer) has not acknowledged \(Self.size(socket.unsent)) of \(title(asking, socket))",
            because: "sent again and again" + Self.timer(socket) + total, for: facts.ledger.writeStall(socket),
            on: [socket], by: asking, evidence: .queues)
        verdict.subject = peer
        tell(verdict)
    }

    /// Connections that use up the ports of one address.
    private struct PortUse: Hashable {
        var namespace: UInt16
        var local: SocketAddress
        var peer: SocketAddress
    }

    /// Finds namespaces whose ports are used up by connections to one address.
    private mutating func judgePorts() {
        let ranges = [scene.look.localPorts] + scene.look.namespaces.values.map(\.localPorts)
        guard let least = ranges.compactMap({ $0?.count }).min(), sockets.count * 10 > least * 9 else { return }
        var uses: [PortUse: [HostSocket]] = [:]
        for socket in sockets where socket.transport == .tcp && !socket.isListening && socket.state != .closed {
            guard let port = socket.local?.port, localPorts(socket)?.contains(port) == true, let peer = socket.peer,
                let local = socket.local?.with(port: 0), !scene.isServerSide(socket)
            else { continue }
            uses[PortUse(namespace: socket.namespace, local: local, peer: peer), default: []].append(socket)
        }
        for (use, users) in uses {
            guard let range = localPorts(users[0]), users.count * 10 > range.count * 9 else { continue }
            let most = Dictionary(grouping: users.map(owner)) { $0.process }.max { $0.value.count < $1.value.count }
            let asking = most?.key == nil ? nil : most?.value.first
            let who = asking.map { title($0, users[0]) + " and others have" } ?? "connections have"
            var verdict = HostVerdict(
                "ports-exhausted", .warning, "\(who) used up the ports to \(use.peer)",
                because: "\(users.count) of \(range.count) are taken", on: Array(users.prefix(1)), by: asking,
                evidence: .queues)
            verdict.next = nil
            tell(verdict)
        }
    }

    /// Returns the ports that the kernel may choose in the socket's namespace, if there are enough to be relevant.
    private func localPorts(_ socket: HostSocket) -> ClosedRange<UInt16>? {
        scene.look.localPorts(in: socket.namespace).flatMap { $0.count >= 10 ? $0 : nil }
    }

    // MARK: Slow readers

    /// Finds readers that are so slow that their window holds the sender back. Whether that is a fault or intended
    /// (curl --limit-rate) can't be determined.
    mutating func judgeSlowReaders() {
        for writer in notable where writer.transport == .tcp && writer.inode != 0 && writer.unsent ?? 0 > 0 {
            guard let first = facts.ledger[writer.id]?.base, let reader = scene.peer(of: writer),
                let before = facts.ledger[reader.id]?.base, reader.unread ?? 0 > 0, before.unread ?? 0 > 0,
                let share = HostLedger.share(writer, since: first), share > 0.5,
                writer.time - first.time >= .milliseconds(900), let consumed = reader.consumed,
                let then = before.consumed, consumed > then
            else { continue }
            let rate = Double(consumed - then) / (reader.time - before.time).inSeconds
            let asking = owner(reader)
            guard rate < 1e6, let process = asking.process, facts.holders(of: process.number).isEmpty else { continue }
            let (held, within) = (share * (writer.time - first.time).inSeconds, (writer.time - first.time).inSeconds)
            let times = [held, within].map { Format.duration(.milliseconds(Int($0 * 1_000))) }
            var verdict = HostVerdict(
                "slow-reader", .note,
                "\(title(asking, reader)) reads only \(Format.rate(rate))/s from \(title(owner(writer), writer))",
                because: "its window held sending back for \(times[0]) of \(times[1])", on: [reader, writer],
                by: asking,
                evidence: .queues)
            verdict.sides = sides(reader, asking)
            tell(verdict)
        }
    }
}
