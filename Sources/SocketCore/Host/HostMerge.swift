/// What one update of a host changes in a view of several, in numbers of the view. The sockets of all hosts are in one
/// array, which is changed in place.
package struct HostMerge: Sendable {
    package let host: HostOrdinal
    package let time: MonotonicTime
    package private(set) var changes: HostLook.Changes
    package private(set) var closings: [HostSocket] = []
    /// The processes that changed or are gone.
    package private(set) var processes: Set<Int32> = []
    private var told: [HostSocket] = []
    private var looked: MonotonicTime
    private var owners: [UInt64: [HostLook.Owner]] = [:]
    private var known: [HostProcess] = []
    private var namespaces: [UInt16: HostNamespace] = [:]
    private var examined: Set<UInt64> = []
    private var lowWater: [UInt64: Int] = [:]
    private var hidden: HostLook.Hidden
    private var closingsLost: UInt64?
    private let isAnew: Bool
    /// The time between this look and the host's look before.
    private let passed: Duration

    /// - Parameter isAnew: Whether the durations of all its sockets begin again.
    /// - Parameter isOwn: Whether the host tells of the sockets of a namespace.
    init(
        _ update: HostUpdate, of host: HostOrdinal, shift: Duration, at time: MonotonicTime, isAnew: Bool,
        passed: Duration = .zero, look: HostLook, isOwn: (UInt16) -> Bool
    ) {
        (self.host, self.time, looked, self.isAnew) = (host, time, update.time + shift, isAnew)
        self.passed = passed
        // Nobody knows what closed before the first look.
        (hidden, closingsLost) = (update.hidden, isAnew ? nil : update.closingsLost)
        let packing = HostPacking(host: host, shift: shift)
        told = update.told.filter { isOwn($0.namespace) }.compactMap(packing.socket)
        changes = HostLook.Changes(since: look.time, told: Set(told.map(\.id)))
        changes.host = host
        changes.gone = Set(update.gone.compactMap(packing.identity))
        let present = update.isFull || isAnew ? look.sockets.lazy.filter { $0.host == host }.map(\.id) : nil
        if update.isFull, let present { changes.gone.formUnion(present) }
        changes.gone.subtract(changes.told)
        if let present, isAnew { changes.anew = Set(present).subtracting(changes.gone) }
        closings = update.closings.filter { isOwn($0.namespace) }.compactMap(packing.socket)
        known = update.processes.compactMap(packing.process)
        processes = Set(known.map(\.id.number) + update.ended.compactMap(host.process))
        if update.isFull {
            processes.formUnion(look.processes.keys.filter { HostOrdinal(ofProcess: $0) == host })
            for inode in look.owners.keys where HostOrdinal(ofInode: inode) == host { owners[inode] = [] }
        }
        for (inode, list) in update.owners where host.inode(inode) != 0 {
            owners[host.inode(inode)] = list.compactMap(packing.owner)
        }
        changes.owners = Set(owners.keys)
        for namespace in update.namespaces where isOwn(namespace.ordinal) {
            if let packed = packing.namespace(namespace) { namespaces[packed.ordinal] = packed }
        }
        examined = Set(update.examined.map(host.inode)).subtracting([0])
        for (inode, mark) in update.lowWater where host.inode(inode) != 0 { lowWater[host.inode(inode)] = mark }
    }

    /// Makes the view what it is after the update.
    package func apply(to look: inout HostLook) {
        (look.time, look.changes) = (time, changes)
        for id in changes.gone { Self.remove(id, from: &look) }
        for socket in told { Self.insert(socket, into: &look) }
        age(&look)
        for (inode, list) in owners { look.owners[inode] = list.isEmpty ? nil : list }
        for process in look.processes.keys where HostOrdinal(ofProcess: process) == host {
            look.processes[process]?.age(by: passed)
        }
        for process in processes { look.processes[process] = nil }
        for process in known { look.processes[process.id.number] = process }
        look.namespaces = look.namespaces.filter { HostOrdinal(ofNamespace: $0.key) != host }
        look.namespaces.merge(namespaces) { $1 }
        look.localPorts = look.namespaces[0]?.localPorts
        look.examined = (look.examined ?? []).filter { HostOrdinal(ofInode: $0) != host }.union(examined)
        look.lowWater = look.lowWater.filter { HostOrdinal(ofInode: $0.key) != host }
        look.lowWater.merge(lowWater) { $1 }
        (look.closings, look.closingsLost) = (closings, closingsLost)
        look.machines[host]?.hidden = hidden
        look.hidden = HostLook.Hidden(summing: look.machines.values.map(\.hidden))
    }

    private static func remove(_ id: UInt64, from look: inout HostLook) {
        guard let place = look.places?.removeValue(forKey: id), case let last = look.sockets.count - 1 else { return }
        if place != last {
            look.sockets.swapAt(place, last)
            look.places?[look.sockets[place].id] = place
        }
        look.sockets.removeLast()
    }

    private static func insert(_ socket: HostSocket, into look: inout HostLook) {
        if let place = look.places?[socket.id] {
            look.sockets[place] = socket
        } else {
            look.places?[socket.id] = look.sockets.count
            look.sockets.append(socket)
        }
    }

    /// For what the host did not tell again, only time has passed. Where its clock stood still, no one knows how much.
    private func age(_ look: inout HostLook) {
        for place in look.sockets.indices where look.sockets[place].host == host {
            let passed = looked - look.sockets[place].time
            if isAnew, !changes.told.contains(look.sockets[place].id) {
                look.sockets[place].time = looked
            } else if passed > .zero {
                look.sockets[place].age(by: passed)
            }
        }
    }
}

extension HostSocket {
    fileprivate mutating func age(by passed: Duration) {
        time = time + passed
        timerExpires = timerExpires.map { max(.zero, $0 - passed) }
        tcp?.age(by: passed)
    }
}

extension HostTCP {
    fileprivate mutating func age(by passed: Duration) {
        lastSent = lastSent.map { $0 + passed }
        lastReceived = lastReceived.map { $0 + passed }
        lastAcknowledged = lastAcknowledged.map { $0 + passed }
    }
}

extension HostLook.Hidden {
    /// What several hosts hide.
    package init(summing all: [HostLook.Hidden]) {
        self.init()
        for hidden in all {
            processes += hidden.processes
            withoutCalls.formUnion(hidden.withoutCalls)
            reason = reason ?? hidden.reason
            sockets += hidden.sockets
            namespaces += hidden.namespaces
            tables.formUnion(hidden.tables)
        }
        calls = all.reduce(0) { $0 + $1.calls }
    }
}
