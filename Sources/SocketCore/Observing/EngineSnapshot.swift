/// The engine's own counters over its lifetime.
public struct EngineCounters: Equatable, Sendable {
    /// Times the engine ran.
    public var turns: UInt64 = 0
    /// Readiness events received from the kernel.
    public var readinessEvents: UInt64 = 0
    /// Commands performed.
    public var commands: UInt64 = 0
    /// Sessions started.
    public var opened: UInt64 = 0
    /// Sessions that ended, whether or not they are still listed.
    public var closed: UInt64 = 0
    /// Bytes received by all sessions.
    public var received: UInt64 = 0
    /// Bytes sent by all sessions.
    public var sent: UInt64 = 0
    /// Times the kernel refused a descriptor because the process (EMFILE) or the system (ENFILE) had none left.
    public var descriptorsRefused: UInt64 = 0
    /// Bytes that incomplete WebSocket messages use now, not counting the first 64 KiB of each.
    /// `EngineConfiguration.unfinishedMessageBytes` limits them.
    public var unfinishedMessageBytes: UInt64 = 0
    /// WebSockets that failed with code 1013 because `unfinishedMessageBytes` reached its limit.
    public var messagesWithoutRoom: UInt64 = 0

    /// Creates counters that are all 0.
    public init() {}
}

/// A consistent snapshot of every session of an engine at one instant.
public struct EngineSnapshot: Equatable, Sendable {
    /// The version of this format. A reader should reject versions that it does not know.
    public var version = 1
    /// The engine's name.
    public var engine: String
    /// The instant of the snapshot.
    public var time: MonotonicTime
    /// The same instant on the wall clock, in nanoseconds since 1970 (UTC).
    public var wallNanoseconds: Int64
    /// Live sessions and recently closed ones, oldest first.
    public var sockets: [SocketSnapshot]
    /// The engine's own counters.
    public var counters: EngineCounters
    /// How busy the engine is.
    public var times: EngineTimes
    /// Events from the requested sequence number on, if they are still in the ring.
    public var events: [SocketEvent]
    /// The number of events from the requested one on that were overwritten before this snapshot. They precede
    /// `events`.
    public var eventsLost: UInt64
    /// The sequence number to request next.
    public var nextEvent: UInt64
    /// The traffic that was kept of the requested session.
    public var traffic: TrafficSnapshot?
    /// The session that `traffic` belongs to.
    public var trafficOf: SocketID?
    /// The engines in a snapshot that combines several programs, or `nil` in a snapshot of one.
    package var shares: [EngineShare]?
    /// The position of this snapshot in its source's history, or `nil` if the source cannot be rewound.
    package var moment: SnapshotMoment?
    /// The number of the request that this snapshot answers; see `SnapshotRequest.jump`.
    package var jump: UInt64 = 0
    /// The traffic of the sessions where it changed since the request's versions, or `nil` if it was not requested.
    package var changedTraffic: [SocketID: VersionedTraffic]?
    /// The other ends of connections that this viewer found, or `nil` if it did not look for them.
    package var peers: [SocketID: PeerEnd]?
    /// The calls of the program that is run, or `nil` if they are not traced.
    package var calls: CallLedger?
    /// The snapshots before this one, oldest first, if values that accumulate over snapshots start over, or `nil` if
    /// they continue.
    package var before: [EngineSnapshot]?
    /// Everything in this snapshot but the sessions that changed, which are in `sockets`. It is `nil` if `sockets`
    /// lists all sessions.
    package var changes: SnapshotChanges?

    /// Creates a snapshot without sessions.
    public init(engine: String, time: MonotonicTime, wallNanoseconds: Int64) {
        self.engine = engine
        self.time = time
        self.wallNanoseconds = wallNanoseconds
        sockets = []
        counters = EngineCounters()
        times = EngineTimes()
        events = []
        eventsLost = 0
        nextEvent = 0
    }
}

extension EngineSnapshot {
    /// Returns the session of this name. The list is sorted by id, so this is a binary search.
    package func socket(_ id: SocketID) -> SocketSnapshot? {
        position(of: id).map { sockets[$0] }
    }

