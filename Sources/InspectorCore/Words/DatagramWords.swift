import SocketCore

/// Words about datagrams.
package enum DatagramWords {
    /// Returns `512 B from 127.0.0.1:53`, `12 B to 127.0.0.1:53, done`, and whether the datagram was truncated.
    package static func traffic(_ item: TrafficItem, _ address: SocketAddress) -> String {
        switch (item.direction, item.state) {
        case (.received, _):
            let total = item.total ?? item.done
            return "\(total) B from \(name(address))" + (total > item.done ? ", cut to \(item.done) B" : "")
        case (.sent, .failed(let reason)): return "\(item.done) B not sent: \(reason)"
        case (.sent, .complete), (.sent, .inProgress): return "\(item.done) B to \(name(address))"
        }
    }

    private static func name(_ address: SocketAddress) -> String {
        address == .unnamed ? "unix: (unnamed)" : address.description
    }

    /// Returns the number of a relay's associations, and how others ended.
    package static func associations(_ counts: AssociationCounts) -> [Line] {
        var words = [Line(Format.count(counts.open, "association")), Line("\(Format.number(counts.opened)) in all")]
        if counts.expired > 0 { words.append(Line("\(Format.number(counts.expired)) expired")) }
        if counts.evicted > 0 {
            words.append(Line("\(Format.number(counts.evicted)) evicted to make room", Style(.warn)))
        }
        return words
    }

    /// Returns what an association has forwarded: datagrams of the client, and of the server.
    package static func passed(_ facts: DatagramSnapshot) -> String {
        "> \(Format.number(facts.counters.sent)) < \(Format.number(facts.counters.received))"
    }

    /// Returns the number of datagrams lost: dropped by the kernel, or on this side.
    package static func lost(_ facts: DatagramSnapshot) -> UInt64 {
        facts.counters.dropped &+ (facts.kernelDrops ?? 0)
    }

    /// Returns `1.2K in, 56 lost`. The lost datagrams are never cut off.
    package static func receiving(_ facts: DatagramSnapshot, _ socket: SocketSnapshot, width: Int) -> Line {
        let lost = lost(facts)
        var line = Line("\(Format.number(facts.counters.received)) in")
        if socket.isReadingPaused {
            line.append(" paused", Style(.warn))
        } else if facts.mode == .paused {
            line.append(socket.unreadBytes > 0 ? " unread" : " unasked", Style(.warn))
        }
        if lost > 0 { line.append(", \(Format.number(lost)) lost", Style(.warn)) }
        return line.width <= width || lost == 0 ? line : Line("\(Format.number(lost)) lost", Style(.warn))
    }

    /// `12 datagrams in, 3 out, 5 lost`.
    package static func totals(_ facts: DatagramSnapshot) -> String {
        let counters = facts.counters
        let lost = lost(facts)
        return "\(Format.number(counters.received)) in, \(Format.number(counters.sent)) out"
            + (lost > 0 ? ", \(Format.number(lost)) lost" : "")
    }
}

extension Format {
    /// Returns a count, in full while it is short: `999999`, `1.2M` (a million is 1,000,000 here).
    package static func number(_ count: UInt64) -> String {
        guard count >= 1_000_000 else { return String(count) }
        let tenths = count / 100_000
        return tenths < 10_000 ? "\(tenths / 10).\(tenths % 10)M" : "\(tenths / 10_000)G"
    }
}
