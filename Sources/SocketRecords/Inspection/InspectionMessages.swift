import SocketCore

extension InspectionRights: WireWord {}

/// The identity of one side, and its version of the wire.
package struct InspectionHello: WireMessage, Sendable {
    package var magic = Self.magicWord
    /// Sides with different major versions can't understand each other.
    package var major = Self.version
    /// Counts additions, which the other side skips.
    package var minor: UInt64 = 1
    package var process = 0
    /// The program's name, as the kernel reports it.
    package var program = ""
    /// The engine's name.
    package var engine = ""
    /// What the viewer may do. Sent by the program.
    package var rights = InspectionRights.watch
    /// When the program became inspectable, in nanoseconds since 1970 (UTC). Sent by the program.
    package var started: Int64 = 0

    package static let magicWord = "socktui"
    package static let version: UInt64 = 1

    package init() {}

    package static var blank: InspectionHello {
        var hello = InspectionHello()
        hello.magic = ""
        (hello.major, hello.minor) = (0, 0)
        return hello
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &magic)
        try coder.field(2, &major)
        try coder.field(3, &minor)
        try coder.field(4, &process)
        try coder.field(5, &program)
        try coder.field(6, &engine)
        try coder.field(7, &rights)
        try coder.field(8, &started)
    }

    /// Returns why the other side can't be understood, or `nil` if it can. `who` names it.
    package func refusal(of other: InspectionHello, who: String) -> String? {
        guard other.magic == Self.magicWord else { return "\(who) does not speak the inspection protocol" }
        guard other.major == major else {
            return "\(who) speaks version \(other.major) of the inspection protocol, and \(program) version \(major); "
                + "both sides need the same"
        }
        return nil
    }
}

/// The end of one update, with the update's instant.
package struct InspectionTick: WireMessage, Sendable {
    package var time = MonotonicTime.zero
    package var wallNanoseconds: Int64 = 0
    package var counters = EngineCounters()
    package var times = EngineTimes()
    /// Sessions that are no longer listed.
    package var removed: [SocketID] = []
    /// The sequence number of the next event. Events between the last one sent and this number were lost.
    package var nextEvent: UInt64 = 0
    /// The minimum time between updates that the program can afford now.
    package var interval = Duration.zero

    package init() {}
    package static var blank: InspectionTick { InspectionTick() }

    /// Creates the end of the update for this snapshot.
    package init(_ snapshot: EngineSnapshot) {
        (time, wallNanoseconds, nextEvent) = (snapshot.time, snapshot.wallNanoseconds, snapshot.nextEvent)
        (counters, times) = (snapshot.counters, snapshot.times)
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &time)
        try coder.field(2, &wallNanoseconds)
        try coder.field(3, &counters)
        try coder.field(4, &times)
        try coder.field(5, &removed)
        try coder.field(6, &nextEvent)
        try coder.field(7, &interval)
    }
}

/// Changes in one session's traffic.
package struct InspectionTraffic: WireMessage, Sendable {
    package var socket = SocketID(0)
    /// The number of items dropped for lack of room since the session began.
    package var dropped: UInt64 = 0
    /// The sequence number of the first item still kept.
    package var first: UInt64 = 0
    /// Items that are new or have changed.
    package var items: [TrafficItem] = []

    package init() {}
    package static var blank: InspectionTraffic { InspectionTraffic() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &socket)
        try coder.field(2, &dropped)
        try coder.field(3, &first)
        try coder.field(4, &items)
    }
}

/// What a viewer requests in addition to the list. Each request replaces the previous one.
package struct InspectionWatch: WireMessage, Sendable {
    /// Sessions whose queues and kernel state are included in each update, at most `limit`.
    package var sockets: [SocketID] = []
    /// The session whose traffic is sent.
    package var traffic: SocketID?
    /// Whether events are sent.
    package var wantsEvents = false
    /// Whether every session counts as one of `sockets`, up to `limit` in all: listeners and datagram sockets first,
    /// then connections, oldest first.
    package var wantsAll = false
    /// Whether all traffic is sent, byte by byte, from now on.
    package var wantsPassing = false

    package static let limit = 256

    package init() {}
    package static var blank: InspectionWatch { InspectionWatch() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &sockets)
        try coder.field(2, &traffic)
        try coder.field(3, &wantsEvents)
        try coder.field(4, &wantsAll)
        try coder.field(5, &wantsPassing)
    }
}

/// The result of a request to the program.
package struct InspectionAnswer: WireMessage, Sendable, Equatable {
    /// Lines for the user.
    package var text = ""
    /// Whether the request was refused. The text says why.
    package var isRefused = false

    package init(_ text: String = "", isRefused: Bool = false) { (self.text, self.isRefused) = (text, isRefused) }
    package static var blank: InspectionAnswer { InspectionAnswer() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &text)
        try coder.field(2, &isRefused)
    }
}

/// A sentence.
struct InspectionText: WireMessage {
    var text = ""

    init(_ text: String = "") { self.text = text }
    static var blank: InspectionText { InspectionText() }

    mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) { try coder.field(1, &text) }
}

/// Values of one kind.
struct InspectionList<Value: WireMessage>: WireMessage {
    var values: [Value] = []

    static var blank: InspectionList { InspectionList() }

    mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) { try coder.field(1, &values) }
}
