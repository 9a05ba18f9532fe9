/// Which part a socket plays.
public enum SocketRole: String, Hashable, Sendable, Codable, CaseIterable {
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
public enum SocketPhase: String, Hashable, Sendable, Codable, CaseIterable {
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

/// One session at one instant.
///
/// It is large, and mostly handed on as it is: its copies share one piece of memory until one of them is changed.
public struct SocketSnapshot: Hashable, Sendable, Identifiable {
    /// Always one.
    private var shared: [Facts]

    /// Describes a session that has just begun; set what else is known.
    public init(id: SocketID, role: SocketRole, phase: SocketPhase, target: String, opened: MonotonicTime) {
        shared = [Facts(id: id, role: role, phase: phase, target: target, opened: opened)]
    }

    /// Its name within the engine.
    public var id: SocketID {
        get { shared[0].id }
        _modify { yield &shared[0].id }
    }

    /// The part it plays.
    public var role: SocketRole {
        get { shared[0].role }
        _modify { yield &shared[0].role }
    }

    /// The listener that accepted it.
    public var parent: SocketID? {
        get { shared[0].parent }
        _modify { yield &shared[0].parent }
    }

    /// The connection that its bytes are passed on to, of one that is relayed.
    public var linked: SocketID? {
        get { shared[0].linked }
        _modify { yield &shared[0].linked }
    }

    /// What only a leg of a relay has; `nil` for others.
    public var relay: RelaySnapshot? {
        get { shared[0].relay }
        _modify { yield &shared[0].relay }
    }

    /// Where in its life it is.
    public var phase: SocketPhase {
        get { shared[0].phase }
        _modify { yield &shared[0].phase }
    }

    /// What was asked for, as text: `localhost:6379`.
    public var target: String {
        get { shared[0].target }
        _modify { yield &shared[0].target }
    }

    /// A name that the program gave it; empty: none.
    public var name: String {
        get { shared[0].name }
        _modify { yield &shared[0].name }
    }

    /// Our end; nil until known.
    public var local: SocketAddress? {
        get { shared[0].local }
        _modify { yield &shared[0].local }
    }

    /// The other end; nil until connected, and for a listener.
    public var peer: SocketAddress? {
        get { shared[0].peer }
        _modify { yield &shared[0].peer }
    }

    /// The descriptor; nil before and after it is open.
    public var descriptor: Int32? {
        get { shared[0].descriptor }
        _modify { yield &shared[0].descriptor }
    }

    /// When the session began.
    public var opened: MonotonicTime {
        get { shared[0].opened }
        _modify { yield &shared[0].opened }
    }

    /// When it was connected.
    public var connected: MonotonicTime? {
        get { shared[0].connected }
        _modify { yield &shared[0].connected }
    }

    /// GCDAsyncSocket's flags, derived.
    public var flags: SocketFlags {
        get { shared[0].flags }
        _modify { yield &shared[0].flags }
    }

    /// Whether reading was paused by hand.
    public var isReadingPaused: Bool {
        get { shared[0].isReadingPaused }
        _modify { yield &shared[0].isReadingPaused }
    }

    /// Whether nothing is taken from the kernel until what came before has gone on: to a delegate's queue that is far
    /// behind, or to the connection that this one is linked to.
    public var isHeldBack: Bool {
        get { shared[0].isHeldBack }
        _modify { yield &shared[0].isHeldBack }
    }

    /// Whether this side has sent FIN.
    public var isWriteShut: Bool {
        get { shared[0].isWriteShut }
        _modify { yield &shared[0].isWriteShut }
    }

    /// The read queue.
    public var reading: QueueSnapshot {
        get { shared[0].reading }
        _modify { yield &shared[0].reading }
    }

    /// The write queue.
    public var writing: QueueSnapshot {
        get { shared[0].writing }
        _modify { yield &shared[0].writing }
    }

    /// Bytes read ahead that no read has taken, those gathered by a delimiter read in hand not counted.
    public var prebuffered: Int {
        get { shared[0].prebuffered }
        _modify { yield &shared[0].prebuffered }
    }

    /// Bytes received; under TLS, those on the wire.
    public var received: UInt64 {
        get { shared[0].received }
        _modify { yield &shared[0].received }
    }

    /// Bytes the kernel took from us; under TLS, those on the wire.
    public var sent: UInt64 {
        get { shared[0].sent }
        _modify { yield &shared[0].sent }
    }

    /// Bytes received a second, smoothed over one second; nil until measured twice.
    public var receiveRate: Double? {
        get { shared[0].receiveRate }
        _modify { yield &shared[0].receiveRate }
    }

    /// Bytes sent a second, smoothed over one second; nil until measured twice.
    public var sendRate: Double? {
        get { shared[0].sendRate }
        _modify { yield &shared[0].sendRate }
    }

    /// Since when things stand as they do.
    public var activity: ActivitySnapshot {
        get { shared[0].activity }
        _modify { yield &shared[0].activity }
    }

    /// How callbacks reach the user; nil for a listener, and once it is over.
    public var callbacks: CallbackSnapshot? {
        get { shared[0].callbacks }
        _modify { yield &shared[0].callbacks }
    }

    /// Connections taken, of a listener.
    public var accepted: UInt64 {
        get { shared[0].accepted }
        _modify { yield &shared[0].accepted }
    }

    /// The marks of the write queue; nil: none are set.
    public var watermarks: Watermarks? {
        get { shared[0].watermarks }
        _modify { yield &shared[0].watermarks }
    }

    /// Whether more is queued for writing than the high mark allows, and it has not fallen to the low one since.
    public var isAboveHighMark: Bool {
        get { shared[0].isAboveHighMark }
        _modify { yield &shared[0].isAboveHighMark }
    }

