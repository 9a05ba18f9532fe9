/// What was found out about this host and this process: what decides what socktui can do here.
package struct HostGrounds: Equatable, Sendable {
    /// The kernel's release and the processor, such as `6.1.0-57-cloud-amd64 x86_64`.
    package var kernel = ""
    /// The effective user.
    package var user: UInt32 = 0
    /// Effective capabilities, one bit each (capabilities(7)).
    package var capabilities: UInt64 = 0
    /// The Yama module's ptrace_scope, or `nil` without that module.
    package var traceScope: Int?
    /// Whether the processes of other users are absent from /proc (`hidepid`).
    package var hidesProcesses = false
    /// Whether the kernel tells since when a thread has not run (/proc/PID/task/TID/sched).
    package var hasSchedule = true
    /// Why the kernel lists no sockets, or `nil` if it does.
    package var diagnosis: String?
    /// Why a call was refused, in the system's words, or `nil` if it was not: pidfd_getfd(2) and process_vm_readv(2), tried
    /// on this process itself.
    package var duplicate: String?
    package var memory: String?
    /// Whether seccomp(2) can hand calls to another process.
    package var hasNotices = true
    /// Whether this process runs under a seccomp filter already.
    package var isFiltered = false
    /// The sysctl io_uring_disabled, or `nil` if the kernel has none.
    package var ringsDisabled: Int?
    /// Why libpcap can't be loaded, or `nil` if it can.
    package var libpcapProblem: String?
    /// Why tshark is not used, or `nil` if it is.
    package var tsharkProblem: String?

    package init() {}

    package enum Capability: UInt64 {
        case netRaw = 13
        case sysPtrace = 19
        case sysAdmin = 21
    }

    package func has(_ capability: Capability) -> Bool { capabilities & 1 << capability.rawValue != 0 }
}
