import SocketCore

/// A problem with sockets of this host, and what causes it.
@dynamicMemberLookup
package struct HostVerdict: Equatable, Sendable {
    /// The name of its row in `Lint.all`.
    package let lint: String
    package var severity: Severity
    package internal(set) var verdict: Verdict
    /// The affected sockets by cookie, the one at fault first.
    package var sockets: [UInt64]
    /// The affected programs, the one at fault first.
    package var processes: [HostProcess.ID]
    /// The problem, without its duration: `api.py[4711] has left 4.1M unread`.
    package let claim: String
    /// The reason to believe it: `no thread or event loop is reading this socket`.
    package var reason: String?
    /// One line for each end.
    package var sides: [Side] = []
    /// The number of sockets at fault. `more` is the number of others with the same finding.
    package var count = 1
    package var more = 0

    /// One end, as listed by `why`. Sanitized.
    package struct Side: Equatable, Sendable {
        package var name: String
        package var descriptor: Int32?
        package var words: String
    }

    init(
        _ lint: String, _ severity: Severity, _ claim: String, because reason: String? = nil,
        for lasting: Duration? = nil, on sockets: [HostSocket], by asking: HostAsking? = nil, evidence: Evidence
    ) {
        (self.lint, self.severity, self.claim, self.reason) = (lint, severity, claim, reason)
        self.sockets = sockets.map(\.id)
        processes = asking?.process.map { [$0] } ?? []
        verdict = Verdict("", lasting: lasting)
        verdict.evidence = evidence
        verdict.severity = severity
    }

    /// The claim, its duration, the reason, and the number of other sockets.
    package var sentence: String {
        let time = verdict.lasting.map { " for at least \(Format.duration($0))" } ?? ""
        let why = reason.map { ": \($0)" } ?? ""
        return claim + time + why + (more > 0 ? "; the same on \(more) more sockets" : "")
    }

    package var remedy: String { Lint.named(lint)?.remedy ?? "" }

    package subscript<Value>(dynamicMember part: WritableKeyPath<Verdict, Value>) -> Value {
        get { verdict[keyPath: part] }
        set { verdict[keyPath: part] = newValue }
    }

    /// Joins verdicts of one name about one program, the longest first.
    static func grouped(_ found: [HostVerdict]) -> [HostVerdict] {
        var groups: [[String]: Int] = [:], told: [HostVerdict] = []
        for verdict in found.sorted(by: isBefore) {
            guard Lint.named(verdict.lint)?.isGathered == true, let process = verdict.processes.first else {
                told.append(verdict)
                continue
            }
            let key = [verdict.lint, verdict.severity.name, "\(process.number) \(process.start)"]
            guard let place = groups[key] else {
                groups[key] = told.count
                told.append(verdict)
                continue
            }
            told[place].more += verdict.count
            told[place].sockets += verdict.sockets
        }
        return told
    }

    private static func isBefore(_ left: HostVerdict, _ right: HostVerdict) -> Bool {
        if left.severity != right.severity { return left.severity > right.severity }
        if left.lasting != right.lasting { return left.lasting ?? .zero > right.lasting ?? .zero }
        return left.sockets.first ?? 0 < right.sockets.first ?? 0
    }
}
