import SocketCore

/// The ends of TCP connections, by which each finds the other: first within its network namespace, then in any other.
struct HostPairs: Sendable {
    private struct Ends: Hashable {
        var local: SocketAddress
        var peer: SocketAddress
    }

    private var places: [Ends: Int] = [:]
    /// All places of ends that have the same addresses, as loopback connections have in several namespaces.
    private var alike: [Ends: [Int]] = [:]

    /// - Parameter place: where it is among the sockets of a look.
    mutating func insert(_ socket: HostSocket, at place: Int) {
        guard let local = socket.local?.unmapped, let peer = socket.peer?.unmapped else { return }
        let ends = Ends(local: local, peer: peer)
        if let other = places.updateValue(place, forKey: ends) { alike[ends, default: [other]].append(place) }
    }

    /// The place of the other end.
    func peer(of socket: HostSocket, in sockets: [HostSocket]) -> Int? {
        guard let local = socket.local?.unmapped, let peer = socket.peer?.unmapped else { return nil }
        let far = Ends(local: peer, peer: local)
        guard let place = places[far] else { return nil }
        let found = alike[far]?.last { sockets[$0].namespace == socket.namespace } ?? place
        if sockets[found].namespace == socket.namespace { return found }
        // Private networks may be alike: two ends that name one connection cannot both be that of the other end.
        let isUnique = alike[far] == nil && alike[Ends(local: local, peer: peer)] == nil
        return isUnique && Self.mayCross(local, peer) ? found : nil
    }

    /// Whether a connection may leave its namespace: one to an address of the namespace itself does not.
    private static func mayCross(_ local: SocketAddress, _ peer: SocketAddress) -> Bool {
        guard let near = local.ip, let far = peer.ip else { return false }
        return near != far && !near.isLoopback && !far.isLoopback
    }
}

/// A port, in the network namespace of a socket.
struct HostPort: Hashable, Sendable {
    private var namespace: UInt16
    private var port: UInt16

    init(_ port: UInt16, of socket: HostSocket) { (self.port, namespace) = (port, socket.namespace) }
}

extension HostScene {
    /// The network namespace of a socket, in words: `netns blue`; `nil`: it is in the one that is looked at from. Sanitized.
    func namespaceWords(of socket: HostSocket) -> String? {
        guard socket.namespace != 0 else { return nil }
        let label = look.namespaces[socket.namespace]?.label ?? "\(socket.namespace)"
        return "netns \(Self.safe(label))"
    }

    /// The same after other words.
    func namespaceSuffix(of socket: HostSocket) -> String {
        namespaceWords(of: socket).map { " (\($0))" } ?? ""
    }
}
