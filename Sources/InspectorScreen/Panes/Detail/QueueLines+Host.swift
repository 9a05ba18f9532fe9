import InspectorCore
import SocketCore

extension QueueLines {
    /// Returns the rows that replace READ, WRITE and BYTES for a socket inspected from outside: what its program
    /// requests, and the bytes in each direction.
    func hostRows(_ host: HostSnapshot) -> [Row] {
        var asks = label("ASKS")
        asks.append(safe(host.asksWords ?? "-", host.asksWords == nil ? .dim : .plain))
        if let time = host.asksFor { asks.append("  for at least \(Format.duration(time))", Style(.dim)) }
        guard host.state != .listening else { return [Row(left: asks), waiting(host), Row(left: Line())] }
        return [Row(left: asks), outgoing(host), incoming(host)]
    }

    private func waiting(_ host: HostSnapshot) -> Row {
        var line = label("QUEUE")
        line.append("\(host.waiting.map { "\($0)" } ?? "-") waiting for accept", Style(host.isCrowded ? .warn : .plain))
        line.append("  backlog \(host.waitingLimit.map { "\($0)" } ?? "-")", Style(.dim))
        return Row(left: line)
    }

    private var other: HostSnapshot? { socket.host?.peer.flatMap { model.shown?.socket($0)?.host } }

    private func outgoing(_ host: HostSnapshot) -> Row {
        var line = label("OUT")
        line.append("unsent \(host.unsentText ?? "-")", Style(.sent))
        if let other { line.append(" > unread there \(other.unreadText ?? "-")") }
        if let window = host.tcp?.sendWindow { line.append("   window \(Format.bytes(UInt64(window)))", Style(.dim)) }
        if host.tcp != nil, socket.kernel?.bytesSent == 0 {
            line.append("   never sent", Style(.dim))
        } else if let ago = ago(host.tcp?.lastSent) {
            line.append("   last sent \(ago) ago", Style(.dim))
        }
        return Row(left: line)
    }

    private func incoming(_ host: HostSnapshot) -> Row {
        var line = label("IN")
        line.append("unread here \(host.unreadText ?? "-")", Style(host.unread ?? 0 > 0 ? .warn : .received))
        if let other, let unsent = other.unsentText { line.append(" < unsent there \(unsent)") }
        if host.tcp != nil, socket.kernel?.bytesReceived != nil, socket.received == 0 {
            line.append("   never received", Style(.dim))
        } else if let ago = ago(host.tcp?.lastReceived) {
            line.append("   last received \(ago) ago", Style(.dim))
        }
        return Row(left: line)
    }

    private func ago(_ time: MonotonicTime?) -> String? {
        guard let time, let now = model.shown?.time else { return nil }
        return Format.duration(max(.zero, now - time))
    }
}

extension DetailBuilder {
    /// Returns the whole detail of a socket inspected from outside.
    func host(_ host: HostSnapshot) -> [Row] {
        var rows = wrapped(hostEnds(host), separator: "   ")
        rows += QueueLines(model, socket, width: width).hostRows(host).filter { $0.left.width > 0 }.flatMap { row in
            row.left.hanging(width: width - 1, indent: 8).map { Row(left: $0) }
        }
        rows += flags(host) + unread(host)
        rows += warnings
        rows.append(rule("kernel"))
        rows += wrapped(hostKernel(host), separator: "  ")
        return rows + hostPeer(host)
    }

    private func hostEnds(_ host: HostSnapshot) -> [Line] {
        var first = Line("\(socket.id) ", Style(.heading))
        first.append(safe("\(host.transport.rawValue) \(socket.local.map { "\($0)" } ?? "-")"))
        if host.state != .listening { first.append(safe(" > \(socket.peer.map { "\($0)" } ?? "-")")) }
        var words = [first, safe(host.programText + (host.machine.map { " on \($0)" } ?? ""))]
        if host.isLost { words.append(Line("last seen, its host is lost", Style(.warn))) }
        if let descriptor = socket.descriptor { words.append(Line("fd \(descriptor)")) }
        words.append(safe(host.programUserText, .dim))
        if let container = host.container { words.append(safe("container \(container)", .dim)) }
        if let pod = host.pod { words.append(Line(pod, Style(.dim))) }
        if let namespace = host.namespace, !namespace.isOwn {
            words.append(safe("netns \(namespace.label)", .dim))
        }
        words.append(Line("from outside", Style(.dim)))
        if let evidence = host.evidence { words.append(Line("seen by \(evidence.rawValue)", Style(.dim))) }
        return words
    }

    private func hostKernel(_ host: HostSnapshot) -> [Line] {
        var words = [Line(socket.stateWord)]
        func add(_ name: String, _ value: String?) {
            guard let value else { return }
            var word = Line(name + " ", Style(.dim))
            word.append(value)
            words.append(word)
        }
        guard let kernel = socket.kernel else { return words }
        add("recv-q", kernel.receiveQueue.map { Format.bytes($0) })
        add("send-q", kernel.sendQueue.map { Format.bytes($0) })
        add("rtt", kernel.roundTripTime.map { Format.duration($0) })
        add("cwnd", kernel.congestionWindow.map { "\($0)" })
        add("retrans", kernel.retransmits.map { "\($0)" })
        add("rwnd-limited", host.tcp?.windowLimited.map { Format.duration($0) })
        add("drops", kernel.drops.map { "\($0)" })
        if let timer = host.tcp?.timer {
            let left = model.shown.flatMap { now in host.tcp?.timerFires.map { max(.zero, $0 - now.time) } }
            add(timer, left.map { "in \(Format.duration($0))" } ?? "running")
        }
        add("inode", host.inode == 0 ? nil : "\(host.inode)")
        return words
    }

    /// Returns the other end, if it is on a host that is looked at.
    private func hostPeer(_ host: HostSnapshot) -> [Row] {
        guard let peer = host.peer, let other = model.shown?.socket(peer), let facts = other.host else { return [] }
        let place = facts.machine.map { " on \($0)" } ?? ""
        var words = [Line("\(peer)", Style(.heading)), safe(facts.programText + place)]
        if let descriptor = other.descriptor { words.append(Line("fd \(descriptor)")) }
        words.append(safe(facts.asksWords ?? "activity unknown"))
        return [rule("other end", right: model.naming("{other-leg} goes there"))] + wrapped(words, separator: "  ")
    }
}
