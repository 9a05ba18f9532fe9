import Glibc
import SocketCore

/// The processes of this host, kept from one snapshot to the next: their descriptors, and what was refused. A process
/// is identified by its number, start time and name, because numbers are reused and because a program that executes
/// another one must be examined again.
struct ProcessTable {
    struct Entry {
        let id: HostProcess.ID
        var stat: ProcessStat
        /// The thread whose files are read if the main thread has ended and left others running. The kernel then
        /// shows no descriptors, memory or arguments of the process itself.
        var survivor: Int32?
        /// The display name as of the last scan.
        var name = ""
        /// Whether its descriptors may be read. A refusal is remembered.
        var isOpen = true
        /// Whether its calls may be read. A refusal is remembered.
        var allowsCalls = true
        var sockets: [Int32: UInt64] = [:]
        var pollDescriptors: Set<Int32> = []
        var hasRing = false
        /// The entries of its epoll sets, and when they were read.
        var sets: [Int32: (entries: [HostProcess.PollEntry], time: MonotonicTime)] = [:]
        /// The flags of those descriptors that were of interest last time, of which socket, and when they were read.
        var flags: [Int32: (inode: UInt64, facts: DescriptorFacts, time: MonotonicTime)] = [:]
        /// When it was last described.
        var lastRead = MonotonicTime.zero
        /// The facts about its executable, and the link target when they were read.
        var executable: ExecutableFacts?
        var executablePath: String?

        /// The folder in /proc with its descriptors, executable and arguments.
        var folder: String { "/proc/\(id.number)" + (survivor.map { "/task/\($0)" } ?? "") }

        /// Whether this is still the same program.
        func isSame(as stat: ProcessStat) -> Bool { id.start == stat.start && self.stat.command == stat.command }
    }

    private let system: HostSystem
    var marks = LowWaterMarks()
    private(set) var entries: [Int32: Entry] = [:]
    /// The owners of each socket by its inode, sorted by process and descriptor.
    private(set) var owners: [UInt64: [HostLook.Owner]] = [:]
    /// The inodes whose owners, or facts about an owner, changed since the last `takeChanged()`.
    private var changed: Set<UInt64> = []
    /// Sockets without a known owner, and when each was last searched for.
    private var unowned: [UInt64: MonotonicTime] = [:]
    private var nextScan = MonotonicTime.zero
    private var rounds = ScanRounds()
    /// The processes already compared with /proc for this snapshot, and whether each one exists.
    private var checked: [Int32: Bool] = [:]
    let privilege: Privilege

    /// The time after which a socket without an owner is searched for again.
    private static let patience = Duration.seconds(2)

    init(_ system: HostSystem) {
        self.system = system
        privilege = Privilege(system)
    }

    /// What this process may do to other processes.
    struct Privilege {
        var user: UInt32?
        /// CAP_SYS_PTRACE.
        var mayTrace: Bool

        init(_ system: HostSystem) {
            let status = ProcessStatus(system.text("/proc/self/status") ?? [])
            (user, mayTrace) = (status.user, status.mayTrace)
        }
    }

    /// Starts a snapshot: adds the processes that began and removes those that ended since the last one. With a budget,
    /// some new processes may be left for the next snapshot.
    mutating func refresh(budget: Duration? = nil) {
        checked.removeAll(keepingCapacity: true)
        guard let numbers = (try? system.numbers("/proc")).map(Set.init) else { return }
        for number in Array(entries.keys) where !numbers.contains(number) { forget(number) }
        let end = budget.map { system.now() + $0 }
        for number in numbers where entries[number] == nil {
            scan(number)
            if let end, system.now() >= end { break }
        }
    }

    /// Returns these processes, the ones described longest ago first.
    func longestAgo(_ numbers: Set<Int32>) -> [Int32] {
        numbers.map { ($0, entries[$0]?.lastRead ?? .zero) }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
    }

    /// Starts a snapshot of known processes only.
    mutating func begin() { checked.removeAll(keepingCapacity: true) }

    /// Finds the owners of these sockets by scanning all processes if one of them is new. A socket whose owner was not
    /// found is not searched for again. On hosts with many short-lived sockets, scanning uses at most 1 % of a core.
    mutating func findNew(_ inodes: Set<UInt64>) {
        unowned = unowned.filter { inodes.contains($0.key) }
        let now = system.now()
        guard now >= nextScan, inodes.contains(where: { owners[$0] == nil && unowned[$0] == nil }) else { return }
        refresh()
        for number in entries.keys.sorted() where checked[number] == nil { scan(number) }
        let end = system.now()
        nextScan = end + max(.seconds(1), (end - now) * 100)
        for inode in inodes where owners[inode] == nil { unowned[inode] = end }
    }

