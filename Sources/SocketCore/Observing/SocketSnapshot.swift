/// The role of a socket.
public enum SocketRole: String, Hashable, Sendable, CaseIterable {
    /// It connected or was adopted.
    case client
    /// A listener accepted it.
    case accepted
    /// It listens.
    case listener
    /// It sends and receives datagrams.
    case datagram
}

/// The phase of a session's life.
public enum SocketPhase: String, Hashable, Sendable, CaseIterable {
    /// Its host name is being resolved.
    case resolving
    /// It is trying addresses.
    case connecting
    /// It accepts connections.
    case listening
    /// A datagram socket that can exchange datagrams with any address.
    case open
    /// The connection is open. A datagram socket is connected to one peer.
    case connected
    /// The kernel has accepted every queued byte and FIN was sent. The peer's bytes are read and discarded until its
    /// FIN, so that no reset can destroy the end of our data.
    case lingering
    /// The session has ended; `SocketSnapshot.closed` says why.
    case closed
}

/// One session at one instant.
///
/// It is large and mostly passed on unchanged, so copies share one piece of memory until one of them is changed.
public struct SocketSnapshot: Equatable, Sendable, Identifiable {
    /// Always has one element.
    private var shared: [Facts]

    /// Describes a session that has just started; set what else is known.
    public init(id: SocketID, role: SocketRole, phase: SocketPhase, target: String, opened: MonotonicTime) {
        shared = [Facts(id: id, role: role, phase: phase, target: target, opened: opened)]
    }

    /// Its identifier within the engine.
    public var id: SocketID {
        get { shared[0].id }
        _modify { yield &shared[0].id }
    }

    /// Its role.
    public var role: SocketRole {
        get { shared[0].role }
        _modify { yield &shared[0].role }
    }

    /// The listener that accepted it.
    public var parent: SocketID? {
        get { shared[0].parent }
        _modify { yield &shared[0].parent }
    }

    /// For a relayed connection, the connection that its bytes are forwarded to.
    public var linked: SocketID? {
        get { shared[0].linked }
        _modify { yield &shared[0].linked }
    }

    /// The values that only a leg of a relay has, or `nil` for other sessions.
    public var relay: RelaySnapshot? {
        get { shared[0].relay }
        _modify { yield &shared[0].relay }
    }

    /// The phase of its life.
    public var phase: SocketPhase {
        get { shared[0].phase }
        _modify { yield &shared[0].phase }
    }

    /// The requested target as text: `localhost:6379`.
    public var target: String {
        get { shared[0].target }
        _modify { yield &shared[0].target }
    }

    /// The name that the program gave it, or an empty string.
    public var name: String {
        get { shared[0].name }
        _modify { yield &shared[0].name }
    }

    /// The local address, or `nil` until it is known.
    public var local: SocketAddress? {
        get { shared[0].local }
        _modify { yield &shared[0].local }
    }

    /// The peer's address, or `nil` until connected and for a listener.
    public var peer: SocketAddress? {
        get { shared[0].peer }
        _modify { yield &shared[0].peer }
    }

    /// The descriptor, or `nil` while it is not open.
    public var descriptor: Int32? {
        get { shared[0].descriptor }
        _modify { yield &shared[0].descriptor }
    }

    /// When the session started.
    public var opened: MonotonicTime {
        get { shared[0].opened }
        _modify { yield &shared[0].opened }
    }

    /// When it was connected.
    public var connected: MonotonicTime? {
        get { shared[0].connected }
        _modify { yield &shared[0].connected }
    }

    /// GCDAsyncSocket's flags, derived from the state.
    public var flags: SocketFlags {
        get { shared[0].flags }
        _modify { yield &shared[0].flags }
    }

    /// Whether the caller or the user paused reading.
    public var isReadingPaused: Bool {
        get { shared[0].isReadingPaused }
        _modify { yield &shared[0].isReadingPaused }
    }

