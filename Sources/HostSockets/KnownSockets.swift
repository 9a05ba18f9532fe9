import Glibc
import SocketCore

/// The sockets of the last snapshot and the messages they were read from. An unchanged message is not parsed again.
struct KnownSockets {
    private var sockets: [HostSocket] = []
    private var places: [UInt64: Int] = [:]
    /// The record of each socket, at the same index.
    private var records: [Record] = []
    /// The number of the current dump, and of the last dump of each table in each namespace.
    private var dump: UInt64 = 0
    private var dumps: [Group: UInt64] = [:]
    private var formerDumps: [Group: UInt64] = [:]
    /// The groups that could not be listed in this snapshot, and in the previous one.
    private var kept: Set<Group> = []
    private var formerKept: Set<Group> = []
    /// The time of the last snapshot, and the changes since then.
    private var looked: MonotonicTime?
    private var told: Set<UInt64> = []
    private var gone: Set<UInt64> = []
    private var hasNewNames = false
    /// The Unix-domain sockets that wait to be accepted, by inode, with the listener's: as the last dumps reported them,
    /// and together.
    private var queues: [Group: (dump: UInt64, listeners: [UInt64: UInt64])] = [:]
    private var queued: [UInt64: UInt64] = [:]
    /// The connections of Multipath TCP by namespace and inode, which each has in common with its subflows.
    private var connections: [Place: (facts: HostMultipath, group: Group, dump: UInt64)] = [:]
    /// The sockets that show such a connection, and those that are part of it and not listed.
    private var subflows: Set<UInt64> = []
    private(set) var hidden: Set<UInt64> = []
    /// The identity of each connection's row, that of the subflow that was shown first, and the subflows that are shown
    /// under another's identity, because that one has ended.
    private var rows: [Place: UInt64] = [:]
    private(set) var aliases: [UInt64: UInt64] = [:]

    private struct Place: Hashable {
        var namespace: UInt16
        var inode: UInt64
    }

    fileprivate struct Record {
        var message: [UInt8]
        var ages: MessageAges
        var group: Group
        var dump: UInt64
    }

    /// A table of a network namespace.
    struct Group: Hashable {
        var table: SocketTable
        var namespace: UInt16 = 0
    }

    /// Starts a snapshot.
    mutating func begin() {
        (formerDumps, dumps) = (dumps, [:])
        (formerKept, kept) = (kept, [])
    }

    /// Keeps the sockets of a table that could not be listed, for one snapshot only.
    mutating func keep(_ group: Group) {
        guard !formerKept.contains(group) else { return }
        kept.insert(group)
        dumps[group] = formerDumps[group]
    }

    /// Starts a dump of a table. Messages of an earlier, disturbed dump no longer count.
    mutating func begin(_ group: Group) {
        dump += 1
        dumps[group] = dump
    }

    /// Ends a snapshot and removes the sockets that no message reported.
    mutating func end() {
        for place in records.indices.reversed() where dumps[records[place].group] != records[place].dump {
            remove(place)
        }
        sockets.shrink()
        records.shrink()
        places.shrink()
        namePeers()
        joinSubflows()
    }

    private mutating func remove(_ place: Int) {
        let (socket, last) = (sockets[place], sockets.count - 1)
        if place != last {
            sockets.swapAt(place, last)
            records.swapAt(place, last)
            places[sockets[place].id] = place
        }
        sockets.removeLast()
        records.removeLast()
        places[socket.id] = nil
        told.remove(socket.id)
        gone.insert(socket.id)
        if socket.transport.isUnix { hasNewNames = true }
    }

    /// Adds the socket of one message. A malformed message is skipped.
    mutating func absorb(_ bytes: RawSpan, _ message: Range<Int>, of group: Group, time: MonotonicTime) {
        if group.table.isMultipath {
            guard let found = HostMultipath.connection(bytes, message, of: group.table, time: time) else { return }
            return connections[Place(namespace: group.namespace, inode: found.inode)] = (found.facts, group, dump)
        }
        guard group.table != .unixQueues else { return absorbQueue(bytes, message, of: group) }
        let cookie = HostSocket.identity(bytes, message, of: group.table)
        let place = cookie.flatMap { places[HostSocket.id(cookie: $0, in: group.namespace)] }
        if let place, records[place].group == group, records[place].isSame(as: bytes, message) {
            records[place].dump = dump
            records[place].ages.absorb(bytes, message, time: time, into: &sockets[place])
            return
        }
        guard var socket = HostSocket(bytes, message, of: group.table, time: time) else { return }
        if group.namespace != 0 { socket = socket.placed(in: group.namespace) }
        let ages = MessageAges(bytes, message, of: group.table)
        let record = Record(message: bytes.array(message), ages: ages, group: group, dump: dump)
        told.insert(socket.id)
        if socket.transport.isUnix { hasNewNames = true }
        if let place {
            (sockets[place], records[place]) = (socket, record)
            return
        }
        gone.remove(socket.id)
        places[socket.id] = sockets.count
        sockets.append(socket)
        records.append(record)
    }

    private mutating func absorbQueue(_ bytes: RawSpan, _ message: Range<Int>, of group: Group) {
        guard let (listener, waiting) = HostSocket.queue(bytes, message), !waiting.isEmpty else { return }
        if queues[group]?.dump != dump { queues[group] = (dump, [:]) }
        for inode in waiting { queues[group]?.listeners[inode] = listener }
    }

