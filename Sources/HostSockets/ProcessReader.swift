import Glibc
import SocketCore

/// Describes one process, as far as access is allowed.
struct ProcessReader {
    let system: HostSystem
    let readsCalls: Bool
    let privilege: ProcessTable.Privilege
    /// The Yama module's ptrace_scope, or 0 if there is none.
    let traceScope: Int

    /// An epoll set with more entries than `largeSet` is read at most once per `pause`, because its program blocks
    /// meanwhile.
    private static let largeSet = 2_000
    private static let pause = Duration.seconds(30)

    init(_ system: HostSystem, readsCalls: Bool, _ privilege: ProcessTable.Privilege) {
        (self.system, self.readsCalls, self.privilege) = (system, readsCalls, privilege)
        let text = system.text("/proc/sys/kernel/yama/ptrace_scope", limit: 16) ?? []
        traceScope = Int(String(decoding: text.prefix { $0 != 10 }, as: UTF8.self)) ?? 0
    }

    /// Describes everything but the threads. `inodes` names the sockets of interest.
    func describe(_ entry: inout ProcessTable.Entry, inodes: Set<UInt64>) -> HostProcess {
        let (folder, stat) = (entry.folder, entry.stat)
        var process = light(entry)
        let path = system.target(folder + "/exe")
        process.executable = path.map(Self.executableName)
        if path != entry.executablePath {
            entry.executablePath = path
            entry.executable = ExecutableFacts { offset, limit in
                (try? system.read(folder + "/exe", offset, limit)) ?? []
            }
        }
        process.isGo = entry.executable?.isGo ?? false
        process.parentExecutable =
            stat.parent > 1 ? system.target("/proc/\(stat.parent)/exe").map(Self.executableName) : nil
        process.user = ProcessStatus(system.text(folder + "/status") ?? []).user
        process.age = max(.zero, system.uptime() - .seconds(1) * Double(stat.start) / Self.ticks)
        let cgroup = ProcessCgroup(system.text(folder + "/cgroup") ?? [])
        process.cgroup = cgroup.path
        process.isFrozen = cgroup.freezeFiles.contains { file in
            system.text(file, limit: 4_096).map(ProcessCgroup.isFrozen) ?? false
        }
        let wanted = entry.sockets.filter { inodes.contains($0.value) }
        readFlags(of: wanted, &entry)
        for (descriptor, (_, facts, _)) in entry.flags {
            process.flagsRead.insert(descriptor)
            if !facts.closesOnExec { process.keptOverExec.insert(descriptor) }
            if facts.isNonBlocking { process.nonBlocking.insert(descriptor) }
        }
        for descriptor in entry.pollDescriptors {
            process.pollSets[descriptor] = .some(wanted.isEmpty ? nil : set(descriptor, &entry, folder))
        }
        process.rung = !entry.isOpen ? .queues : mayReadCalls(entry, process.user) == nil ? .arguments : .waitChannel
        return process
    }

    /// Describes what is known without further reads.
    func light(_ entry: ProcessTable.Entry) -> HostProcess {
        let stat = entry.stat
        var process = HostProcess(
            id: entry.id, name: entry.name, command: stat.command, state: stat.state, parent: stat.parent)
        process.sockets = entry.sockets
        process.hasRing = entry.hasRing
        process.rung = entry.isOpen ? .waitChannel : .queues
        return process
    }

    /// Returns why the process's calls must not be read, or `nil` if they may be.
    func mayReadCalls(_ entry: ProcessTable.Entry, _ user: UInt32?) -> String? {
        if !readsCalls { return "--no-calls" }
        if !entry.allowsCalls { return "refused" }
        if traceScope >= 3 { return "ptrace_scope \(traceScope)" }
        if privilege.mayTrace { return nil }
        if traceScope > 0 { return "ptrace_scope \(traceScope)" }
        return user == privilege.user || privilege.user == 0 ? nil : "other users"
    }

    private static let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))

    private static func executableName(_ target: String) -> String {
        let gone = " (deleted)"
        return ProgramName.base(target.hasSuffix(gone) ? String(target.dropLast(gone.count)) : target)
    }

    private func facts(_ folder: String, _ descriptor: Int32) -> DescriptorFacts? {
        system.text("\(folder)/fdinfo/\(descriptor)", limit: 4_096).map(DescriptorFacts.init)
    }

    /// The most descriptors of one process whose flags are read for one snapshot. Those read longest ago come first.
    private static let mostFlags = 512

    private func readFlags(of wanted: [Int32: UInt64], _ entry: inout ProcessTable.Entry) {
        entry.flags = entry.flags.filter { wanted[$0.key] == $0.value.inode }
        var inTurn = Array(wanted.keys)
        if inTurn.count > Self.mostFlags {
            let times = entry.flags.mapValues(\.time)
            inTurn.sort { (times[$0] ?? .zero, $0) < (times[$1] ?? .zero, $1) }
        }
        let now = system.now()
        for descriptor in inTurn.prefix(Self.mostFlags) {
            entry.flags[descriptor] = nil
            guard let inode = wanted[descriptor], let facts = facts(entry.folder, descriptor), facts.flags != nil else {
                continue
            }
            entry.flags[descriptor] = (inode, facts, now)
        }
    }

    private func set(
        _ descriptor: Int32, _ entry: inout ProcessTable.Entry, _ folder: String
    ) -> [HostProcess.PollEntry]? {
        let now = system.now()
        if let former = entry.sets[descriptor], former.entries.count > Self.largeSet, now - former.time < Self.pause {
            return former.entries
        }
        let limit = 16 << 20
        guard let text = system.text("\(folder)/fdinfo/\(descriptor)", limit: limit), text.count < limit else {
            return nil
        }
        let entries = DescriptorFacts(text).entries
        entry.sets[descriptor] = (entries, now)
        return entries
    }
}
