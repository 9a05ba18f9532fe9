import SocketCore

/// The TCP connections waiting in the kernel to be accepted, from /proc.
package enum WaitingConnections {
    package struct Entry: Equatable {
        /// The address at the listener. `peer` is the peer's.
        package var local: SocketAddress
        package var peer: SocketAddress
    }

    /// Established, or the peer has already sent FIN.
    private static let states: Set<Substring> = ["01", "08"]

    /// Returns the connections waiting at these listening addresses, in the order of the kernel's tables.
    package static func find(at listeners: [SocketAddress]) -> [Entry] {
        ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { entries(TextFile.read($0) ?? "", at: listeners) }
    }

    /// Parses the text of /proc/net/tcp or /proc/net/tcp6. Waiting connections have inode 0, because no program has
    /// them open yet. Each table has the connections of its own family's listeners. An IPv6 listener's table includes
    /// its IPv4 clients. A wildcard listener gets only connections that no listener on the exact address gets.
    package static func entries(_ table: String, at listeners: [SocketAddress]) -> [Entry] {
        let listening = Set(HostListeners.entries(table).map(\.address))
        return table.split(separator: "\n").dropFirst().compactMap { line -> Entry? in
            let fields = line.split(separator: " ")
            guard fields.count > 9, states.contains(fields[3]), fields[9] == "0",
                let local = HostListeners.address(fields[1]), let peer = HostListeners.address(fields[2]),
                listeners.contains(where: { $0.receives(local, beside: listening) })
            else { return nil }
            return Entry(local: local.unmapped, peer: peer.unmapped)
        }
    }
}

extension SocketAddress {
    /// Whether a listener at this address gets connections to `other`, given the other listeners.
    fileprivate func receives(_ other: SocketAddress, beside listening: Set<SocketAddress>) -> Bool {
        if self == other { return true }
        return isWildcard && family == other.family && port == other.port && !listening.contains(other)
    }

    /// An IPv4-mapped IPv6 address as IPv4, and any other address unchanged.
    fileprivate var unmapped: SocketAddress {
        guard let ip, let port else { return self }
        return SocketAddress(ip.unmapped, port: port)
    }
}
