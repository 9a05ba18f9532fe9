import SocketCore

/// Sessions that the engine no longer lists, as last listed. The oldest are dropped.
struct VanishedSockets: Sendable {
    /// The most sessions remembered.
    static let limit = 2_000
    private var sockets: [SocketID: SocketSnapshot] = [:]
    private var order: [SocketID] = []
    private var head = 0

    subscript(id: SocketID) -> SocketSnapshot? { sockets[id] }

    /// Remembers the sessions that a new snapshot no longer lists.
    mutating func absorb(former: EngineSnapshot, _ snapshot: EngineSnapshot) {
        // Both are sorted by id, so one pass finds the missing ones.
        var index = 0
        for position in former.sockets.indices where !former.sockets[position].isLive {
            let id = former.sockets[position].id
            while index < snapshot.sockets.count, snapshot.sockets[index].id < id { index += 1 }
            if index < snapshot.sockets.count, snapshot.sockets[index].id == id { continue }
            remember(former.sockets[position])
        }
    }

    private mutating func remember(_ socket: SocketSnapshot) {
        guard sockets.updateValue(socket, forKey: socket.id) == nil else { return }
        order.append(socket.id)
        guard order.count - head > Self.limit else { return }
        sockets[order[head]] = nil
        head += 1
        guard head > Self.limit else { return }
        order.removeFirst(head)
        head = 0
    }
}
