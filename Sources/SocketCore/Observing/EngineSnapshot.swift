/// Numbers of the engine itself, counted over its life.
public struct EngineCounters: Hashable, Sendable, Codable {
    /// Times the engine ran.
    public var turns: UInt64 = 0
    /// Readiness reports taken from the kernel.
    public var readinessEvents: UInt64 = 0
    /// Commands carried out.
    public var commands: UInt64 = 0
    /// Sessions begun.
    public var opened: UInt64 = 0
    /// Sessions over, whether still listed or not.
    public var closed: UInt64 = 0
    /// Bytes received by all sessions.
    public var received: UInt64 = 0
    /// Bytes sent by all sessions.
    public var sent: UInt64 = 0
    /// Times the kernel refused a descriptor because the process (EMFILE) or the system (ENFILE) had none left.
    public var descriptorsRefused: UInt64 = 0
    /// Bytes that messages of WebSockets take up now that have not come whole, without the first 64 KiB of each;
    /// `EngineConfiguration.unfinishedMessageBytes` limits them.
    public var unfinishedMessageBytes: UInt64 = 0
    /// WebSockets that failed with code 1013 because those bytes were used up.
    public var messagesWithoutRoom: UInt64 = 0

    /// All zero.
    public init() {}
}

/// A consistent picture of every session of an engine at one instant.
public struct EngineSnapshot: Hashable, Sendable, Codable {
    /// The version of this form; a reader that knows another one should refuse.
    public var version = 1
    /// The engine's name.
    public var engine: String
    /// The instant.
    public var time: MonotonicTime
    /// The same instant on the wall clock, in nanoseconds since 1970 (UTC).
    public var wallNanoseconds: Int64
    /// Live sessions and those that closed lately, oldest first.
    public var sockets: [SocketSnapshot]
    /// Numbers of the engine itself.
    public var counters: EngineCounters
    /// How busy the engine is.
    public var times: EngineTimes
    /// Events from the sequence number asked for on, as far as they are still there.
    public var events: [SocketEvent]
    /// Events since the one asked for that were overwritten before this snapshot; they lie before `events`.
    public var eventsLost: UInt64
    /// The sequence number to ask for next.
    public var nextEvent: UInt64
    /// What was kept of the traffic of the session asked for.
    public var traffic: TrafficSnapshot?
    /// The session that `traffic` is of.
    public var trafficOf: SocketID?
    /// The engines of a snapshot that several programs are put into; `nil` in a snapshot of one.
    package var shares: [EngineShare]?
    /// Where in its history this is; `nil`: its source cannot be rewound.
    package var moment: SnapshotMoment?
    /// The number of the request that this answers; see `SnapshotRequest.turn`.
    package var turn: UInt64 = 0
    /// What was kept of the traffic of the sessions where that changed since the request's versions; `nil`: not asked for.
    package var changedTraffic: [SocketID: VersionedTraffic]?
    /// The other ends of connections, as this viewer found them; `nil`: it did not look.
    package var peers: [SocketID: PeerEnd]?
    /// What was shown before this, oldest first, where what adds up over snapshots begins again; `nil`: this goes on.
    package var before: [EngineSnapshot]?
    /// What this has beside the sessions that changed, which `sockets` then holds; `nil`: `sockets` are all there are.
    package var changes: SnapshotChanges?

    /// A picture without sessions.
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

/// What was kept of a session's traffic, and the version of that.
package struct VersionedTraffic: Hashable, Sendable, Codable {
    package var version: UInt64
    package var traffic: TrafficSnapshot

    package init(version: UInt64, traffic: TrafficSnapshot) { (self.version, self.traffic) = (version, traffic) }
}

/// What a snapshot of the sessions that changed since the one before it has beside them. All but `watched` and `gone` is
/// in its last piece only.
package struct SnapshotChanges: Hashable, Sendable, Codable {
    /// Sessions that are gone without an ending.
    package var gone: [SocketID] = []
    /// The oldest ending that is still listed; nil: none is.
    package var oldestClosed: SocketID?
    /// Sessions that some viewer watches, with listings and the kernel's side.
    package var watched: [SocketID: SocketSnapshot] = [:]
    /// What was kept of the traffic of the sessions asked for.
    package var traffic: [SocketID: TrafficSnapshot] = [:]
    /// Whether there was too much for one piece: sessions go on in the next one, and all else is in the last.
    package var isPartial = false
    /// What it took to make, on the engine's queue.
    package var cost = Duration.zero

    package init() {}
}

/// The numbers of one engine, at an instant of its own, in a snapshot of several programs.
package struct EngineShare: Hashable, Sendable, Codable {
    /// Which program's it is; see `SocketID.ordinal`.
    package var ordinal: Int
    /// The engine's name.
    package var engine: String
    package var time: MonotonicTime
    package var counters: EngineCounters
    package var times: EngineTimes

    /// The numbers of a snapshot of one program.
    package init(_ snapshot: EngineSnapshot, ordinal: Int = 0) {
        self.ordinal = ordinal
        engine = snapshot.engine
        (time, counters, times) = (snapshot.time, snapshot.counters, snapshot.times)
    }
}

extension EngineSnapshot {
    /// The engines that this is a snapshot of.
    package var engines: [EngineShare] { shares ?? [EngineShare(self)] }

    /// The engine that a session lives on.
    package func engine(of id: SocketID) -> EngineShare {
        shares?.first { $0.ordinal == id.ordinal } ?? EngineShare(self)
    }
}

/// What a snapshot shall hold beyond the sessions themselves.
public struct SnapshotRequest: Hashable, Sendable {
    /// Sessions whose kernel side is asked for (a few system calls each).
    public var kernel: KernelChoice
    /// List events from this sequence number on; nil: none.
    public var eventsFrom: UInt64?
    /// The session whose kept traffic is listed; nil: none.
    public var traffic: SocketID?
    /// Lists the sessions that changed, without listings of their queues; nil: lists all sessions. The kernel's side and
    /// traffic are then asked for here.
    package var changes: Changes?
    /// The time of day, in nanoseconds since 1970, whose state is asked for, of a source that can be rewound; `nil`: the
    /// latest.
    package var instant: Int64?
    /// Counts how often the viewer went to another instant. The answer has the same number; with a new one, events begin
    /// again.
    package var turn: UInt64 = 0

    /// Of a recording: the versions of the traffic that it has. What was kept of the others is listed; `nil`: of none.
    package var trafficVersions: [SocketID: UInt64]?

    /// A look at what changed, which one reader at a time takes, a piece at a time.
    package struct Changes: Hashable, Sendable {
        /// Tell all there is, whether it changed or not.
        package var isWhole = false
        /// Go on with the one before, which was too much for one piece.
        package var isContinued = false
        /// Sessions to be listed whole, with the kernel's side.
        package var watched: Set<SocketID> = []
        /// Whether every session counts as watched, up to `InspectionWatch.limit` of them.
        package var watchesAll = false
        /// Sessions whose traffic is told.
        package var traffic: Set<SocketID> = []

        package init() {}
    }

    /// Which sessions' kernel side is asked for.
    public enum KernelChoice: Hashable, Sendable {
        /// None.
        case none
        /// These.
        case only(Set<SocketID>)
        /// All live ones.
        case all
    }

    /// Asks for nothing beyond the sessions, unless said otherwise.
    public init(kernel: KernelChoice = .none, eventsFrom: UInt64? = nil, traffic: SocketID? = nil) {
        self.kernel = kernel
        self.eventsFrom = eventsFrom
        self.traffic = traffic
    }
}
