import SocketCore

/// Who may answer a connection that no program has accepted.
extension HostScene {
    /// Returns the listener in whose queue a connection is: the one on its exact address, or else on every address.
    func listener(holding child: HostSocket) -> HostSocket? {
        let all = listeners(child.local?.port, near: child)
        return all.first { $0.local?.unmapped.host == child.local?.unmapped.host }
            ?? all.first { $0.local?.unmapped.isWildcard == true }
    }

    /// Returns the listener that a Unix-domain socket waits for, or `nil` if it waits for none.
    func listener(awaitedBy socket: HostSocket) -> HostSocket? {
        socket.isQueued ? self.socket(inode: socket.listenerInode) : nil
    }

    /// Returns the listener on this host that a connection is being made to, if there is one.
    func listener(answering socket: HostSocket) -> HostSocket? {
        guard let peer = socket.peer?.unmapped else { return nil }
        return listeners(peer.port, near: socket).first { isHere(peer, near: socket, at: $0.local?.unmapped) }
    }

    /// Returns the socket of the name server on this host that a query went to, if there is one.
    func nameServer(answering socket: HostSocket) -> HostSocket? {
        guard let peer = socket.peer?.unmapped else { return nil }
        return look.sockets.first { server in
            server.transport == .udp && server.namespace == socket.namespace && server.inode != 0
                && server.local?.port == peer.port && server.peer?.port ?? 0 == 0
                && isHere(peer, near: socket, at: server.local?.unmapped)
        }
    }

    /// Whether a socket at an address is what a peer's address means: the same, or every address, of which that is one.
    private func isHere(_ peer: SocketAddress, near socket: HostSocket, at local: SocketAddress?) -> Bool {
        guard let local else { return false }
        if local.host == peer.host { return true }
        return local.isWildcard && (peer.ip?.isLoopback == true || peer.host == socket.local?.unmapped.host)
    }
}