    /// How it was connected; nil for accepted connections and listeners.
    public var connect: ConnectSnapshot? {
        get { shared[0].connect }
        _modify { yield &shared[0].connect }
    }

    /// What only a datagram socket has; nil for streams.
    public var datagrams: DatagramSnapshot? {
        get { shared[0].datagrams }
        _modify { yield &shared[0].datagrams }
    }

    /// How it ended; nil while it lives.
    public var closed: CloseRecord? {
        get { shared[0].closed }
        _modify { yield &shared[0].closed }
    }

    /// What the kernel says, where it was asked.
    public var kernel: KernelSnapshot? {
        get { shared[0].kernel }
        _modify { yield &shared[0].kernel }
    }

    /// TLS, asked for or set up; nil: never asked for.
    public var tls: TLSSnapshot? {
        get { shared[0].tls }
        _modify { yield &shared[0].tls }
    }

    /// The WebSocket that it is; nil: a plain stream.
    public var webSocket: WebSocketPicture? {
        get { shared[0].webSocket }
        _modify { yield &shared[0].webSocket }
    }

    /// What faults and breakpoints do to it; `nil`: none concerns it.
    public var fault: FaultSnapshot? {
        get { shared[0].fault }
        _modify { yield &shared[0].fault }
    }

    /// What only a socket of another program has, which is looked at from outside; `nil`: a session of an engine.
    package var host: HostSnapshot? {
        get { shared[0].host }
        _modify { yield &shared[0].host }
    }

    /// What this host tells of its two ends, where its packets are captured now; `nil`: they are not.
    package var ends: CapturedEnds? {
        get { shared[0].ends }
        _modify { yield &shared[0].ends }
    }

    /// Whether it belongs to other programs and is looked at from outside: a socket, or a connection that is captured. This
    /// and the next two copy nothing of `host`.
    package var isFromOutside: Bool { shared[0].host != nil || shared[0].ends != nil }

    /// The user that has it, where it is looked at from outside and its program is not in sight.
    package var hiddenOwner: UInt32? {
        guard shared[0].host?.program == nil, let inode = shared[0].host?.inode, inode != 0 else { return nil }
        return shared[0].host?.user
    }

    /// Whether anything was found about it from outside.
    package var hasVerdicts: Bool {
        shared[0].host?.verdicts.isEmpty == false || shared[0].ends?.verdicts.isEmpty == false
    }

    /// Whether nothing happens that could be wrong: it is connected in clear, by itself, a standing read takes whatever
    /// comes, nothing is unread and nothing is to be written. Of thousands of connections most are so, and this is all
    /// that is looked at.
    package var isUneventful: Bool { shared[0].isUneventful }

    /// Wraps what was gathered of a session.
    package init(_ facts: Facts) {
        shared = [facts]
    }

    /// What a snapshot holds, under the same names. Whoever sets much of it does so here, and wraps it then.
    package struct Facts: Hashable, Sendable, Codable {
        package var id: SocketID
        package var role: SocketRole
        package var parent: SocketID?
        package var linked: SocketID?
        package var relay: RelaySnapshot?
        package var phase: SocketPhase
        package var target: String
        package var name = ""
        package var local: SocketAddress?
        package var peer: SocketAddress?
        package var descriptor: Int32?
        package var opened: MonotonicTime
        package var connected: MonotonicTime?
        package var flags: SocketFlags = []
        package var isReadingPaused = false
        package var isHeldBack = false
        package var isWriteShut = false
        package var reading = QueueSnapshot()
        package var writing = QueueSnapshot()
        package var prebuffered = 0
        package var received: UInt64 = 0
        package var sent: UInt64 = 0
        package var receiveRate: Double?
        package var sendRate: Double?
        package var activity = ActivitySnapshot()
        package var callbacks: CallbackSnapshot?
        package var accepted: UInt64 = 0
        package var watermarks: Watermarks?
        package var isAboveHighMark = false
        package var connect: ConnectSnapshot?
        package var datagrams: DatagramSnapshot?
        package var closed: CloseRecord?
        package var kernel: KernelSnapshot?
        package var tls: TLSSnapshot?
        package var webSocket: WebSocketPicture?
        package var fault: FaultSnapshot?
        package var host: HostSnapshot?
        package var ends: CapturedEnds?

        package init(id: SocketID, role: SocketRole, phase: SocketPhase, target: String, opened: MonotonicTime) {
            self.id = id
            self.role = role
            self.phase = phase
            self.target = target
            self.opened = opened
        }
    }
}

extension SocketSnapshot: Codable {
    /// Reads an object with a value for each property, save those that are nil.
    public init(from decoder: any Decoder) throws {
        shared = [try Facts(from: decoder)]
    }

    /// Writes such an object.
    public func encode(to encoder: any Encoder) throws {
        try shared[0].encode(to: encoder)
    }
}

extension SocketSnapshot: CustomReflectable {
    /// Its properties.
    public var customMirror: Mirror { Mirror(reflecting: shared[0]) }
}

extension SocketSnapshot.Facts {
    fileprivate var isUneventful: Bool {
        guard phase == .connected, linked == nil, tls == nil, webSocket == nil, datagrams == nil, host == nil,
            fault == nil,
            !isReadingPaused, !isHeldBack, !isWriteShut, !isAboveHighMark, prebuffered == 0,
            writing.current == nil, reading.pendingCount == 0, kernel?.receiveQueue ?? 0 == 0,
            activity.unreadSince == nil, activity.peerClosed == nil, activity.operationRate ?? 0 <= 1_000,
            let read = reading.current, read.isStanding, read.timeout == nil, case .read(.available) = read.kind,
            let callbacks, callbacks.isHeard
        else { return false }
        return callbacks.lag == nil && callbacks.undelivered == 0
    }
}
