import InspectorCore

/// What the command line asked for.
struct Invocation: Equatable {
    /// What kind of run it is.
    enum Mode: Equatable {
        case terminal
        /// What happens as text on stdout, without a screen; once: one snapshot.
        case report(ReportForm, isOnce: Bool)
        /// The keys of a file, without a terminal.
        case script(String)
        /// What can be attached to, as a table.
        case attachable
        /// The configuration in force, on stdout.
        case configuration
        /// Where the configuration is, on stdout.
        case configurationPlace
        /// A text made from the tables, on stdout.
        case document(Document)
        /// Why a program of this host hangs, as a paragraph.
        case why(HostTarget)
        /// What is wrong with the sockets of this host, a line each.
        case hostCheck
        /// What a capture has, for other programs.
        case export(ExportRequest)
        /// A recorded client plays again.
        case replay(ReplayRequest)
        /// A recorded request is sent in every way that must make no difference.
        case sweep(ReplayRequest)
        /// What clients of the Model Context Protocol ask for.
        case tools
        /// Something that a running socktui is asked to do.
        case control(program: String, line: String)
        /// The help of one command, or of the program.
        case help(String?)
        case version
    }

    var mode = Mode.terminal
    /// What is opened at the start; nothing: the start screen.
    var opening: [Effect] = []
    /// What a run without a screen does beside printing what happens.
    var report = ReportOptions()
    /// The size of a scripted screen; nil: 80x24.
    var size: Size?
    /// Whether only ASCII is drawn; nil: as the configuration says.
    var isASCII: Bool?
    /// How many colours are used; nil: as the configuration says.
    var depth: Configuration.Depth?
    /// For which background the colors are; nil: as the configuration says.
    var theme: Theme?
    /// Bytes of traffic that are kept of one connection, and of all of them; nil: as the configuration says.
    var keep: Int?
    var keepTotal: Int?
    /// The file of the program's own log; nil: as the configuration says.
    var log: String?
    /// The file of the configuration; nil: the user's own.
    var configuration: String?
    /// Whether lines that are sent are kept for another run, unless the configuration says not to.
    var keepsHistory = true
    /// Which warnings are shown.
    var lints = LintSettings()
    /// Whether the list begins with a row for each leg of a relayed connection.
    var showsLegs = false
    /// Whether no file is read or written and no editor started.
    var isSecure = false
    /// How the sockets of this host are looked at.
    var host = HostOptions()
    /// What is captured, where `opening` says so.
    var capture = CaptureTarget(interface: "lo")
    /// How much of the run is kept to go back in it; nil: as the configuration says.
    var rewind: Duration?
    /// What is recorded; an empty path: nothing.
    var recording = RecordingRequest()
    /// Rules and breakpoints from the beginning.
    var faults = FaultOptions()
    /// Whether other programs may see and change what happens here: see `socktui ctl`.
    var isControlled = false
    /// For tests of the crash guard: where to crash once the first picture is drawn.
    var trap: Trap?

    enum Trap: String { case main, thread }
}

extension Invocation {
    /// Whether more than one capture file is opened.
    var opensSeveral: Bool { opening.count { if case .openFile = $0 { true } else { false } } > 1 }
    /// The program that is run through a relay; `nil`: none.
    var program: RunRequest? {
        for case .run(let request) in opening { return request }
        return nil
    }

    /// An option that names a file which this program would read or write; `nil`: there is none.
    var optionWithFile: String? {
        if case .script = mode { return "--script" }
        if log != nil { return "--log" }
        if !recording.path.isEmpty, recording.path != "-" { return "--record" }
        switch mode {
        case .export: return "export"
        case .replay: return "replay"
        case .sweep: return "sweep"
        default: break
        }
        for case .openFile in opening { return "open" }
        if program != nil { return "run" }
        return configuration == nil ? nil : "--config"
    }
}

/// What was wrong with the command line: one line that names the argument and says what would be right.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let description: String

    /// Creates an error that is described by one sentence.
    init(sentence: String) { description = sentence }

    /// Creates an error about one argument. Where it is printed, its control characters are escaped.
    init(_ argument: String, _ problem: String) { description = "\(argument): \(problem)" }
}

/// How the sockets of any program of this host are looked at, and what counts.
struct HostOptions: Equatable {
    /// How long to look; `nil`: a second, and until what stands is proven.
    var span: Duration?
    var isOnce = false
    var isJSON = false
    /// What makes a check fail.
    var level = Severity.warning
    /// Whether a check fails where something was hidden from it.
    var isStrict = false
    /// Whether system calls and their arguments are read.
    var readsCalls = true
    /// Whether tools for editors tell bytes.
    var tellsPayload = false
    /// Whether unread bytes may be looked at.
    var peeks = PeekRules()
    /// The process whose network namespace is looked at; `nil`: this one's.
    var namespace: Int32?
    /// Whether the network namespaces of all processes are looked at, where that is allowed.
    var entersOthers = true
    /// Which sockets count; empty: all.
    var filter = ""
    /// Whether others are not even listed; on a screen the user can drop the filter.
    var listsOnlyMatches = false
}
