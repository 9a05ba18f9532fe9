import SocketCore

/// The TCP connections that wait in the kernel to be accepted, as /proc tells.
enum WaitingConnections {
    struct Entry: Hashable {
        /// The end at the listener, and the peer's.
        var local: SocketAddress
        var peer: SocketAddress
    }

    /// Established, or the peer has sent FIN already.
    private static let states: Set<Substring> = ["01", "08"]

    /// Those that wait at these listening addresses, in the order of the kernel's tables.
    static func find(at listeners: [SocketAddress]) -> [Entry] {
        ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { entries(TextFile.read($0) ?? "", at: listeners) }
    }

    /// Those in the text of /proc/net/tcp, or of /proc/net/tcp6. No program has them open yet, so their inode is 0. Each
    /// table has the connections of its own family's listeners, those that came to an IPv6 one by IPv4 too; a listener
    /// on every address gets what none on that very address does.
    static func entries(_ table: String, at listeners: [SocketAddress]) -> [Entry] {
        let listening = Set(HostListeners.entries(table).map(\.address))
        return table.split(separator: "\n").dropFirst().compactMap { line -> Entry? in
            let fields = line.split(separator: " ")
            guard fields.count > 9, states.contains(fields[3]), fields[9] == "0",
                let local = HostListeners.address(fields[1]), let peer = HostListeners.address(fields[2]),
                listeners.contains(where: { $0.takes(local, beside: listening) })
            else { return nil }
            return Entry(local: local.unmapped, peer: peer.unmapped)
        }
    }
}

extension SocketAddress {
    /// Whether a listener at this address, one of several, takes what comes to `other`.
    fileprivate func takes(_ other: SocketAddress, beside listening: Set<SocketAddress>) -> Bool {
        if self == other { return true }
        return isWildcard && family == other.family && port == other.port && !listening.contains(other)
    }

    /// IPv4 inside IPv6 as IPv4.
    fileprivate var unmapped: SocketAddress {
        guard let ip, let port else { return self }
        return SocketAddress(ip.unmapped, port: port)
    }
}
