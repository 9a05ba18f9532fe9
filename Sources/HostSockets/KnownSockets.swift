import Glibc
import SocketCore

/// The sockets of the last look, and the messages that told of them: one that says the same again is not read again.
struct KnownSockets {
    private(set) var sockets: [HostSocket] = []
    private(set) var places: [UInt64: Int] = [:]
    /// Of each socket, at its place.
    private var records: [Record] = []
    /// Which dump is under way, and the last one of each table of each namespace.
    private var dump: UInt64 = 0
    private var dumps: [Group: UInt64] = [:]
    private var formerDumps: [Group: UInt64] = [:]
    /// What could not be listed in this look, and in the one before.
    private var kept: Set<Group> = []
    private var formerKept: Set<Group> = []
    /// When the last look was, and what has become different since.
    private var looked: MonotonicTime?
    private var told: Set<UInt64> = []
    private var gone: Set<UInt64> = []
    private var hasNewNames = false

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

    /// Begins a look.
    mutating func begin() {
        (formerDumps, dumps) = (dumps, [:])
        (formerKept, kept) = (kept, [])
    }

    /// A table could not be listed: its sockets stay as they were, for one look.
    mutating func keep(_ group: Group) {
        guard !formerKept.contains(group) else { return }
        kept.insert(group)
        dumps[group] = formerDumps[group]
    }

    /// Begins to take the messages of a table, those that were taken of it before in vain.
    mutating func begin(_ group: Group) {
        dump += 1
        dumps[group] = dump
    }

    /// Ends a look: forgets the sockets that it did not tell of.
    mutating func end() {
        for place in records.indices.reversed() where dumps[records[place].group] != records[place].dump {
            remove(place)
        }
        namePeers()
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

    /// Takes one message. One that makes no sense is passed over.
    mutating func take(_ bytes: RawSpan, _ message: Range<Int>, of group: Group, time: MonotonicTime) {
        let cookie = HostSocket.identity(bytes, message, of: group.table)
        let place = cookie.flatMap { places[HostSocket.id(cookie: $0, in: group.namespace)] }
        if let place, records[place].group == group, records[place].isSame(as: bytes, message) {
            records[place].dump = dump
            records[place].ages.take(bytes, message, time: time, into: &sockets[place])
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

    /// The kernel tells the other end of a Unix-domain socket by its inode.
    private mutating func namePeers() {
        guard hasNewNames else { return }
        hasNewNames = false
        var names: [UInt64: SocketAddress] = [:]
        for place in sockets.indices where sockets[place].transport.isUnix && sockets[place].inode != 0 {
            names[sockets[place].inode] = sockets[place].local
        }
        for place in sockets.indices where sockets[place].peerInode != 0 {
            let name = names[sockets[place].peerInode]
            guard sockets[place].peer != name else { continue }
            sockets[place].peer = name
            told.insert(sockets[place].id)
        }
    }

    /// What is different from the look before; `nil`: there was none.
    mutating func takeChanges(_ time: MonotonicTime) -> HostLook.Changes? {
        defer { (looked, told, gone) = (time, [], []) }
        return looked.map { HostLook.Changes(since: $0, told: told, gone: gone) }
    }
}

extension KnownSockets.Record {
    /// Whether a message says the same, ages apart.
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
