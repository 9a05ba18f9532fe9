import SocketCore

/// One thing that may be wrong: a name, how much it matters, how long it must last, what it means, what to do about it,
/// and a pure check.
///
/// The rows stand in `Lint.all`, which is all that list, detail, summary, filter, options, JSON, documentation and help
/// know of them.
package struct Lint: Sendable {
    /// What it looks at. Each answers with what it found, or `nil`.
    package enum Check: Sendable {
        /// One session, at the instant of the snapshot, and the time that the row says.
        case socket(@Sendable (Situation, Duration) -> Verdict?)
        /// The engine as a whole; `lost` are the events that this inspector missed within the last minute.
        case engine(@Sendable (EngineSnapshot, _ lost: UInt64) -> Verdict?)
        /// Sockets of any program of the host, from outside: `HostRules` judges by this row's name.
        case host
    }

    /// As options and filters name it: `read-starved`.
    package var name: String
    /// How much it matters, where the check does not say otherwise.
    package var severity: Severity
    /// How long it must last, or `nil` where no time is waited for.
    package var time: Duration?
    /// What it means, for help; `%time` stands for the time.
    private var pattern: String
    /// What to do about it, with the commands whose keys are named in braces; see `KeyTable.naming(_:in:)`.
    package var remedy: String
    /// Whether it is left out unless somebody asks for it (`-W`).
    package var isAllowed: Bool
    /// Lints that name the cause. Where one of them found something about the same connection, or the other leg of a
    /// relayed one, this is a consequence and not told.
    var follows: Set<String> = []
    /// The same, about the session at the other end or its other leg, where that is one of those looked at.
    var followsFar: Set<String> = []
    /// Whether several findings that blame the same program are told as one; `many` of them matter more than one.
    var isGathered = false
    var many: Int?
    /// Whether it may find something about a session where nothing happens; see `SocketSnapshot.isUneventful`.
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

    /// A row that only sockets of the host have.
    init(
        host name: String, as severity: Severity = .warning, after time: Duration? = nil, _ meaning: String,
        remedy: String
    ) {
        (self.name, self.severity, self.time, pattern) = (name, severity, time, meaning)
        (self.remedy, isAllowed, check) = (remedy, false, .host)
    }

    /// Whether only sockets of the host have it.
    package var isOfHost: Bool {
        if case .host = check { true } else { false }
    }

    /// Every lint, the most telling first. A new one is one more row in one of these tables, and nothing else.
    package static let all: [Lint] =
        blocking + reading + closing + timing + writing + tls + listening + callbacks + host + itself

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The lint of this name.
    package static func named(_ name: String) -> Lint? { byName[name] }

    /// What it means, for help.
    package var meaning: String {
        guard let time, let place = pattern.firstRange(of: "%time") else { return pattern }
        return String(pattern[..<place.lowerBound]) + Format.duration(time) + String(pattern[place.upperBound...])
    }

    /// What it finds about one session; `time`: how long it must last, the row's own where it is `nil`.
    package func finds(_ situation: Situation, time: Duration? = nil) -> Verdict? {
        guard case .socket(let check) = check else { return nil }
        return check(situation, time ?? self.time ?? .zero)
    }

    /// This row as a consequence of others.
    func following(_ names: Set<String>, far: Set<String> = []) -> Lint {
        var lint = self
        (lint.follows, lint.followsFar) = (names, far)
        return lint
    }

    /// This row as one that looks at sessions where nothing happens, too.
    func evenWhereNothingHappens() -> Lint {
        var lint = self
        lint.judgesUneventful = true
        return lint
    }

    /// This row as one that is told once for each program that it blames.
    func gathered(many: Int? = nil) -> Lint {
        var lint = self
        (lint.isGathered, lint.many) = (true, many)
        return lint
    }
}

/// Lints as they were once called.
extension Lint {
    private static let renamed = ["write-stalled": "write-blocked", "connect-slow": "connecting-silent"]

    /// The name that a lint has now which was once called so.
    package static func newName(of name: String) -> String? { renamed[name] }

    /// Why there is no lint of this name, as a sentence.
    package static func whyUnknown(_ name: String) -> String {
        if let now = renamed[name] { return "\(name) is now called \(now)" }
        return "no such warning: \(name)" + Spelling.suggestion(for: name, among: all.map(\.name))
    }
}