    /// Whether reading is held back because the delegate's queue, or the connection this one is linked to, can't keep
    /// up.
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

    /// Bytes read ahead that no read has taken. Those that the current delimiter read has gathered do not count.
    public var prebuffered: Int {
        get { shared[0].prebuffered }
        _modify { yield &shared[0].prebuffered }
    }

    /// Bytes received. With TLS, those on the wire.
    public var received: UInt64 {
        get { shared[0].received }
        _modify { yield &shared[0].received }
    }

    /// Bytes that the kernel accepted. With TLS, those on the wire.
    public var sent: UInt64 {
        get { shared[0].sent }
        _modify { yield &shared[0].sent }
    }

    /// Bytes received a second, smoothed over one second, or `nil` until measured twice.
    public var receiveRate: Double? {
        get { shared[0].receiveRate }
        _modify { yield &shared[0].receiveRate }
    }

    /// Bytes sent a second, smoothed over one second, or `nil` until measured twice.
    public var sendRate: Double? {
        get { shared[0].sendRate }
        _modify { yield &shared[0].sendRate }
    }

    /// How long its state has lasted, and how fast operations complete.
    public var activity: ActivitySnapshot {
        get { shared[0].activity }
        _modify { yield &shared[0].activity }
    }

    /// How callbacks are delivered, or `nil` for a listener and once the session has ended.
    public var callbacks: CallbackSnapshot? {
        get { shared[0].callbacks }
        _modify { yield &shared[0].callbacks }
    }

    /// For a listener, the number of connections accepted.
    public var accepted: UInt64 {
        get { shared[0].accepted }
        _modify { yield &shared[0].accepted }
    }

    /// The watermarks of the write queue, or `nil` if none are set.
    public var watermarks: Watermarks? {
        get { shared[0].watermarks }
        _modify { yield &shared[0].watermarks }
    }

    /// Whether the write queue has exceeded the high watermark and not fallen to the low one since.
    public var isAboveHighMark: Bool {
        get { shared[0].isAboveHighMark }
        _modify { yield &shared[0].isAboveHighMark }
    }

    /// How it was connected, or `nil` for accepted connections and listeners.
    public var connect: ConnectSnapshot? {
        get { shared[0].connect }
        _modify { yield &shared[0].connect }
    }

    /// The values that only a datagram socket has, or `nil` for a stream.
    public var datagrams: DatagramSnapshot? {
        get { shared[0].datagrams }
        _modify { yield &shared[0].datagrams }
    }

    /// How it ended, or `nil` while it is live.
    public var closed: CloseRecord? {
        get { shared[0].closed }
        _modify { yield &shared[0].closed }
    }

    /// The kernel's state, if it was requested.
    public var kernel: KernelSnapshot? {
        get { shared[0].kernel }
        _modify { yield &shared[0].kernel }
    }

    /// Its TLS, requested or established, or `nil` if TLS was never requested.
    public var tls: TLSSnapshot? {
        get { shared[0].tls }
        _modify { yield &shared[0].tls }
    }

    /// Its WebSocket, or `nil` if it is a plain stream.
    public var webSocket: WebSocketPicture? {
        get { shared[0].webSocket }
        _modify { yield &shared[0].webSocket }
    }

    /// The effects of faults and breakpoints, or `nil` if none apply.
    public var fault: FaultSnapshot? {
        get { shared[0].fault }
        _modify { yield &shared[0].fault }
    }

    /// Its questions and answers, or `nil` if they are not known: nobody inspected it, it is no stream, or its bytes
    /// are frames of a WebSocket.
    public var exchanges: ExchangeSnapshot? {
        get { shared[0].exchanges }
        _modify { yield &shared[0].exchanges }
    }

    /// The values that only a socket of another program has, observed from outside, or `nil` for a session of an
    /// engine.
    package var host: HostSnapshot? {
        get { shared[0].host }
        _modify { yield &shared[0].host }
    }

