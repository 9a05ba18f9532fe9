import Glibc

/// The descriptors and settings that a terminal is opened with.
struct TerminalEnvironment {
    /// Descriptors of our own, which nothing else in the process writes to or reads.
    var input: Int32
    var output: Int32
    /// `TERM`.
    var type: String
    /// Whether `NO_COLOR` is set to something.
    var noColour: Bool

    /// What this process was started with. Where stdin is no terminal, keys come from the controlling terminal.
    /// - Throws: when there is no terminal; the sentence says what to do without one.
    static func current() throws(CursesTerminal.Refused) -> TerminalEnvironment {
        guard isatty(STDOUT_FILENO) == 1 else {
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
        return TerminalEnvironment(
            input: input, output: fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), type: variable("TERM") ?? "",
            noColour: variable("NO_COLOR")?.isEmpty == false)
    }

    /// A variable of the environment.
    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
