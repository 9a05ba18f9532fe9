/// What was learned about the host at one time: first the sockets, then the programs of suspicious ones.
package struct HostLook: Sendable {
    package var time: MonotonicTime
    package var sockets: [HostSocket]
    /// The index of each socket in `sockets` by its identity, or `nil` if not known.
    package var places: [UInt64: Int]?
    /// The changes since the previous look, or `nil` if not known.
    package var changes: Changes?
    /// The inodes of the sockets whose programs were examined closely, or `nil` if all were.
    package var examined: Set<UInt64>?
    /// The examined network namespaces by ordinal, as far as they could be identified.
    package var namespaces: [UInt16: HostNamespace] = [:]
    /// The examined processes by number.
    package var processes: [Int32: HostProcess] = [:]
    /// The owners of each socket by its inode, as far as they are visible: a process and its descriptor.
    package var owners: [UInt64: [Owner]] = [:]
    /// The bytes that must wait before a socket's program is woken (SO_RCVLOWAT), by inode, if they were read.
    package var lowWater: [UInt64: Int] = [:]
    /// How often the kernel has dropped a connection since boot because a listener was full, or `nil` if not known.
    package var listenOverflows: UInt64?
    /// The ports that the kernel may choose for a connection (ip_local_port_range).
    package var localPorts: ClosedRange<UInt16>?
    /// Sockets that the kernel has destroyed since the previous look, in that order. `closingsLost` is the number of
    /// those that there was no room for, or `nil` if the kernel doesn't report closed sockets.
    package var closings: [HostSocket] = []
    package var closingsLost: UInt64? = 0
    /// What could not be seen.
    package var hidden = Hidden()
    /// The hosts that this covers, or empty if it covers this one alone.
    package var machines: [HostOrdinal: HostMachine] = [:]

    package struct Owner: Hashable, Sendable {
        package var process: Int32
        package var descriptor: Int32

        package init(process: Int32, descriptor: Int32) { (self.process, self.descriptor) = (process, descriptor) }
    }

    /// The differences from another look. For everything else only time has passed, so its ages have grown.
    package struct Changes: Sendable {
        /// The time of the other look.
        package var since: MonotonicTime
        /// Sockets that are new, or for which the kernel reported other changes.
        package var told: Set<UInt64> = []
        /// Sockets that are no longer listed.
        package var gone: Set<UInt64> = []
        /// The inodes of sockets whose owners changed, or about whose programs other facts are known now.
        package var owners: Set<UInt64> = []
        /// Sockets of which nothing that was seen before counts.
        package var anew: Set<UInt64> = []
        /// The host that was looked at, or `nil` for all. Nothing new is known of the others.
        package var host: HostOrdinal?

        package init(since: MonotonicTime, told: Set<UInt64> = [], gone: Set<UInt64> = []) {
            (self.since, self.told, self.gone) = (since, told, gone)
        }

        /// Unites these with later ones. They are then about all hosts.
        package mutating func absorb(_ later: Changes) {
            told = told.subtracting(later.gone).union(later.told)
            gone = gone.subtracting(later.told).union(later.gone)
            owners.formUnion(later.owners)
            anew.formUnion(later.anew)
            host = nil
        }
    }

    package struct Hidden: Equatable, Sendable {
        /// The number of processes whose descriptors can't be read.
        package var processes = 0
        /// The number of processes whose calls can't be read, and the reason, such as `ptrace_scope 1`.
        package var calls = 0
        /// The processes counted in `calls`, so that each is counted once.
        package var withoutCalls: Set<Int32> = [] { didSet { calls = withoutCalls.count } }
        package var reason: String?
        /// The number of sockets without a visible owner.
        package var sockets = 0
        /// The number of network namespaces that were not examined.
        package var namespaces = 0
        /// Socket tables that this kernel doesn't have.
        package var tables: Set<SocketTable> = []

        package init() {}
    }

    /// Returns the socket with this identity.
    package func socket(_ id: UInt64) -> HostSocket? {
        guard let places else { return sockets.first { $0.id == id } }
        return places[id].map { sockets[$0] }
    }

    package init(time: MonotonicTime, sockets: [HostSocket]) { (self.time, self.sockets) = (time, sockets) }

    /// Returns the ports that the kernel may choose for a connection in a network namespace, or `nil` if not known.
    package func localPorts(in namespace: UInt16) -> ClosedRange<UInt16>? {
        namespace == 0 ? localPorts : namespaces[namespace]?.localPorts
    }
}
