import SocketCore

/// Finds who has an address of this host: its listeners, and the program whose socket is in the way of a new one.
package struct AddressOwners {
    private let system: HostSystem

    /// The longest time spent on finding programs.
    private static let budget = Duration.seconds(2)

    package init(_ system: HostSystem = .live) { self.system = system }

    /// Returns up to `limit` listening addresses, with their programs where the kernel reveals them.
    package func listeners(
        limit: Int = 50, budget: Duration = budget
    ) -> [(address: SocketAddress, program: PeerEnd.Program?)] {
        var seen: Set<SocketAddress> = []
        let sockets = sockets(of: [.tcp4, .tcp6], in: [.listening], port: nil).filter { socket in
            socket.local.map { seen.insert($0).inserted } ?? false
        }
        return owned(Array(sockets.prefix(limit)), budget)
    }

    /// Returns the address that is in the way of a listener, or of a datagram socket, at one of these addresses, and its
    /// program where the kernel reveals it. Returns `nil` if there is none.
    package func holder(
        of port: UInt16, at wanted: [IPAddress], datagrams: Bool = false
    ) -> (address: SocketAddress, program: PeerEnd.Program?)? {
        let all = sockets(
            of: datagrams ? [.udp4, .udp6] : [.tcp4, .tcp6], in: [datagrams ? .closed : .listening], port: port)
        let found = all.filter { socket in
            wanted.contains { socket.local?.ip?.collides(with: $0) ?? false }
        }
        let owned = owned(found, Self.budget)
        return owned.first { $0.program != nil } ?? owned.first
    }

    private func sockets(of tables: [SocketTable], in states: Set<HostState>, port: UInt16?) -> [HostSocket] {
        let dump = SocketDump(system: system, namespace: nil)
        // The kernel may lack IPv6.
        return tables.flatMap { (try? dump.sockets(of: $0, in: states, localPort: port)) ?? [] }
    }

    private func owned(
        _ sockets: [HostSocket], _ budget: Duration
    ) -> [(address: SocketAddress, program: PeerEnd.Program?)] {
        var table = ProcessTable(system)
        table.seek(Set(sockets.map(\.inode)), budget: budget)
        return sockets.compactMap { socket in socket.local.map { ($0, table.program(of: socket.inode)) } }
    }
}

extension IPAddress {
    /// Whether two sockets can't share a port at these addresses: they are equal, or one is the wildcard address. The
    /// IPv6 wildcard includes IPv4, as it does unless a socket requests IPv6 only.
    fileprivate func collides(with other: IPAddress) -> Bool {
        let (one, other) = (unmapped, other.unmapped)
        let everyV6 = IPAddress.v6(0, 0)
        if one == other || one == everyV6 || other == everyV6 { return true }
        return (one.isWildcard || other.isWildcard) && one.isV4 == other.isV4
    }

    private var isV4: Bool { if case .v4 = self { true } else { false } }
}
