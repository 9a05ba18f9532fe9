import Glibc
import InspectorCore
import InspectorScreen
import InspectorShell
import SocketKit

/// How a run ended.
enum Ending: Equatable {
    case status(Int32)
    /// The process must raise this signal to end, so that its parent sees it.
    case signal(Int32)
}

/// From the command line to the exit status. See `ExitRow`.
enum Program {
    /// Runs the program. If a signal ended the run, ends the process by that signal.
    static func main(_ arguments: [String]) -> Int32 {
        StandardStream.openMissing()
        CrashGuard.takeSignals()
        var invocation: Invocation
        do {
            invocation = try ArgumentParser.parse(Array(arguments.dropFirst()))
        } catch {
            return complain(error.description, status: .usage)
        }
        // A program that is run inherits the original limit.
        if invocation.program == nil { DescriptorLimit.raise() }
        Elevation.judge(isWanted: invocation.isSecure)
        if let refusal = Elevation.refusal, let word = invocation.touching {
            return complain("\(word): \(refusal)", status: .usage)
        }
        if let problem = whyNoTerminal(invocation) { return complain(problem, status: .usage) }
        if let program = invocation.program, let problem = whyNotRun(program) {
            return complain(problem.sentence, raw: problem.status)
        }
        invocation.host.peeks = invocation.host.peeks.ofThisRun()
        if case .script = invocation.mode, invocation.report.payload == nil {
            invocation.host.peeks.refusal = invocation.host.peeks.refusal ?? "a script prints its screen; use --payload"
        }
        if invocation.opensSockets, let problem = LeastResources.secure() { return complain(problem, status: .failure) }
        switch invocation.mode {
        case .attachable: return attachable()
        case .control(let program, let line): return ControlRun.run(program, line)
        case .why(let target): return HostRun.why(target, invocation.host, invocation.lints)
        case .whyAcross(let questions): return FleetRun.why(questions, invocation.host, invocation.lints)
        case .agent: return AgentRun.run(version: CommandTable.version)
        case .export(let request): return ExportRun.run(request)
        case .replay(let request): return ReplayRun.run(request)
        case .sweep(let request): return SweepRun.run(request)
        case .tools: return ToolRun.run(invocation.host, invocation.lints)
        case .metrics(let endpoint):
            return withLints(invocation) { MetricsRun.run(endpoint, invocation.host, $0) }
        case .hostCheck: return withLints(invocation) { HostRun.check(invocation.host, $0) }
        case .hostNeeds(let isJSON):
            let grounds = HostGrounds.find()
            let text = isJSON ? HostNeed.json(grounds).text : HostNeed.lines(grounds).joined(separator: "\n")
            return show(text + "\n")
        case .help(let topic): return show((topic.flatMap(HelpText.text) ?? HelpText.short) + "\n")
        case .version: return show("socktui \(CommandTable.version)\n")
        case .report(let form, let isOnce): return report(form, isOnce: isOnce, invocation)
        case .completions(let shell): return show(shell.completions + "\n")
        case .configuration, .script, .terminal: return configured(invocation)
        }
    }

    /// Handles the runs that read the configuration. A script must behave the same for every user, so it reads only
    /// what it is given.
    private static func configured(_ invocation: Invocation) -> Int32 {
        let configuration: Configuration
        do {
            if case .script = invocation.mode {
                configuration = try ConfigFile.givenConfiguration(invocation)
            } else {
                configuration = try ConfigFile.configuration(invocation)
            }
        } catch {
            return complain(error.description, status: .usage)
        }
        switch invocation.mode {
        case .configuration:
            let isLight = TerminalEnvironment.isLight(configuration)
            let place = ConfigFile.place(invocation)
            return show("# \(place.sentence)\n" + configuration.text { Palette.standard($0, isLight: isLight) })
        case .script(let path):
            return with(configuration, invocation) { ScriptRun.run(path, invocation, configuration, sources: $0) }
        // A run that wants a screen and has none prints text.
        case .terminal where !StandardStream.output.isTerminal && !invocation.opening.isEmpty:
            return report(.text, isOnce: false, invocation)
        case .terminal where invocation.program?.input == "-" && isatty(STDIN_FILENO) == 1:
            return complain(
                "--stdin: - is the terminal, which the screen reads; --tty gives CMD its own", status: .usage)
        case .terminal where invocation.report.span != nil:
            return complain("--for: needs --once, --json or a pipe; a screen runs until you quit", status: .usage)
        default: return TerminalRun.run(invocation, configuration)
        }
    }

