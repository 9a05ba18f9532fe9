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
