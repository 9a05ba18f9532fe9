/// A process of this host. Its start time distinguishes it from a later process with the same number.
package struct HostProcess: Hashable, Sendable {
    /// The number and the start time, in clock ticks since boot (field 22 of proc_pid_stat(5)).
    package struct ID: Hashable, Sendable {
        package var number: Int32
        package var start: UInt64

        package init(number: Int32, start: UInt64) { (self.number, self.start) = (number, start) }
    }

    package var id: ID
    /// The program's name. For an interpreter, its script, module, jar or main class. Not sanitized.
    package var name: String
    /// The `comm` field of proc_pid_stat(5). Not sanitized.
    package var command: String
    /// The base name of the executable, or `nil` if it can't be read.
    package var executable: String?
    /// Whether the executable is a Go program, if it can be read.
    package var isGo = false
    package var state: UInt8
    package var parent: Int32
    /// The base name of the parent's executable, or `nil` if the parent is gone (it is PID 1's child) or can't be read.
    package var parentExecutable: String?
    package var user: UInt32?
    /// The time since it started.
    package var age: Duration?
    /// The inodes of its sockets, by descriptor.
    package var sockets: [Int32: UInt64] = [:]
    /// Descriptors of its sockets that an exec would keep open (no O_CLOEXEC), as far as they were examined.
    package var keptOverExec: Set<Int32> = []
    /// Descriptors of its sockets that don't block (O_NONBLOCK), as far as they were examined.
    package var nonBlocking: Set<Int32> = []
    /// Descriptors of its sockets whose flags were examined.
    package var flagsRead: Set<Int32> = []
    /// Its epoll descriptors and their sets' entries, which are read if one of its sockets is suspicious, else `nil`.
    package var pollSets: [Int32: [PollEntry]?] = [:]
    package var hasRing = false
    /// Whether a frozen cgroup holds it.
    package var isFrozen = false
    package var cgroup: String?
    /// What was learned about its threads, or empty if they were not examined.
    package var threads: [HostThread] = []
    package var rung = Rung.arguments

    /// How much can be known about what its threads do. See the permission ladder in the manual.
    package enum Rung: Int, Equatable, Sendable, Comparable {
        /// Only kernel queues.
        case queues
        /// The kind of wait of each thread.
        case waitChannel
        /// System calls with their arguments.
        case arguments

        package static func < (a: Rung, b: Rung) -> Bool { a.rawValue < b.rawValue }
    }

    /// One descriptor in an epoll set (proc_pid_fdinfo(5)).
    package struct PollEntry: Hashable, Sendable {
        package var descriptor: Int32
        package var events: UInt32
        package var inode: UInt64

        package init(descriptor: Int32, events: UInt32, inode: UInt64) {
            (self.descriptor, self.events, self.inode) = (descriptor, events, inode)
        }

        package var listensForInput: Bool { events & 0x1 != 0 }
        package var listensForOutput: Bool { events & 0x4 != 0 }
        package var isOneShot: Bool { events & 1 << 30 != 0 }
        package var isEdgeTriggered: Bool { events & 1 << 31 != 0 }
    }

    package init(id: ID, name: String, command: String, state: UInt8, parent: Int32) {
        (self.id, self.name, self.command) = (id, name, command)
        (self.state, self.parent) = (state, parent)
    }

    /// Whether a look shows no more than that time has passed since this: it is as this is after `passed`.
    func isSame(_ now: HostProcess, after passed: Duration) -> Bool {
        if self == now { return passed == .zero || age == nil && threads.allSatisfy { $0.idle == nil } }
        guard threads.count == now.threads.count else { return false }
        var aged = self
        aged.age(by: passed)
        if Self.isNear(aged.age, now.age) { aged.age = now.age }
        for place in aged.threads.indices where Self.isNear(aged.threads[place].idle, now.threads[place].idle) {
            aged.threads[place].idle = now.threads[place].idle
        }
        return aged == now
    }

    /// Lets time pass in which nothing happened.
    mutating func age(by passed: Duration) {
        age = age.map { $0 + passed }
        for place in threads.indices { threads[place].idle = threads[place].idle.map { $0 + passed } }
    }

    /// The programs are read a little after the look began, and not always equally soon.
    private static func isNear(_ one: Duration?, _ other: Duration?) -> Bool {
        guard let one, let other else { return false }
        return one - other < .milliseconds(100) && other - one < .milliseconds(100)
    }

    /// The name and number, as in `api.py[4711]`. Not sanitized.
    package var title: String { "\(name)[\(HostOrdinal.kernelProcess(id.number))]" }
}

/// One thread, at one instant.
package struct HostThread: Hashable, Sendable {
    package var number: Int32
    package var name: String
    /// `S`, `R`, `T` and so on (proc_pid_stat(5)).
    package var state: UInt8
    /// The call it is in, or `nil` if not known.
    package var call: HostCall?
    /// The function it sleeps in, cut at the first dot, or empty if there is none or it isn't reported.
    package var waitChannel: String
    /// How long it has not run, or `nil` if not known.
    package var idle: Duration?
    /// How often it gave up its CPU. While this doesn't change, it has waited for nothing.
    package var switches: UInt64?
    /// How much processor time it has used, or `nil` if not known.
    package var ran: Duration?

    package init(number: Int32, name: String, state: UInt8, waitChannel: String = "") {
        (self.number, self.name, self.state, self.waitChannel) = (number, name, state, waitChannel)
    }

    package var isStopped: Bool { state == UInt8(ascii: "T") }
    package var isTraced: Bool { state == UInt8(ascii: "t") }
}

/// The call a thread is in, from /proc/PID/task/TID/syscall, with what its arguments point to.
package struct HostCall: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case read, write, accept, connect, poll, pollSet
        /// A call that waits for something else.
        case other
        /// A call for which it can't be determined what it waits for, because it was restarted after a signal
        /// (restart_syscall(2)) or what its arguments point to could not be read.
        case restarted
        /// On a CPU.
        case running
        /// Asleep outside a call.
        case outside
    }

    package var kind: Kind
    /// The name, such as `recv`, `epoll_wait` or `futex`.
    package var name: String
    /// The descriptors it waits to read from, write to, or accept on.
    package var reads: Set<Int32> = []
    package var writes: Set<Int32> = []
    package var accepts: Set<Int32> = []
    /// The epoll descriptor it waits on.
    package var pollSet: Int32?
    /// The number of bytes it wants to read or write, or `nil` if the call has none or it could not be read.
    package var amount: UInt64?
    package var waitsForAll = false

    package init(_ kind: Kind, _ name: String) { (self.kind, self.name) = (kind, name) }

    /// Whether it only waits for time to pass, which poll and select without a descriptor also do.
    package var isTimedSleep: Bool {
        name == "nanosleep" || name == "clock_nanosleep" || kind == .poll && reads.isEmpty && writes.isEmpty
    }
}
