import InspectorCore
import SocketKit

/// The listening TCP sockets of this host, from /proc.
package enum HostListeners {
    /// One line of /proc/net/tcp for a listening socket.
    package struct Entry: Equatable {
        package var address: SocketAddress
        package var inode: UInt64
    }

    /// The most listeners offered. `descriptorLimit` bounds the descriptors of other processes that are examined.
    package static let limit = 50
    private static let descriptorLimit = 20_000

    /// Returns all visible listeners, with their programs if the kernel reveals them.
    package static func find(limit: Int = limit, descriptors: Int = descriptorLimit) -> [StartOffers.Listening] {
        let v4 = entries(TextFile.read("/proc/net/tcp") ?? "")
        let v6 = entries(TextFile.read("/proc/net/tcp6") ?? "")
        var seen: Set<SocketAddress> = []
        let entries = (v4 + v6).filter { seen.insert($0.address).inserted }.prefix(limit)
        let programs = DescriptorScan.owners(of: Set(entries.map(\.inode)), limit: descriptors)
        return entries.map { entry in
            StartOffers.Listening(address: entry.address.description, program: programs[entry.inode]?.title ?? "")
        }
    }

    /// Returns in words which program has the address that a listener or datagram socket requested, or `nil` if that
    /// can't be seen. Resolves a host name, which may take time.
    package static func holder(of port: UInt16, host: String, datagrams: Bool = false) -> String? {
        let (table, state) = datagrams ? ("udp", "07") : ("tcp", "0A")
        let all = [table, table + "6"].flatMap { entries(TextFile.read("/proc/net/\($0)") ?? "", state: state) }
        let isEvery = host.isEmpty || host == "*"
        let wanted = isEvery ? [.v4(0), .v6(0, 0)] : SystemResolver.addresses(of: host).compactMap(\.ip)
        let found = all.filter { entry in
            entry.address.port == port && wanted.contains { entry.address.ip?.collides(with: $0) ?? false }
        }
        guard !found.isEmpty else { return nil }
        let owners = DescriptorScan.owners(of: Set(found.map(\.inode)), limit: descriptorLimit)
        let first = found.first { owners[$0.inode] != nil } ?? found[0]
        return "\(owners[first.inode]?.title ?? "a program not visible from here") has \(first.address)"
    }

    /// Parses a table such as /proc/net/tcp and returns the sockets in `state`. 0A means listening.
    package static func entries(_ table: String, state: String = "0A") -> [Entry] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[3] == state, let inode = UInt64(fields[9]) else { return nil }
            return address(fields[1]).map { Entry(address: $0, inode: inode) }
        }
    }

    /// Parses `0100007F:1F90` as 127.0.0.1:8080. The words are in memory order, the port is in hexadecimal.
    package static func address(_ text: Substring) -> SocketAddress? {
        let halves = text.split(separator: ":")
        guard halves.count == 2, let port = UInt16(halves[1], radix: 16) else { return nil }
        var words: [UInt32] = []
        var rest = halves[0]
        while rest.count >= 8 {
            guard let word = UInt32(rest.prefix(8), radix: 16) else { return nil }
            words.append(word)
            rest = rest.dropFirst(8)
        }
        guard rest.isEmpty, words.count == 1 || words.count == 4 else { return nil }
        if words.count == 1 { return SocketAddress(.v4(words[0]), port: port) }
        return words.withUnsafeBytes { bytes in
            let low = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            return SocketAddress(.v6(bytes.loadUnaligned(as: UInt64.self), low), port: port)
        }
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
