import Glibc
import InspectorCore
import InspectorScreen
import InspectorShell
import SocketKit

/// A run of a script file, from the file to the exit status.
enum ScriptRun {
    /// Runs the script at `path`. Ends with 0 if every step succeeded, 1 if one failed, 2 if the file is
    /// invalid, or the signal that arrived.
    static func run(
        _ path: String, _ invocation: Invocation, _ configuration: Configuration, sources: SourceList
    ) -> Ending {
        let text: String
        do throws(TextFile.Problem) {
            text = try TextFile.contents(of: path, allowingPipes: true)
        } catch {
            return .status(Program.complain("\(path): \(error.sentence)", status: .usage))
        }
        do throws(Script.Mistake) {
            return run(try Script(text), path, invocation, configuration, sources)
        } catch {
            return .status(Program.complain("\(path):\(error.line): \(error.sentence)", status: .usage))
        }
    }

    private static func run(
        _ script: Script, _ path: String, _ invocation: Invocation, _ configuration: Configuration,
        _ sources: SourceList
    ) -> Ending {
        let inbox: Inbox
        do throws(SocketError) { inbox = try Inbox() } catch {
            return .status(Program.complain(error.detail, status: .failure))
        }
        CrashGuard.listen(inbox.writeEnd)
        let screen = ScriptScreen(invocation.size ?? Size(80, 24))
        sources.keepHistory(configuration, invocation)
        let runner = EffectRunner(
            sources: sources, inbox: inbox, recent: nil, log: ProgramLog(configuration.log, inbox),
            findsPeers: true)
        let loop = RunLoop(
            model: Model(options: Model.Options(invocation, configuration)), screen: screen, runner: runner)
        if invocation.opening.isEmpty {
            StartOffersProvider.find(recent: RecentTargets.ofThisUser(), for: inbox)
        }
        loop.start(invocation.opening)
        let failure = perform(script, loop, screen)
        runner.finish(loop.ending?.signal)
        loop.conclude()
        if let signal = loop.ending?.signal { return .signal(signal) }
        if let failure {
            return .status(Program.complain("\(path):\(failure.line): \(failure.sentence)", status: .failure))
        }
        let failures = loop.failures
        for failure in failures { _ = Program.complain(failure, status: .failure) }
        return .status(failures.isEmpty ? 0 : 1)
    }

    /// Runs the steps. Returns the failure of one, with the screen printed that it saw.
    private static func perform(
        _ script: Script, _ loop: RunLoop, _ screen: ScriptScreen
    ) -> ScriptDriver.Failure? {
        do throws(ScriptDriver.Failure) {
            try ScriptDriver(loop: loop, screen: screen).run(script)
            return nil
        } catch {
            if loop.ending?.signal == nil {
                StandardStream.output.write(error.picture + "\n", until: loop.interruption)
            }
            return error
        }
    }
}
