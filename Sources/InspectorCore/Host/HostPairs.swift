import SocketCore

/// The addresses of a connection, seen from one end.
struct Ends: Hashable, Sendable {
    var local: SocketAddress
    var peer: SocketAddress

    /// The same, seen from the other end.
    var reversed: Ends { Ends(local: peer, peer: local) }
}

/// Matches the ends of TCP connections: first within a network namespace, then across namespaces.
struct HostPairs: Sendable {
    private struct End: Hashable {
        var id: UInt64
        var namespace: UInt16
    }

    private var ends: [Ends: End] = [:]
    /// All ends with the same addresses, such as loopback connections in several namespaces.
    private var alike: [Ends: [End]] = [:]

    /// More than namespaces can have. They are not unique, and that is all that counts.
    private static let mostAlike = 4_096

    mutating func insert(_ socket: HostSocket) {
        guard let key = Self.key(socket) else { return }
        let end = End(id: socket.id, namespace: socket.namespace)
        guard let other = ends.updateValue(end, forKey: key) else { return }
        if alike[key]?.count ?? 0 < Self.mostAlike { alike[key, default: [other]].append(end) }
    }

    /// Removes a socket. It must be unchanged since it was added.
    mutating func remove(_ socket: HostSocket) {
        guard let key = Self.key(socket) else { return }
        guard let others = alike[key]?.filter({ $0.id != socket.id }) else {
            if ends[key]?.id == socket.id { ends[key] = nil }
            return
        }
        ends[key] = others.last
        alike[key] = others.count > 1 ? others : nil
    }

    /// Gives back the memory of ends that were removed.
    mutating func shrink() { ends.shrink() }

    private static func key(_ socket: HostSocket) -> Ends? {
        guard let local = socket.local?.unmapped, let peer = socket.peer?.unmapped else { return nil }
        return Ends(local: local, peer: peer)
    }

    /// Returns the identity of the other end.
    func peer(of socket: HostSocket) -> UInt64? {
        guard let near = Self.key(socket), case let far = near.reversed, let last = ends[far]
        else { return nil }
        let found = alike[far]?.last { $0.namespace == socket.namespace } ?? last
        if found.namespace == socket.namespace { return found.id }
        // Private networks may use the same addresses. Of two ends with the same addresses, only one can match.
        let isUnique = alike[far] == nil && alike[near] == nil
        return isUnique && Self.mayCross(near.local, near.peer) ? found.id : nil
    }

    /// Whether a connection may leave its namespace. One to an address of the namespace itself doesn't.
    private static func mayCross(_ local: SocketAddress, _ peer: SocketAddress) -> Bool {
        guard let near = local.ip, let far = peer.ip else { return false }
        return near != far && !near.isLoopback && !far.isLoopback
    }
}

/// A port in a socket's network namespace.
struct HostPort: Hashable, Sendable {
    private var namespace: UInt16
    private var port: UInt16

    init(_ port: UInt16, of socket: HostSocket) { (self.port, namespace) = (port, socket.namespace) }
}

extension HostScene {
    /// Returns `netns blue` for a socket in another network namespace, or `nil` for our own. If there are several hosts,
    /// its host comes first. Sanitized.
    func namespaceWords(of socket: HostSocket) -> String? {
        let host = look.machines[socket.host].map { Self.safe($0.name) }
        let own = HostOrdinal.hostNamespace(socket.namespace)
        guard own != 0 else { return host }
        let label = look.namespaces[socket.namespace]?.label ?? "\(own)"
        return (host.map { "\($0), " } ?? "") + "netns \(Self.safe(label))"
    }

    /// Returns the namespace as a suffix to other words.
    func namespaceSuffix(of socket: HostSocket) -> String {
        namespaceWords(of: socket).map { " (\($0))" } ?? ""
    }
}
