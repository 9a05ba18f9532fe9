/// Which part a socket plays.
public enum SocketRole: String, Hashable, Sendable, Codable {
    /// It connected, or was adopted.
    case client
    /// A listener accepted it.
    case accepted
    /// It listens.
    case listener
    /// It sends and receives datagrams.
    case datagram
}

/// Where in its life a session is.
public enum SocketPhase: String, Hashable, Sendable, Codable {
    /// Its host name is being resolved.
    case resolving
    /// It is trying addresses.
    case connecting
    /// It accepts connections.
    case listening
    /// Datagrams can pass, to and from anybody.
    case open
    /// Bytes can pass; of a datagram socket, to and from one peer.
    case connected
    /// All that was to be written is with the kernel and FIN was sent; what the peer still sends is read and thrown
    /// away until its FIN, so that no reset can destroy the tail of our data.
    case lingering
    /// It is over; `SocketSnapshot.closed` says why.
    case closed
}

/// How a session ended.
public struct CloseRecord: Hashable, Sendable, Codable {
    /// When its descriptor was closed.
    public var time: MonotonicTime
    /// Why; nil when this side asked for it.
    public var error: SocketError?
    /// How this side asked for it; nil when it did not.
    public var mode: CloseMode?
    /// Reads that ended without completing; a standing one does not count.
    public var readsLost: Int
    /// Writes that ended without completing.
    public var writesLost: Int
    /// Bytes that were received but not delivered by any read.
    public var unreadBytes: Int

    /// Describes an ending.
    public init(
        time: MonotonicTime, error: SocketError? = nil, mode: CloseMode? = nil, readsLost: Int = 0,
        writesLost: Int = 0, unreadBytes: Int = 0
    ) {
        self.time = time
        self.error = error
        self.mode = mode
        self.readsLost = readsLost
        self.writesLost = writesLost
        self.unreadBytes = unreadBytes
    }
}

/// How a connection came about.
public struct ConnectSnapshot: Hashable, Sendable, Codable {
    /// One address that was tried.
    public struct Attempt: Hashable, Sendable, Codable {
        /// How it stands.
        public enum Outcome: Hashable, Sendable, Codable {
            /// Not answered yet.
            case trying
            /// Failed with this errno.
            case failed(errno: Int32)
            /// This one became the connection.
            case won
            /// Given up, since another won or the connect ended.
            case abandoned
        }

        /// The address.
        public var address: SocketAddress
        /// How it stands.
        public var outcome: Outcome
        /// How long it took, or has taken so far.
        public var duration: Duration

        /// Describes an attempt.
        public init(address: SocketAddress, outcome: Outcome, duration: Duration) {
            self.address = address
            self.outcome = outcome
            self.duration = duration
        }
    }

    /// How long the resolver took; nil while it works, and where nothing was to be resolved.
    public var resolvedIn: Duration?
    /// How many addresses there are to try.
    public var addressCount: Int
    /// Those tried so far, in order.
    public var attempts: [Attempt]
    /// When the connect will time out; nil: never, or it has ended.
    public var deadline: MonotonicTime?

    /// Describes a connect.
    public init(resolvedIn: Duration? = nil, addressCount: Int = 0, attempts: [Attempt] = []) {
        self.resolvedIn = resolvedIn
        self.addressCount = addressCount
        self.attempts = attempts
    }
}

/// What the kernel says of a socket; asked only for sessions named in the request. nil: the kernel does not say.
public struct KernelSnapshot: Hashable, Sendable, Codable {
    /// Bytes received that nobody has read (`ss`: Recv-Q). For a listener: connections that wait for accept. For a
    /// datagram socket: with the kernel's own overhead.
    public var receiveQueue: Int?
    /// Bytes sent that the peer has not acknowledged, and bytes not sent yet (`ss`: Send-Q).
    public var sendQueue: Int?
    /// Of those, the bytes not sent yet (`tcpi_notsent_bytes`).
    public var notSent: Int?
    /// The connection's state in TCP's own words, as `ss` writes them: `ESTAB`, `CLOSE-WAIT`, `LISTEN`...
    public var state: String?
    /// Smoothed round-trip time.
    public var roundTripTime: Duration?
    /// Congestion window, in segments.
    public var congestionWindow: Int?
    /// Segments retransmitted over the connection's life.
    public var retransmits: Int?
    /// Share of the time in which the peer's window held us back, 0...1.
    public var receiverWindowLimited: Double?
    /// Share of the time in which our own send buffer was too small, 0...1.
    public var sendBufferLimited: Double?
    /// Whether the delivery rate was measured while we gave the kernel too little to send.
    public var isApplicationLimited: Bool?
    /// `tcpi_bytes_sent`: data bytes sent, retransmissions included.
    public var bytesSent: UInt64?
    /// `tcpi_bytes_received`: data bytes received, read or not; the peer's FIN counts as one.
    public var bytesReceived: UInt64?
    /// `tcpi_delivery_rate`, bytes a second.
    public var deliveryRate: UInt64?
    /// Datagrams dropped for want of room in the receive buffer (SK_MEMINFO_DROPS).
    public var drops: UInt64?
    /// The receive buffer's size as the kernel counts it, its own overhead included (SK_MEMINFO_RCVBUF).
    public var receiveBuffer: Int?

