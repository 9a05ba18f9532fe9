/// The number of sockets in a network namespace (proc_pid_net(5), sockstat). Empty tables need not be requested, which
/// spares the kernel a walk through the connections of all namespaces.
package struct SocketCounts: Equatable, Sendable {
    private var empty: Set<SocketTable> = []

    /// Reads the texts of /proc/net/sockstat and /proc/net/sockstat6. A table they don't mention may have sockets.
    package init(_ text: [UInt8], _ text6: [UInt8]) {
        let (lines, lines6) = (Self.lines(text), Self.lines(text6))
        // TIME-WAIT sockets of both families are counted together.
        if lines["TCP"]?["tw"] == 0 {
            if lines["TCP"]?["inuse"] == 0 { empty.insert(.tcp4) }
            if lines6["TCP6"]?["inuse"] == 0 { empty.insert(.tcp6) }
        }
        if lines["UDP"]?["inuse"] == 0 { empty.insert(.udp4) }
        if lines6["UDP6"]?["inuse"] == 0 { empty.insert(.udp6) }
    }

    /// Whether the table certainly has no socket.
    package func isEmpty(_ table: SocketTable) -> Bool {
        switch table {
        // Each connection of Multipath TCP has a subflow in these.
        case .multipath4: empty.contains(.tcp4)
        case .multipath6: empty.contains(.tcp6)
        default: empty.contains(table)
        }
    }

    /// Parses lines such as `TCP: inuse 3 orphan 0 tw 0 alloc 4 mem 0`.
    private static func lines(_ text: [UInt8]) -> [String: [String: UInt64]] {
        var lines: [String: [String: UInt64]] = [:]
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let name = words.first, name.last == ":" else { continue }
            var counts: [String: UInt64] = [:]
            for index in stride(from: 1, to: words.count - 1, by: 2) {
                counts[String(words[index])] = UInt64(words[index + 1])
            }
            lines[String(name.dropLast())] = counts
        }
        return lines
    }
}
