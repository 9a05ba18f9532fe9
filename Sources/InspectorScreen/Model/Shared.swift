import InspectorCore
import SocketCore

/// The facts that every pane reads. Only `Model` changes them. A pane gets them by value.
package struct Shared: Sendable {
    /// A frozen screen. Everything shown is from that instant.
    package struct Frozen: Equatable, Sendable {
        package var snapshot: EngineSnapshot
        package var clock: WallClock
        /// The first event that is not shown.
        package var nextEvent: UInt64
        package var trafficOf: SocketID?
        package var traffic: TrafficSnapshot
    }

    package let options: Model.Options
    /// The characters used to draw lines and bars.
    package let glyphs: Glyphs
    /// Makes foreign text safe for a terminal.
    package let sanitizer: Sanitizer
    /// The size of the terminal.
    package internal(set) var size = Size(80, 24)
    /// The last snapshot received, shown or not.
    package internal(set) var latest: EngineSnapshot?
    package internal(set) var frozen: Frozen?
    /// The past that is shown, or `nil` for the present.
    package internal(set) var rewind: RewindState?
    /// How often the user jumped to another instant. `shownJump` is the last of these jumps that was shown.
    package internal(set) var jump: UInt64 = 0
    var shownJump: UInt64 = 0
    /// The instant to show as soon as it was read.
    var awaitedInstant: Int64?
    /// The recording of this run, if there is one.
    package internal(set) var recording: RecordingState?
    package internal(set) var clock = WallClock()
    package internal(set) var cadence = Cadence()
    /// The load of each engine, by its program's ordinal. Empty until the first second is over.
    package internal(set) var loads: [Int: EngineLoad] = [:]
    /// The values that the loads are measured from.
    var loadsBegan: [Int: EngineShare] = [:]
    package internal(set) var summary = SnapshotSummary()
    package internal(set) var findings: Findings
    package internal(set) var log = EventLog()
    package internal(set) var histories = RateHistories()
    /// Sessions that the engine no longer lists, for their events. Keeps the latest few thousand.
    var vanished = VanishedSockets()
    package internal(set) var timeouts: [SocketID: TimeoutNote] = [:]
    /// The other ends of the visible connections that are on this host.
    package internal(set) var peers: [SocketID: PeerEnd] = [:] {
        didSet { rememberPrograms() }
    }
    /// The programs last seen at the other ends of listed connections, for closed connections.
    private(set) var formerPrograms: [SocketID: PeerEnd.Program] = [:]
    /// The inspected programs. If empty, only this one is.
    package internal(set) var programs: [ProgramInfo] = []
    /// The auto-reply rules, by socket.
    package internal(set) var replies: [SocketID: [ReplyRule]] = [:]
    /// The program that runs or ran through a relay.
    package internal(set) var child: ChildState?
    /// The long transmissions, at most one per connection.
    package internal(set) var transmissions: [SocketID: TransmissionProgress] = [:]

    init(options: Model.Options) {
        self.options = options
        glyphs = options.ascii ? .ascii : .unicode
        sanitizer = Sanitizer(isASCII: options.ascii)
        findings = Findings(options.lints)
        awaitedInstant = options.instant
    }

    /// Forgets everything derived from earlier snapshots.
    mutating func forgetHistory() {
        (latest, clock, cadence) = (nil, WallClock(), Cadence())
        (loads, loadsBegan, timeouts) = ([:], [:], [:])
        (histories, vanished) = (RateHistories(), VanishedSockets())
        (peers, formerPrograms) = ([:], [:])
        findings = Findings(options.lints)
        log = EventLog()
    }

    /// The snapshot on the screen: the latest one, or the frozen one.
    package var shown: EngineSnapshot? { frozen?.snapshot ?? latest }

    /// The instant that is shown.
    package var now: MonotonicTime { shown?.time ?? .zero }

    /// The system calls of the program that is run, at the instant shown, or `nil` if they are not traced.
    package var calls: CallLedger? { shown?.calls }

    /// The clock for the times on the screen.
    package var shownClock: WallClock { frozen?.clock ?? clock }

    /// The number after the last event that is shown.
    package var eventsEnd: Int {
        guard let frozen else { return log.end }
        var end = log.end
        while end > log.first, let entry = log[end - 1], entry.sequence >= frozen.nextEvent { end -= 1 }
        return end
    }

    /// Whether a session belongs to this program.
    package func isOurs(_ id: SocketID) -> Bool {
        programs.isEmpty || programs.contains { $0.isOurs && $0.ordinal == id.ordinal }
    }

    /// Whether a file is still being read.
    var isReadingFile: Bool { programs.contains { $0.progress != nil } }

    /// Whether this program can have sessions.
    var hasOwn: Bool { programs.isEmpty || programs.contains(where: \.isOurs) }

    /// Returns the program of a session, if any programs are inspected.
    func owner(of id: SocketID) -> ProgramInfo? { programs.first { $0.ordinal == id.ordinal } }

    /// Returns why the program of its socket can't perform an effect, or `nil` if it can.
    func refusal(of effect: Effect) -> String? {
        guard let socket = effect.claims.socket else { return nil }
        return pastRefusal ?? owner(of: socket)?.refusal(of: effect)
    }

    private mutating func rememberPrograms() {
        formerPrograms = formerPrograms.filter { latest?.position(of: $0.key) != nil }
        for (id, end) in peers { formerPrograms[id] = end.program ?? formerPrograms[id] }
    }

    /// Returns the session of an event, listed or not, as far as it is remembered.
    package func socket(of event: SocketEvent) -> SocketSnapshot? {
        shown?.socket(event.socket) ?? vanished[event.socket]
    }
}

/// Short names for reading the shared facts.
extension Model {
    package var glyphs: Glyphs { shared.glyphs }
    package var sanitizer: Sanitizer { shared.sanitizer }
    package var size: Size { shared.size }
    package var log: EventLog { shared.log }
    package var shown: EngineSnapshot? { shared.shown }
    package var now: MonotonicTime { shared.now }
    package var shownClock: WallClock { shared.shownClock }
}
