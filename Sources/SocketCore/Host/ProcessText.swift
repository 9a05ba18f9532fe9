/// Parses the texts under /proc, in which programs choose some of the words themselves.
extension Collection<UInt8> {
    var asText: String { String(native: self) }
}

extension ArraySlice<UInt8> {
    /// Returns the slice as one whole number in a base, or `nil` if it holds anything else or the number doesn't fit.
    func number<N: FixedWidthInteger>(_: N.Type, radix: N = 10) -> N? {
        var value: N = 0
        guard !isEmpty else { return nil }
        for byte in self {
            guard let digit = Self.digit(byte), digit < radix else { return nil }
            let (scaled, overflow) = value.multipliedReportingOverflow(by: radix)
            let (sum, carried) = scaled.addingReportingOverflow(N(digit))
            if overflow || carried { return nil }
            value = sum
        }
        return value
    }

    /// The number in the format of `%#lx`.
    var hexadecimal: UInt64? {
        starts(with: "0x".utf8) ? dropFirst(2).number(UInt64.self, radix: 16) : number(UInt64.self, radix: 16)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The words, separated by spaces, tabs and line feeds.
    var words: [ArraySlice<UInt8>] {
        split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\n") }
    }

    var lines: [ArraySlice<UInt8>] { split(separator: UInt8(ascii: "\n")) }

    /// Returns what follows `name`, blanks and a colon at the start of a line, or `nil` if there is no such line.
    func value(of name: String) -> ArraySlice<UInt8>? {
        for line in lines where line.starts(with: name.utf8) {
            let rest = line.dropFirst(name.utf8.count).drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard rest.first == UInt8(ascii: ":") else { continue }
            return rest.dropFirst().drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        }
        return nil
    }
}

/// The used fields of /proc/PID/stat (proc_pid_stat(5)).
package struct ProcessStat: Equatable, Sendable {
    /// Not sanitized.
    package var command: String
    package var state: UInt8
    package var parent: Int32
    /// The start time in clock ticks since boot.
    package var start: UInt64
    /// The CPU it last ran on, or `nil` if the kernel didn't report it.
    package var processor: Int?
    package var isKernelThread: Bool

    /// Returns `nil` if the text is truncated. The name can hold anything and ends at the last `)`.
    package init?(_ text: [UInt8]) {
        guard let open = text.firstIndex(of: UInt8(ascii: "(")), let close = text.lastIndex(of: UInt8(ascii: ")")),
            open < close
        else { return nil }
        let fields = text[(close + 1)...].words
        guard fields.count > 19, let state = fields[0].first, let parent = fields[1].number(Int32.self),
            let start = fields[19].number(UInt64.self)
        else { return nil }
        command = text[(open + 1)..<close].asText
        (self.state, self.parent, self.start) = (state, parent, start)
        isKernelThread = (fields[6].number(UInt32.self) ?? 0) & 0x0020_0000 != 0
        processor = fields.count > 36 ? fields[36].number(Int.self) : nil
    }
}

/// The used lines of /proc/PID/status (proc_pid_status(5)).
package struct ProcessStatus: Equatable, Sendable {
    /// The effective user.
    package var user: UInt32?
    /// Effective capabilities, one bit each (capabilities(7)).
    package var capabilities: UInt64?
    /// How often it gave up its CPU.
    package var switches: UInt64?

    package init(_ text: [UInt8]) {
        let users = text[...].value(of: "Uid")?.words ?? []
        user = users.count > 1 ? users[1].number(UInt32.self) : nil
        capabilities = text[...].value(of: "CapEff")?.number(UInt64.self, radix: 16)
        switches = text[...].value(of: "voluntary_ctxt_switches")?.number(UInt64.self)
    }

    /// Whether it has CAP_SYS_PTRACE and may inspect every process.
    package var mayTrace: Bool { (capabilities ?? 0) & 1 << 19 != 0 }

    /// Whether it also has CAP_SYS_ADMIN, to see which network namespace a process is in and to enter it.
    package var mayEnterNamespaces: Bool { mayTrace && (capabilities ?? 0) & 1 << 21 != 0 }
}

/// The used lines of /proc/PID/task/TID/sched, which can be read without privileges.
package struct ThreadSchedule: Equatable, Sendable {
    /// When it last ran, in nanoseconds of its CPU's own clock.
    package var lastRun: Int64?
    package var switches: UInt64?
    /// How much processor time it has used, in nanoseconds.
    package var ran: Int64?

    package init(_ text: [UInt8]) {
        switches = text[...].value(of: "nr_voluntary_switches")?.number(UInt64.self)
        lastRun = Self.nanoseconds(text[...].value(of: "se.exec_start"))
        ran = Self.nanoseconds(text[...].value(of: "se.sum_exec_runtime"))
    }

    /// Parses milliseconds with six decimal places.
    private static func nanoseconds(_ value: ArraySlice<UInt8>?) -> Int64? {
        guard let halves = value?.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false),
            halves.count == 2, halves[1].count == 6, let whole = halves[0].number(Int64.self),
            let part = halves[1].number(Int64.self), whole < Int64.max / 2_000_000
        else { return nil }
        return whole * 1_000_000 + part
    }
}

