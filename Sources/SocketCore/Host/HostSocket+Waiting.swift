extension [HostSocket] {
    /// Returns the connections that wait to be accepted at this listening address, with their peers. The sockets are
    /// those of one table, which has the connections of its own family's listeners: an IPv6 listener's table includes its
    /// IPv4 clients. No program has a waiting connection open, so its inode is 0.
    package func waiting(at listener: SocketAddress) -> [(socket: HostSocket, peer: SocketAddress)] {
        let listening = Set(filter(\.isListening).compactMap(\.local))
        return compactMap { socket in
            guard socket.inode == 0, !socket.isListening, let local = socket.local, let peer = socket.peer,
                local.port == listener.port
            else { return nil }
            // A wildcard listener gets only connections that no listener on the exact address gets.
            let isItsOwn = local.ip == listener.ip?.unmapped || listener.isWildcard && !listening.contains(local)
            return isItsOwn ? (socket, peer) : nil
        }
    }
}
