/// A process of this host, told apart from a later one of its number by its start time.
package struct HostProcess: Hashable, Sendable {
    /// The number and the start time, in clock ticks since boot (field 22 of proc_pid_stat(5)).
    package struct ID: Hashable, Sendable {
        package var number: Int32
        package var start: UInt64

        package init(number: Int32, start: UInt64) { (self.number, self.start) = (number, start) }
    }

    package var id: ID
    /// The program's name; of an interpreter its script, module, jar or main class. Not sanitized.
    package var name: String
    /// `comm`, as proc_pid_stat(5) has it. Not sanitized.
    package var command: String
    /// The base name of the executable, where it may be read.
    package var executable: String?
    /// Whether the executable is a Go program, where it may be read.
    package var isGo = false
    package var state: UInt8
    package var parent: Int32
    /// The base name of the parent's executable; `nil`: the parent is gone (it is PID 1's child) or may not be read.
    package var parentExecutable: String?
    package var user: UInt32?
    /// How long ago it started.
    package var age: Duration?
    /// Its sockets: descriptor and inode.
    package var sockets: [Int32: UInt64] = [:]
    /// Descriptors of its sockets that an exec would keep open (no O_CLOEXEC), as far as they were looked at.
    package var keptOverExec: Set<Int32> = []
    /// Those of its sockets that do not block (O_NONBLOCK), as far as they were looked at.
    package var nonBlocking: Set<Int32> = []
    /// Those of its sockets of which these two were looked at.
    package var flagsRead: Set<Int32> = []
    /// Its epoll descriptors. The entries of a set are there where one of its sockets was a suspect; `nil`: not read.
    package var pollSets: [Int32: [PollEntry]?] = [:]
    package var hasRing = false
    /// Whether a cgroup that is frozen holds it.
    package var isFrozen = false
    package var cgroup: String?
    /// What was learnt of its threads; empty: not looked at.
    package var threads: [HostThread] = []
    package var rung = Rung.arguments

    /// What may be known of what its threads do; see the permission ladder in the manual.
    package enum Rung: Int, Hashable, Sendable, Comparable {
        /// Kernel queues alone.
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

    /// `api.py[4711]`. Not sanitized.
    package var title: String { "\(name)[\(id.number)]" }
}

/// One thread, at one instant.
package struct HostThread: Hashable, Sendable {
    package var number: Int32
    package var name: String
    /// `S`, `R`, `T` and so on (proc_pid_stat(5)).
    package var state: UInt8
    /// What it is in; `nil`: not known.
    package var call: HostCall?
    /// The function that it sleeps in, cut at the first dot; empty: none, or not told.
    package var waitChannel: String
    /// How long it has not run; `nil`: not known.
    package var idle: Duration?
    /// How often it was taken off a CPU; a call is one call only while this stands.
    package var switches: UInt64?

    package init(number: Int32, name: String, state: UInt8, waitChannel: String = "") {
        (self.number, self.name, self.state, self.waitChannel) = (number, name, state, waitChannel)
    }

    package var isStopped: Bool { state == UInt8(ascii: "T") }
    package var isTraced: Bool { state == UInt8(ascii: "t") }
}

/// What a thread is in, as /proc/PID/task/TID/syscall says, with what its arguments point to.
package struct HostCall: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case read, write, accept, connect, poll, pollSet
        /// A call that waits for something else.
        case other
        /// A call of which it cannot be told what it waits for: it was restarted after a signal (restart_syscall(2)), or what
        /// its arguments point to could not be read.
        case restarted
        /// On a CPU.
        case running
        /// Asleep outside a call.
        case outside
    }

    package var kind: Kind
    /// `recv`, `epoll_wait`, `futex`.
    package var name: String
    /// The descriptors that it waits to read from, write to, or accept on.
    package var reads: Set<Int32> = []
    package var writes: Set<Int32> = []
    package var accepts: Set<Int32> = []
    /// The epoll descriptor that it waits in.
    package var pollSet: Int32?
    /// Bytes that it asks for, or wants to write; `nil`: the call has no number, or it could not be read.
    package var amount: UInt64?
    package var waitsForAll = false

    package init(_ kind: Kind, _ name: String) { (self.kind, self.name) = (kind, name) }

    /// Whether it waits for a time to be over and for nothing else: poll and select without a descriptor do that, too.
    package var isTimedSleep: Bool {
        name == "nanosleep" || name == "clock_nanosleep" || kind == .poll && reads.isEmpty && writes.isEmpty
    }
}
