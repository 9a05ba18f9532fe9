import CSocketKitSystem
import Glibc
import SocketCore

/// Lists the sockets of network namespaces other than the one that the observer starts in.
///
/// The only thing kept of a namespace is the socket on which the kernel reports closed sockets. It is released by the
/// first snapshot after the namespace's last process ended.
struct OtherNamespaces {
    /// The closed sockets that the kernel reports in one namespace.
    private final class Closings {
        var events: ClosingEvents

        init(_ descriptor: Int32) { events = ClosingEvents(descriptor) }
    }

    private let system: HostSystem
    /// The starting namespace, or `nil` if it is unknown.
    private let facts: HostNamespace?
    private var names = NamespaceNames()
    /// The other namespaces, or `nil` if only the starting one is listed.
    private var table: NamespaceTable?
    private var closings: [UInt16: Closings] = [:]

    /// The number of bytes that the kernel may buffer for closed sockets in each namespace.
    private static let closingRoom: Int32 = 256 << 10
    /// The number of processes tried to enter a namespace, since some may have ended.
    private static let tries = 4

    /// - Parameter process: A process in the starting namespace, or `nil` for this process.
    init(_ system: HostSystem, process: Int32?, entersOthers: Bool) {
        self.system = system
        let path = process.map { "/proc/\($0)/ns/net" } ?? "/proc/self/ns/net"
        let own = (try? system.link(path)).flatMap(NetworkText.namespaceInode)
        facts = own.map { HostNamespace(ordinal: 0, inode: $0) }
        let mayEnter = ProcessStatus(system.text("/proc/self/status") ?? []).mayEnterNamespaces
        if entersOthers, process == nil, own != nil, mayEnter { table = NamespaceTable(system, own: own) }
    }

    var entersOthers: Bool { table != nil }

    /// Releases every namespace until the next snapshot.
    mutating func rest() { closings = [:] }

    /// Returns a process in this namespace, or `nil` if there is none or it is the starting namespace.
    func process(in ordinal: UInt16) -> Int32? {
        guard let table, let inode = table.ordinals.first(where: { $0.value == ordinal })?.key else { return nil }
        return table.members[inode]?.min()
    }

    /// Adds the sockets of all other namespaces, and the sockets that closed in them.
    mutating func look(into look: inout HostLook, _ known: inout KnownSockets) {
        names.refresh(look.time)
        if var facts {
            facts.name = names[facts.inode]
            look.namespaces[0] = facts
        }
        guard var table else { return }
        table.refresh()
        self.table = table
        let there = Set(table.ordinals.values)
        closings = closings.filter { there.contains($0.key) }
        takeClosings(&look)
        let visits = table.ordinals.map { inode, ordinal in
            NamespaceVisit(
                ordinal: ordinal, inode: inode,
                processes: Array((table.members[inode] ?? []).sorted().prefix(Self.tries)),
                closingRoom: closings[ordinal] == nil ? Self.closingRoom : nil)
        }
        let found = NamespaceVisit.make(visits, system)
        // A namespace that could not be entered may be about to end.
        let entered = Set(found.map(\.visit.ordinal))
        closings = closings.filter { entered.contains($0.key) }
        look.hidden.namespaces = table.left + visits.count - found.count
        for outcome in found { add(outcome, to: &look, &known) }
    }

    /// Must run before the tables are read, so that a socket that closes in the meantime is reported in the next
    /// snapshot.
    private func takeClosings(_ look: inout HostLook) {
        for (ordinal, closings) in closings.sorted(by: { $0.key < $1.key }) {
            let told = closings.events.take(look.time)
            look.closings += told.sockets.map { $0.placed(in: ordinal) }
            look.closingsLost = look.closingsLost.map { $0 + told.lost }
        }
    }

