import InspectorCore
import SocketCore

extension QueueLines {
    /// Returns the rows that replace READ, WRITE and BYTES for datagrams.
    func datagramRows(_ facts: DatagramSnapshot) -> [Row] {
        [receiving(facts), sending(facts), holding(facts)]
    }

    private func receiving(_ facts: DatagramSnapshot) -> Row {
        var line = label("RECV")
        switch facts.mode {
        case _ where socket.isReadingPaused: line.append(model.naming("paused: {pause} resumes"), Style(.warn))
        case .paused: line.append(model.naming("not receiving: {read} receives one, or all"), Style(.warn))
        case .once: line.append("the next datagram")
        case .continuous: line.append("every datagram")
        }
        let received = facts.counters.received
        line.append("  \(Format.number(received)) received", Style(.received))
        if let rate = socket.receiveRate, rate >= 1 {
            line.append("  \(Format.size(UInt64(rate)))/s", Style(.received))
        }
        var right = Line()
        let lost = DatagramWords.lost(facts)
        if lost > 0 { right.append("\(Format.number(lost)) lost", Style(.warn)) }
        return Row(left: line, right: right)
    }

    private func sending(_ facts: DatagramSnapshot) -> Row {
        var row = writing
        if socket.writing.current == nil {
            row.left = label("SEND")
            row.left.append("nothing queued", Style(.dim))
        }
        row.left.append("  \(Format.number(facts.counters.sent)) sent", Style(.sent))
        let failed = facts.counters.failed &+ facts.counters.errors
        if failed > 0 {
            if row.right.width > 0 { row.right.append("  ") }
            row.right.append("\(Format.number(failed)) failed", Style(.warn))
        }
        return row
    }

    private func holding(_ facts: DatagramSnapshot) -> Row {
        var row = bytes
        if let counts = facts.associations, row.right.width == 0 {
            let evicted = counts.evicted > 0 ? ", \(Format.number(counts.evicted)) dropped to make room" : ""
            row.right = Line(
                Format.count(counts.open, "association") + evicted, Style(counts.evicted > 0 ? .warn : .dim))
            return row
        }
        guard let peer = facts.peers.first else { return row }
        guard row.right.width == 0 else { return row }
        row.right = Line(Format.count(facts.peerCount, "peer"), Style(.dim))
        let room = width - row.left.width - row.right.width - 10
        guard room >= 17 else { return row }
        row.right.append(", most ", Style(.dim))
        row.right.append(Shorten.address(peer.address.description, to: room, Style(.dim), model))
        return row
    }
}

extension DetailBuilder {
    /// The rows that only a datagram socket has: its addresses, the fate of its datagrams, and its peers.
    var datagrams: [Row] {
        guard let facts = socket.datagrams else { return [] }
        var rows = [rule("datagrams")]
        if facts.locals.count > 1 || !facts.groups.isEmpty {
            rows += wrapped(
                facts.locals.map { safe($0.description) } + facts.groups.map { safe("group \($0)", .lit) },
                separator: "  ")
        }
        if let client = facts.client {
            rows += wrapped(
                [safe("forwards for \(client)"), safe("and what \(socket.peerText) answers")], separator: " ")
        }
        if let counts = facts.associations { rows += wrapped(DatagramWords.associations(counts), separator: "  ") }
        rows += wrapped(counters(facts), separator: "  ")
        return rows + peers(facts)
    }

    private func counters(_ facts: DatagramSnapshot) -> [Line] {
        let counters = facts.counters
        var words = [
            Line("received \(Format.number(counters.received))", Style(.received)),
            Line("sent \(Format.number(counters.sent))", Style(.sent)),
        ]
        func add(_ count: UInt64, _ what: String) {
            if count > 0 { words.append(Line("\(Format.number(count)) \(what)", Style(.warn))) }
        }
        add(facts.kernelDrops ?? 0, "dropped by the kernel: its buffer was full")
        add(counters.filteredIn, "refused by the filter")
        add(counters.foreign, "not from the connected peer")
        add(counters.unfetched, "dropped: the backlog was full")
        add(counters.filteredOut, "held back by the filter")
        add(counters.truncated, "cut off")
        add(counters.failed, "not sent")
        add(counters.errors, "errors of earlier datagrams")
        return words
    }

    private func peers(_ facts: DatagramSnapshot) -> [Row] {
        guard !facts.peers.isEmpty else { return [] }
        var rows = facts.peers.flatMap { peer in
            var left = Line(" ")
            var right = Line(
                "in \(Format.number(peer.packetsReceived)) \(Format.size(peer.received))", Style(.received))
            right.append("  out \(Format.number(peer.packetsSent)) \(Format.size(peer.sent))", Style(.sent))
            right.append("  \(Format.age(model.now - peer.lastActivity)) ago ", Style(.dim))
            let room = width - right.width - 3
            let address = peer.address.description
            left.append(Shorten.address(address, to: room >= 17 ? room : width - 2, Style(.plain), model))
            return room >= 17 ? [Row(left: left, right: right)] : [Row(left: left), Row(left: Line(), right: right)]
        }
        let more = facts.peerCount - facts.peers.count
        if more > 0 || facts.peersForgotten > 0 {
            var text = more > 0 ? " \(more) more peers" : ""
            if facts.peersForgotten > 0 {
                text += "\(text.isEmpty ? " " : ", ")\(Format.number(facts.peersForgotten)) forgotten to make room"
            }
            rows.append(Row(left: Line(text, Style(.dim))))
        }
        return rows
    }

    /// Returns the flags in GCDAsyncUdpSocket's terms.
    func datagramFlags(_ facts: DatagramSnapshot) -> [Row] {
        let lit = DatagramFlags.names.filter { facts.flags.contains($0.flag) }
        guard !lit.isEmpty else { return [] }
        let word = String(facts.flags.rawValue, radix: 16)
        return [rule("flags 0x\(word)  \(lit.count) of \(DatagramFlags.names.count) set")]
            + wrapped(lit.map { Line($0.name, Style(.lit)) }, separator: "  ")
    }
}