    /// What this host knows about its two ends while its packets are captured, or `nil` otherwise.
    package var ends: CapturedEnds? {
        get { shared[0].ends }
        _modify { yield &shared[0].ends }
    }

    /// Whether it belongs to other programs and is observed from outside: a socket, or a captured connection. This
    /// property and the next four copy nothing of `host`.
    package var isFromOutside: Bool { shared[0].isFromOutside }

    /// Whether it is a socket of another program.
    package var isOfHost: Bool { shared[0].isOfHost }

    /// Whether its bytes are counted. The kernel counts them only for TCP.
    package var countsBytes: Bool { shared[0].countsBytes }

    /// The user that owns it, if it is observed from outside and its program cannot be seen.
    package var hiddenOwner: UInt32? { shared[0].hiddenOwner }

    /// Whether there are findings about it from outside.
    package var hasVerdicts: Bool { shared[0].hasVerdicts }

    /// The memory that its rare values take, in bytes.
    package var rareMemory: Int { shared[0].rareMemory }

    /// Whether nothing can be wrong with it: it is connected without TLS and not linked, a standing read takes all
    /// input, nothing is unread and nothing is queued for writing. Most of thousands of connections are like this and
    /// need no further check.
    package var isUneventful: Bool { shared[0].isUneventful }

    /// Wraps the values gathered for a session.
    package init(_ facts: Facts) {
        shared = [facts]
    }

    /// The values of a snapshot, under the same names. Code that sets many of them sets them here and then wraps the
    /// result.
    package struct Facts: Equatable, Sendable {
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
        @Rare package var datagrams: DatagramSnapshot? = nil
        package var closed: CloseRecord?
        @Rare package var kernel: KernelSnapshot? = nil
        @Rare package var tls: TLSSnapshot? = nil
        @Rare package var webSocket: WebSocketPicture? = nil
        @Rare package var fault: FaultSnapshot? = nil
        @Rare package var exchanges: ExchangeSnapshot? = nil
        @Rare package var host: HostSnapshot? = nil
        @Rare package var ends: CapturedEnds? = nil

        package init(id: SocketID, role: SocketRole, phase: SocketPhase, target: String, opened: MonotonicTime) {
            self.id = id
            self.role = role
            self.phase = phase
            self.target = target
            self.opened = opened
        }

        fileprivate var isFromOutside: Bool { !_host.isEmpty || !_ends.isEmpty }
        fileprivate var isOfHost: Bool { !_host.isEmpty }
        fileprivate var countsBytes: Bool { role != .listener && (_host.isEmpty || _host.existing.tcp != nil) }

        fileprivate var hiddenOwner: UInt32? {
            guard !_host.isEmpty, _host.existing.program == nil else { return nil }
            return _host.existing.user
        }

        fileprivate var hasVerdicts: Bool {
            !_host.isEmpty && !_host.existing.verdicts.isEmpty || !_ends.isEmpty && !_ends.existing.verdicts.isEmpty
        }

        fileprivate var rareMemory: Int {
            _datagrams.memory + _kernel.memory + _tls.memory + _webSocket.memory + _fault.memory
                + _exchanges.memory + _host.memory + _ends.memory
        }

        var hasNoRarities: Bool {
            _tls.isEmpty && _webSocket.isEmpty && _datagrams.isEmpty && _host.isEmpty && _fault.isEmpty
        }

        var isUnanswered: Bool { !_exchanges.isEmpty && _exchanges.existing.unansweredSince != nil }

        var unreadInKernel: Int { _kernel.isEmpty ? 0 : _kernel.existing.receiveQueue ?? 0 }
    }
}

extension SocketSnapshot: CustomReflectable {
    /// Its properties.
    public var customMirror: Mirror {
        let facts = Mirror(reflecting: shared[0]).children.map { child in
            (child.label.map { $0.hasPrefix("_") ? String($0.dropFirst()) : $0 }, child.value)
        }
        return Mirror(self, children: facts, displayStyle: .struct)
    }
}
