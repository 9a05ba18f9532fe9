import Glibc
import SocketCore
import Synchronization

/// Lists the sockets of all programs on this host and examines what those programs are waiting for.
///
/// It can be used from any thread except an engine's, because a snapshot takes milliseconds, or tens of them with many
/// sockets. Snapshots are taken one at a time.
package final class HostObserver: Sendable {
    /// Why no snapshot of this host could be taken.
    package struct Problem: Error, Equatable {
        /// One sentence, without a period.
        package var sentence: String
        /// Whether the next snapshot may succeed: memory or descriptors were short.
        package var isPassing = false

        package init(sentence: String, isPassing: Bool = false) {
            (self.sentence, self.isPassing) = (sentence, isPassing)
        }
    }

    let system: HostSystem
    private let readsCalls: Bool
    let namespace: Int32?
    private let known = Mutex(KnownSockets())
    private let table: Mutex<ProcessTable>
    /// The source of closed sockets, or `nil` if the kernel does not report which sockets it destroys.
    private let closings: Mutex<ClosingEvents?>
    /// The closed sockets that were reported for a snapshot that then failed.
    private let untold = Mutex(UntoldClosings())
    let others: Mutex<OtherNamespaces>

    /// - Parameter readsCalls: Whether system calls and their arguments are read where that is allowed.
    /// - Parameter namespace: A process in the network namespace to observe, or `nil` for this process's own.
    /// - Parameter entersOthers: Whether the network namespaces of all processes are observed, where that is allowed.
    /// - Parameter closingRoom: The number of bytes that the kernel may buffer for closed sockets between two
    ///   snapshots.
    package init(
        _ system: HostSystem = .live, readsCalls: Bool = true, namespace: Int32? = nil, entersOthers: Bool = false,
        closingRoom: Int32 = 4 << 20
    ) {
        (self.system, self.readsCalls, self.namespace) = (system, readsCalls, namespace)
        table = Mutex(ProcessTable(system))
        closings = Mutex(ClosingEvents.open(system, namespace, room: closingRoom))
        others = Mutex(OtherNamespaces(system, process: namespace, entersOthers: entersOthers))
    }

    /// Whether the network namespaces of all processes are observed.
    package var entersOthers: Bool { others.withLock { $0.entersOthers } }

    /// Returns all sockets, without the programs that they belong to. Each socket is listed once.
    ///
    /// Throws `Problem` if the kernel refuses. Tables that this kernel doesn't have are in `hidden.tables`.
    package func look() throws(Problem) -> HostLook {
        var look = HostLook(time: system.now(), sockets: [])
        takeClosings(&look)
        do throws(Problem) {
            try known.withLock { known throws(Problem) in
                known.begin()
                try update(&known, &look)
                others.withLock { $0.look(into: &look, &known) }
                let (hidden, aliases) = (known.hidden, known.aliases)
                known.end()
                (look.sockets, look.places) = known.listed
                // What was part of another row is no connection of its own when it ends.
                look.closings.removeAll { hidden.contains($0.id) }
                for place in look.closings.indices {
                    look.closings[place].id = aliases[look.closings[place].id] ?? look.closings[place].id
                }
                let continued = Set(known.aliases.values)
                look.closings.removeAll { continued.contains($0.id) }
                look.changes = known.takeChanges(look.time)
            }
        } catch {
            untold.withLock { $0.keep(look) }
            throw error
        }
        let texts = system.networkTexts(
            ["/proc/thread-self/net/netstat", "/proc/sys/net/ipv4/ip_local_port_range"], namespace)
        look.listenOverflows = texts.first.flatMap { $0.flatMap(NetworkText.listenOverflows) }
        look.localPorts = texts.last.flatMap { $0.flatMap(NetworkText.portRange) }
        return look
    }

    private func update(_ known: inout KnownSockets, _ look: inout HostLook) throws(Problem) {
        let dump = SocketDump(system: system, namespace: namespace)
        for table in SocketTable.allCases {
            do throws(HostSystem.Failure) {
                try dump.update(&known, table)
            } catch {
                guard error.number == ENOENT, table != .tcp4 else { throw problem(error, table) }
                // A kernel without Multipath TCP has no such connections.
                if !table.isExtra { look.hidden.tables.insert(table) }
            }
        }
    }

    /// Must run before the tables are read, so that a socket that closes in the meantime is reported in the next
    /// snapshot.
    private func takeClosings(_ look: inout HostLook) {
        let before = untold.withLock { $0.take() }
        let told = closings.withLock { $0?.take(look.time) }
        look.closings = before.sockets + (told?.sockets ?? [])
        look.closingsLost = told.map { $0.lost + before.lost }
    }

    /// Closes the sockets that are open in other network namespaces. A namespace ends with its last process only if
    /// nothing else keeps it. The next snapshot opens them again; sockets that close in between are not reported.
    package func rest() { others.withLock { $0.rest() } }

    private func problem(_ failure: HostSystem.Failure, _ table: SocketTable) -> Problem {
        let place = namespace.map { " in the network namespace of process \($0)" } ?? ""
        return Problem(
            sentence: "the kernel does not list \(table.title)\(place) (sock_diag):  "
                + String(cString: strerror(failure.number)),
            isPassing: [EMFILE, ENFILE, ENOBUFS, ENOMEM, EINTR, EAGAIN].contains(failure.number))
    }

    /// Finds the programs that have these sockets open.
    /// - Parameter inodes: Inodes of sockets in `look`.
    /// - Parameter suspects: The inodes whose sockets appear stalled.
    /// - Parameter threads: Whether to examine each thread of these programs, too.
    /// - Parameter budget: The most processor time to spend on programs, although one is always examined. The programs
    ///   that were examined longest ago come first. A busy host does not count, because a chain of waiting is cut short
    ///   by a program that was left out. With a budget, only `tellOwners` searches for owners.
    package func examine(
        _ look: inout HostLook, inodes: Set<UInt64>, suspects: Set<UInt64> = [], reads threads: Bool,
        budget: Duration? = nil
    ) {
        table.withLock { table in
            table.refresh(budget: budget)
            let wanted = inodes.subtracting([0])
            look.examined = look.examined?.union(wanted) ?? wanted
            defer { look.changes?.owners.formUnion(table.takeChanged()) }
            if budget == nil { table.find(wanted) }
            var numbers: Set<Int32> = []
            for inode in wanted {
                let owners = table.holders(of: inode)
                look.owners[inode] = owners.isEmpty ? nil : owners
                numbers.formUnion(owners.map(\.process))
            }
            look.hidden.sockets = wanted.count { look.owners[$0] == nil }
            table.look(for: suspects, of: wanted)
            describe(table.longestAgo(numbers), wanted, threads, budget, &look, &table)
            guard threads else { return }
            let unread = look.sockets.filter {
                wanted.contains($0.inode) && $0.transport.isStream && $0.unread ?? 0 > 0
            }
            table.marks.read(unread, &look, system)
        }
    }

    /// In a process with more sockets than this, only the sockets in `inodes` are examined.
    private static let fewSockets = 256

    /// Examines one process and its sockets. Returns whether the process exists.
    /// - Parameter inodes: Inodes of the sockets that matter most.
    @discardableResult
    package func examine(_ look: inout HostLook, process: Int32, inodes: Set<UInt64> = []) -> Bool {
        table.withLock { table in
            table.refresh()
            table.scan(process, isNamed: true)
            guard let entry = table.entries[process] else { return false }
            for (descriptor, inode) in entry.sockets {
                let owner = HostLook.Owner(process: process, descriptor: descriptor)
                if look.owners[inode]?.contains(owner) != true { look.owners[inode, default: []].append(owner) }
            }
            let all = Set(entry.sockets.values)
            let wanted = all.count > Self.fewSockets ? all.intersection(inodes) : all
            look.examined = look.examined?.union(wanted) ?? wanted
            describe([process], wanted, true, nil, &look, &table)
            look.changes?.owners.formUnion(table.takeChanged())
            return true
        }
    }

    private func describe(
        _ numbers: [Int32], _ inodes: Set<UInt64>, _ threads: Bool, _ budget: Duration?, _ look: inout HostLook,
        _ table: inout ProcessTable
    ) {
        let reader = ProcessReader(system, readsCalls: readsCalls, table.privilege)
        var clocks = ProcessorClocks()
        let began = Self.processorTime
        for number in numbers {
            table.update(number) { entry in
                guard let process = describe(&entry, inodes, threads, reader, &clocks) else { return }
                entry.lastRead = system.now()
                if let reason = reader.mayReadCalls(entry, process.user) {
                    look.hidden.withoutCalls.insert(number)
                    look.hidden.reason = reason
                }
                look.processes[number] = process
            }
            if let budget, Self.processorTime - began >= budget { break }
        }
        look.hidden.processes = table.refused
    }

    /// Returns `nil` if another process has the number by now, since some of the facts may be that process's.
    private func describe(
        _ entry: inout ProcessTable.Entry, _ inodes: Set<UInt64>, _ threads: Bool, _ reader: ProcessReader,
        _ clocks: inout ProcessorClocks
    ) -> HostProcess? {
        let number = entry.id.number
        var process = reader.describe(&entry, inodes: inodes)
        if threads {
            let machine = entry.executable.map(\.machine) ?? .current
            let threads = ThreadReader(system: system, process: number, rung: process.rung, machine: machine)
            let outcome = threads.read(&clocks)
            process.threads = outcome.threads
            if outcome.isRefused { (entry.allowsCalls, process.rung) = (false, .waitChannel) }
        }
        let stat = system.text("/proc/\(number)/stat").flatMap(ProcessStat.init)
        return stat?.start == entry.id.start ? process : nil
    }

    /// Throws `Problem` if a process may not be examined. A refusal is remembered.
    func checkPeek(_ process: Int32) throws(Problem) {
        let reason = table.withLock { table -> String? in
            table.refresh()
            let user = ProcessStatus(system.text("/proc/\(process)/status") ?? []).user
            let reader = ProcessReader(system, readsCalls: true, table.privilege)
            guard let entry = table.entries[process] else { return "it has ended" }
            return process == getpid() ? nil : reader.mayReadCalls(entry, user)
        }
        if let reason { throw Problem(sentence: "process \(process) cannot be inspected: \(reason)") }
    }

    func refuse(_ process: Int32) {
        table.withLock { table in table.update(process) { $0.allowsCalls = false } }
    }

    /// Adds the known owners of all sockets of the host. Each call continues where the previous one stopped.
    /// - Parameter budget: The longest time to spend, although one process is always scanned.
    package func tellOwners(of look: inout HostLook, budget: Duration) {
        table.withLock { table in
            table.refresh(budget: budget)
            let new = look.changes.map { $0.told.compactMap { look.socket($0)?.inode } }
            table.scanSome(budget: budget, new: Set(new ?? look.sockets.map(\.inode)).subtracting([0]))
            let reader = ProcessReader(system, readsCalls: readsCalls, table.privilege)
            for (number, entry) in table.entries where !entry.sockets.isEmpty {
                look.processes[number] = reader.light(entry)
            }
            look.owners = table.owners
            look.changes?.owners.formUnion(table.takeChanged())
        }
    }

    /// Returns the processes with a name: their `comm`, the base name of their first argument, or the name that they
    /// are shown under. This process is never among them.
    package func processes(named name: String) -> [HostProcess] { processes { $0.contains(name) } }

    /// Returns the processes of whose names this holds.
    package func processes(where isMeant: ([String]) -> Bool) -> [HostProcess] {
        table.withLock { table in
            table.refresh()
            let reader = ProcessReader(system, readsCalls: readsCalls, table.privilege)
            return table.entries.values.compactMap { entry in
                guard entry.id.number != getpid(), !entry.stat.isKernelThread else { return nil }
                let arguments = ProgramName.arguments(system.text("/proc/\(entry.id.number)/cmdline") ?? [])
                var process = reader.light(entry)
                process.name = ProgramName.helpful(arguments, command: entry.stat.command)
                let names = [process.command, process.name] + arguments.prefix(1).map(ProgramName.base)
                return isMeant(names) ? process : nil
            }.sorted { $0.id.number < $1.id.number }
        }
    }
}
