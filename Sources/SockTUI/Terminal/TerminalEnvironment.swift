import Glibc
import InspectorCore
import SocketKit

/// The descriptors and settings that a terminal is opened with.
struct TerminalEnvironment {
    /// Descriptors of our own, which nothing else in the process writes to or reads.
    var input: Int32
    var output: Int32
    /// `TERM`.
    var type: String
    /// The most colours that are used; nil: as many as the terminal has.
    var colours: Int?
    /// What a person wants to look otherwise than it does.
    var changedColours: [Role: ColourText] = [:]
    /// Whether the background is light, as far as it is known before the terminal is asked.
    var isLight = false
    /// Whether to ask the terminal for its background.
    var asksBackground = false

    /// What this process was started with. Where stdin is no terminal, keys come from the controlling terminal.
    /// - Throws: when there is no terminal; the sentence says what to do without one.
    static func current(_ configuration: Configuration = Configuration()) throws(CursesTerminal.Refused)
        -> TerminalEnvironment
    {
        guard StandardStream.output.isTerminal else {
            throw CursesTerminal.Refused(
                sentence: "stdout is no terminal; say what to look at, as in socktui connect localhost:80")
        }
        let input =
            isatty(STDIN_FILENO) == 1
            ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard input >= 0 else {
            throw CursesTerminal.Refused(
                sentence: "stdin is no terminal and there is no /dev/tty; use --json or --script FILE")
        }
        let type = variable("TERM") ?? ""
        let isAuto = configuration.theme == .auto && colours(configuration.depth) != 0
        return TerminalEnvironment(
            input: input, output: fcntl(StandardStream.output.rawValue, F_DUPFD_CLOEXEC, 3),
            type: type, colours: colours(configuration.depth), changedColours: configuration.colours,
            isLight: isLight(configuration), asksBackground: isAuto && answers(type))
    }

    /// What the configuration says about the background, or else `COLORFGBG`, which some terminals set.
    static func isLight(_ configuration: Configuration) -> Bool {
        switch configuration.theme {
        case .light: true
        case .dark: false
        case .auto: variable("COLORFGBG").flatMap { Theme.isLight(colourVariable: $0) } ?? false
        }
    }

    /// Whether a terminal of this type may be asked for its background: one that does not know the question must not show it.
    private static func answers(_ type: String) -> Bool {
        !["", "dumb", "linux", "ansi", "cons25"].contains(type) && !type.hasPrefix("vt")
    }

    /// What was chosen by hand, in the configuration too, wins over `NO_COLOR` (no-color.org).
    private static func colours(_ depth: Configuration.Depth) -> Int? {
        switch depth {
        case .auto: variable("NO_COLOR")?.isEmpty == false ? 0 : nil
        case .many: 256
        case .sixteen: 16
        case .eight: 8
        case .none: 0
        }
    }

    /// A variable of the environment; an empty one is none.
    static func variable(_ name: String) -> String? { value(getenv(name)) }

    static func value(_ text: UnsafePointer<CChar>?) -> String? {
        text.map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
