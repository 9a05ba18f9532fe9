import SocketCore

/// The sessions received in the current update.
struct ArrivedSessions: Sendable {
    fileprivate var sockets: [SocketSnapshot] = []
    /// The memory of each session's texts and lists.
    fileprivate var weights: [Int] = []
    private var memory = 0
    private let keepsHost: Bool

    init(keepsHost: Bool) { self.keepsHost = keepsHost }

    /// The capacity kept between updates, in sessions.
    private static let usual = 4_096

    /// Takes the blocks of one frame. Throws if an update exceeds the limits.
    mutating func add(_ blocks: [SocketSnapshot]) throws(WireError) {
        guard blocks.indices.allSatisfy({ blocks[$0].id != SocketID(0) }) else {
            throw .malformed("a socket has no id")
        }
        try settle()
        sockets += blocks
        guard sockets.count <= InspectionMirror.sessionLimit else { throw .tooManySessions }
    }

    /// Corrects and weighs the sessions of earlier frames. By now nothing else references them, so they are not copied.
    fileprivate mutating func settle() throws(WireError) {
        for index in weights.count..<sockets.count {
            sockets[index].makePlausible()
            if !keepsHost, sockets[index].isFromOutside { sockets[index].host = nil }
            var scale = WireScale()
            sockets[index].weigh(into: &scale)
            weights.append(scale.memory)
            memory += scale.memory
        }
        guard memory <= InspectionMirror.memoryLimit else { throw .tooLargeSessions }
    }

    mutating func clear() {
        sockets.removeAll(keepingCapacity: sockets.count < Self.usual)
        weights.removeAll(keepingCapacity: weights.count < Self.usual)
        memory = 0
    }
}

extension WireError {
    fileprivate static var tooManySessions: WireError {
        .malformed("it lists more than \(InspectionMirror.sessionLimit) sockets, the limit of a viewer")
    }

    fileprivate static var tooLargeSessions: WireError {
        .malformed("its sockets take more than \(InspectionMirror.memoryLimit >> 20) MiB, the limit of a viewer")
    }
}

/// All sessions as of the last complete update, in the order of their identifiers.
struct MirroredSessions: Sendable {
    private(set) var sockets: [SocketSnapshot] = []
    /// The sessions' identifiers, stored contiguously so that searches are fast.
    private(set) var ids: [SocketID] = []
    /// The memory of each session's texts and lists, and of all of them.
    private var weights: [Int] = []
    private(set) var memory = 0

    /// Ends an update. Received sessions replace the existing ones, and removed ones are dropped.
    mutating func apply(_ arrived: inout ArrivedSessions, without removed: [SocketID]) throws(WireError) {
        defer { arrived.clear() }
        try arrived.settle()
        let places = arrived.sockets.map { position(of: $0.id) }
        if places.allSatisfy({ $0 != nil }), !removed.contains(where: { position(of: $0) != nil }) {
            replace(places.compactMap { $0 }, by: &arrived)
        } else {
            let all = rebuilt(from: arrived, without: Set(removed))
            guard all.sockets.count <= InspectionMirror.sessionLimit else { throw .tooManySessions }
            self = all
        }
        guard memory <= InspectionMirror.memoryLimit else { throw .tooLargeSessions }
    }

    /// Drops what is sent only for watched sessions.
    mutating func forgetDetails(of id: SocketID) {
        guard let place = position(of: id) else { return }
        sockets[place].kernel = nil
        sockets[place].reading.pending = []
        sockets[place].writing.pending = []
    }

    private mutating func replace(_ places: [Int], by arrived: inout ArrivedSessions) {
        for (index, place) in places.enumerated() {
            swap(&sockets[place], &arrived.sockets[index])
            memory += arrived.weights[index] - weights[place]
            weights[place] = arrived.weights[index]
        }
    }

    /// Returns all sessions, rebuilt after additions or removals. If one was received twice, the later one counts.
    private func rebuilt(from arrived: ArrivedSessions, without removed: Set<SocketID>) -> MirroredSessions {
        var latest: [SocketID: Int] = [:]
        for index in arrived.sockets.indices { latest[arrived.sockets[index].id] = index }
        let order = latest.keys.filter { !removed.contains($0) }.sorted()
        var all = MirroredSessions()
        all.reserve(sockets.count + order.count)
        var next = 0
        func add(upTo id: SocketID?) {
            while next < order.count, id.map({ order[next] < $0 }) ?? true {
                if let index = latest[order[next]] { all.append(arrived.sockets[index], arrived.weights[index]) }
                next += 1
            }
        }
        for (index, id) in ids.enumerated() {
            add(upTo: id)
            if latest[id] == nil, !removed.contains(id) { all.append(sockets[index], weights[index]) }
        }
        add(upTo: nil)
        return all
    }

    private mutating func reserve(_ count: Int) {
        sockets.reserveCapacity(count)
        ids.reserveCapacity(count)
        weights.reserveCapacity(count)
    }

    private mutating func append(_ socket: SocketSnapshot, _ weight: Int) {
        sockets.append(socket)
        ids.append(socket.id)
        weights.append(weight)
        memory += weight
    }

    private func position(of id: SocketID) -> Int? {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        return low < ids.count && ids[low] == id ? low : nil
    }
}
