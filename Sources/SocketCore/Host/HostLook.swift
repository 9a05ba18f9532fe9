/// What was learnt of the host at one time. First the sockets are told; then the programs of those that look suspicious.
package struct HostLook: Sendable {
    package var time: MonotonicTime
    package var sockets: [HostSocket]
    /// Where each socket is among `sockets`, by its identity; `nil`: not known.
    package var places: [UInt64: Int]?
    /// What is different from the look before; `nil`: not known.
    package var changes: Changes?
    /// The inodes of the sockets whose programs were looked at closely; `nil`: of all.
    package var examined: Set<UInt64>?
    /// The network namespaces that were looked at, by ordinal, as far as it is known which those are.
    package var namespaces: [UInt16: HostNamespace] = [:]
    /// The processes that were looked at, by number.
    package var processes: [Int32: HostProcess] = [:]
    /// Who has a socket open, by its inode, as far as that may be seen: a process and its descriptor.
    package var owners: [UInt64: [Owner]] = [:]
    /// Bytes that must wait in a socket before its program is woken (SO_RCVLOWAT), by its inode, where they were asked for.
    package var lowWater: [UInt64: Int] = [:]
    /// Times that the kernel has dropped a connection because a listener was full, since boot; `nil`: not known.
    package var listenOverflows: UInt64?
    /// Ports that the kernel may choose for a connection (ip_local_port_range).
    package var localPorts: ClosedRange<UInt16>?
    /// Sockets that the kernel has destroyed since the look before, in that order. It may have had more to tell than there
    /// was room for: `closingsLost`; `nil`: it does not tell.
    package var closings: [HostSocket] = []
    package var closingsLost: UInt64? = 0
    /// What was not seen.
    package var hidden = Hidden()

    package struct Owner: Hashable, Sendable {
        package var process: Int32
        package var descriptor: Int32

        package init(process: Int32, descriptor: Int32) { (self.process, self.descriptor) = (process, descriptor) }
    }

    /// What is different from another look. Of what is not named here, time alone has passed: its ages have grown.
    package struct Changes: Sendable {
        /// The time of that look.
        package var since: MonotonicTime
        /// Sockets that are new, or of which the kernel told anything else.
        package var told: Set<UInt64> = []
        /// Sockets that are not listed any more.
        package var gone: Set<UInt64> = []
        /// The inodes of sockets that other processes have open, or of whose programs something else is known.
        package var owners: Set<UInt64> = []

        package init(since: MonotonicTime, told: Set<UInt64> = [], gone: Set<UInt64> = []) {
            (self.since, self.told, self.gone) = (since, told, gone)
        }
    }

    package struct Hidden: Hashable, Sendable {
        /// Processes whose descriptors may not be read.
        package var processes = 0
        /// Processes whose calls may not be read, and why, in words: `ptrace_scope 1`.
        package var calls = 0
        /// Which those are, so that each is counted once.
        package var withoutCalls: Set<Int32> = [] { didSet { calls = withoutCalls.count } }
        package var reason: String?
        /// Sockets without an owner in sight.
        package var sockets = 0
        /// Network namespaces that were not looked at.
        package var namespaces = 0
        /// Tables of sockets that this kernel does not have.
        package var tables: Set<SocketTable> = []

        package init() {}
    }

    /// The socket of this identity.
    package func socket(_ id: UInt64) -> HostSocket? {
        guard let places else { return sockets.first { $0.id == id } }
        return places[id].map { sockets[$0] }
    }

    package init(time: MonotonicTime, sockets: [HostSocket]) { (self.time, self.sockets) = (time, sockets) }

    /// Ports that the kernel may choose for a connection in a network namespace.
    package func localPorts(in namespace: UInt16) -> ClosedRange<UInt16>? {
        namespace == 0 ? localPorts : namespaces[namespace]?.localPorts
    }
}