    private mutating func add(
        _ outcome: NamespaceVisit.Outcome, to look: inout HostLook, _ known: inout KnownSockets
    ) {
        let ordinal = outcome.visit.ordinal
        for (table, messages) in outcome.messages {
            let group = KnownSockets.Group(table: table, namespace: ordinal)
            known.begin(group)
            for message in messages {
                known.absorb(message.bytes.span.bytes, 0..<message.bytes.count, of: group, time: message.time)
            }
        }
        for table in outcome.failed { known.keep(KnownSockets.Group(table: table, namespace: ordinal)) }
        if !outcome.failed.isEmpty { look.hidden.namespaces += 1 }
        var facts = HostNamespace(ordinal: ordinal, inode: outcome.visit.inode, name: names[outcome.visit.inode])
        facts.localPorts = outcome.localPorts
        look.namespaces[ordinal] = facts
        if let descriptor = outcome.closings { closings[ordinal] = Closings(descriptor) }
    }
}

/// A visit to one namespace, on a thread that enters it.
struct NamespaceVisit: Sendable {
    let ordinal: UInt16
    let inode: UInt64
    /// Processes in the namespace.
    let processes: [Int32]
    /// The buffer size for closed sockets, or `nil` if they are already being reported.
    let closingRoom: Int32?

    struct Outcome: Sendable {
        let visit: NamespaceVisit
        var messages: [SocketTable: [(bytes: [UInt8], time: MonotonicTime)]] = [:]
        /// The tables that could not be listed on this visit.
        var failed: [SocketTable] = []
        var localPorts: ClosedRange<UInt16>?
        /// The descriptor on which closed sockets are reported. The caller owns it.
        var closings: Int32?
    }

    /// Makes all visits on one thread. A namespace that cannot be entered has no outcome.
    static func make(_ visits: [NamespaceVisit], _ system: HostSystem) -> [Outcome] {
        guard !visits.isEmpty else { return [] }
        return OwnThread.run { visits.sorted { $0.ordinal < $1.ordinal }.compactMap { $0.make(system) } } ?? []
    }

    /// Enters the namespace and lists its sockets. The thread stays in the namespace.
    private func make(_ system: HostSystem) -> Outcome? {
        guard processes.contains(where: enter) else { return nil }
        var outcome = Outcome(visit: self)
        outcome.closings = closingRoom.flatMap { ClosingEvents.openDescriptor(system, nil, room: $0) }
        let dump = SocketDump(system: system, namespace: nil)
        let counts = SocketCounts(
            system.text("/proc/thread-self/net/sockstat") ?? [], system.text("/proc/thread-self/net/sockstat6") ?? [])
        for table in SocketTable.allCases where !counts.isEmpty(table) {
            do throws(HostSystem.Failure) {
                outcome.messages[table] = try dump.messages(of: table)
            } catch {
                // A table that this kernel does not have is also missing in the starting namespace.
                if error.number != ENOENT { outcome.failed.append(table) }
            }
        }
        outcome.localPorts = system.text("/proc/sys/net/ipv4/ip_local_port_range").flatMap(NetworkText.portRange)
        return outcome
    }

    /// Enters the namespace by a process. Returns whether the process is in it and the kernel allowed it.
    private func enter(by process: Int32) -> Bool {
        let place = open("/proc/\(process)/ns/net", O_RDONLY | O_CLOEXEC)
        guard place >= 0 else { return false }
        defer { close(place) }
        var facts = stat()
        guard fstat(place, &facts) == 0, UInt64(facts.st_ino) == inode else { return false }
        return csystem_enter_network(place) == 0
    }
}

/// The names of network namespaces below /run/netns (ip-netns(8)).
struct NamespaceNames {
    private var names: [UInt64: String] = [:]
    private var read: MonotonicTime?

    /// The time after which the names are read again.
    private static let pause = Duration.seconds(5)
    private static let most = 4_096

    subscript(inode: UInt64) -> String? { names[inode] }

    mutating func refresh(_ now: MonotonicTime, folder: String = "/run/netns") {
        if let read, now - read < Self.pause { return }
        (read, names) = (now, [:])
        guard let stream = folder.withNative({ opendir($0) }) else { return }
        defer { closedir(stream) }
        while names.count < Self.most, let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(native: $0) }
            }
            var facts = stat()
            guard !name.hasPrefix("."), "\(folder)/\(name)".withNative({ stat($0, &facts) }) == 0 else { continue }
            // Of two names for one namespace, pick the same one each time.
            if names[UInt64(facts.st_ino)].map({ name < $0 }) ?? true { names[UInt64(facts.st_ino)] = name }
        }
    }
}
