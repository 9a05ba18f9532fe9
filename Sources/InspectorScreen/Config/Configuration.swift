import InspectorCore
import SocketCore
import SocketWorkshop

/// What a user can set permanently, in one file.
package struct Configuration: Equatable, Sendable {
    /// The number of colors.
    package enum Depth: String, Equatable, Sendable, CaseIterable {
        case auto
        case many = "256"
        case sixteen = "16"
        case eight = "8"
        case none

        /// `auto, 256, 16, 8 or none`.
        fileprivate static let words = Spelling.alternatives(allCases.map(\.rawValue))
    }

    package var isASCII = false
    package var depth = Depth.auto
    package var theme = Theme.auto
    /// Whether the mouse is on from the start.
    package var mouse = true
    /// Whether opened targets are remembered for the start screen.
    package var recent = true
    /// Whether sent lines are kept for later runs.
    package var history = true
    /// The bytes of traffic kept for one connection. `keepTotal` is the limit for all of them together.
    package var keep = TrafficLimits().each
    package var keepTotal = TrafficLimits().all
    /// How much of a run is kept for rewinding, or `nil` for none.
    package var rewind: Duration?
    /// The path of the program's own log, or an empty string for none.
    package var log = ""
    package var keys = KeyTable.standard
    package var colours: [Role: ColourText] = [:]
    /// Which warnings are shown, and after how long.
    package var lints = LintSettings()
    /// The rules of each profile, including the built-in profiles.
    package var faults = FaultProfile.builtIn

    package init() {}

    /// One line of `[options]`.
    package struct Option: Sendable {
        package var name: String
        package var help: String
        var show: @Sendable (Configuration) -> TOML.Value
        /// Sets the option. Returns `false` if the value is invalid.
        var set: @Sendable (TOML.Value, inout Configuration) -> Bool
        /// The valid values, as the end of a sentence.
        var values: String
    }

    package static let options: [Option] = [
        flag("ascii", "draw with ASCII only", \.isASCII),
        Option(
            name: "color", help: "how many colors: \(Depth.words)", show: { .string($0.depth.rawValue) },
            set: { value, configuration in
                let word = if case .integer(let number) = value { String(number) } else { value.text }
                guard let depth = word.flatMap(Depth.init) else { return false }
                configuration.depth = depth
                return true
            }, values: Depth.words),
        Option(
            name: "theme", help: "colors for this background: \(Theme.words)", show: { .string($0.theme.rawValue) },
            set: { value, configuration in
                guard let theme = value.text.flatMap(Theme.init) else { return false }
                configuration.theme = theme
                return true
            }, values: Theme.words),
        flag("mouse", "use the mouse, if the terminal supports it", \.mouse),
        flag("recent", "remember what was opened, for the start screen", \.recent),
        flag("history", "keep sent lines for later runs", \.history),
        size("keep", "how much traffic is kept per connection", \.keep),
        size("keep-total", "how much traffic is kept in total", \.keepTotal),
        Option(
            name: "rewind", help: "how much of a run is kept for rewinding, or off",
            show: { .string($0.rewind.map(Format.duration) ?? "off") },
            set: { value, configuration in
                let text = if case .integer(let number) = value { String(number) } else { value.text }
                configuration.rewind = text.flatMap(HistoryText.parse)
                return configuration.rewind != nil || text == "off"
            }, values: "off, or a time such as 60s or 5m"),
        Option(
            name: "log", help: "a file for socktui's own log; empty for none", show: { .string($0.log) },
            set: { value, configuration in
                guard let path = value.text, path.isEmpty || path.hasPrefix("/") else { return false }
                configuration.log = path
                return true
            }, values: "an absolute path, or empty"),
    ]

    private static func size(
        _ name: String, _ help: String, _ path: any WritableKeyPath<Configuration, Int> & Sendable
    ) -> Option {
        Option(
            name: name, help: help, show: { .string(SizeText.show($0[keyPath: path])) },
            set: { value, configuration in
                let text = if case .integer(let number) = value { String(number) } else { value.text }
                guard let size = text.flatMap(SizeText.parse) else { return false }
                configuration[keyPath: path] = size
                return true
            }, values: "a size such as 4M or 512K")
    }

    private static func flag(
        _ name: String, _ help: String, _ path: any WritableKeyPath<Configuration, Bool> & Sendable
    ) -> Option {
        Option(
            name: name, help: help, show: { .boolean($0[keyPath: path]) },
            set: { value, configuration in
                guard case .boolean(let isOn) = value else { return false }
                configuration[keyPath: path] = isOn
                return true
            }, values: "true or false")
    }

    /// The key of `[keys.views]`, which applies to all views.
    static let allViews = "views"
}

extension TOML.Value {
    /// The string, or `nil` for any other type.
    package var text: String? { if case .string(let text) = self { text } else { nil } }
}
