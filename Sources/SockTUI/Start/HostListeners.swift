import Glibc
import InspectorCore

/// The TCP sockets that listen on this host, as /proc tells.
enum HostListeners {
    /// One line of /proc/net/tcp that listens.
    struct Entry: Hashable {
        var address: String
        var inode: UInt64

        /// The address without its port.
        fileprivate var host: HostAddress? {
            address.lastIndex(of: ":").flatMap { HostAddress(numeric: String(address[..<$0])) }
        }

        fileprivate var port: UInt16? {
            address.lastIndex(of: ":").flatMap { UInt16(address[address.index(after: $0)...]) }
        }
    }

    /// At most so many are offered, and so many descriptors of other processes looked at.
    static let limit = 50
    private static let descriptorLimit = 20_000

    /// All that can be seen, with their programs where the kernel says.
    static func find(limit: Int = limit, descriptors: Int = descriptorLimit) -> [StartOffers.Listening] {
        let v4 = entries(TextFile.read("/proc/net/tcp") ?? "")
        let v6 = entries(TextFile.read("/proc/net/tcp6") ?? "")
        var seen: Set<String> = []
        let entries = (v4 + v6).filter { seen.insert($0.address).inserted }.prefix(limit)
        let programs = DescriptorScan.owners(of: Set(entries.map(\.inode)), limit: descriptors)
        return entries.map { StartOffers.Listening(address: $0.address, program: programs[$0.inode]?.title ?? "") }
    }

    /// Which program has the address that a listener or datagram socket asked for, in words; `nil` where that cannot be
    /// seen. A host name is resolved, which may take time.
    static func holder(of port: UInt16, host: String, datagrams: Bool = false) -> String? {
        let (table, state) = datagrams ? ("udp", "07") : ("tcp", "0A")
        let all = [table, table + "6"].flatMap { entries(TextFile.read("/proc/net/\($0)") ?? "", state: state) }
        let wanted = HostAddress.resolve(host)
        let found = all.filter { entry in
            entry.port == port && wanted.contains { wanted in entry.host.map(wanted.collides) ?? false }
        }
        guard !found.isEmpty else { return nil }
        let owners = DescriptorScan.owners(of: Set(found.map(\.inode)), limit: descriptorLimit)
        let first = found.first { owners[$0.inode] != nil } ?? found[0]
        return "\(owners[first.inode]?.title ?? "a program that cannot be seen from here") has \(first.address)"
    }

    /// The sockets in the text of /proc/net/tcp or another of its kind that are in a state; 0A: those that listen.
    static func entries(_ table: String, state: String = "0A") -> [Entry] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[3] == state, let inode = UInt64(fields[9]) else { return nil }
            return address(fields[1]).map { Entry(address: $0, inode: inode) }
        }
    }

    /// `0100007F:1F90` is 127.0.0.1:8080: words in the host's byte order, the port in hexadecimal.
    static func address(_ text: Substring) -> String? {
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
        let family = words.count == 1 ? AF_INET : AF_INET6
        var name = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, words, &name, socklen_t(name.count)) != nil else { return nil }
        let host = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return words.count == 1 ? "\(host):\(port)" : "[\(host)]:\(port)"
    }
}
