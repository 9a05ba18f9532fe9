import SocketCore

// Fields that only recordings have: sockets of other programs, and what the recording viewer found out about its own.

extension HostSnapshot: WireMessage {
    package static var blank: HostSnapshot { HostSnapshot() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        let isUnix = transport.isUnix
        try coder.field(1, &transport, "transport", "its kind")
        try coder.field(2, &state)
        try coder.field(3, &cookie)
        try coder.field(4, &namespace)
        try coder.field(5, &inode, "inode", "its inode")
        // The kernel says 0 of a socket that no program has open.
        var user = self.user ?? 0
        try coder.field(
            6, &user, "user", "the user that owns it; null if no program has it open", after: "", known: inode != 0)
        self.user = inode == 0 ? nil : user
        try coder.field(7, &program, "program", "its program; null if unknown", after: "")
        try coder.field(8, &process, "process", "the process ID of that program", after: "program")
        try coder.field(9, &programUser)
        try coder.field(10, &userName)
        try coder.field(11, &others, "other_processes", "how many other processes have it open", after: "process")
        try coder.field(12, &owners)
        try coder.field(13, &unread, "unread_bytes", "what its program has not read")
        try coder.field(14, &unsent, "unsent_bytes", "what the peer has not acknowledged", known: !isUnix)
        try coder.field(15, &waiting, "waiting", "for a listener, the number of waiting connections")
        try coder.field(16, &waitingLimit, "waiting_limit", "for a listener, its backlog")
        try coder.field(17, &asks, "asks", "what a thread waits for (`recv`, `send 48M`, `epoll in`, `nobody`)")
        try coder.field(18, &asksFor, "asks_for_s", "for how long")
        try coder.field(19, &asksWords)
        try coder.field(20, &evidence)
        try coder.field(21, &peer, "peer_id", "the socket at the other end, if it is on a host that is looked at")
        try coder.field(22, &peerProgram, "peer_program", "the program at the other end, if it is on such a host")
        try coder.field(23, &cgroup)
        try coder.field(
            24, &container, "container", "the name of its container, or the first digits of its identifier",
            after: "asks_for_s")
        try coder.field(
            25, &blocks, "blocking", "whether that program's descriptor has no O_NONBLOCK; null if not examined")
        try coder.field(26, &closesOnExec, "cloexec", "whether it has O_CLOEXEC; null if not examined")
        try coder.field(27, &tcp)
        try coder.field(28, &verdicts)
        try coder.field(
            29, &machine, "machine", "the host it is on, if several are looked at", after: "container")
        try coder.field(30, &peerMachine, "peer_machine", "the host its other end is on", after: "peer_program")
        try coder.field(31, &isLost)
    }
}

extension HostSnapshot.TCP: WireMessage {
    package static var blank: HostSnapshot.TCP { HostSnapshot.TCP() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &lastSent)
        try coder.field(2, &lastReceived)
        try coder.field(3, &sendWindow)
        try coder.field(4, &receiveWindow)
        try coder.field(5, &windowLimited)
        try coder.field(6, &timer)
        try coder.field(7, &timerFires)
        try coder.field(8, &tries)
    }
}

extension Verdict: WireMessage {
    package static var blank: Verdict {
        var blank = Verdict("")
        (blank.severity, blank.evidence) = (.note, .queues)
        return blank
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &lint)
        try coder.field(2, &severity)
        try coder.field(3, &sentence)
        try coder.field(4, &subject)
        try coder.field(5, &lasting)
        try coder.field(6, &next)
        try coder.field(7, &evidence)
        try coder.field(8, &others)
    }
}

extension HostNamespace: WireMessage {
    package static var blank: HostNamespace { HostNamespace(ordinal: 0, inode: 0) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        var (firstPort, lastPort) = (localPorts?.lowerBound, localPorts?.upperBound)
        try coder.field(1, &ordinal)
        try coder.field(2, &inode)
        try coder.field(3, &name)
        try coder.field(4, &firstPort)
        try coder.field(5, &lastPort)
        localPorts = if let firstPort, let lastPort, firstPort <= lastPort { firstPort...lastPort } else { nil }
    }
}

extension HostTransport: WireWord {}

// An unknown severity or evidence is one of a later version.
extension Severity: WireAlias {
    package var written: Int { rawValue }
    package init(written: Int) { self = Severity(rawValue: written) ?? .warning }
}

extension Evidence: WireWord {
    package init(written: String) { self = Evidence(rawValue: written) ?? .queues }
}

extension HostState: WireAlias {
    package var written: Int { Int(rawValue) }
    package init(written: Int) throws(WireError) {
        guard let state = UInt8(exactly: written).flatMap(HostState.init) else { throw .unknown }
        self = state
    }
}

extension UInt32: WireAlias {
    package var written: UInt64 { UInt64(self) }
    package init(written: UInt64) throws(WireError) {
        guard let value = UInt32(exactly: written) else { throw .malformed("\(written) has more than 32 bits") }
        self = value
    }
}

/// The other end of one connection.
package struct InspectionPeer: WireMessage, Sendable {
    package var socket = SocketID(0)
    package var end = PeerEnd()

    package static var blank: InspectionPeer { InspectionPeer() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &socket)
        try coder.field(2, &end)
    }
}

extension PeerEnd: WireMessage {
    package static var blank: PeerEnd { PeerEnd() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.inlined(1, &program)
        try coder.field(2, &unread, "unread_bytes", "what that program has not read")
        try coder.field(3, &unsent)
        try coder.field(4, &isClosing)
        try coder.field(5, &hasReadEnd)
        try coder.field(6, &waiting)
    }
}

extension PeerEnd.Program: WireMessage {
    package static var blank: PeerEnd.Program { PeerEnd.Program(process: 0, name: "", descriptor: 0) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &process, "process", "its process")
        try coder.field(2, &name, "program", "its name", after: "")
        try coder.field(3, &descriptor, "fd", "its descriptor")
        try coder.field(4, &isStopped)
    }
}

extension PeerEnd.Waiting: WireMessage {
    package static var blank: PeerEnd.Waiting { PeerEnd.Waiting(peer: "") }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &peer)
        try coder.field(2, &program)
    }
}