    /// Nothing known.
    public init() {}
}

/// One session at one instant.
public struct SocketSnapshot: Hashable, Sendable, Codable, Identifiable {
    /// Its name within the engine.
    public var id: SocketID
    /// The part it plays.
    public var role: SocketRole
    /// The listener that accepted it.
    public var parent: SocketID?
    /// The connection that its bytes are passed on to, of one that is relayed.
    public var linked: SocketID?
    /// Where in its life it is.
    public var phase: SocketPhase
    /// What was asked for, as text: `localhost:6379`.
    public var target: String
    /// A name that the program gave it; empty: none.
    public var name: String
    /// Our end; nil until known.
    public var local: SocketAddress?
    /// The other end; nil until connected, and for a listener.
    public var peer: SocketAddress?
    /// The descriptor; nil before and after it is open.
    public var descriptor: Int32?
    /// When the session began.
    public var opened: MonotonicTime
    /// When it was connected.
    public var connected: MonotonicTime?
    /// GCDAsyncSocket's flags, derived.
    public var flags: SocketFlags
    /// Whether reading was paused by hand.
    public var isReadingPaused: Bool
    /// Whether nothing is taken from the kernel until what came before has gone on: to a delegate's queue that is far
    /// behind, or to the connection that this one is linked to.
    public var isHeldBack: Bool
    /// Whether this side has sent FIN.
    public var isWriteShut: Bool
    /// The read queue.
    public var reading: QueueSnapshot
    /// The write queue.
    public var writing: QueueSnapshot
    /// Bytes read ahead that no read has taken, those gathered by a delimiter read in hand not counted.
    public var prebuffered: Int
    /// Bytes received; under TLS, those on the wire.
    public var received: UInt64
    /// Bytes the kernel took from us; under TLS, those on the wire.
    public var sent: UInt64
    /// Bytes received a second, smoothed over one second; nil until measured twice.
    public var receiveRate: Double?
    /// Bytes sent a second, smoothed over one second; nil until measured twice.
    public var sendRate: Double?
    /// Since when things stand as they do.
    public var activity: ActivitySnapshot
    /// How callbacks reach the user; nil for a listener, and once it is over.
    public var callbacks: CallbackSnapshot?
    /// Connections taken, of a listener.
    public var accepted: UInt64
    /// The marks of the write queue; nil: none are set.
    public var watermarks: Watermarks?
    /// Whether more is queued for writing than the high mark allows, and it has not fallen to the low one since.
    public var isAboveHighMark: Bool
    /// How it was connected; nil for accepted connections and listeners.
    public var connect: ConnectSnapshot?
    /// What only a datagram socket has; nil for streams.
    public var datagrams: DatagramSnapshot?
    /// How it ended; nil while it lives.
    public var closed: CloseRecord?
    /// What the kernel says, where it was asked.
    public var kernel: KernelSnapshot?
    /// TLS, asked for or set up; nil: never asked for.
    public var tls: TLSSnapshot?

    /// The WebSocket that it is; nil: a plain stream.
    public var webSocket: WebSocketPicture?

    /// Describes a session that has just begun; set what else is known.
    public init(id: SocketID, role: SocketRole, phase: SocketPhase, target: String, opened: MonotonicTime) {
        self.id = id
        self.role = role
        self.phase = phase
        self.target = target
        self.opened = opened
        name = ""
        flags = []
        isReadingPaused = false
        isHeldBack = false
        isWriteShut = false
        reading = QueueSnapshot()
        writing = QueueSnapshot()
        prebuffered = 0
        received = 0
        sent = 0
        activity = ActivitySnapshot()
        accepted = 0
        isAboveHighMark = false
    }
}
