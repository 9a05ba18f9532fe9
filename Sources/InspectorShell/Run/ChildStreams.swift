import Glibc
import InspectorCore
import SocketKit

/// What a program reads from and writes to: a terminal of its own, or an input, and a pipe to the screen or this
/// program's standard error.
struct ChildStreams {
    struct Problem: Error {
        let sentence: String

        init(_ what: String, _ error: POSIXErrno = POSIXErrno(errno)) { sentence = "\(what): \(error.words)" }
    }

    /// The program's standard input, output and error. Empty if it has a terminal.
    private(set) var theirs: [Int32] = []
    private(set) var terminal: ChildTerminal?
    /// Our end of its output, or `nil` if that goes to standard error.
    private(set) var output: Int32?

    init(_ request: RunRequest, showsOutput: Bool) throws(Problem) {
        guard !request.hasTerminal else {
            do throws(POSIXErrno) { terminal = try ChildTerminal() } catch { throw Problem("--tty", error) }
            output = terminal?.output
            return
        }
        let input = Self.open(request.input)
        guard input >= 0 else { throw Problem(request.input.map { "--stdin: \($0)" } ?? "run: /dev/null") }
        guard showsOutput else {
            theirs = [input, StandardStream.error.rawValue, StandardStream.error.rawValue]
            return
        }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            let problem = Problem("run: pipe")
            close(input)
            throw problem
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (theirs, output) = ([input, ends[1], ends[1]], ends[0])
    }

    /// Opens what the program reads from: a file, or this program's own input for `-`. Without a name that is a pipe or a
    /// file, since the screen reads the terminal.
    private static func open(_ name: String?) -> Int32 {
        if name == "-" || name == nil && isatty(STDIN_FILENO) == 0 { return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) }
        return (name ?? "/dev/null").withNative { Glibc.open($0, O_RDONLY | O_CLOEXEC) }
    }

    /// Closes the program's ends, which it has by then.
    func closeTheirs() {
        for stream in Set(theirs) where stream != StandardStream.error.rawValue { close(stream) }
    }

    /// Closes our ends, if the program was not started.
    func closeOurs() {
        output.map { _ = close($0) }
        terminal?.close()
    }
}