    /// Returns why the program can't have a terminal of its own, or `nil` if it can or has none.
    private static func whyNoTerminal(_ invocation: Invocation) -> String? {
        guard let program = invocation.program, program.hasTerminal else { return nil }
        if program.input != nil { return "--stdin: with --tty, CMD reads its terminal" }
        if case .terminal = invocation.mode, StandardStream.output.isTerminal { return nil }
        return "--tty: needs a screen, which shows CMD's terminal"
    }

    /// Returns a problem that is known before anything is opened, or `nil` if there is none.
    private static func whyNotRun(_ program: RunRequest) -> CommandPath.Problem? {
        do throws(CommandPath.Problem) {
            _ = try CommandPath.find(program.arguments[0])
        } catch {
            return CommandPath.Problem(sentence: "run: \(error.sentence)", status: error.status)
        }
        guard let input = program.input, input != "-", input.withNative({ access($0, R_OK) }) != 0 else { return nil }
        return CommandPath.Problem(sentence: "--stdin: \(input): \(POSIXErrno(errno).words)", status: 1)
    }

    /// Lists the programs that can be attached to. Returns `nothing` if there are none, and prints what to do about it.
    private static func attachable() -> Int32 {
        let entries = AttachablePrograms.list()
        guard !entries.isEmpty else {
            return complain("no program is inspectable; \(AttachablePrograms.howTo)", status: .nothing)
        }
        let next =
            StandardStream.output.isTerminal
            ? "\nsocktui attach \(entries[0].process) opens \(entries[0].program).\n" : ""
        return show(AttachablePrograms.table(entries) + "\n" + next)
    }

    /// Runs what judges the host, with the warnings that the command line and a given configuration choose.
    private static func withLints(_ invocation: Invocation, _ run: (LintSettings) -> Int32) -> Int32 {
        do {
            let configuration = try ConfigFile.givenConfiguration(invocation)
            return run(invocation.lints.over(configuration.lints))
        } catch {
            return complain(error.description, status: .usage)
        }
    }

    private static func report(_ form: ReportForm, isOnce: Bool, _ invocation: Invocation) -> Int32 {
        if invocation.recording.path == "-", form != .text {
            return complain("--record: - is standard output, which this run already uses", status: .usage)
        }
        if form != .json, invocation.program?.showsCalls == true {
            return complain("--calls: needs a screen, a --script or --json, which show the calls", status: .usage)
        }
        let configuration: Configuration
        do { configuration = try ConfigFile.givenConfiguration(invocation) } catch {
            return complain(error.description, status: .usage)
        }
        let lints = invocation.lints.over(configuration.lints)
        let wantsBytes = form == .bytes || !invocation.report.expectations.isEmpty
        let received = wantsBytes ? ReceivedBytes() : nil
        var looking = invocation.host
        looking.listsOnlyMatches = true
        let sources = SourceList(
            asks: false, received: received, keeping: TrafficLimits(configuration),
            looking: looking, lints: lints, opensSeveral: invocation.opensSeveral,
            faults: FaultControl(invocation.faults, configuration))
        sources.faults.opensOnly(invocation.opening)
        if let problem = sources.prepare(invocation) { return problem }
        if invocation.faults.seed == nil, let note = sources.faults.seedNote { _ = complain(note, status: .success) }
        let inbox: Inbox
        do throws(SocketError) { inbox = try Inbox() } catch { return complain(error.detail, status: .failure) }
        var options = invocation.report
        options.filter = invocation.host.filter
        let run = ReportRun(
            form, isOnce: isOnce, lints: lints, sources: sources, inbox: inbox, options: options,
            received: received, isSilent: invocation.recording.path == "-")
        return end(run.run(invocation.opening), sources)
    }

    /// Closes the sources and the recording. Returns the exit status, or ends the process by the signal that ended the
    /// run.
    static func end(_ ending: Ending, _ sources: SourceList) -> Int32 {
        sources.close()
        switch ending {
        case .status(let status): return sources.recordingEnding(status)
        case .signal(let number):
            _ = sources.recordingEnding(1)
            CrashGuard.die(by: number)
        }
    }

