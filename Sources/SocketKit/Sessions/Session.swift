import SocketCore

/// A session of an engine: anything that has a number and an entry in its table. Only this type decides what the engine
/// does with each kind of session.
enum Session {
    case stream(Connection)
    case listener(Acceptor)
    case datagrams(DatagramSession)

    var connection: Connection? { if case .stream(let connection) = self { connection } else { nil } }
    var acceptor: Acceptor? { if case .listener(let acceptor) = self { acceptor } else { nil } }
    var datagrams: DatagramSession? { if case .datagrams(let session) = self { session } else { nil } }

    var id: SocketID {
        switch self {
        case .stream(let connection): connection.id
        case .listener(let acceptor): acceptor.id
        case .datagrams(let session): session.id
        }
    }

    var role: SocketRole {
        switch self {
        case .stream(let connection): connection.role
        case .listener: .listener
        case .datagrams: .datagram
        }
    }

    // MARK: Events

    func handle(_ readiness: Readiness) {
        switch self {
        case .stream(let connection): connection.handle(readiness)
        case .listener(let acceptor): acceptor.handleReadiness()
        case .datagrams(let session): session.handle(readiness)
        }
    }

    /// Called at a scheduled deadline, which may have moved.
    func handleDeadline() {
        switch self {
        case .stream(let connection): connection.handleDeadline()
        case .listener(let acceptor): acceptor.handleDeadline()
        case .datagrams(let session): session.handleDeadline()
        }
    }

    func handleDelegateCaughtUp() {
        switch self {
        case .stream(let connection): connection.handleDelegateCaughtUp()
        case .listener(let acceptor): acceptor.handleDelegateCaughtUp()
        case .datagrams(let session): session.handleDelegateCaughtUp()
        }
    }

    /// Ends the session without notifying the released handle.
    func handleRelease() {
        switch self {
        case .stream(let connection): connection.handleRelease()
        case .listener(let acceptor): acceptor.close(error: nil, mode: .now, isReleased: true)
        case .datagrams(let session): session.handleRelease()
        }
    }

    // MARK: Facts

    /// When the engine must wake the session, or `nil` for never.
    var scheduledDeadline: MonotonicTime? { marks.deadline.value }

    /// `withKernel` also queries the kernel.
    func snapshot(withKernel: Bool) -> SocketSnapshot {
        switch self {
        case .stream(let connection): connection.snapshot(withKernel: withKernel)
        case .listener(let acceptor): acceptor.snapshot(withKernel: withKernel)
        case .datagrams(let session): session.snapshot(withKernel: withKernel)
        }
    }

    /// Like `snapshot(withKernel:)`, but a stream that hasn't changed returns its cached snapshot.
    func listed(withKernel: Bool, aged: Duration) -> SocketSnapshot {
        if case .stream(let connection) = self {
            return connection.currentSnapshot(withKernel: withKernel, aged: aged)
        }
        return snapshot(withKernel: withKernel)
    }

    // MARK: Traffic

    /// The traffic log, or `nil` if none is kept. A listener has none.
    var traffic: TrafficLog? {
        switch self {
        case .stream(let connection): connection.traffic
        case .listener: nil
        case .datagrams(let session): session.traffic
        }
    }

    /// The memory that its traffic uses, or `nil` if no traffic is kept.
    var trafficUse: TrafficUse? {
        switch self {
        case .stream(let connection): connection.trafficUse
        case .listener: nil
        case .datagrams(let session): session.trafficUse
        }
    }

    /// Keeps traffic in `log` from now on, or keeps none if it is `nil`.
    func keepTraffic(in log: TrafficLog?) {
        switch self {
        case .stream(let connection): connection.traffic = log
        case .listener: break
        case .datagrams(let session): session.traffic = log
        }
    }

    /// Drops kept traffic until it costs no more than `cost`.
    func trimTraffic(to cost: Int) {
        switch self {
        case .stream(let connection): connection.traffic?.trim(to: cost)
        case .listener: break
        case .datagrams(let session): session.traffic?.trim(to: cost)
        }
    }

    // MARK: Changes

    private var marks: SessionMarks {
        get {
            switch self {
            case .stream(let connection): connection.marks
            case .listener(let acceptor): acceptor.marks
            case .datagrams(let session): session.marks
            }
        }
        nonmutating set {
            switch self {
            case .stream(let connection): connection.marks = newValue
            case .listener(let acceptor): acceptor.marks = newValue
            case .datagrams(let session): session.marks = newValue
            }
        }
    }

    /// Whether the session is among those that changed since the last update to viewers.
    var isNoted: Bool {
        get { marks.isNoted }
        nonmutating set { marks.isNoted = newValue }
    }

    /// The snapshot that viewers get, without a stream's queued operations.
    var told: SocketSnapshot {
        if case .stream(let connection) = self { return connection.snapshot(withKernel: false, lists: false) }
        return snapshot(withKernel: false)
    }

    /// Whether the last snapshot stays valid until the session notes a change. Changes with time alone, such as rates,
    /// are not considered; see `changesByItself`.
    var isSettled: Bool {
        switch self {
        case .stream(let connection): connection.isSettled
        case .listener: true
        case .datagrams(let session): session.isSettled
        }
    }
}

extension EngineState {
    /// Returns the stream, or `nil` if it has ended or isn't a stream.
    func connection(_ id: SocketID) -> Connection? { sessions[id]?.connection }
    /// Returns the listener, or `nil` if it has ended or isn't a listener.
    func acceptor(_ id: SocketID) -> Acceptor? { sessions[id]?.acceptor }
    /// Returns the session, or `nil` if it has ended or isn't a datagram socket.
    func datagramSession(_ id: SocketID) -> DatagramSession? { sessions[id]?.datagrams }
}

extension SessionTable<Session> {
    /// Returns the stream without retaining it. It is retired before it leaves the table.
    func borrow(_ id: SocketID) -> BorrowedReference<Connection>? {
        if case .stream(let connection)? = self[id] { BorrowedReference(connection) } else { nil }
    }
}
