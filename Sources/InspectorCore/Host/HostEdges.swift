import SocketCore

/// A writer that makes no progress, and the reader whose unread bytes block it.
struct HostEdge {
    var writer: HostSocket
    var reader: HostSocket
    var writing: HostAsking
    var reading: HostAsking
}

/// Which process waits for which: the edges, and the rings and chains that they form.
struct HostEdges {
    private var all: [HostEdge] = []
    /// Writers whose peer is on another host, or not visible.
    private(set) var farWriters: [HostSocket] = []
    /// The edges that block a process, one for each process that does not read. A server with thousands of stuck
    /// connections is followed only once.
    private var byWriter: [Int32: [HostEdge]] = [:]
    private let facts: HostFacts
    /// The readers of all edges.
    private(set) var readers: Set<UInt64> = []
    /// The rings, each once, and the chains by their last reader.
    private(set) var rings: [[HostEdge]] = []
    private(set) var chains: [[[HostEdge]]] = []

    init(_ facts: HostFacts) {
        self.facts = facts
        var reached: Set<[Int32]> = []
        for writer in facts.scene.sockets(facts.scene.notable) where facts.isWritingStalled(writer) {
            guard let reader = facts.scene.peer(of: writer) else {
                farWriters.append(writer)
                continue
            }
            guard reader.unread ?? 0 > 0, let reading = facts.steady(reader) else { continue }
            let writing = facts.steady(writer) ?? HostAsking(.hidden, .queues, facts.scene.look.time)
            let edge = HostEdge(writer: writer, reader: reader, writing: writing, reading: reading)
            all.append(edge)
            // A connection waiting to be accepted is reported with its listener.
            guard reading.kind != .unaccepted, let process = writing.process?.number,
                facts.isHeldUp(process, by: writer),
                reached.insert([process, reading.process?.number ?? -1]).inserted
            else { continue }
            byWriter[process, default: []].append(edge)
        }
        followAll()
    }

    private mutating func followAll() {
        var known: Set<Set<Int32>> = []
        var places: [UInt64: Int] = [:]
        for edge in all {
            readers.insert(edge.reader.id)
            guard edge.reading.kind != .unaccepted else { continue }
            switch follow(edge) {
            case .ring(let ring):
                if known.insert(Set(ring.compactMap { $0.writing.process?.number })).inserted { rings.append(ring) }
            case .chain(let path):
                guard let end = path.last?.reader.id else { continue }
                if let place = places[end] {
                    chains[place].append(path)
                } else {
                    places[end] = chains.count
                    chains.append([path])
                }
            }
        }
    }

    /// The result of following an edge from reader to reader.
    private enum End {
        case ring([HostEdge])
        /// The edges from here to the last reader.
        case chain([HostEdge])
    }

    private func follow(_ start: HostEdge) -> End {
        var path = [start]
        var places: [Int32: Int] = [:]
        if let process = start.writing.process { places[process.number] = 0 }
        while let last = path.last, let process = last.reading.process, facts.mayBeHeldUp(last.reading) {
            if let place = places[process.number] {
                guard facts.isHeldUp(last.reading, by: path[place].writer) else { break }
                return .ring(Array(path[place...]))
            }
            let next = byWriter[process.number] ?? []
            // An edge that closes the ring, or else any edge.
            let closing = next.first { $0.reading.process.map { places[$0.number] != nil } ?? true }
            guard let step = closing ?? next.first else { break }
            places[process.number] = path.count
            path.append(step)
        }
        return .chain(path)
    }
}
