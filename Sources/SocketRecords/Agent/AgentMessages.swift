import SocketCore

/// The beginning of a look: what it covers, and what it does not.
package struct AgentLook: WireMessage, Sendable {
    package var number: UInt64 = 0
    package var isFull = false
    package var time = MonotonicTime.zero
    package var interval = Duration.zero
    /// The namespaces and the cookies of sockets that are no longer listed, each at the same index.
    package var goneNamespaces: [UInt16] = []
    package var gone: [UInt64] = []
    package var ended: [Int32] = []
    package var namespaces: [HostNamespace] = []
    package var examined: Set<UInt64> = []
    /// The inodes of sockets with a low-water mark, and the mark of each at the same index.
    package var marked: [UInt64] = []
    package var marks: [Int] = []
    package var closingsLost: UInt64?
    package var hiddenProcesses = 0
    package var hiddenCalls: Set<Int32> = []
    package var hiddenReason: String?
    package var hiddenSockets = 0
    package var hiddenNamespaces = 0
    /// The names of socket tables that the host's kernel does not have.
    package var hiddenTables: [String] = []

    package init() {}
    package static var blank: AgentLook { AgentLook() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &number)
        try coder.field(2, &isFull)
        try coder.field(3, &time)
        try coder.field(4, &interval)
        try coder.field(5, &goneNamespaces)
        try coder.field(6, &gone)
        try coder.field(7, &ended)
        try coder.field(8, &namespaces)
        try coder.field(9, &examined)
        try coder.field(10, &marked)
        try coder.field(11, &marks)
        try coder.field(12, &closingsLost)
        try coder.field(13, &hiddenProcesses)
        try coder.field(14, &hiddenCalls)
        try coder.field(15, &hiddenReason)
        try coder.field(16, &hiddenSockets)
        try coder.field(17, &hiddenNamespaces)
        try coder.field(18, &hiddenTables)
    }
}

/// The owners of one socket. An empty list says that none are known any more.
package struct AgentOwners: WireMessage, Sendable {
    package var inode: UInt64 = 0
    /// Processes, and the descriptor of each at the same index.
    package var processes: [Int32] = []
    package var descriptors: [Int32] = []

    package init() {}
    package static var blank: AgentOwners { AgentOwners() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &inode)
        try coder.field(2, &processes)
        try coder.field(3, &descriptors)
    }
}

/// The end of a look.
package struct AgentLookEnd: WireMessage, Sendable {
    package var number: UInt64 = 0
    /// When it was sent, by the clock of the host.
    package var sent = MonotonicTime.zero

    package init() {}
    package static var blank: AgentLookEnd { AgentLookEnd() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &number)
        try coder.field(2, &sent)
    }
}

/// What a viewer asks an agent for. Each replaces the one before.
package struct AgentAsk: WireMessage, Sendable {
    /// The last look that the viewer has taken, or 0.
    package var taken: UInt64 = 0
    /// What is examined in each look, however healthy it seems: sockets, processes and the programs of these names.
    package var inodes: [UInt64] = []
    package var processes: [Int32] = []
    package var names: [String] = []
    /// Ports of sockets whose programs are examined.
    package var ports: [UInt16] = []

    package static let mostInodes = 4_096
    package static let mostProcesses = 64

    package init() {}
    package static var blank: AgentAsk { AgentAsk() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &taken)
        try coder.field(2, &inodes)
        try coder.field(3, &processes)
        try coder.field(4, &names)
        try coder.field(5, &ports)
    }

    /// The same within the limits.
    package var limited: AgentAsk {
        var ask = self
        ask.inodes = Array(inodes.prefix(Self.mostInodes))
        ask.processes = Array(processes.prefix(Self.mostProcesses))
        (ask.names, ask.ports) = (Array(names.prefix(Self.mostProcesses)), Array(ports.prefix(Self.mostProcesses)))
        return ask
    }
}
