import SocketKit

/// Counts how often each thing happened to a socket in each state, so that a run can show that it has been everywhere.
package final class Coverage: Sendable {
    /// Where a socket is in its life, as the last snapshot had it.
    package enum State: Int, CaseIterable, Sendable {
        case gone, resolving, connecting, connected, interestOff, writeBlocked, readAsking, writeAsking, paused
        case writeShut, halfOpen, draining, lingering, listening, backedOff
    }

    /// What happens to it.
    package enum Event: Int, CaseIterable, Sendable {
        // From the kernel.
        case readable, writable, peerClosed, hungUp, timeout
        // From its user.
        case connect, read, standingRead, write, pause, resume, verdict, cancel, halfClose, release, snapshot, move
        case closeNow, closeAfterReading, closeAfterWriting, closeAfterBoth, closeReset
    }

    private struct Counts {
        var numbers = [Int](repeating: 0, count: State.allCases.count * Event.allCases.count)
        /// Of each kind of `await`, how often it came to each end.
        var awaits = [Int](repeating: 0, count: Awaits.Kind.allCases.count * Awaits.Event.allCases.count)
        /// The last snapshot.
        var sockets: [SocketSnapshot] = []

        func state(of session: SocketID) -> State {
            sockets.first { $0.id == session }.map { State($0) } ?? .gone
        }
    }

    private let counts = Lock(Counts())

    /// Nothing was seen yet.
    package init() {}

    /// Notes an event of a session, in the state that it was last seen in.
    func see(_ event: Event, _ session: SocketID?) {
        counts.withLock { counts in
            let state = session.map { counts.state(of: $0) } ?? .gone
            counts.numbers[state.rawValue * Event.allCases.count + event.rawValue] += 1
        }
    }

    /// Notes how an `await` ended.
    func see(_ kind: Awaits.Kind, _ event: Awaits.Event) {
        counts.withLock { $0.awaits[kind.rawValue * Awaits.Event.allCases.count + event.rawValue] += 1 }
    }

    /// How often such an `await` came to such an end.
    package func count(_ kind: Awaits.Kind, _ event: Awaits.Event) -> Int {
        counts.withLock { $0.awaits[kind.rawValue * Awaits.Event.allCases.count + event.rawValue] }
    }

    /// Takes the states from snapshots.
    func update(_ sockets: [SocketSnapshot]) {
        counts.withLock { $0.sockets = sockets }
    }

    /// The sessions of whose operations one is due, as the last snapshot had it; and those that are in a state that
    /// only time ends.
    func due(_ now: MonotonicTime) -> [SocketID] {
        counts.withLock { counts in
            counts.sockets.filter { socket in
                let deadlines = [socket.reading.current?.deadline, socket.writing.current?.deadline]
                return deadlines.contains { $0.map { $0 <= now } ?? false } || socket.phase.isTimed
            }.map(\.id)
        }
    }

    /// How often a pair was seen.
    package func count(_ state: State, _ event: Event) -> Int {
        counts.withLock { $0.numbers[state.rawValue * Event.allCases.count + event.rawValue] }
    }

    /// The pairs that can be and were not seen.
    package var missing: [String] {
        Self.possible.filter { count($0.state, $0.event) == 0 }.map { "\($0.state) x \($0.event)" }
    }

    /// The pairs that were seen least.
    package func rarest(_ most: Int) -> [(name: String, count: Int)] {
        let all = Self.possible.map { (name: "\($0.state) x \($0.event)", count: count($0.state, $0.event)) }
        return Array(all.sorted { $0.count < $1.count }.prefix(most))
    }

    /// All pairs that can be.
    package static let possible: [(state: State, event: Event)] = State.allCases.flatMap { state in
        Event.allCases.filter { state.canSee($0) }.map { (state, $0) }
    }
}

extension Coverage.State {
    /// Reads the state off a snapshot; where several hold, the one that changes most.
    init(_ socket: SocketSnapshot) {
        switch socket.phase {
        case .closed: self = .gone
        case .resolving: self = .resolving
        case .connecting: self = .connecting
        case .lingering: self = .lingering
        case .listening: self = socket.flags.contains(.readSourceSuspended) ? .backedOff : .listening
        case .connected, .open: self = Self.connectedState(socket)
        }
    }

    private static func connectedState(_ socket: SocketSnapshot) -> Self {
        if socket.flags.contains(.readsPaused) { return .readAsking }
        if socket.flags.contains(.writesPaused) { return .writeAsking }
        if socket.flags.contains(.forbidReadsWrites) { return .draining }
        if socket.flags.contains(.readStreamClosed) { return .halfOpen }
        if socket.isReadingPaused { return .paused }
        if socket.isWriteShut { return .writeShut }
        if !socket.flags.contains(.socketCanAcceptBytes) { return .writeBlocked }
        return socket.flags.contains(.readSourceSuspended) ? .interestOff : .connected
    }

    /// Whether an event can come in this state at all.
    fileprivate func canSee(_ event: Coverage.Event) -> Bool {
        switch self {
        case .gone: [.readable, .hungUp, .connect].contains(event)
        case .resolving: event == .timeout || event.isOfUser && event != .connect
        case .connecting:
            [.writable, .hungUp, .timeout].contains(event)
                || event.isOfUser && ![.connect, .verdict].contains(event)
        case .listening: event == .readable
        case .backedOff: event == .timeout
        case .lingering:
            [.readable, .peerClosed, .hungUp, .timeout].contains(event) || event.isOfUser && event != .connect
        case .readAsking, .writeAsking, .connected, .interestOff, .paused, .writeBlocked, .writeShut, .halfOpen,
            .draining:
            connectedCanSee(event)
        }
    }

    private func connectedCanSee(_ event: Coverage.Event) -> Bool {
        switch event {
        case .connect: false
        // Write interest is on only while the kernel is full.
        case .writable: self == .writeBlocked || self == .draining || self == .paused || self == .halfOpen
        case .readable: self != .interestOff && self != .halfOpen
        case .peerClosed: self != .halfOpen
        case .timeout: self != .interestOff
        default: true
        }
    }
}

extension Coverage.Event {
    /// The close that this mode stands for.
    init(_ mode: CloseMode) {
        switch mode {
        case .now: self = .closeNow
        case .afterReading: self = .closeAfterReading
        case .afterWriting: self = .closeAfterWriting
        case .afterBoth: self = .closeAfterBoth
        case .reset: self = .closeReset
        }
    }

    /// Whether it is asked for, and does not just happen.
    fileprivate var isOfUser: Bool { rawValue >= Coverage.Event.connect.rawValue }
}

extension SocketPhase {
    /// Whether time alone can change it.
    fileprivate var isTimed: Bool {
        switch self {
        case .resolving, .connecting, .lingering, .listening: true
        case .connected, .open, .closed: false
        }
    }
}