    /// Scans processes in turn until the owners of these sockets are found, or the budget is spent.
    mutating func seek(_ inodes: Set<UInt64>, budget: Duration) {
        let end = system.now() + budget
        for number in (try? system.numbers("/proc")) ?? [] {
            if system.now() >= end || inodes.allSatisfy({ owners[$0] != nil }) { return }
            scan(number)
        }
    }

    /// Finds the owners of these sockets.
    mutating func find(_ inodes: Set<UInt64>) {
        let now = system.now()
        let missing = inodes.filter { inode in
            guard owners[inode] == nil else { return false }
            return unowned[inode].map { now - $0 > Self.patience } ?? true
        }
        guard !missing.isEmpty || now >= nextScan else { return }
        for number in entries.keys.sorted() { scan(number) }
        let end = system.now()
        nextScan = end + ScanRounds.pause(after: end - now)
        unowned = unowned.filter { inodes.contains($0.key) }
        for inode in inodes { unowned[inode] = owners[inode] == nil ? end : nil }
    }

    /// Returns the owners that have a socket open right now.
    mutating func holders(of inode: UInt64) -> [HostLook.Owner] {
        (owners[inode] ?? []).filter { isHeld(inode, by: $0) }
    }

    /// Returns the first program that has a socket open right now.
    mutating func program(of inode: UInt64) -> PeerEnd.Program? {
        while let owner = owners[inode]?.first {
            guard isHeld(inode, by: owner), let entry = entries[owner.process] else { continue }
            let name = entry.name.isEmpty ? entry.stat.command : entry.name
            return PeerEnd.Program(process: Int(owner.process), name: name, descriptor: owner.descriptor)
        }
        return nil
    }

    /// Whether a descriptor still refers to a socket, in the program that it was found in. If not, it is forgotten.
    private mutating func isHeld(_ inode: UInt64, by owner: HostLook.Owner) -> Bool {
        let (number, descriptor) = (owner.process, owner.descriptor)
        let folder = entries[number]?.folder ?? "/proc/\(number)"
        let link = try? system.link("\(folder)/fd/\(descriptor)")
        let isThere = link.flatMap(NetworkText.socketInode) == inode && isCurrent(number)
        if isThere, entries[number]?.sockets[descriptor] == inode { return true }
        if entries[number]?.sockets[descriptor] == inode { entries[number]?.sockets[descriptor] = nil }
        remove(owner, of: inode)
        return false
    }

    /// Scans processes in turn until the budget is spent. A new round over all processes starts after a pause. It
    /// starts at once if the owner of a new socket is unknown, or if a socket stalled after the last round started.
    /// - Parameter inodes: Inodes of new sockets.
    mutating func scanSome(budget: Duration, new inodes: Set<UInt64>) {
        let began = system.now()
        rounds.absorb(new: inodes)
        if rounds.isDue(began, isOwned: { owners[$0] != nil }) { rounds.begin(entries.keys) }
        guard rounds.isUnderWay else { return }
        defer { rounds.pause(from: began, until: system.now()) }
        while let number = rounds.next() {
            scan(number)
            if system.now() - began >= budget { return }
        }
    }

    /// Requests a new round for stalled sockets. A socket may have been passed to another process, so a round must
    /// start before its owner is blamed.
    /// - Parameter inodes: Inodes of the stalled sockets, a subset of all requested ones.
    mutating func look(for inodes: Set<UInt64>, of all: Set<UInt64>) {
        rounds.absorb(stalled: inodes, of: all) { owners[$0] != nil }
    }

    /// Returns and clears the inodes that changed since the last call.
    mutating func takeChanged() -> Set<UInt64> {
        defer { changed = [] }
        return changed
    }

    /// Scans one process and replaces its entry with that of the program it runs now. The name of a program without
    /// sockets is read only on request.
    mutating func scan(_ number: Int32, isNamed: Bool = false) {
        guard let (stat, survivor) = stat(of: number) else { return forget(number) }
        var entry =
            entries[number].flatMap { $0.isSame(as: stat) ? $0 : nil }
            ?? Entry(id: HostProcess.ID(number: number, start: stat.start), stat: stat)
        (entry.stat, entry.survivor) = (stat, survivor)
        checked[number] = true
        // A process that has ended has no descriptors, and reading them may be refused.
        if !stat.isKernelThread, !stat.hasEnded, entry.isOpen { readDescriptors(of: &entry) }
        if !stat.isKernelThread, isNamed || !entry.sockets.isEmpty {
            let arguments = ProgramName.arguments(system.text("\(entry.folder)/cmdline") ?? [])
            entry.name = ProgramName.helpful(arguments, command: stat.command)
        }
        replace(entry)
    }

