import SocketCore

/// Which lints are reported, and after how long: the table's values, changed by `-A`, `-W` and `[warnings]`.
package struct LintSettings: Hashable, Sendable {
    private var shown: [String: Bool] = [:]
    private var times: [String: Duration] = [:]

    package init() {}

    /// The reason why a setting is invalid.
    package struct Problem: Error, Equatable, Sendable {
        package var message: String
    }

    /// Disables this lint, or every lint if the name is `all`. Returns `false` if there is none of that name.
    package mutating func allow(_ name: String) -> Bool { set(name, shows: false) }

    /// Enables this lint, or every lint if the name is `all`. Returns `false` if there is none of that name.
    package mutating func warn(_ name: String) -> Bool { set(name, shows: true) }

    /// Parses `idle`, or `idle=5m` to set the duration as well, and enables the lint.
    package mutating func warn(reading text: String) throws(Problem) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2 { try setTime(parts[0], parts[1]) }
        guard warn(parts[0]) else { throw Problem(message: Lint.whyUnknown(parts[0])) }
    }

    /// Applies one line of `[warnings]`: `on`, `off`, or the minimum duration.
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
        guard lint.time != nil else { throw Problem(message: "\(name) has no duration to set") }
        guard let time = DurationText.parse(text).flatMap({ $0 }) else {
            throw Problem(message: "\(text) is not a duration; write \(name)=10s, 500ms or 2m")
        }
        times[name] = time
    }

    private mutating func set(_ name: String, shows: Bool) -> Bool {
        let names = name == "all" ? Lint.all.map(\.name) : Lint.named(name).map { [$0.name] } ?? []
        for name in names { shown[name] = shows }
        return !names.isEmpty
    }

    /// Returns these settings, with those of `base` where these set nothing.
    package func over(_ base: LintSettings) -> LintSettings {
        var both = self
        both.shown.merge(base.shown) { mine, _ in mine }
        both.times.merge(base.times) { mine, _ in mine }
        return both
    }

    /// Whether a lint is enabled.
    package func shows(_ lint: Lint) -> Bool { shown[lint.name] ?? !lint.isAllowed }

    /// Returns the minimum duration of a lint.
    package func time(_ lint: Lint) -> Duration { times[lint.name] ?? lint.time ?? .zero }

    /// Whether the settings override the table for a lint.
    package func changes(_ lint: Lint) -> Bool { shown[lint.name] != nil || times[lint.name] != nil }

    /// Returns `on`, `off` or `500ms`: the value of its line in `[warnings]`.
    package func text(_ lint: Lint) -> String {
        guard shows(lint) else { return "off" }
        guard let time = times[lint.name] ?? (shown[lint.name] == nil ? lint.time : nil) else { return "on" }
        return "\(time.wholeNanoseconds / 1_000_000)ms"
    }
}
