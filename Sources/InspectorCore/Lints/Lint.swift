import SocketCore
import SocketWorkshop

/// A possible problem: its name, severity, minimum duration, meaning and remedy, and pure checks.
///
/// The rows are in `Lint.all`. The list, detail, summary, filter, options, JSON, documentation and help use nothing
/// else.
package struct Lint: Sendable {
    /// Checks one session at the instant of the snapshot, with the duration of the row.
    package typealias SessionCheck = @Sendable (Situation, Duration) -> Verdict?
    /// Checks the engine as a whole. `lost` is the number of events that this inspector missed within the last minute.
    package typealias EngineCheck = @Sendable (EngineSnapshot, _ lost: UInt64) -> Verdict?
    /// Checks the sockets of all programs on the host, inspected from outside, with the duration of the row.
    typealias HostCheck = @Sendable (inout HostRules, Duration) -> [Verdict]

    /// The name in options and filters: `read-starved`.
    package var name: String
    /// The severity. A check may lower it.
    package var severity: Severity
    /// The minimum duration, or `nil` if it is reported at once.
    package var time: Duration?
    /// The meaning, for help. `%time` stands for the duration.
    private var pattern: String
    /// The remedy, with the commands whose keys are named in braces. See `CommandNaming`.
    package var remedy: String
    /// Whether it is off unless it is enabled (`-W`).
    package var isAllowed: Bool
    /// The lints that name the cause. If one of them found something on the same connection, or on the other leg of a
    /// relayed one, this finding is a consequence and is not reported.
    var follows: Set<String> = []
    /// The same for findings about the session at the other end or its other leg, if those are inspected too. `isMutual`
    /// says whether the same finding there counts as well.
    var followsFar: Set<String> = []
    var isMutual = false
    /// Whether several findings that blame the same program are reported as one. `many` of them are more severe.
    var isGathered = false
    var many: Int?
    /// Whether it can find something about a session without activity. See `SocketSnapshot.isUneventful`.
    var judgesUneventful = false
    var judgesCaptured = false
    /// Whether it is a warning if the user enables it or sets its duration, and a note otherwise.
    private(set) var warnsOnceSet = false
    /// Whether it judges closed sessions too.
    var judgesClosed = false
    private(set) var session: SessionCheck?
    private(set) var engine: EngineCheck?
    private(set) var host: HostCheck?

    init(
        _ name: String, as severity: Severity = .warning, after time: Duration? = nil, _ meaning: String,
        remedy: String, isAllowed: Bool = false, _ session: SessionCheck? = nil, host: HostCheck? = nil
    ) {
        (self.name, self.severity, self.time, pattern) = (name, severity, time, meaning)
        (self.remedy, self.isAllowed) = (remedy, isAllowed)
        (self.session, self.host) = (session, host)
    }

    init(engine name: String, _ meaning: String, remedy: String, _ check: @escaping EngineCheck) {
        self.init(name, meaning, remedy: remedy)
        engine = check
    }

    /// Whether it applies only to the host's sockets.
    package var isOfHost: Bool { session == nil && engine == nil }

    /// Every lint, the most informative first. To add a lint, add a row to one of these tables.
    package static let all: [Lint] =
        blocking + reading + closing + timing + waiting + writing + tls + listening + callbacks + host + itself

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// Returns the lint of this name, or `nil` if there is none.
    package static func named(_ name: String) -> Lint? { byName[name] }

    /// The meaning, for help.
    package var meaning: String {
        guard let time, let place = pattern.firstRange(of: "%time") else { return pattern }
        return String(pattern[..<place.lowerBound]) + Format.duration(time) + String(pattern[place.upperBound...])
    }

    /// Returns the verdict about one session. `time` is the minimum duration, or `nil` for the row's own.
    package func finds(_ situation: Situation, time: Duration? = nil) -> Verdict? {
        session?(situation, time ?? self.time ?? .zero)
    }

    /// Returns a check's verdict as one of this row: under its name, and not more severe.
    func completing(_ verdict: Verdict) -> Verdict {
        var verdict = verdict
        verdict.lint = name
        verdict.severity = many.map { verdict.grave >= $0 } == true ? .warning : min(severity, verdict.severity)
        return verdict
    }

    /// Returns this row as a consequence of others.
    func following(_ causes: [Lint], far: [Lint] = [], isMutual: Bool = false) -> Lint {
        var lint = self
        (lint.follows, lint.followsFar) = (Set(causes.map(\.name)), Set(far.map(\.name)))
        lint.isMutual = isMutual
        return lint
    }

    /// Returns this row with checks of closed sessions.
    func evenWhereClosed() -> Lint {
        var lint = self
        lint.judgesClosed = true
        return lint
    }

    /// Returns this row with checks of sessions without activity.
    func evenWhereNothingHappens() -> Lint {
        var lint = self
        lint.judgesUneventful = true
        return lint
    }

    /// Returns this row with checks of captured connections, about which only their bytes are known.
    func evenWhereCaptured() -> Lint {
        var lint = self
        lint.judgesCaptured = true
        return lint
    }

    /// Returns this row as a note that is a warning once the user sets it.
    func warningOnceSet() -> Lint {
        var lint = self
        lint.warnsOnceSet = true
        return lint
    }

    /// Returns this row with the severity that these settings give it.
    func rated(by settings: LintSettings) -> Lint {
        var lint = self
        if warnsOnceSet, settings.changes(self) { lint.severity = .warning }
        return lint
    }

    /// Returns this row reported once for each program that it blames.
    func gathered(many: Int? = nil) -> Lint {
        var lint = self
        (lint.isGathered, lint.many) = (true, many)
        return lint
    }
}

extension Lint {
    /// Says why there is no lint of this name, as a sentence.
    package static func whyUnknown(_ name: String) -> String {
        "no such warning: \(name)" + Spelling.suggestion(for: name, among: all.map(\.name))
    }
}
