import Glibc
import SocketCore

/// What is remembered of this host's processes from one look to the next: which descriptors they have, and what was
/// refused. A process is known by its number, its start time and its name, since numbers are reused and since a program
/// that executes another one is asked again.
struct ProcessTable {
    struct Entry {
        let id: HostProcess.ID
        var stat: ProcessStat
        /// What it is called, as of the last scan.
        var name = ""
        /// Whether its descriptors may be read; it is asked once.
        var isOpen = true
        /// Whether its calls may be read; it is asked once.
        var allowsCalls = true
        var sockets: [Int32: UInt64] = [:]
        var pollDescriptors: Set<Int32> = []
        var hasRing = false
        /// What was read of its epoll sets, and when.
        var sets: [Int32: (entries: [HostProcess.PollEntry], time: MonotonicTime)] = [:]
        /// When it was described last.
        var lastRead = MonotonicTime.zero
        /// What its executable is, and the link to it when that was read.
        var executable: ExecutableFacts?
        var executablePath: String?

        /// Whether it is still the same program.
        func isSame(as stat: ProcessStat) -> Bool { id.start == stat.start && self.stat.command == stat.command }
    }

    private let system: HostSystem
    var marks = LowWaterMarks()
    private(set) var entries: [Int32: Entry] = [:]
    /// Who has a socket open, by its inode, in the order of their numbers.
    private(set) var owners: [UInt64: [HostLook.Owner]] = [:]
    /// The inodes of which that, or what is known of an owner, has changed since it was last asked for.
    private var changed: Set<UInt64> = []
    /// Sockets that no owner was found of, and when they were looked for last.
    private var unowned: [UInt64: MonotonicTime] = [:]
    private var nextScan = MonotonicTime.zero
    private var rounds = ScanRounds()
    /// Those that were compared with /proc in this look already.
    private var checked: [Int32: Bool] = [:]
    let privilege: Privilege

    /// Sockets without an owner are looked for again after this time.
    private static let patience = Duration.seconds(2)

    init(_ system: HostSystem) {
        self.system = system
        privilege = Privilege(system)
    }

    /// What this process may do to others.
    struct Privilege {
        var user: UInt32?
        /// CAP_SYS_PTRACE.
        var mayTrace: Bool

        init(_ system: HostSystem) {
            let status = ProcessStatus(system.text("/proc/self/status") ?? [])
            (user, mayTrace) = (status.user, status.mayTrace)
        }
    }

    /// Begins a look: takes note of processes that began or ended since the last one. With a budget, some of those that
    /// began may be left for the next look.
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

    /// These processes, first those that were described longest ago.
    func longestAgo(_ numbers: Set<Int32>) -> [Int32] {
        numbers.map { ($0, entries[$0]?.lastRead ?? .zero) }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
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

    /// Those who have a socket open at this moment.
    mutating func holders(of inode: UInt64) -> [HostLook.Owner] {
        (owners[inode] ?? []).filter { owner in
            let (number, descriptor) = (owner.process, owner.descriptor)
            let link = try? system.link("/proc/\(number)/fd/\(descriptor)")
            let isThere = link.flatMap(NetworkText.socketInode) == inode && isCurrent(number)
            if isThere, entries[number]?.sockets[descriptor] == inode { return true }
            if entries[number]?.sockets[descriptor] == inode { entries[number]?.sockets[descriptor] = nil }
            remove(owner, of: inode)
            return false
        }
    }

    /// Looks at processes in turn, until the time is over. A round of all of them begins after a pause, or at once where
    /// the owner of a new socket is not known, or something stands in a socket that no round has begun for.
    /// - Parameter inodes: of sockets that are new.
    mutating func scanSome(budget: Duration, new inodes: Set<UInt64>) {
        let began = system.now()
        rounds.take(new: inodes)
        if rounds.isDue(began, isOwned: { owners[$0] != nil }) { rounds.begin(entries.keys) }
        guard rounds.isUnderWay else { return }
        defer { rounds.pause(from: began, until: system.now()) }
        while let number = rounds.next() {
            scan(number)
            if system.now() - began >= budget { return }
        }
    }

    /// A socket that somebody has or had may have been passed on: a round begins before anybody is accused of what
    /// stands in it.
    /// - Parameter inodes: of sockets in which something stands, some of all those that are asked for.
    mutating func look(for inodes: Set<UInt64>, of all: Set<UInt64>) {
        rounds.take(standing: inodes, of: all) { owners[$0] != nil }
    }

    /// The inodes that something changed of since this was asked for last.
    mutating func takeChanged() -> Set<UInt64> {
        defer { changed = [] }
        return changed
    }

    /// Looks at one process, whose entry then is that of the program that it is now.
    mutating func scan(_ number: Int32) {
        guard let stat = system.text("/proc/\(number)/stat").flatMap(ProcessStat.init) else { return forget(number) }
        var entry =
            entries[number].flatMap { $0.isSame(as: stat) ? $0 : nil }
            ?? Entry(id: HostProcess.ID(number: number, start: stat.start), stat: stat)
        entry.stat = stat
        if !stat.isKernelThread {
            let arguments = ProgramName.arguments(system.text("/proc/\(number)/cmdline") ?? [])
            entry.name = ProgramName.helpful(arguments, command: stat.command)
        }
        checked[number] = true
        // One that has ended has none, and may not be asked.
        let hasEnded = stat.state == UInt8(ascii: "Z") || stat.state == UInt8(ascii: "X")
        if !stat.isKernelThread, !hasEnded, entry.isOpen { readDescriptors(of: &entry) }
        replace(entry)
    }

    private func readDescriptors(of entry: inout Entry) {
        let folder = "/proc/\(entry.id.number)/fd"
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

    /// A look at a process of another user would be refused, and may be reported.
    private func isWorthATry(_ number: Int32) throws(HostSystem.Failure) -> Bool {
        if privilege.mayTrace || privilege.user == 0 { return true }
        // It is ending.
        guard let status = system.text("/proc/\(number)/status") else { throw HostSystem.Failure(ESRCH) }
        return ProcessStatus(status).user == privilege.user
    }

    /// Makes sure that an entry is that of the process that has its number now. Returns whether there is one.
    private mutating func isCurrent(_ number: Int32) -> Bool {
        if let known = checked[number] { return known }
        let stat = system.text("/proc/\(number)/stat").flatMap(ProcessStat.init)
        if let stat, entries[number]?.isSame(as: stat) == true {
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

    /// Changes what is remembered of a process.
    mutating func update(_ number: Int32, _ body: (inout Entry) -> Void) {
        if var entry = entries[number] {
            body(&entry)
            entries[number] = entry
        }
    }

    /// Processes whose descriptors may not be read.
    var refused: Int { entries.values.count { !$0.isOpen } }
}
