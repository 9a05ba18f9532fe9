import Glibc
import InspectorCore
import InspectorScreen
import InspectorShell
import SocketKit

/// The descriptors and settings used to open a terminal.
struct TerminalEnvironment {
    /// Our own descriptors, which nothing else in the process writes to or reads.
    var input: Int32
    var output: Int32
    /// `TERM`.
    var type: String
    /// The most colors to use, or `nil` for as many as the terminal has.
    var colours: Int?
    /// The looks that the user changed.
    var changedColours: [Role: ColourText] = [:]
    /// Whether the background is light, as far as known before the terminal is asked.
    var isLight = false
    /// Whether to ask the terminal for its background color.
    var asksBackground = false

    /// Returns the environment this process was started with. If stdin is not a terminal, keys come from the
    /// controlling terminal.
    /// - Throws: if there is no terminal. The sentence says what to do without one.
    static func current(_ configuration: Configuration = Configuration()) throws(CursesTerminal.Refused)
        -> TerminalEnvironment
    {
        guard StandardStream.output.isTerminal else {
            throw CursesTerminal.Refused(
                sentence: "stdout is not a terminal; name what to open, as in socktui connect localhost:80")
        }
        let input =
            isatty(STDIN_FILENO) == 1
            ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard input >= 0 else {
            throw CursesTerminal.Refused(
                sentence: "stdin is not a terminal and there is no /dev/tty; use --json or --script FILE")
        }
        let type = EnvironmentVariables.value(of: "TERM") ?? ""
        let isAuto = configuration.theme == .auto && colours(configuration.depth) != 0
        return TerminalEnvironment(
            input: input, output: fcntl(StandardStream.output.rawValue, F_DUPFD_CLOEXEC, 3),
            type: type, colours: colours(configuration.depth), changedColours: configuration.colours,
            isLight: isLight(configuration), asksBackground: isAuto && answers(type))
    }

    /// Whether more than ASCII may be sent to this type of terminal. The locale's character set decides, if the locale
    /// names one. An unset locale, or `C`, does not: then only types older than Unicode get ASCII. The Linux console
    /// lacks the glyphs.
    func drawsUnicode(_ codeset: String) -> Bool {
        if type == "linux" { return false }
        if codeset == "UTF-8" { return true }
        let isVT = type.hasPrefix("vt") && type.dropFirst(2).first?.isNumber == true
        let isOld = isVT || ["ansi", "cons25", "sun", "wy"].contains { type.hasPrefix($0) }
        return codeset.hasPrefix("ANSI_X3.4") && !isOld
    }

    /// Whether the configuration says that the background is light, or else `COLORFGBG`, which some terminals set.
    static func isLight(_ configuration: Configuration) -> Bool {
        switch configuration.theme {
        case .light: true
        case .dark: false
        case .auto: EnvironmentVariables.value(of: "COLORFGBG").flatMap { Theme.isLight(colourVariable: $0) } ?? false
        }
    }

    /// Whether this type of terminal can be asked for its background. One that doesn't know the question might print
    /// it.
    private static func answers(_ type: String) -> Bool {
        !["", "dumb", "linux", "ansi", "cons25"].contains(type) && !type.hasPrefix("vt")
    }

    /// Returns the number of colors. An explicit choice, in the configuration too, overrides `NO_COLOR` (no-color.org).
    private static func colours(_ depth: Configuration.Depth) -> Int? {
        switch depth {
        case .auto: EnvironmentVariables.value(of: "NO_COLOR")?.isEmpty == false ? 0 : nil
        case .many: 256
        case .sixteen: 16
        case .eight: 8
        case .none: 0
        }
    }
}
