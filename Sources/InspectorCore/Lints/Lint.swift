import SocketCore
import SocketWorkshop

/// A possible problem: its name, severity, minimum duration, meaning and remedy, and a pure check.
///
/// The rows are in `Lint.all`. The list, detail, summary, filter, options, JSON, documentation and help use nothing
/// else.
package struct Lint: Sendable {
    /// What it checks. Each check returns what it found, or `nil`.
    package enum Check: Sendable {
        /// One session, at the instant of the snapshot, with the duration of the row.
        case socket(@Sendable (Situation, Duration) -> Verdict?)
        /// The engine as a whole. `lost` is the number of events that this inspector missed within the last minute.
        case engine(@Sendable (EngineSnapshot, _ lost: UInt64) -> Verdict?)
        /// Sockets of any program on the host, inspected from outside. `HostRules` judges them by this row's name.
        case host
    }

    /// The name in options and filters: `read-starved`.
    package var name: String
    /// The severity, unless the check sets another.
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
    /// The same for findings about the session at the other end or its other leg, if those are inspected too.
    var followsFar: Set<String> = []
    /// Whether several findings that blame the same program are reported as one. `many` of them are more severe.
    var isGathered = false
    var many: Int?
    /// Whether it can find something about a session without activity. See `SocketSnapshot.isUneventful`.
    var judgesUneventful = false
    package var check: Check

    package init(
        _ name: String, as severity: Severity = .warning, after time: Duration? = nil, _ meaning: String,
        remedy: String, isAllowed: Bool = false,
        _ check: @escaping @Sendable (Situation, Duration) -> Verdict?
    ) {
        (self.name, self.severity, self.time, pattern) = (name, severity, time, meaning)
        (self.remedy, self.isAllowed, self.check) = (remedy, isAllowed, .socket(check))
    }

    package init(
        engine name: String, _ meaning: String, remedy: String,
        _ check: @escaping @Sendable (EngineSnapshot, _ lost: UInt64) -> Verdict?
    ) {
        (self.name, severity, pattern) = (name, .warning, meaning)
        (self.remedy, isAllowed, self.check) = (remedy, false, .engine(check))
    }

    /// Creates a row that applies only to the host's sockets.
    init(
        host name: String, as severity: Severity = .warning, after time: Duration? = nil, _ meaning: String,
        remedy: String
    ) {
        (self.name, self.severity, self.time, pattern) = (name, severity, time, meaning)
        (self.remedy, isAllowed, check) = (remedy, false, .host)
    }

    /// Whether it applies only to the host's sockets.
    package var isOfHost: Bool {
        if case .host = check { true } else { false }
    }

    /// Every lint, the most informative first. To add a lint, add a row to one of these tables.
    package static let all: [Lint] =
        blocking + reading + closing + timing + writing + tls + listening + callbacks + host + itself

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
        guard case .socket(let check) = check else { return nil }
        return check(situation, time ?? self.time ?? .zero)
    }

    /// Returns this row as a consequence of others.
    func following(_ names: Set<String>, far: Set<String> = []) -> Lint {
        var lint = self
        (lint.follows, lint.followsFar) = (names, far)
        return lint
    }

    /// Returns this row with checks of sessions without activity.
    func evenWhereNothingHappens() -> Lint {
        var lint = self
        lint.judgesUneventful = true
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
