/// The values of a socket that another program has open, observed from outside. A value is `nil` if it is unknown.
package struct HostSnapshot: Equatable, Sendable {
    package var transport: HostTransport
    package var state: HostState
    /// The kernel's cookie. Some kernels count it separately in each network namespace.
    package var cookie: UInt64
    /// Its network namespace, if known.
    package var namespace: HostNamespace?
    package var inode: UInt64
    /// The user that owns it, or `nil` if no program has it open: the kernel then says 0.
    package var user: UInt32?
    /// The program that has it open. If several have, it is the one that waits for it. Not sanitized.
    package var program: String?
    package var process: Int32?
    /// The program's user and that user's name.
    package var programUser: UInt32?
    package var userName: String?
    /// The number of other processes that have it open.
    package var others = 0
    /// All processes known to have it open.
    package var owners: [Int32] = []
    /// Bytes that its program has not read, and bytes that the peer has not acknowledged.
    package var unread: Int64?
    package var unsent: Int64?
    /// For a listener, the number of connections that wait to be accepted, and its limit.
    package var waiting: Int64?
    package var waitingLimit: Int64?
    /// What its program asks of it, as in `recv`, `send 47.7M`, `epoll in` or `nobody`, and for how long.
    package var asks: String?
    package var asksFor: Duration?
    /// What its program asks of it, as a sentence that names the thread.
    package var asksWords: String?
    /// The evidence about its program.
    package var evidence: Evidence?
    /// The socket at the other end, if it is on this host, and its program.
    package var peer: SocketID?
    package var peerProgram: String?
    /// If there are several hosts, the names of the one it is on and of the one its other end is on. Not sanitized.
    package var machine: String?
    package var peerMachine: String?
    /// Whether its host is lost, so that this is what was last seen.
    package var isLost = false
    /// The control group of its program and the name of its container. Not sanitized.
    package var cgroup: String?
    package var container: String?
    /// Whether calls on the program's descriptor block (no O_NONBLOCK), and whether exec closes it (O_CLOEXEC), or
    /// `nil` if unchecked.
    package var blocks: Bool?
    package var closesOnExec: Bool?
    package var tcp: TCP?
    /// The number of sockets in TIME-WAIT that its row stands for.
    package var alike = 1
    package var verdicts: [Verdict] = []

    /// TCP values in addition to those of `KernelSnapshot`.
    package struct TCP: Equatable, Sendable {
        /// When a byte was last sent and last received.
        package var lastSent: MonotonicTime?
        package var lastReceived: MonotonicTime?
        package var sendWindow: UInt32?
        package var receiveWindow: UInt32?
        package var windowLimited: Duration?
        /// The running timer in words, and when it fires.
        package var timer: String?
        package var timerFires: MonotonicTime?
        package var tries: Int?

        package init() {}
    }

    package init() { (transport, state, cookie, inode) = (.tcp, .closed, 0, 0) }

    package init(_ socket: HostSocket) {
        (transport, state, cookie) = (socket.transport, socket.state, socket.cookie)
        (inode, user) = (socket.inode, socket.inode == 0 ? nil : socket.user)
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

extension HostSocket {
    /// The running timer, `retransmit`, `keepalive`, `TIME-WAIT` or `probe`, or `nil` if there is none.
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