    /// Returns the index of the session in `sockets`.
    package func position(of id: SocketID) -> Int? {
        var low = 0
        var high = sockets.count
        while low < high {
            let middle = (low + high) / 2
            if sockets[middle].id < id {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low < sockets.count && sockets[low].id == id ? low : nil
    }
}

/// The traffic that was kept of a session, and its version.
package struct VersionedTraffic: Equatable, Sendable {
    package var version: UInt64
    package var traffic: TrafficSnapshot

    package init(version: UInt64, traffic: TrafficSnapshot) { (self.version, self.traffic) = (version, traffic) }
}

/// The contents of a snapshot of changes in addition to the changed sessions. Everything but `watched` and `gone` is
/// only in the last piece.
package struct SnapshotChanges: Equatable, Sendable {
    /// Sessions that disappeared without a record of their end.
    package var gone: [SocketID] = []
    /// The oldest closed session that is still listed, or `nil` if there is none.
    package var oldestClosed: SocketID?
    /// Sessions that a viewer watches, with their listings and the kernel's state.
    package var watched: [SocketID: SocketSnapshot] = [:]
    /// The traffic that was kept of the requested sessions.
    package var traffic: [SocketID: TrafficSnapshot] = [:]
    /// Whether there was too much for one piece. Further sessions follow in the next piece, and everything else in the
    /// last.
    package var isPartial = false
    /// The time that the snapshot took on the engine's queue.
    package var cost = Duration.zero

    package init() {}
}

/// The counters of one engine, at an instant of its own, in a snapshot of several programs.
package struct EngineShare: Equatable, Sendable {
    /// The number of the program; see `SocketID.ordinal`.
    package var ordinal: Int
    /// The engine's name.
    package var engine: String
    package var time: MonotonicTime
    package var counters: EngineCounters
    package var times: EngineTimes

    /// Takes the counters from a snapshot of one program.
    package init(_ snapshot: EngineSnapshot, ordinal: Int = 0) {
        self.ordinal = ordinal
        engine = snapshot.engine
        (time, counters, times) = (snapshot.time, snapshot.counters, snapshot.times)
    }
}

extension EngineSnapshot {
    /// The engines in this snapshot.
    package var engines: [EngineShare] { shares ?? [EngineShare(self)] }

    /// The engine that owns a session.
    package func engine(of id: SocketID) -> EngineShare {
        shares?.first { $0.ordinal == id.ordinal } ?? EngineShare(self)
    }
}

/// What a snapshot includes in addition to the sessions.
public struct SnapshotRequest: Equatable, Sendable {
    /// The sessions whose kernel state is requested, at a few system calls each.
    public var kernel: KernelChoice
    /// How old the kernel's state may be of a connection that can't have changed unnoticed: its queues were empty, and
    /// the engine has seen nothing happen to it since.
    package var kernelAge = Duration.zero
    /// Lists events from this sequence number on, or none if it is `nil`.
    public var eventsFrom: UInt64?
    /// Lists the kept traffic of this session, or none if it is `nil`.
    public var traffic: SocketID?
    /// Lists only the sessions that changed, without listings of their queues, or all sessions if it is `nil`. It then
    /// also says whose kernel state and traffic are requested.
    package var changes: Changes?
    /// Whether the sockets in TIME-WAIT on a host may share one row. `HostSnapshot.alike` then says how many they are.
    package var foldsWaiting = false
    /// The requested instant, in nanoseconds since 1970, for a source that can be rewound, or `nil` for the latest.
    package var instant: Int64?
    /// The number of times that the viewer has jumped to another instant. The answer has the same number. If the number
    /// is new, events start over.
    package var jump: UInt64 = 0

    /// For a recording, the versions of the traffic that it already has. The others are listed. If it is `nil`, none
    /// are listed.
    package var trafficVersions: [SocketID: UInt64]?

    /// A request for changes, made by one reader at a time, one piece at a time.
    package struct Changes: Equatable, Sendable {
        /// Whether to list every session, even if it has not changed.
        package var isWhole = false
        /// Whether to continue the previous request, which was too much for one piece.
        package var isContinued = false
        /// Sessions to list in full, with the kernel's state.
        package var watched: Set<SocketID> = []
        /// Whether every session counts as watched, up to `InspectionWatch.limit` of them.
        package var watchesAll = false
        /// Sessions whose traffic is included.
        package var traffic: Set<SocketID> = []

        package init() {}
    }

    /// The sessions whose kernel state is requested.
    public enum KernelChoice: Equatable, Sendable {
        /// No sessions.
        case none
        /// Only these sessions.
        case only(Set<SocketID>)
        /// All live sessions.
        case all
    }

    /// Creates a request. By default it requests only the sessions.
    public init(kernel: KernelChoice = .none, eventsFrom: UInt64? = nil, traffic: SocketID? = nil) {
        self.kernel = kernel
        self.eventsFrom = eventsFrom
        self.traffic = traffic
    }
}