    /// Returns the facts about a process, or `nil` if there is none. If its main thread has ended, the state is that of
    /// a thread that still runs.
    private func stat(of number: Int32) -> (stat: ProcessStat, survivor: Int32?)? {
        guard var stat = system.text("/proc/\(number)/stat").flatMap(ProcessStat.init) else { return nil }
        guard stat.hasEnded, let threads = try? system.numbers("/proc/\(number)/task") else { return (stat, nil) }
        for thread in threads where thread != number {
            let facts = system.text("/proc/\(number)/task/\(thread)/stat").flatMap(ProcessStat.init)
            guard let facts, !facts.hasEnded else { continue }
            stat.state = facts.state
            return (stat, thread)
        }
        return (stat, nil)
    }

    private func readDescriptors(of entry: inout Entry) {
        let folder = entry.folder + "/fd"
        let numbers: [Int32]
        do throws(HostSystem.Failure) {
            guard try isWorthATry(entry.id.number) else { throw HostSystem.Failure(EACCES) }
            numbers = try system.numbers(folder)
        } catch {
            entry.isOpen = !error.isRefusal
            numbers = []
        }
        (entry.sockets, entry.hasRing) = ([:], false)
        var sets: Set<Int32> = []
        for number in numbers {
            guard let target = try? system.link("\(folder)/\(number)") else { continue }
            if let inode = NetworkText.socketInode(target) {
                entry.sockets[number] = inode
            } else if target.elementsEqual("anon_inode:[eventpoll]".utf8) {
                sets.insert(number)
            } else if target.elementsEqual("anon_inode:[io_uring]".utf8) {
                entry.hasRing = true
            }
        }
        entry.pollDescriptors = sets
        entry.sets = entry.sets.filter { sets.contains($0.key) }
    }

    /// Returns whether reading a process's descriptors can succeed. An attempt on another user's process would be
    /// refused, and may be reported.
    private func isWorthATry(_ number: Int32) throws(HostSystem.Failure) -> Bool {
        if privilege.mayTrace || privilege.user == 0 { return true }
        // The process is ending.
        guard let status = system.text("/proc/\(number)/status") else { throw HostSystem.Failure(ESRCH) }
        return ProcessStatus(status).user == privilege.user
    }

    /// Brings the entry for a process number up to date. Returns whether there is one.
    private mutating func isCurrent(_ number: Int32) -> Bool {
        if let known = checked[number] { return known }
        if let (stat, survivor) = stat(of: number), entries[number]?.isSame(as: stat) == true,
            entries[number]?.survivor == survivor
        {
            entries[number]?.stat = stat
            checked[number] = true
        } else {
            scan(number)
        }
        return checked[number] ?? false
    }

    private mutating func replace(_ entry: Entry) {
        let number = entry.id.number
        let former = entries[number]
        for (descriptor, inode) in former?.sockets ?? [:] where entry.sockets[descriptor] != inode {
            remove(HostLook.Owner(process: number, descriptor: descriptor), of: inode)
        }
        for (descriptor, inode) in entry.sockets where former?.sockets[descriptor] != inode {
            add(HostLook.Owner(process: number, descriptor: descriptor), of: inode)
        }
        if former?.name != entry.name || former?.id != entry.id { changed.formUnion(entry.sockets.values) }
        entries[number] = entry
    }

    private mutating func forget(_ number: Int32) {
        checked[number] = false
        guard let entry = entries.removeValue(forKey: number) else { return }
        for (descriptor, inode) in entry.sockets {
            remove(HostLook.Owner(process: number, descriptor: descriptor), of: inode)
        }
    }

    private mutating func add(_ owner: HostLook.Owner, of inode: UInt64) {
        changed.insert(inode)
        let place = owners[inode]?.firstIndex { ($0.process, $0.descriptor) > (owner.process, owner.descriptor) }
        owners[inode, default: []].insert(owner, at: place ?? owners[inode]?.count ?? 0)
    }

    private mutating func remove(_ owner: HostLook.Owner, of inode: UInt64) {
        changed.insert(inode)
        owners[inode]?.removeAll { $0 == owner }
        if owners[inode]?.isEmpty == true { owners[inode] = nil }
    }

    mutating func update(_ number: Int32, _ body: (inout Entry) -> Void) {
        if var entry = entries[number] {
            body(&entry)
            entries[number] = entry
        }
    }

    /// The number of processes whose descriptors may not be read.
    var refused: Int { entries.values.count { !$0.isOpen } }
}

extension ProcessStat {
    /// Whether it is a zombie, or about to disappear.
    var hasEnded: Bool { state == UInt8(ascii: "Z") || state == UInt8(ascii: "X") }

    /// Whether it is stopped by a signal, or by a debugger.
    var isStopped: Bool { state == UInt8(ascii: "T") || state == UInt8(ascii: "t") }
}
