import Glibc
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

    /// Those in the text of /proc/net/tcp. No program has them open yet, so their inode is 0.
    static func entries(_ table: String, at listeners: [SocketAddress]) -> [Entry] {
        let wanted = listeners.compactMap { listener -> (host: HostAddress, port: UInt16)? in
            guard let port = listener.port, let host = host(of: listener.description) else { return nil }
            return (host, port)
        }
        return table.split(separator: "\n").dropFirst().compactMap { line -> Entry? in
            let fields = line.split(separator: " ")
            guard fields.count > 9, states.contains(fields[3]), fields[9] == "0",
                let local = HostListeners.address(fields[1]), let peer = HostListeners.address(fields[2]),
                let near = address(local), let far = address(peer), let host = host(of: local),
                wanted.contains(where: { $0.port == near.port && $0.host.collides(with: host) })
            else { return nil }
            return Entry(local: near, peer: far)
        }
    }

    private static func host(of text: String) -> HostAddress? {
        text.lastIndex(of: ":").flatMap { HostAddress(numeric: String(text[..<$0])) }
    }

    /// Reads `127.0.0.1:80` or `[::1]:80`. IPv4 inside IPv6 is IPv4.
    private static func address(_ text: String) -> SocketAddress? {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        let host = text[..<colon].filter { $0 != "[" && $0 != "]" }
        let mapped = "::ffff:"
        if host.hasPrefix(mapped), host.contains(".") {
            return .v4(host: String(host.dropFirst(mapped.count)), port: port)
        }
        return host.contains(":") ? .v6(host: host, port: port) : .v4(host: host, port: port)
    }
}