    private static func with(
        _ configuration: Configuration, _ invocation: Invocation, _ run: (SourceList) -> Ending
    ) -> Int32 {
        let sources = SourceList(invocation, configuration)
        if let problem = sources.prepare(invocation) { return problem }
        return end(run(sources), sources)
    }

    /// Writes one line to standard error and returns the status.
    static func complain(_ sentence: String, status: ExitStatus) -> Int32 { complain(sentence, raw: status.rawValue) }

    /// Writes one line to standard error and returns a status that is a shell's.
    private static func complain(_ sentence: String, raw status: Int32) -> Int32 {
        StandardStream.error.writeLine("socktui: \(sentence)")
        return status
    }

    /// Writes the reason, and the lines to choose from, to standard error. Returns the status.
    static func complain(_ refusal: Refusal) -> Int32 {
        let status = complain(refusal.sentence, status: refusal.status)
        for choice in refusal.choices { StandardStream.error.writeLine("  " + choice) }
        return status
    }

    /// Writes a text to standard output and returns the exit status.
    static func show(_ text: String) -> Int32 { status(of: StandardStream.output.write(text), otherwise: 0) }

    /// Returns the exit status after a write to standard output. A reader that left early got all it wanted. Any other
    /// failure lost output, and is reported.
    static func status(of outcome: StandardStream.Outcome, otherwise status: Int32) -> Int32 {
        switch outcome {
        case .written, .nobodyReads: return status
        case .failed(let number):
            return complain("standard output: \(String(cString: strerror(number)))", status: .failure)
        case .interrupted: return complain("standard output: the reader did not take the last lines", status: .failure)
        }
    }
}

extension Effect {
    /// Whether it shows sockets that exist already: a program's, the host's or those in a file.
    var showsOthers: Bool {
        switch self {
        case .attach, .showHost, .openFile, .capture: true
        default: false
        }
    }
}

extension SourceList {
    /// Starts what must run before anything is opened: faults and breakpoints, the control socket, a capture and a
    /// recording. Returns the exit status if one of them fails.
    func prepare(_ invocation: Invocation, beforeComplaint: () -> Void = {}) -> Int32? {
        if let problem = faults.begin(with: invocation.faults, opening: invocation.opening) {
            beforeComplaint()
            return Program.complain(problem, status: .usage)
        }
        if invocation.isControlled, let problem = serveControl() {
            beforeComplaint()
            return Program.complain(problem, status: .failure)
        }
        if invocation.opening.contains(.capture) {
            do throws(AttachError) {
                try openCapture(invocation.capture)
            } catch {
                beforeComplaint()
                return Program.complain("capture: \(error.sentence)", status: .failure)
            }
        }
        guard !invocation.recording.path.isEmpty else { return nil }
        let opens = invocation.opening.contains { !$0.showsOthers }
        do throws(SocketError) {
            try startRecording(invocation.recording, ofOwnEngine: opens || invocation.opening.isEmpty)
            return nil
        } catch {
            beforeComplaint()
            return Program.complain("--record: \(error.detail)", status: .failure)
        }
    }

    /// What the recording and the key logs lost, as sentences.
    private var recordingLosses: [String] {
        var losses = KeyLogFile.losses
        guard let recording = recordingStatus else { return losses }
        if let missing = recordingState?.missing { losses.append("--record: \(missing) are missing from the file") }
        if let problem = recording.problem { losses.append(problem) }
        if !recording.hasEnded { losses.append("--record: the end of the recording could not be written in time") }
        return losses
    }

    /// Returns at least 1 if packets or a part of the recording were lost. Called once the sources are closed.
    func statusWithLosses(_ status: Int32) -> Int32 {
        recordingLosses.isEmpty && capture?.hasLost != true ? status : max(1, status)
    }

    /// Reports what a capture and the recording lost. Returns the exit status.
    func recordingEnding(_ status: Int32) -> Int32 {
        let shortcomings = capture?.shortcomings ?? []
        if !shortcomings.isEmpty {
            _ = Program.complain("capture: \(shortcomings.joined(separator: ", "))", status: .success)
        }
        for loss in recordingLosses { _ = Program.complain(loss, status: .failure) }
        return statusWithLosses(status)
    }
}