/// /proc/PID/fdinfo/N (proc_pid_fdinfo(5)).
package struct DescriptorFacts: Equatable, Sendable {
    /// The open file's flags, or `nil` if they are not reported.
    package var flags: UInt32?
    /// The entries of an epoll set.
    package var entries: [HostProcess.PollEntry] = []

    package init(_ text: [UInt8]) {
        for line in text[...].lines {
            if line.starts(with: "flags:".utf8) {
                flags = line.words.last?.number(UInt32.self, radix: 8)
            } else if line.starts(with: "tfd:".utf8), let entry = Self.entry(line.words) {
                entries.append(entry)
            }
        }
    }

    /// Parses `tfd:        5 events:       19 data:                5  pos:0 ino:7e88 sdev:8`. Kernels before 4.13
    /// report no inode.
    private static func entry(_ words: [ArraySlice<UInt8>]) -> HostProcess.PollEntry? {
        guard words.count >= 4, let descriptor = words[1].number(Int32.self), words[2].elementsEqual("events:".utf8),
            let events = words[3].number(UInt32.self, radix: 16)
        else { return nil }
        let inode = words.last { $0.starts(with: "ino:".utf8) }?.dropFirst(4).number(UInt64.self, radix: 16)
        return HostProcess.PollEntry(descriptor: descriptor, events: events, inode: inode ?? 0)
    }

    package var isNonBlocking: Bool { (flags ?? 0) & 0o4000 != 0 }
    package var closesOnExec: Bool { (flags ?? 0) & 0o2000000 != 0 }
}

/// /proc/PID/cgroup (cgroups(7)).
package struct ProcessCgroup: Equatable, Sendable {
    /// The path in the unified hierarchy, otherwise in systemd's, otherwise in the first one. Not sanitized.
    package var path: String?
    /// The path in the freezer hierarchy of version 1.
    package var freezer: String?
    package var isUnified = false

    package init(_ text: [UInt8]) {
        var named: String?
        for line in text[...].lines {
            let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[2].first == UInt8(ascii: "/") else { continue }
            let controllers = fields[1].split(separator: UInt8(ascii: ",")).map { Array($0) }
            let path = fields[2].asText
            if fields[1].isEmpty {
                (self.path, isUnified) = (path, true)
            } else if controllers.contains(Array("freezer".utf8)) {
                freezer = path
            } else if named == nil || controllers == [Array("name=systemd".utf8)] {
                named = path
            }
        }
        path = path ?? named ?? freezer
    }

    /// The files that show whether it is frozen.
    package var freezeFiles: [String] {
        var files: [String] = []
        if isUnified, let path {
            files = ["/sys/fs/cgroup\(path)/cgroup.events", "/sys/fs/cgroup/unified\(path)/cgroup.events"]
        }
        if let freezer { files.append("/sys/fs/cgroup/freezer\(freezer)/freezer.state") }
        return files
    }

    /// Whether one of those files says that it is frozen.
    package static func isFrozen(_ text: [UInt8]) -> Bool {
        text.starts(with: "FROZEN".utf8) || text.starts(with: "FREEZING".utf8)
            || text[...].lines.contains { $0.elementsEqual("frozen 1".utf8) }
    }
}

/// Parses texts about the host's network.
package enum NetworkText {
    /// Returns `ListenOverflows` from /proc/net/netstat, which has a line of names followed by one of numbers.
    package static func listenOverflows(_ text: [UInt8]) -> UInt64? {
        var names: [ArraySlice<UInt8>]?
        for line in text[...].lines where line.starts(with: "TcpExt:".utf8) {
            guard let heads = names else {
                names = line.words
                continue
            }
            let values = line.words
            guard let index = heads.firstIndex(where: { $0.elementsEqual("ListenOverflows".utf8) }),
                index < values.count
            else { return nil }
            return values[index].number(UInt64.self)
        }
        return nil
    }

    /// Parses /proc/sys/net/ipv4/ip_local_port_range.
    package static func portRange(_ text: [UInt8]) -> ClosedRange<UInt16>? {
        let ends = text[...].words.map { $0.number(UInt16.self) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last else { return nil }
        return first...last
    }

    /// Returns the number in the link target of a descriptor, `socket:[7]`.
    package static func socketInode(_ target: [UInt8]) -> UInt64? {
        guard target.starts(with: "socket:[".utf8), target.last == UInt8(ascii: "]") else { return nil }
        return target[8..<(target.count - 1)].number(UInt64.self)
    }
}
