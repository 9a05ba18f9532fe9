import InspectorCore
import InspectorScreen
import InspectorShell
import SocketCore

/// What the command line requests.
struct Invocation: Equatable {
    /// The kind of run.
    enum Mode: Equatable {
        case terminal
        /// Prints what happens to stdout, without a screen. With `isOnce`, prints one snapshot.
        case report(ReportForm, isOnce: Bool)
        /// Plays the keys of a script file, without a terminal.
        case script(String)
        /// Prints a table of the programs that can be attached to.
        case attachable
        /// Prints the effective configuration to stdout.
        case configuration
        /// Prints what works on this host, and what does not and why.
        case hostNeeds(isJSON: Bool)
        /// Prints the completions of a shell to stdout.
        case completions(Shell)
        /// Prints a paragraph on why a program on this host hangs.
        case why(HostTarget)
        /// The same, of programs on several hosts.
        case whyAcross([HostQuestion])
        /// Prints the problems of this host's sockets, one per line.
        case hostCheck
        /// Tells another socktui what this host's sockets are.
        case agent
        /// Serves metrics of this host's sockets at this address, or prints them once to stdout.
        case metrics(Endpoint?)
        /// Exports a capture for other programs.
        case export(ExportRequest)
        /// Replays a recorded client.
        case replay(ReplayRequest)
        /// Sends a recorded request in every way that must make no difference.
        case sweep(ReplayRequest)
        /// Serves tools to Model Context Protocol clients.
        case tools
        /// Sends a control command to a running socktui.
        case control(program: String, line: String)
        /// Prints the help of a command or of another topic, or the short help.
        case help(String?)
        case version
    }

    var mode = Mode.terminal
    /// What to open at the start. If empty, the start screen is shown.
    var opening: [Effect] = []
    /// What a run without a screen does in addition to printing what happens.
    var report = ReportOptions()
    /// The size of a scripted screen, or `nil` for 80x24.
    var size: Size?
    /// Whether to draw only ASCII, or `nil` to follow the configuration.
    var isASCII: Bool?
    /// The color depth, or `nil` to follow the configuration.
    var depth: Configuration.Depth?
    /// The bytes of traffic kept for each connection and for all of them, or `nil` to follow the configuration.
    var keep: Int?
    var keepTotal: Int?
    /// The path of the program's own log, or `nil` to follow the configuration.
    var log: String?
    /// The path of the configuration file, or `nil` for the user's own.
    var configuration: String?
    /// Whether sent lines are kept for later runs, unless the configuration turns that off.
    var keepsHistory = true
    /// Which warnings are shown.
    var lints = LintSettings()
    /// Whether reading files, writing files and starting an editor are disabled.
    var isSecure = false
    /// The option or command that names a file or a program, or an address that is a file: what `isSecure` refuses.
    /// `nil` if nothing does.
    var touching: String?
    /// How this host's sockets are inspected.
    var host = HostOptions()
    /// What to capture, if `opening` requests a capture.
    var capture = CaptureTarget(interface: "lo")
    /// How much of the run is kept for rewinding, or `nil` to follow the configuration.
    var rewind: Duration?
    /// What to record. An empty path records nothing.
    var recording = RecordingRequest()
    /// The rules and breakpoints set at the start.
    var faults = FaultOptions()
    /// Whether other programs may read and change this run's state: see `socktui ctl`.
    var isControlled = false
    /// Where to crash after the first screen is drawn, for tests of the crash guard.
    var trap: Trap?

    enum Trap: String { case main, thread }
}

extension Invocation {
    /// Whether more than one capture file is opened.
    var opensSeveral: Bool { opening.count { if case .openFile = $0 { true } else { false } } > 1 }
    /// Whether this run opens sockets, or looks at those of others.
    var opensSockets: Bool {
        switch mode {
        case .terminal, .report, .script, .why, .whyAcross, .hostCheck, .agent, .metrics, .replay, .sweep, .tools: true
        case .attachable, .configuration, .hostNeeds, .completions, .export, .control, .help, .version: false
        }
    }
    /// The program to run through a relay, or `nil` if there is none.
    var program: RunRequest? {
        for case .run(let request) in opening { return request }
        return nil
    }
}

/// A mistake on the command line: one line that names the argument and says what would be right.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let description: String

    /// Creates an error with one sentence as its description.
    init(sentence: String) { description = sentence }

    /// Creates an error about one argument, which the problem may begin with already. Its control characters are escaped
    /// when it is printed.
    init(_ argument: String, _ problem: String) {
        description = problem.hasPrefix("\(argument): ") ? problem : "\(argument): \(problem)"
    }
}
