import SocketCore

/// Which lints are told, and after how long: as the table says, changed by `-A`, `-W` and `[warnings]`.
package struct LintSettings: Hashable, Sendable {
    private var shown: [String: Bool] = [:]
    private var times: [String: Duration] = [:]

    package init() {}

    /// Why a setting cannot be.
    package struct Problem: Error, Hashable, Sendable {
        package var message: String
    }

    /// Never mentions this lint (`all`: none at all); false where there is none of that name.
    package mutating func allow(_ name: String) -> Bool { set(name, shows: false) }

    /// Warns of what this lint finds (`all`: of everything); false where there is none of that name.
    package mutating func warn(_ name: String) -> Bool { set(name, shows: true) }

    /// Reads `idle`, or `idle=5m` to set the time as well, and warns of it.
    package mutating func warn(reading text: String) throws(Problem) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2 { try setTime(parts[0], parts[1]) }
        guard warn(parts[0]) else { throw Problem(message: Lint.whyUnknown(parts[0])) }
    }

    /// Takes one line of `[warnings]`: `on`, `off`, or how long it must last.
    package mutating func set(_ name: String, to value: String) throws(Problem) {
        guard Lint.named(name) != nil else { throw Problem(message: Lint.whyUnknown(name)) }
        switch value {
        case "on": _ = warn(name)
        case "off": _ = allow(name)
        default:
            try setTime(name, value)
            _ = warn(name)
        }
    }

    private mutating func setTime(_ name: String, _ text: String) throws(Problem) {
        guard let lint = Lint.named(name) else { throw Problem(message: Lint.whyUnknown(name)) }
        guard lint.time != nil else { throw Problem(message: "\(name) waits for no time") }
        guard let time = DurationText.parse(text).flatMap({ $0 }) else {
            throw Problem(message: "\(text) is not a length of time; write \(name)=10s, 500ms or 2m")
        }
        times[name] = time
    }

    private mutating func set(_ name: String, shows: Bool) -> Bool {
        let names = name == "all" ? Lint.all.map(\.name) : Lint.named(name).map { [$0.name] } ?? []
        for name in names { shown[name] = shows }
        return !names.isEmpty
    }

    /// These settings, and those of `base` where these say nothing.
    package func over(_ base: LintSettings) -> LintSettings {
        var both = self
        both.shown.merge(base.shown) { mine, _ in mine }
        both.times.merge(base.times) { mine, _ in mine }
        return both
    }

    /// Whether a lint is told.
    package func shows(_ lint: Lint) -> Bool { shown[lint.name] ?? !lint.isAllowed }

    /// How long it must last.
    package func time(_ lint: Lint) -> Duration { times[lint.name] ?? lint.time ?? .zero }

    /// Whether something else than the table is in force for it.
    package func changes(_ lint: Lint) -> Bool { shown[lint.name] != nil || times[lint.name] != nil }

    /// `on`, `off` or `500ms`: the value of its line in `[warnings]`.
    package func text(_ lint: Lint) -> String {
        guard shows(lint) else { return "off" }
        guard let time = times[lint.name] ?? (shown[lint.name] == nil ? lint.time : nil) else { return "on" }
        return "\(time.wholeNanoseconds / 1_000_000)ms"
    }
}