    /// Sets the peer addresses of Unix-domain sockets. The kernel identifies the peer by its inode. Of one that waits to
    /// be accepted, the peer is the listener.
    private mutating func namePeers() {
        queues = queues.filter { dumps[$0.key] == $0.value.dump }
        let waiting = queues.values.reduce(into: [:]) { $0.merge($1.listeners) { first, _ in first } }
        if waiting != queued { (queued, hasNewNames) = (waiting, true) }
        guard hasNewNames else { return }
        hasNewNames = false
        var names: [UInt64: SocketAddress] = [:]
        for place in sockets.indices where sockets[place].transport.isUnix && sockets[place].inode != 0 {
            names[sockets[place].inode] = sockets[place].local
        }
        for place in sockets.indices where sockets[place].transport.isUnix {
            let peer = sockets[place].peerInode
            let listener = peer == 0 ? queued[sockets[place].inode] ?? 0 : 0
            let name = names[peer == 0 ? listener : peer]
            guard sockets[place].peer != name || sockets[place].listenerInode != listener else { continue }
            (sockets[place].peer, sockets[place].listenerInode) = (name, listener)
            told.insert(sockets[place].id)
        }
    }

    /// The sockets to list, and the index of each.
    var listed: (sockets: [HostSocket], places: [UInt64: Int]) {
        guard !hidden.isEmpty || !aliases.isEmpty else { return (sockets, places) }
        var listed = sockets.filter { !hidden.contains($0.id) }
        for place in listed.indices { listed[place].id = aliases[listed[place].id] ?? listed[place].id }
        return (listed, Dictionary(uniqueKeysWithValues: listed.indices.map { (listed[$0].id, $0) }))
    }

    /// Shows each Multipath TCP connection at one of its subflows. The others are not listed.
    private mutating func joinSubflows() {
        connections = connections.filter { dumps[$0.value.group] == $0.value.dump }
        guard !connections.isEmpty || !subflows.isEmpty else { return }
        let (former, formerHidden, formerRows) = (subflows, hidden, rows)
        (subflows, hidden, rows, aliases) = ([], [], [:], [:])
        for (key, members) in members {
            guard let connection = connections[key]?.facts,
                let first = members.min(by: isShownBefore(connection, former))
            else { continue }
            let others = members.filter { $0 != first }.map { place in
                var other = sockets[place]
                other.absorb(nil)
                return other
            }
            let (id, row) = (sockets[first].id, formerRows[key] ?? sockets[first].id)
            rows[key] = row
            if row != id { aliases[id] = row }
            subflows.insert(id)
            hidden.formUnion(others.map(\.id))
            show(connection, others, at: first)
        }
        for id in former.subtracting(subflows) {
            guard let place = places[id] else { continue }
            show(nil, [], at: place)
        }
        told.formUnion(formerHidden.subtracting(hidden).filter { places[$0] != nil })
        told.subtract(hidden)
        gone.subtract(told)
        gone.formUnion(hidden.subtracting(formerHidden))
        told = Set(told.map { aliases[$0] ?? $0 })
        gone.formUnion(formerRows.filter { rows[$0.key] == nil }.values)
        gone.subtract(aliases.values)
    }

    /// The subflows of each connection.
    private var members: [Place: [Int]] {
        var members: [Place: [Int]] = [:]
        for place in sockets.indices where sockets[place].transport == .tcp && !sockets[place].isListening {
            let key = Place(namespace: sockets[place].namespace, inode: sockets[place].inode)
            if key.inode != 0, connections[key] != nil { members[key, default: []].append(place) }
        }
        return members
    }

    /// Returns the order in which subflows show a connection: first the one with its addresses, then the one that does
    /// already, then the others as the kernel numbers them.
    private func isShownBefore(_ connection: HostMultipath, _ former: Set<UInt64>) -> (Int, Int) -> Bool {
        func rank(_ place: Int) -> (Int, UInt64) {
            let isFirst = HostMultipath.Ends(sockets[place]) == connection.ends
            return (isFirst ? 0 : former.contains(sockets[place].id) ? 1 : 2, sockets[place].id)
        }
        return { rank($0) < rank($1) }
    }

    private mutating func show(_ connection: HostMultipath?, _ others: [HostSocket], at place: Int) {
        let former = sockets[place].multipath
        sockets[place].absorb(connection, others: others)
        if former != sockets[place].multipath || others.contains(where: { told.contains($0.id) }) {
            told.insert(sockets[place].id)
        }
    }

    /// Returns and clears the changes since the previous snapshot, or `nil` if there was none.
    mutating func takeChanges(_ time: MonotonicTime) -> HostLook.Changes? {
        defer { (looked, told, gone) = (time, [], []) }
        return looked.map { HostLook.Changes(since: $0, told: told, gone: gone) }
    }
}

extension KnownSockets.Record {
    /// Whether a message is the same except for its ages.
    fileprivate func isSame(as bytes: RawSpan, _ range: Range<Int>) -> Bool {
        guard range.count == message.count else { return false }
        let (ages, length) = (ages.places, message.count)
        return message.withUnsafeBytes { old in
            bytes.extracting(range).withUnsafeBytes { new in
                guard let old = old.baseAddress, let new = new.baseAddress else { return true }
                func isEqual(_ begin: Int, _ end: Int) -> Bool { memcmp(old + begin, new + begin, end - begin) == 0 }
                guard let (first, second) = ages else { return isEqual(0, length) }
                return isEqual(0, first.lowerBound) && isEqual(first.upperBound, second.lowerBound)
                    && isEqual(second.upperBound, length)
            }
        }
    }
}
