import SocketCore

/// A session of an engine: whatever has a number and a row in its table. What the engine does with every kind of session is
/// decided here, and nowhere else.
enum Session {
    case stream(Connection)
    case listener(Acceptor)
    case datagrams(DatagramSession)

    /// The stream; `nil` if it is something else.
    var connection: Connection? { if case .stream(let connection) = self { connection } else { nil } }
    /// The listener; `nil` if it is something else.
    var acceptor: Acceptor? { if case .listener(let acceptor) = self { acceptor } else { nil } }
    /// The datagram socket; `nil` if it is something else.
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

    // MARK: What happened

    /// The reactor reported its descriptor.
    func handle(_ readiness: Readiness) {
        switch self {
        case .stream(let connection): connection.handle(readiness)
        case .listener(let acceptor): acceptor.handleReadiness()
        case .datagrams(let session): session.handle(readiness)
        }
    }

    /// The deadline that it was scheduled for may have come.
    func handleDeadline() {
        switch self {
        case .stream(let connection): connection.handleDeadline()
        case .listener(let acceptor): acceptor.handleDeadline()
        case .datagrams(let session): session.handleDeadline()
        }
    }

    /// The delegate's queue has caught up.
    func handleDelegateCaughtUp() {
        switch self {
        case .stream(let connection): connection.handleDelegateCaughtUp()
        case .listener(let acceptor): acceptor.handleDelegateCaughtUp()
        case .datagrams(let session): session.handleDelegateCaughtUp()
        }
    }

    /// The handle is gone: it ends, and nobody is told.
    func handleRelease() {
        switch self {
        case .stream(let connection): connection.handleRelease()
        case .listener(let acceptor): acceptor.close(error: nil, mode: .now, isReleased: true)
        case .datagrams(let session): session.handleRelease()
        }
    }

    // MARK: Facts

    /// When the engine has to wake it; `nil`: at no time.
    var scheduledDeadline: MonotonicTime? { marks.deadline.value }

    /// The session as it is now; `withKernel` asks the kernel too.
    func snapshot(withKernel: Bool) -> SocketSnapshot {
        switch self {
        case .stream(let connection): connection.snapshot(withKernel: withKernel)
        case .listener(let acceptor): acceptor.snapshot(withKernel: withKernel)
        case .datagrams(let session): session.snapshot(withKernel: withKernel)
        }
    }

    /// The same, for a list of all: a stream that has not changed since is not described again.
    func listed(withKernel: Bool) -> SocketSnapshot {
        if case .stream(let connection) = self { return connection.currentSnapshot(withKernel: withKernel) }
        return snapshot(withKernel: withKernel)
    }

    // MARK: Traffic

    /// What is kept of its traffic; `nil`: nothing is. A listener has none.
    var traffic: TrafficLog? {
        switch self {
        case .stream(let connection): connection.traffic
        case .listener: nil
        case .datagrams(let session): session.traffic
        }
    }

    /// What its traffic takes up; `nil` if nothing is kept.
    var trafficUse: TrafficUse? {
        switch self {
        case .stream(let connection): connection.trafficUse
        case .listener: nil
        case .datagrams(let session): session.trafficUse
        }
    }

    /// Keeps traffic from now on, in this log, or none any more.
    func keepTraffic(in log: TrafficLog?) {
        switch self {
        case .stream(let connection): connection.traffic = log
        case .listener: break
        case .datagrams(let session): session.traffic = log
        }
    }

    /// Takes from what is kept until it takes up no more than this.
    func trimTraffic(to cost: Int) {
        switch self {
        case .stream(let connection): connection.traffic?.trim(to: cost)
        case .listener: break
        case .datagrams(let session): session.traffic?.trim(to: cost)
        }
    }

    // MARK: Changes

    /// What it has told the engine.
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

    /// Whether it is among the sessions that changed since viewers were last told.
    var isNoted: Bool {
        get { marks.isNoted }
        nonmutating set { marks.isNoted = newValue }
    }

    /// The session as viewers are told of it, without the operations that wait in a stream.
    var told: SocketSnapshot {
        if case .stream(let connection) = self { return connection.snapshot(withKernel: false, lists: false) }
        return snapshot(withKernel: false)
    }

    /// Whether its last snapshot stays true until the session notes a change. What changes with time alone, such as rates, is
    /// left out: `changesByItself` says so.
    var isSettled: Bool {
        switch self {
        case .stream(let connection): connection.hasMeasuredAll
        case .listener: true
        case .datagrams(let session): session.isSettled
        }
    }
}

extension EngineState {
    /// The stream of this number; `nil`: it is over, or something else.
    func connection(_ id: SocketID) -> Connection? { sessions[id]?.connection }
    /// The listener of this number; `nil`: it is over, or something else.
    func acceptor(_ id: SocketID) -> Acceptor? { sessions[id]?.acceptor }
    /// The datagram socket of this number; `nil`: it is over, or something else.
    func datagramSession(_ id: SocketID) -> DatagramSession? { sessions[id]?.datagrams }
}

extension SessionTable<Session> {
    /// The stream of this number, not retained: it is retired before it leaves the table.
    func borrow(_ id: SocketID) -> BorrowedReference<Connection>? {
        if case .stream(let connection)? = self[id] { BorrowedReference(connection) } else { nil }
    }
}
