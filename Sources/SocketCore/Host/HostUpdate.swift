/// What a host's agent tells of one look: what differs from the look that it told before. Numbers are its kernel's.
package struct HostUpdate: Equatable, Sendable {
    /// Counts the agent's looks.
    package var number: UInt64 = 0
    /// Whether it tells everything, so that what it lacks is gone.
    package var isFull = false
    /// When it began, by the clock of the host.
    package var time = MonotonicTime.zero
    /// When it was sent, by that clock.
    package var sent = MonotonicTime.zero
    /// The interval until the next one.
    package var interval = Duration.zero
    /// Sockets that are new or changed, and the identities of those that are no longer listed.
    package var told: [HostSocket] = []
    package var gone: [UInt64] = []
    /// The owners of sockets whose owners changed, by inode. An empty list: none are known any more.
    package var owners: [UInt64: [HostLook.Owner]] = [:]
    /// Processes of which anything changed, and those of which nothing is known any more.
    package var processes: [HostProcess] = []
    package var ended: [Int32] = []
    /// All network namespaces.
    package var namespaces: [HostNamespace] = []
    /// The inodes of the sockets whose programs were examined closely.
    package var examined: Set<UInt64> = []
    package var lowWater: [UInt64: Int] = [:]
    package var closings: [HostSocket] = []
    package var closingsLost: UInt64?
    package var hidden = HostLook.Hidden()

    package init() {}
}

/// Makes updates of a host's looks, for a viewer that takes them at its own pace.
package struct HostUpdateWriter: Sendable {
    private var told: Set<UInt64> = []
    private var gone: Set<UInt64> = []
    private var closings: [HostSocket] = []
    private var closingsLost: UInt64? = 0
    private var owners: [UInt64: [HostLook.Owner]] = [:]
    /// The processes as the viewer has them, which grow older there as well.
    private var processes: [Int32: HostProcess] = [:]
    /// The time of the look that was told last.
    private var last: MonotonicTime?
    /// The time of the last look that was noted, or `nil` if the next update must be full.
    private var noted: MonotonicTime?
    private var number: UInt64 = 0

    /// The most closed sockets that wait to be told.
    private static let mostClosings = 4_096

    package init() {}

    /// Notes a look. Those that are not told are united with the next.
    package mutating func note(_ look: HostLook) {
        if let changes = look.changes, changes.since == noted {
            told.subtract(changes.gone)
            told.formUnion(changes.told)
            gone.subtract(changes.told)
            gone.formUnion(changes.gone)
            noted = look.time
        } else {
            noted = nil
        }
        closings += look.closings
        closingsLost = closingsLost.flatMap { lost in look.closingsLost.map { lost + $0 } }
        if closings.count > Self.mostClosings {
            closingsLost = closingsLost.map { $0 + UInt64(closings.count - Self.mostClosings) }
            closings.removeFirst(closings.count - Self.mostClosings)
        }
    }

    /// Returns what the viewer has not been told, as of the look that was noted last.
    package mutating func update(_ look: HostLook, interval: Duration) -> HostUpdate {
        var update = HostUpdate()
        number += 1
        (update.number, update.time, update.interval) = (number, look.time, interval)
        update.isFull = noted == nil
        update.told = noted == nil ? look.sockets : told.sorted().compactMap(look.socket)
        update.gone = noted == nil ? [] : gone.sorted()
        update.owners = changedOwners(look)
        tellProcesses(of: look, in: &update)
        update.namespaces = look.namespaces.values.sorted { $0.ordinal < $1.ordinal }
        if var own = look.namespaces[0] ?? (look.localPorts == nil ? nil : HostNamespace(ordinal: 0, inode: 0)) {
            own.localPorts = look.localPorts
            update.namespaces = [own] + update.namespaces.filter { $0.ordinal != 0 }
        }
        (update.examined, update.lowWater) = (look.examined ?? [], look.lowWater)
        (update.closings, update.closingsLost) = (closings, closingsLost)
        update.hidden = look.hidden
        (owners, noted, last) = (look.owners, look.time, look.time)
        (told, gone, closings, closingsLost) = ([], [], [], 0)
        return update
    }

    /// Tells the processes that are not as the viewer lets them grow older.
    private mutating func tellProcesses(of look: HostLook, in update: inout HostUpdate) {
        update.ended = Set(processes.keys).subtracting(look.processes.keys).sorted()
        for number in update.ended { processes[number] = nil }
        let passed = last.map { look.time - $0 } ?? .zero
        for (number, now) in look.processes {
            if !update.isFull, processes[number]?.isSame(now, after: passed) == true {
                processes[number]?.age(by: passed)
            } else {
                processes[number] = now
                update.processes.append(now)
            }
        }
        update.processes.sort { $0.id.number < $1.id.number }
    }

    private func changedOwners(_ look: HostLook) -> [UInt64: [HostLook.Owner]] {
        // The viewer drops those of a host that tells everything.
        var changed = noted == nil ? look.owners : look.owners.filter { owners[$0.key] != $0.value }
        for inode in owners.keys where look.owners[inode] == nil { changed[inode] = [] }
        return changed
    }
}
