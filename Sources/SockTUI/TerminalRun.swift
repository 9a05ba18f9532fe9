import Dispatch
import Glibc
import InspectorCore
import InspectorScreen
import InspectorShell
import SocketKit

/// A run on a terminal, from taking it over to restoring it.
enum TerminalRun {
    /// Runs until the user or a signal ends it. A terminal that can't be used is reported in one line, with status 2.
    static func run(_ invocation: Invocation, _ configuration: Configuration) -> Int32 {
        let inbox: Inbox
        do throws(SocketError) { inbox = try Inbox() } catch { return Program.complain(error.detail, status: .failure) }
        do throws(CursesTerminal.Refused) {
            let environment = try TerminalEnvironment.current(configuration)
            quietBacktraces()
            if invocation.opening.contains(.showHost) || invocation.opening.contains(.capture) { yieldToOthers() }
            return run(invocation, configuration, try open(environment, inbox), inbox)
        } catch {
            return Program.complain(error.sentence, status: .usage)
        }
    }

    /// Arms the guard before the terminal is touched, so that no signal finds the terminal half set up.
    private static func open(
        _ environment: TerminalEnvironment, _ inbox: Inbox
    ) throws(CursesTerminal.Refused) -> CursesTerminal {
        let restoreBytes = try CursesTerminal.restoreBytes(environment)
        CrashGuard.remember(environment.input)
        CrashGuard.listen(inbox.writeEnd)
        CrashGuard.arm(screen: environment.output, restoreBytes: restoreBytes)
        do throws(CursesTerminal.Refused) {
            return try CursesTerminal(environment: environment)
        } catch {
            CrashGuard.disarm()
            throw error
        }
    }

    private static func run(
        _ invocation: Invocation, _ configuration: Configuration, _ terminal: CursesTerminal, _ inbox: Inbox
    ) -> Int32 {
        let recent = configuration.recent ? RecentTargets.ofThisUser() : nil
        let log = ProgramLog(configuration.log, inbox)
        let sources = SourceList(invocation, configuration)
        let leave = {
            terminal.leave()
            CrashGuard.disarm()
        }
        if let problem = sources.prepare(invocation, beforeComplaint: leave) { return problem }
        let sent = invocation.keepsHistory && configuration.history ? SentLines.ofThisUser() : nil
        let runner = EffectRunner(
            sources: sources, inbox: inbox, recent: recent, sent: sent, log: log, findsPeers: true)
        var options = Model.Options(invocation, configuration, drawsUnicode: terminal.drawsUnicode)
        sources.keepHistory(configuration, invocation)
        if configuration.mouse { terminal.hearMouse(true) }
        log.note("socktui \(CommandTable.version) started, \(terminal.colours) colors")
        options.keepsHistory = sent != nil
        let loop = RunLoop(model: Model(options: options), screen: terminal, runner: runner)
        if invocation.opening.isEmpty { StartOffersProvider.find(recent: recent, for: inbox) }
        TemplateFile.read(TemplateFile.path()).forEach(inbox.post)
        if let sent { inbox.post(.sentLines(sent.byPeer())) }
        if let problem = ConfigFile.place(invocation).problem { inbox.post(.told(problem)) }
        if let sentence = sources.faults.seedNote { inbox.post(.told(sentence)) }
        terminal.learnBackground(within: .milliseconds(100))
        loop.start(invocation.opening)
        if let trap = invocation.trap { crash(trap) }
        let signal = loop.run().signal
        leave()
        runner.finish(signal)
        loop.conclude()
        let failures = invocation.opening.isEmpty ? [] : loop.failures
        for failure in failures { _ = Program.complain(failure, status: .failure) }
        let status = runner.child.status ?? (failures.isEmpty ? 0 : 1)
        return Program.end(signal.map { .signal($0) } ?? .status(status), sources)
    }

    /// Gives the inspected programs priority over drawing on a busy host. Looks get their own low priority from their
    /// queue.
    private static func yieldToOthers() { _ = nice(10) }

    /// Starts the program again, at a cost of 3 ms, because Swift's backtracer asks questions on a terminal unless it
    /// is configured before the program starts. If that fails, everything else still works.
    private static func quietBacktraces() {
        guard getenv("SWIFT_BACKTRACE") == nil else { return }
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard readlink("/proc/self/exe", &path, path.count - 1) > 0 else { return }
        setenv("SWIFT_BACKTRACE", Spawn.quietBacktrace, 1)
        ProgramArguments.execute(path)
    }

    /// Causes a real trap, such as an index out of range.
    private static func crash(_ place: Invocation.Trap) {
        switch place {
        case .main: fatalError("trap requested")
        case .thread: DispatchQueue.global().async { @Sendable in fatalError("trap requested on a thread") }
        }
    }
}
