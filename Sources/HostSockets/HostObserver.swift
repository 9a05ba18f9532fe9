import Glibc
import SocketCore
import Synchronization

/// Looks at the sockets of all programs of this host, and at what those programs wait for.
///
/// It may be used from any thread but an engine's: a look takes milliseconds, and with many sockets tens of them. One at a
/// time is made.
package final class HostObserver: Sendable {
    /// Why this host could not be looked at.
    package struct Problem: Error, Hashable {
        /// One sentence, without a period.
        package var sentence: String
        /// Whether the next look may succeed: memory or descriptors were short.
        package var isPassing = false
    }

    let system: HostSystem
    private let readsCalls: Bool
    let namespace: Int32?
    private let known = Mutex(KnownSockets())
    private let table: Mutex<ProcessTable>
    /// `nil`: the kernel does not tell which sockets it destroys.
    private let closings: Mutex<ClosingEvents?>
    /// What was told of closes before a look that then failed.
    private let untold = Mutex(UntoldClosings())
    let others: Mutex<OtherNamespaces>

    /// - Parameter readsCalls: whether system calls and their arguments are read where that is allowed.
    /// - Parameter namespace: a process whose network namespace is looked at; `nil` for this process's own.
    /// - Parameter entersOthers: whether the network namespaces of all processes are looked at, where that is allowed.
    /// - Parameter closingRoom: how many bytes of closed sockets' facts the kernel may keep between two looks.
    package init(
        _ system: HostSystem = .live, readsCalls: Bool = true, namespace: Int32? = nil, entersOthers: Bool = false,
        closingRoom: Int32 = 4 << 20
    ) {
        (self.system, self.readsCalls, self.namespace) = (system, readsCalls, namespace)
        table = Mutex(ProcessTable(system))
        closings = Mutex(ClosingEvents.open(system, namespace, room: closingRoom))
        others = Mutex(OtherNamespaces(system, process: namespace, entersOthers: entersOthers))
    }

    /// Whether the network namespaces of all processes are looked at.
    package var entersOthers: Bool { others.withLock { $0.entersOthers } }

    /// All sockets, without the programs that they belong to. A socket is listed once.
    ///
    /// Throws `Problem` if the kernel refuses. Tables that this kernel does not have are in `hidden.tables`.
    package func look() throws(Problem) -> HostLook {
        var look = HostLook(time: system.now(), sockets: [])
        takeClosings(&look)
        do throws(Problem) {
            try known.withLock { known throws(Problem) in
                known.begin()
                try update(&known, &look)
                others.withLock { $0.look(into: &look, &known) }
                known.end()
                (look.sockets, look.places) = (known.sockets, known.places)
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
                look.hidden.tables.insert(table)
            }
        }
    }

    /// Before the tables are read: a socket that closes meanwhile is told of in the next look.
    private func takeClosings(_ look: inout HostLook) {
        let before = untold.withLock { $0.take() }
        let told = closings.withLock { $0?.take(look.time) }
        look.closings = before.sockets + (told?.sockets ?? [])
        look.closingsLost = told.map { $0.lost + before.lost }
    }

    /// Lets go of what is held of other network namespaces, which end with their last process only if nobody holds
    /// anything of them. The next look takes it up again; what closes until then is not told of.
    package func rest() { others.withLock { $0.rest() } }

    private func problem(_ failure: HostSystem.Failure, _ table: SocketTable) -> Problem {
        let place = namespace.map { " in the network namespace of process \($0)" } ?? ""
        return Problem(
            sentence: "the kernel does not list \(table.title)\(place) (sock_diag): "
                + String(cString: strerror(failure.number)),
            isPassing: [EMFILE, ENFILE, ENOBUFS, ENOMEM, EINTR, EAGAIN].contains(failure.number))
    }

    /// Finds the programs that have these sockets open.
    /// - Parameter inodes: of sockets in `look`.
    /// - Parameter suspects: those of them in which something stands.
    /// - Parameter threads: whether to look at each thread of these programs, too.
    /// - Parameter budget: how long to look at programs at most, but for one; those that were not looked at for longest
    ///   come first. With a budget, owners are looked for by `tellOwners` only.
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

    /// Of a process with more sockets than this, those that `inodes` names are looked at closely.
    private static let fewSockets = 256

    /// Looks at one process and its sockets. Returns whether there is such a process.
    /// - Parameter inodes: of sockets that matter more than others.
    @discardableResult
    package func examine(_ look: inout HostLook, process: Int32, inodes: Set<UInt64> = []) -> Bool {
        table.withLock { table in
            table.refresh()
            table.scan(process)
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
        let end = budget.map { system.now() + $0 }
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
            if let end, system.now() >= end { break }
        }
        look.hidden.processes = table.refused
    }

    /// `nil`: another process has its number by now, of which some of this may be.
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

    /// Whether a process may be looked into is asked once; an answer of no is remembered.
    func checkPeek(_ process: Int32) throws(Problem) {
        let reason = table.withLock { table -> String? in
            table.refresh()
            let user = ProcessStatus(system.text("/proc/\(process)/status") ?? []).user
            let reader = ProcessReader(system, readsCalls: true, table.privilege)
            guard let entry = table.entries[process] else { return "it is gone" }
            return process == getpid() ? nil : reader.mayReadCalls(entry, user)
        }
        if let reason { throw Problem(sentence: "process \(process) may not be looked into: \(reason)") }
    }

    func refuse(_ process: Int32) {
        table.withLock { table in table.update(process) { $0.allowsCalls = false } }
    }

    /// Tells who has which socket open, of all sockets of the host, as far as it is known by now. Each call goes on where
    /// the one before it stopped.
    /// - Parameter budget: how long to look at most, but for one process.
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

    /// The processes of a name: their `comm`, the base name of their first argument, or the name that they are shown
    /// under. This process is not among them.
    package func processes(named name: String) -> [HostProcess] {
        table.withLock { table in
            table.refresh()
            let reader = ProcessReader(system, readsCalls: readsCalls, table.privilege)
            return table.entries.values.compactMap { entry in
                guard entry.id.number != getpid(), !entry.stat.isKernelThread else { return nil }
                let arguments = ProgramName.arguments(system.text("/proc/\(entry.id.number)/cmdline") ?? [])
                var process = reader.light(entry)
                process.name = ProgramName.helpful(arguments, command: entry.stat.command)
                let names = [process.command, process.name] + arguments.prefix(1).map(ProgramName.base)
                return names.contains(name) ? process : nil
            }.sorted { $0.id.number < $1.id.number }
        }
    }
}
