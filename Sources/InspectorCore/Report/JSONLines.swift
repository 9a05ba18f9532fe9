import SocketCore

/// An engine's activity as a stream of changes: one JSON object per line (JSON Lines). `docs/json.md` describes the
/// format.
///
/// The first line is `hello`. Each snapshot then adds the events since the previous one, in order (`event`, and `lost`
/// if some were overwritten before they were read), every changed session in full (`socket`), and each new warning once
/// (`warning`). `program` has the state of each attached program. The last `socket` line of an id is therefore
/// complete, and a reader that missed some lines is up to date with the next. At most once a second, and never on a
/// quiet engine, `engine` has the load of each program's engine, one line each. The last line is `end`.
package struct JSONLines: Sendable {
    /// The version of the format, `v` in every line. New names don't change it, but a changed meaning does.
    package static let version = 1

    private let program: String
    private let naming: CommandNaming
    private var clock = WallClock()
    private var known: [SocketID: Told] = [:]
    private var findings: Findings
    /// The numbers of events lost within the last minute, and when.
    private var losses: [(time: MonotonicTime, count: UInt64)] = []
    /// The attached programs, as last written.
    private var programs: [[JSON.Member]] = []
    /// The program that runs through the relay, as last written.
    private var child: ChildState?
    /// The warnings about the engine as a whole, as last written.
    private var engineLints: [String] = []
    private var hasBegun = false
    /// When the last snapshot was made, and the other ends of its connections.
    private var seen: (time: MonotonicTime, peers: [SocketID: PeerEnd])?
    /// The sequence number of the next event to request.
    package private(set) var nextEvent: UInt64 = 0
    /// The total number of events lost.
    package private(set) var lost: UInt64 = 0

    /// Writes the transferred bytes, or `nil` if they are not written.
    private var payload: PayloadLines?
    /// Writes questions and answers, or `nil` if they are not written.
    private var exchanges: ExchangeLines?
    /// Writes the calls of the program that is run.
    private var calls = CallLines()
    private var due = DueTraffic()
    /// The interval at which a session is written if only its rates have changed, or `nil` for never.
    private let every: Duration?

    /// Each engine's values in its last `engine` line, by its program's ordinal.
    private var engines: [Int: EngineShare] = [:]

    /// What was written about a session.
    private struct Told {
        var socket: SocketSnapshot
        var lints: [String]
        var end: PeerEnd?
        /// When it was written.
        var time: MonotonicTime
        /// The last snapshot that was compared. It differs from what was written only in its rates.
        var latest: SocketSnapshot

        init(_ socket: SocketSnapshot, _ lints: [String], _ end: PeerEnd?, _ time: MonotonicTime) {
            (self.socket, self.lints, self.end, self.time, latest) = (socket, lints, end, time, socket)
        }

        /// Whether more than rates has changed, or the rates are due.
        mutating func isNews(_ now: Told, _ every: Duration?) -> Bool {
            if now.lints != lints || now.end != end { return true }
            if now.socket != latest {
                if now.socket.withoutRates != socket.withoutRates { return true }
                latest = now.socket
            }
            guard let every, now.time - time >= every else { return false }
            return latest != socket
        }
    }

    /// - Parameters:
    ///   - program: the writer of the lines, and its version.
    ///   - naming: names the keys in remedies.
    ///   - lints: which warnings are reported.
    ///   - payload: the number of bytes of each operation in `payload` lines, or `nil` for no such lines.
    ///   - exchanges: whether there are `exchange` lines.
    ///   - every: the interval at which a session is written if only its rates have changed, or `nil` for never.
    package init(
        program: String, naming: CommandNaming, lints: LintSettings = LintSettings(), payload: Int? = nil,
        exchanges: Bool = false, every: Duration? = nil
    ) {
        self.program = program
        self.naming = naming
        self.every = every
        self.payload = payload.map { PayloadLines(limit: $0) }
        self.exchanges = exchanges ? ExchangeLines() : nil
        findings = Findings(lints)
    }

    /// Returns the lines for a snapshot, without line endings.
    package mutating func absorb(_ snapshot: EngineSnapshot, among others: Surroundings = Surroundings()) -> [String] {
        clock.absorb(snapshot)
        var lines = hasBegun ? [] : [hello(snapshot)]
        hasBegun = true
        lines += programLines(others.programs, snapshot.time)
        if let child = others.child, child != self.child {
            lines.append(line("child", snapshot.time, .child(child)))
            self.child = child
        }
        lines += events(snapshot)
        // The same snapshot again: nothing has happened.
        let isSame = seen.map { $0.time == snapshot.time && $0.peers == others.peers } ?? false
        seen = (snapshot.time, others.peers)
        if !isSame { lines += sessions(snapshot, others) }
        if let found = snapshot.calls { lines += calls.absorb(found, json).map { Self.text("call", $0) } }
        return lines + engineLines(snapshot, others, isQuiet: lines.isEmpty)
    }

    /// Returns a line for each session that has changed, after those of its new warnings.
    private mutating func sessions(_ snapshot: EngineSnapshot, _ others: Surroundings) -> [String] {
        var lines: [String] = []
        losses.removeAll { snapshot.time - $0.time > .seconds(60) }
        findings.absorb(snapshot, among: others, lost: losses.reduce(0) { $0.saturatingAdd($1.count) })
        var listed: [SocketID: Told] = [:]
        for socket in snapshot.sockets {
            let found = findings[socket.id]
            let told = Told(socket, found.map(\.lint), others.peers[socket.id], snapshot.time)
            var before = known[socket.id]
            for finding in found where finding.socket == socket.id && before?.lints.contains(finding.lint) != true {
                lines.append(warning(finding, snapshot.time))
            }
            let isNews = before?.isNews(told, every) ?? true
            listed[socket.id] = isNews ? told : before
            if isNews { lines.append(line(told, others)) }
        }
        known = listed
        return lines
    }

    private func line(_ told: Told, _ others: Surroundings) -> String {
        let process = others.process(of: told.socket.id)
        return line("socket", told.time, .socket(told.socket, told.end, lints: told.lints, process: process))
    }

    /// Returns the sessions whose traffic must be requested, so that `absorb(_:of:)` can write about it.
    package mutating func dueTraffic(_ snapshot: EngineSnapshot) -> [SocketID] {
        guard payload != nil || exchanges != nil else { return [] }
        let listed = Set(snapshot.sockets.map(\.id))
        payload?.keep(listed)
        exchanges?.keep(listed)
        return due.take(snapshot, listed: listed)
    }

    /// Returns the `payload` and `exchange` lines for a session's traffic.
    package mutating func absorb(_ traffic: TrafficSnapshot, of id: SocketID) -> [String] {
        let json = json
        let payload = payload?.absorb(traffic, of: id, json) ?? []
        let talk = known[id].flatMap { exchanges?.absorb(traffic, of: $0.latest, json) } ?? []
        return payload.map { Self.text("payload", $0) } + talk.map { Self.text("exchange", $0) }
    }

    /// Returns the `exchange` and `call` lines for what was under way when the run ended.
    package mutating func close() -> [String] {
        let json = json
        return (exchanges?.close(json) ?? []).map { Self.text("exchange", $0) }
            + calls.close(json).map { Self.text("call", $0) }
    }

    private static func text(_ type: String, _ members: [JSON.Member]) -> String {
        JSON.object(head(type) + members).text
    }

    /// Returns lines for the attached programs that are new or have changed.
    private mutating func programLines(_ programs: [ProgramInfo], _ time: MonotonicTime) -> [String] {
        let told = programs.map { json.members(.program($0)) }
        defer { self.programs = told }
        return zip(programs, told).filter { !self.programs.contains($1) }.map { line("program", time, .program($0.0)) }
    }

    /// Returns new warnings about the engines as a whole, and the load of each engine: at most once a second, and only
    /// while something else happens.
    private mutating func engineLines(_ snapshot: EngineSnapshot, _ others: Surroundings, isQuiet: Bool) -> [String] {
        let found = findings.ofEngine
        var lines = found.filter { !engineLints.contains($0.lint) }.map { warning($0, snapshot.time) }
        let isNews = found.map(\.lint) != engineLints
        engineLints = found.map(\.lint)
        for engine in snapshot.engines {
            let former = engines[engine.ordinal]
            if let former, !isNews, isQuiet || engine.time - former.time < .seconds(1) { continue }
            let load = former.flatMap { EngineLoad(from: $0, to: engine) }
            let process = others.process(of: SocketID(0, of: engine.ordinal))
            lines.append(
                line("engine", engine.time, .engine(engine, load: load, lints: engineLints, process: process)))
            engines[engine.ordinal] = engine
        }
        return lines
    }

    /// Returns the last line. If a signal ends the run, the status is the one that a shell gives it.
    package func end(_ snapshot: EngineSnapshot, status: Int32, signal: Int32? = nil) -> String {
        line("end", snapshot.time, .end(snapshot.counters, status: status, signal: signal))
    }

    private var json: SocketJSON { SocketJSON(clock: clock) }

    private func hello(_ snapshot: EngineSnapshot) -> String {
        line("hello", snapshot.time, .hello((program, snapshot.engine)))
    }

    private func warning(_ finding: Verdict, _ time: MonotonicTime) -> String {
        line("warning", time, .warning(finding, remedy: naming(finding.remedy)))
    }

    private mutating func events(_ snapshot: EngineSnapshot) -> [String] {
        var lines: [String] = []
        // The events of an opened recording arrive with its earlier snapshots.
        for shown in (snapshot.before ?? []) + [snapshot] {
            for event in shown.events where event.sequence >= nextEvent {
                lines += gap(upTo: event.sequence, snapshot.time)
                let members = json.members(event, of: shown.socket(event.socket))
                lines.append(JSON.object(Self.head("event") + members).text)
                nextEvent = event.sequence + 1
            }
        }
        lines += gap(upTo: snapshot.nextEvent, snapshot.time)
        nextEvent = max(nextEvent, snapshot.nextEvent)
        return lines
    }

    private mutating func gap(upTo sequence: UInt64, _ time: MonotonicTime) -> [String] {
        guard sequence > nextEvent else { return [] }
        lost.saturate(adding: sequence - nextEvent)
        if let last = losses.last, time - last.time < .milliseconds(100) {
            losses[losses.count - 1].count.saturate(adding: sequence - nextEvent)
        } else {
            losses.append((time, sequence - nextEvent))
        }
        return [line("lost", time, .lost((sequence - nextEvent, sequence)))]
    }

    private func line(_ type: String, _ time: MonotonicTime, _ facts: FactTeller) -> String {
        JSON.object(Self.head(type) + [JSON.Member("time", json.time(time))] + json.members(facts)).text
    }

    private static func head(_ type: String) -> [JSON.Member] {
        [JSON.Member("v", JSON(version)), JSON.Member("type", JSON(type))]
    }
}

extension SocketSnapshot {
    /// The snapshot without the numbers that change while nothing happens: rates and shares of time.
    fileprivate var withoutRates: SocketSnapshot {
        var still = self
        (still.receiveRate, still.sendRate) = (nil, nil)
        (still.activity.operationRate, still.activity.queueRate) = (nil, nil)
        if var kernel = still.kernel {
            (kernel.deliveryRate, kernel.receiverWindowLimited, kernel.sendBufferLimited) = (nil, nil, nil)
            still.kernel = kernel
        }
        return still
    }
}
