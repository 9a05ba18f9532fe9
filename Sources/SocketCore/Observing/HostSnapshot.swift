/// What a snapshot has of a socket that another program has open, and that is looked at from outside. What is not known
/// is `nil`.
package struct HostSnapshot: Hashable, Sendable, Codable {
    package var transport: HostTransport
    package var state: HostState
    /// The kernel's cookie, which some kernels count for each network namespace.
    package var cookie: UInt64
    /// The network namespace that it is in, where that is known.
    package var namespace: HostNamespace?
    package var inode: UInt64
    package var user: UInt32
    /// The program that has it open: of several the one that waits for it. Not sanitized.
    package var program: String?
    package var process: Int32?
    /// Its user, and that user's name.
    package var programUser: UInt32?
    package var userName: String?
    /// How many further processes have it open.
    package var others = 0
    /// All processes that are known to have it open.
    package var owners: [Int32] = []
    /// Bytes its program has not read, and bytes the peer has not acknowledged.
    package var unread: Int64?
    package var unsent: Int64?
    /// Of a listener: connections that wait to be accepted, and how many may.
    package var waiting: Int64?
    package var waitingLimit: Int64?
    /// What its program asks of it: `recv`, `send 47.7M`, `epoll in`, `nobody`; and for how long.
    package var asks: String?
    package var asksFor: Duration?
    /// The same in a sentence, with the thread.
    package var asksWords: String?
    /// What the look at its program rests on, as `Evidence` names it.
    package var evidence: String?
    /// The socket at the other end, where it is on this host, and its program.
    package var peer: SocketID?
    package var peerProgram: String?
    /// The control group of its program, and the name of its container. Not sanitized.
    package var cgroup: String?
    package var container: String?
    /// Whether calls on the descriptor by which that program has it wait (no O_NONBLOCK), and whether an exec closes it
    /// (O_CLOEXEC); `nil`: not looked at.
    package var blocks: Bool?
    package var closesOnExec: Bool?
    package var tcp: TCP?
    package var verdicts: [HostFinding] = []

    /// More of TCP than `KernelSnapshot` has.
    package struct TCP: Hashable, Sendable, Codable {
        /// When a byte was last sent, and received.
        package var lastSent: MonotonicTime?
        package var lastReceived: MonotonicTime?
        package var sendWindow: UInt32?
        package var receiveWindow: UInt32?
        package var windowLimited: Duration?
        /// The timer that runs, in words, and when it fires.
        package var timer: String?
        package var timerFires: MonotonicTime?
        package var tries: Int?

        package init() {}
    }

    /// One of which nothing is known.
    init() { (transport, state, cookie, inode, user) = (.tcp, .closed, 0, 0, 0) }

    package init(_ socket: HostSocket) {
        (transport, state, cookie) = (socket.transport, socket.state, socket.cookie)
        (inode, user) = (socket.inode, socket.user)
        (unread, unsent) = (socket.unread, socket.unsent)
        if socket.isListening { (waiting, waitingLimit) = (socket.receiveQueue, socket.sendQueue) }
        guard let tcp = socket.tcp, !socket.isListening else { return }
        var known = TCP()
        known.lastSent = tcp.lastSent.map { socket.time + (.zero - $0) }
        known.lastReceived = tcp.lastReceived.map { socket.time + (.zero - $0) }
        (known.sendWindow, known.receiveWindow) = (tcp.sendWindow, tcp.receiveWindow)
        known.windowLimited = tcp.windowLimited
        (known.timer, known.timerFires) = (socket.timerWord, socket.timerExpires.map { socket.time + $0 })
        known.tries = Int(tcp.tries)
        self.tcp = known
    }
}

/// What a judge of the host's sockets found about one of them, under the name of a lint.
package struct HostFinding: Hashable, Sendable, Codable {
    package var lint: String
    /// 0 note, 1 warning, 2 critical.
    package var severity: Int
    package var sentence: String
    package var subject: String?
    package var lasting: Duration?
    package var next: String?
    /// As `Evidence` names it.
    package var evidence: String
    /// Other sockets that it is about.
    package var others: [SocketID] = []

    package init(_ lint: String, severity: Int, _ sentence: String, evidence: String) {
        (self.lint, self.severity, self.sentence, self.evidence) = (lint, severity, sentence, evidence)
    }
}

extension HostSocket {
    /// The timer that runs: `retransmit`, `keepalive`, `TIME-WAIT`, `probe`; `nil`: none.
    package var timerWord: String? {
        switch timer {
        case 1: "retransmit"
        case 2: "keepalive"
        case 3: "TIME-WAIT"
        case 4: "probe"
        default: nil
        }
    }
}

extension HostTransport: Codable {}
extension HostState: Codable {}
