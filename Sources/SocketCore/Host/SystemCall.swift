/// A system call, as one row of a table.
package struct SystemCall: Equatable, Sendable {
    /// How its six arguments are read.
    package enum Arguments: Equatable, Sendable {
        /// They are not used here.
        case none
        /// A descriptor.
        case descriptor
        /// A descriptor, a buffer, its size, and perhaps flags (recv(2)).
        case buffer(hasFlags: Bool)
        /// A descriptor, `struct iovec` and their number.
        case vector
        /// A descriptor, a `struct msghdr` and flags. `recvmmsg` and `sendmmsg` have several, which are not counted.
        case message(isOne: Bool)
        /// Two descriptors and a number of bytes, each given by its position.
        case copy(from: Int, to: Int, count: Int)
        /// `struct pollfd` and their number.
        case poll
        /// A number of descriptors and two sets, for reading and for writing.
        case select
    }

    package enum Machine: Equatable, Sendable, CaseIterable {
        case x86, arm

        /// The machine this program was built for, or `nil` if there is no table for it.
        package static var current: Machine? {
            #if arch(x86_64)
            .x86
            #elseif arch(arm64)
            .arm
            #else
            nil
            #endif
        }
    }

    package var name: String
    package var kind: HostCall.Kind
    package var arguments: Arguments
    /// Its numbers on the machines that have it.
    package var x86: Int?
    package var arm: Int?

    fileprivate init(
        _ name: String, _ x86: Int?, _ arm: Int?, _ kind: HostCall.Kind = .other, _ arguments: Arguments = .none
    ) {
        (self.name, self.x86, self.arm) = (name, x86, arm)
        (self.kind, self.arguments) = (kind, arguments)
    }

    /// Returns the row of a number.
    package static func row(_ number: Int, on machine: Machine) -> SystemCall? {
        machine == .x86 ? x86Rows[number] : armRows[number]
    }

    package static func row(named name: String) -> SystemCall? { table.first { $0.name == name } }

    private static let x86Rows = rows(\.x86)
    private static let armRows = rows(\.arm)

    private static func rows(_ number: KeyPath<SystemCall, Int?>) -> [Int: SystemCall] {
        var rows: [Int: SystemCall] = [:]
        for row in table { if let number = row[keyPath: number] { rows[number] = row } }
        return rows
    }

    /// Numbers from arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
    package static let table: [SystemCall] = asking + waiting + files + others

    /// Calls that may wait for a socket.
    private static let asking = [
        SystemCall("read", 0, 63, .read, .buffer(hasFlags: false)),
        SystemCall("write", 1, 64, .write, .buffer(hasFlags: false)),
        SystemCall("readv", 19, 65, .read, .vector),
        SystemCall("writev", 20, 66, .write, .vector),
        SystemCall("preadv2", 327, 286, .read, .vector),
        SystemCall("pwritev2", 328, 287, .write, .vector),
        SystemCall("recv", 45, 207, .read, .buffer(hasFlags: true)),
        SystemCall("send", 44, 206, .write, .buffer(hasFlags: true)),
        SystemCall("recvmsg", 47, 212, .read, .message(isOne: true)),
        SystemCall("sendmsg", 46, 211, .write, .message(isOne: true)),
        SystemCall("recvmmsg", 299, 243, .read, .message(isOne: false)),
        SystemCall("sendmmsg", 307, 269, .write, .message(isOne: false)),
        SystemCall("sendfile", 40, 71, .write, .copy(from: 1, to: 0, count: 3)),
        SystemCall("splice", 275, 76, .read, .copy(from: 0, to: 2, count: 4)),
        SystemCall("accept", 43, 202, .accept, .descriptor),
        SystemCall("accept4", 288, 242, .accept, .descriptor),
        SystemCall("connect", 42, 203, .connect, .descriptor),
        SystemCall("poll", 7, nil, .poll, .poll),
        SystemCall("ppoll", 271, 73, .poll, .poll),
        SystemCall("select", 23, nil, .poll, .select),
        SystemCall("pselect6", 270, 72, .poll, .select),
        SystemCall("epoll_wait", 232, nil, .pollSet, .descriptor),
        SystemCall("epoll_pwait", 281, 22, .pollSet, .descriptor),
        SystemCall("epoll_pwait2", 441, 441, .pollSet, .descriptor),
        SystemCall("restart_syscall", 219, 128, .restarted),
    ]

    /// Calls that wait for something else.
    private static let waiting = [
        SystemCall("futex", 202, 98), SystemCall("futex_waitv", 449, 449), SystemCall("futex_wait", 455, 455),
        SystemCall("nanosleep", 35, 101), SystemCall("clock_nanosleep", 230, 115), SystemCall("pause", 34, nil),
        SystemCall("wait4", 61, 260), SystemCall("waitid", 247, 95), SystemCall("rt_sigsuspend", 130, 133),
        SystemCall("rt_sigtimedwait", 128, 137), SystemCall("io_uring_enter", 426, 426),
        SystemCall("io_getevents", 208, 4), SystemCall("io_pgetevents", 333, 292), SystemCall("msgrcv", 70, 188),
        SystemCall("msgsnd", 69, 189), SystemCall("semop", 65, 193), SystemCall("semtimedop", 220, 192),
        SystemCall("mq_timedreceive", 243, 183), SystemCall("mq_timedsend", 242, 182),
        SystemCall("flock", 73, 32), SystemCall("fcntl", 72, 25), SystemCall("ioctl", 16, 29),
        SystemCall("sched_yield", 24, 124), SystemCall("membarrier", 324, 283),
    ]

    private static let files = [
        SystemCall("fsync", 74, 82), SystemCall("fdatasync", 75, 83), SystemCall("sync", 162, 81),
        SystemCall("syncfs", 306, 267), SystemCall("sync_file_range", 277, 84), SystemCall("msync", 26, 227),
        SystemCall("pread64", 17, 67), SystemCall("pwrite64", 18, 68), SystemCall("preadv", 295, 69),
        SystemCall("pwritev", 296, 70), SystemCall("open", 2, nil), SystemCall("openat", 257, 56),
        SystemCall("openat2", 437, 437), SystemCall("close", 3, 57), SystemCall("stat", 4, nil),
        SystemCall("fstat", 5, 80), SystemCall("lstat", 6, nil), SystemCall("newfstatat", 262, 79),
        SystemCall("statx", 332, 291), SystemCall("getdents64", 217, 61), SystemCall("unlink", 87, nil),
        SystemCall("unlinkat", 263, 35), SystemCall("rename", 82, nil), SystemCall("renameat2", 316, 276),
        SystemCall("mkdir", 83, nil), SystemCall("mkdirat", 258, 34), SystemCall("fallocate", 285, 47),
        SystemCall("ftruncate", 77, 46), SystemCall("copy_file_range", 326, 285), SystemCall("tee", 276, 77),
        SystemCall("vmsplice", 278, 75), SystemCall("mount", 165, 40), SystemCall("umount2", 166, 39),
    ]

    private static let others = [
        SystemCall("mmap", 9, 222), SystemCall("munmap", 11, 215), SystemCall("mprotect", 10, 226),
        SystemCall("madvise", 28, 233), SystemCall("mremap", 25, 216), SystemCall("brk", 12, 214),
        SystemCall("mlock", 149, 228), SystemCall("execve", 59, 221), SystemCall("clone", 56, 220),
        SystemCall("clone3", 435, 435), SystemCall("fork", 57, nil), SystemCall("vfork", 58, nil),
        SystemCall("exit", 60, 93), SystemCall("exit_group", 231, 94), SystemCall("kill", 62, 129),
        SystemCall("ptrace", 101, 117), SystemCall("process_vm_readv", 310, 270), SystemCall("getrandom", 318, 278),
        SystemCall("userfaultfd", 323, 282), SystemCall("seccomp", 317, 277), SystemCall("socket", 41, 198),
        SystemCall("bind", 49, 200), SystemCall("listen", 50, 201), SystemCall("shutdown", 48, 210),
        SystemCall("setsockopt", 54, 208), SystemCall("getsockopt", 55, 209), SystemCall("epoll_ctl", 233, 21),
    ]
}

/// What the function a thread sleeps in (/proc/PID/wchan) reveals about its call. The names are the kernel's and differ
/// between its versions.
package enum WaitChannel {
    /// Returns the name in a text, without a compiler's suffix (`poll_schedule_timeout.constprop.0`), or an empty
    /// string if the kernel reports none, which it writes as 0.
    package static func name(_ text: [UInt8]) -> String {
        let name = text.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "\n") }.prefix(64)
        return name.elementsEqual("0".utf8) ? "" : name.asText
    }

    /// Whether a restarted call (restart_syscall(2)) that sleeps here is poll(2), the only one that waits for sockets.
    static func isPoll(_ name: String) -> Bool {
        ["poll_schedule_timeout", "do_poll", "do_sys_poll"].contains(name)
    }

    /// Whether a thread that sleeps here waits for time or for a lock.
    static func isTimer(_ name: String) -> Bool {
        [
            "hrtimer_nanosleep", "do_nanosleep", "common_nsleep", "futex_wait_queue", "futex_wait_queue_me",
            "futex_do_wait",
        ].contains(name)
    }
}
