import SocketCore

/// The facts that every pane reads. Only `Model` changes them; a pane is given them by value.
package struct Shared: Sendable {
    /// The screen held still: everything shown is as it was at that instant.
    package struct Frozen: Hashable, Sendable {
        package var snapshot: EngineSnapshot
        package var clock: WallClock
        /// The first event that is not shown.
        package var nextEvent: UInt64
        package var trafficOf: SocketID?
        package var traffic: TrafficSnapshot
    }

    /// Sums over the sessions that are shown, made once for each snapshot.
    package struct Summary: Hashable, Sendable {
        package var live = 0
        package var closed = 0
        package var receiveRate: Double?
        package var sendRate: Double?
        /// Columns that the largest id takes.
        package var idWidth = 4
        /// Of sockets looked at from outside: how many listen, and whose sockets have no program in sight.
        package var listening = 0
        package var hiddenOwners: [UInt32: Int] = [:]
        package var hiddenNames: [UInt32: String] = [:]
    }

    package let options: Model.Options
    /// The characters that lines and bars are drawn with.
    package let glyphs: Glyphs
    /// Makes foreign text fit for a terminal.
    package let sanitizer: Sanitizer
    /// The terminal's.
    package internal(set) var size = Size(80, 24)
    /// The last snapshot that came, shown or not.
    package internal(set) var latest: EngineSnapshot?
    package internal(set) var frozen: Frozen?
    /// The past that is looked at; `nil`: the present.
    package internal(set) var rewind: RewindState?
    /// How often the user went to another instant, and the last time that was shown.
    package internal(set) var turn: UInt64 = 0
    var shownTurn: UInt64 = 0
    /// The instant to show as soon as it was read.
    var awaitedInstant: Int64?
    /// The recording of this run, while there is one.
    package internal(set) var recording: RecordingState?
    package internal(set) var clock = WallClock()
    package internal(set) var cadence = Cadence()
    /// How busy each engine is, by its program's ordinal; none before the first second is over.
    package internal(set) var loads: [Int: EngineLoad] = [:]
    /// What the loads are measured from.
    var loadsBegan: [Int: EngineShare] = [:]
    package internal(set) var summary = Summary()
    package internal(set) var findings: Findings
    package internal(set) var log = EventLog()
    package internal(set) var histories = RateHistories()
    /// Sessions that the engine lists no longer, for the events that tell of them; the latest few thousand.
    var vanished = VanishedSockets()
    package internal(set) var timeouts: [SocketID: TimeoutNote] = [:]
    /// The other ends of connections in sight, those that are on this host.
    package internal(set) var peers: [SocketID: PeerEnd] = [:] {
        didSet { rememberPrograms() }
    }
    /// The programs that were last seen at the other ends of listed connections, for those that are closed.
    private(set) var formerPrograms: [SocketID: PeerEnd.Program] = [:]
    /// The programs that are looked at from outside; none: only this one.
    package internal(set) var programs: [ProgramInfo] = []
    /// The auto-reply rules, by socket.
    package internal(set) var replies: [SocketID: [ReplyRule]] = [:]
    /// The program that runs through a relay, if one does or did.
    package internal(set) var child: ChildState?
    /// What is being sent that takes a while, one a connection.
    package internal(set) var transmissions: [SocketID: TransmissionProgress] = [:]

    init(options: Model.Options) {
        self.options = options
        glyphs = options.ascii ? .ascii : .unicode
        sanitizer = Sanitizer(isASCII: options.ascii)
        findings = Findings(options.lints)
        awaitedInstant = options.instant
    }

    /// Forgets what was made of all snapshots so far.
    mutating func forgetHistory() {
        (latest, clock, cadence) = (nil, WallClock(), Cadence())
        (loads, loadsBegan, timeouts) = ([:], [:], [:])
        (histories, vanished) = (RateHistories(), VanishedSockets())
        (peers, formerPrograms) = ([:], [:])
        findings = Findings(options.lints)
        log = EventLog()
    }

    /// What is on the screen: the latest snapshot, or the one that was frozen.
    package var shown: EngineSnapshot? { frozen?.snapshot ?? latest }

    /// The instant that is shown.
    package var now: MonotonicTime { shown?.time ?? .zero }

    /// The clock by which times are shown.
    package var shownClock: WallClock { frozen?.clock ?? clock }

    /// Number of the entry after the last event that is shown.
    package var eventsEnd: Int {
        guard let frozen else { return log.end }
        var end = log.end
        while end > log.first, let entry = log[end - 1], entry.sequence >= frozen.nextEvent { end -= 1 }
        return end
    }

    /// Whether a session lives in this program.
    package func isOurs(_ id: SocketID) -> Bool {
        programs.isEmpty || programs.contains { $0.isOurs && $0.ordinal == id.ordinal }
    }

    /// Whether any session lives in this program.
    var hasOwn: Bool { programs.isEmpty || programs.contains(where: \.isOurs) }

    /// The program that a session is of, where any is looked at.
    func owner(of id: SocketID) -> ProgramInfo? { programs.first { $0.ordinal == id.ordinal } }

    /// Why the program of its socket cannot do this, or `nil` if it can.
    func refusal(of effect: Effect) -> String? {
        guard let socket = effect.socket else { return nil }
        return pastRefusal ?? owner(of: socket)?.refusal(of: effect)
    }

    private mutating func rememberPrograms() {
        formerPrograms = formerPrograms.filter { latest?.position(of: $0.key) != nil }
        for (id, end) in peers { formerPrograms[id] = end.program ?? formerPrograms[id] }
    }

    /// The session of an event, listed or not, as far as it is remembered.
    package func socket(of event: SocketEvent) -> SocketSnapshot? {
        shown?.socket(event.socket) ?? vanished[event.socket]
    }
}

/// The facts by their short names, to be read.
extension Model {
    package var glyphs: Glyphs { shared.glyphs }
    package var sanitizer: Sanitizer { shared.sanitizer }
    package var size: Size { shared.size }
    package var log: EventLog { shared.log }
    package var shown: EngineSnapshot? { shared.shown }
    package var now: MonotonicTime { shared.now }
    package var shownClock: WallClock { shared.shownClock }
}
