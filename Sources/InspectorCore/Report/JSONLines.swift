import SocketCore

/// What an engine does, as a stream of changes: one JSON object a line (JSON Lines).
///
/// The first line is `hello`; then each snapshot brings the events since the last one, in order (`event`, and `lost`
/// where some were overwritten before they were read), and every session of which anything has changed, whole
/// (`socket`); what is likely wrong with it is among that by name, and once, when it appears, in words (`warning`). So the
/// last `socket` line of an id says all there is to know of it, and a reader that missed some lines
/// is right again with the next. The last line is `end`.
package struct JSONLines: Sendable {
    /// The version of this form, said in `hello`. New names do not change it; a changed meaning does.
    package static let version = 1

    private let program: String
    private var clock = WallClock()
    private var known: [SocketID: Told] = [:]
    private var findings: Findings
    /// Events lost so far.
    private var lost: UInt64 = 0
    private var hasBegun = false
    /// The sequence number of the event to ask for next.
    package private(set) var nextEvent: UInt64 = 0

    /// What was told of a session.
    private struct Told: Equatable {
        var socket: SocketSnapshot
        var lints: [String]
    }

    /// - Parameters:
    ///   - program: who writes the lines, and its version.
    ///   - lints: which warnings are told.
    package init(program: String, lints: LintSettings = LintSettings()) {
        self.program = program
        findings = Findings(lints)
    }

    /// The lines that a snapshot brings, without line ends.
    package mutating func take(_ snapshot: EngineSnapshot) -> [String] {
        clock.take(snapshot)
        var lines = hasBegun ? [] : [hello(snapshot)]
        hasBegun = true
        lines += events(snapshot)
        findings.take(snapshot, lost: lost)
        var listed: [SocketID: Told] = [:]
        for socket in snapshot.sockets {
            let found = findings[socket.id]
            let told = Told(socket: socket, lints: found.map(\.lint))
            let before = known[socket.id]
            for finding in found where before?.lints.contains(finding.lint) != true {
                lines.append(warning(finding, snapshot.time))
            }
            if before != told {
                let names = JSON.Member("lints", .array(told.lints.map { JSON($0) }))
                lines.append(line("socket", snapshot.time, json.members(socket) + [names]))
            }
            listed[socket.id] = told
        }
        known = listed
        return lines
    }

    /// The last line.
    package func end(_ snapshot: EngineSnapshot, status: Int) -> String {
        let counters = snapshot.counters
        return line(
            "end", snapshot.time,
            [
                JSON.Member("status", JSON(status)), JSON.Member("turns", JSON(counters.turns)),
                JSON.Member("readiness_events", JSON(counters.readinessEvents)),
                JSON.Member("commands", JSON(counters.commands)), JSON.Member("opened", JSON(counters.opened)),
                JSON.Member("closed", JSON(counters.closed)), JSON.Member("received_bytes", JSON(counters.received)),
                JSON.Member("sent_bytes", JSON(counters.sent)),
            ])
    }

    private var json: SocketJSON { SocketJSON(clock: clock) }

    private func hello(_ snapshot: EngineSnapshot) -> String {
        line(
            "hello", snapshot.time,
            [
                JSON.Member("form", "socktui"), JSON.Member("version", JSON(Self.version)),
                JSON.Member("program", JSON(program)), JSON.Member("engine", JSON(snapshot.engine)),
            ])
    }

    private func warning(_ finding: Finding, _ time: MonotonicTime) -> String {
        let remedy = Lint.all.first { $0.name == finding.lint }?.remedy
        return line(
            "warning", time,
            [
                JSON.Member("id", JSON(finding.socket?.number)), JSON.Member("lint", JSON(finding.lint)),
                JSON.Member("sentence", JSON(finding.sentence)), JSON.Member("remedy", JSON(remedy)),
            ])
    }

    private mutating func events(_ snapshot: EngineSnapshot) -> [String] {
        var lines: [String] = []
        for event in snapshot.events where event.sequence >= nextEvent {
            lines += gap(upTo: event.sequence, snapshot.time)
            let members = json.members(event, of: snapshot.socket(event.socket))
            lines.append(JSON.object([JSON.Member("type", "event")] + members).text)
            nextEvent = event.sequence + 1
        }
        lines += gap(upTo: snapshot.nextEvent, snapshot.time)
        nextEvent = max(nextEvent, snapshot.nextEvent)
        return lines
    }

    private mutating func gap(upTo sequence: UInt64, _ time: MonotonicTime) -> [String] {
        guard sequence > nextEvent else { return [] }
        lost += sequence - nextEvent
        let members = [
            JSON.Member("events", JSON(sequence - nextEvent)), JSON.Member("next_sequence", JSON(sequence)),
        ]
        return [line("lost", time, members)]
    }

    private func line(_ type: String, _ time: MonotonicTime, _ members: [JSON.Member]) -> String {
        JSON.object([JSON.Member("type", JSON(type)), JSON.Member("time", json.time(time))] + members).text
    }
}
