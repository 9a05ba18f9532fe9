import CSockTUIRun
import Dispatch
import Glibc
import InspectorCore
import SocketKit
import SocketWorkshop

/// The program of a `run`: its relays, the program itself, and its end, which also ends the proxies.
package final class ChildRunner: Sendable {
    private struct State {
        var child: ChildState?
        /// Whether there is news that was not taken yet.
        var isNews = false
        var listeners: [SocketID] = []
        /// The process, while it can be sent signals. It is not reaped before this is `nil`.
        var process: pid_t?
        /// Set when this run is ending. Nothing is started from then on.
        var isStopped = false
        /// Takes the program's connects, or `nil` if it is offered proxies.
        var relay: ConnectRelay?
        /// Has the program's calls, or `nil` if they are not traced.
        var calls: CallTap?
        /// The program's own terminal while it runs, and the size that it should have.
        var terminal: ChildTerminal?
        var size = ChildTerminal.Size(columns: 80, rows: 24)
        /// How the program ended. Reported once its last connections are counted.
        var ending: ChildEnding?
    }

    private let sources: SourceList
    private let state = Lock(State())
    private let output = ChildOutput()
    private let passed = PassedTally()
    /// Whether the program's output is shown on a screen. Otherwise it goes to this program's standard error.
    private let showsOutput: Bool
    private let queue = DispatchQueue(label: "socktui.child")
    private let gone = DispatchSemaphore(value: 0)

    /// How long the program has to end after SIGTERM.
    private static let patience = DispatchTimeInterval.seconds(1)
    /// How long a connection made just before the program ended may take to be accepted.
    private static let lastMoment = DispatchTimeInterval.milliseconds(100)

    package init(_ sources: SourceList, showsOutput: Bool) {
        (self.sources, self.showsOutput) = (sources, showsOutput)
    }

    // MARK: Starting

    /// Opens the relays and starts the program. The outcome is reported as news.
    package func start(_ request: RunRequest) {
        state.withLock { state in
            (state.child, state.isNews) = (ChildState(request), true)
        }
        open(request.via.kinds[...], request, [:])
    }

    private func open(_ kinds: ArraySlice<ProxyKind>, _ request: RunRequest, _ proxies: [ProxyKind: String]) {
        guard let kind = kinds.first else { return queue.async { @Sendable [self] in spawn(request, proxies) } }
        sources.open({ $0.relay(request.relay(kind), then: $1) }) { @Sendable [self] result in
            switch result {
            case .failure(let error): end(.notStarted("run: the relay: \(error.detail)", status: 1))
            case .success(let id):
                state.withLock { $0.listeners.append(id) }
                look { @Sendable [self] snapshot in
                    guard let local = snapshot?.socket(id.own)?.local else {
                        return end(.notStarted("run: the relay ended immediately", status: 1))
                    }
                    var proxies = proxies
                    proxies[kind] = local.description
                    open(kinds.dropFirst(), request, proxies)
                }
            }
        }
    }

    /// Requests a snapshot of the program's own engine, without its events, which belong to the screen.
    private func look(then: @escaping @Sendable (EngineSnapshot?) -> Void) {
        sources.own.source.requestSnapshot(SnapshotRequest(), then: then)
    }

    private func spawn(_ request: RunRequest, _ proxies: [ProxyKind: String]) {
        let streams: ChildStreams
        do throws(ChildStreams.Problem) { streams = try ChildStreams(request, showsOutput: showsOutput) } catch {
            return end(.notStarted(error.sentence, status: 1))
        }
        defer { streams.closeTheirs() }
        // This program sets Swift's own variable for itself only.
        let own = Spawn.ownEnvironment.filter { $0 != "SWIFT_BACKTRACE=\(Spawn.quietBacktrace)" }
        do throws(CommandPath.Problem) {
            let path = try CommandPath.find(request.arguments[0])
            var spawn = Spawn(
                path: path, arguments: request.arguments, environment: request.environment(own, proxies: proxies),
                streams: streams.theirs, hasOwnSession: true)
            spawn.terminal = streams.terminal?.path
            // What is typed early waits for the program.
            state.withLock { state in
                state.terminal = streams.terminal
                state.terminal?.resize(state.size)
            }
            guard let process = try launch(spawn, request) else { return giveBack(streams) }
            streams.output.map(output.read(from:))
            DescriptorLimit.raise()
            DispatchQueue(label: "socktui.child-end").async { @Sendable [self] in wait(for: process) }
        } catch {
            giveBack(streams)
            end(.notStarted("run: \(error.sentence)", status: error.status))
        }
    }

    /// Closes our ends of the streams of a program that was not started. It has no terminal to type into.
    private func giveBack(_ streams: ChildStreams) {
        state.withLock { $0.terminal = nil }
        streams.closeOurs()
    }

    /// Starts the program, with its connects taken if that was requested. Returns `nil` if this run is ending, or begins
    /// again with proxies.
    private func launch(_ spawn: Spawn, _ request: RunRequest) throws(CommandPath.Problem) -> pid_t? {
        guard request.via == .connect else { return try begin(spawn) }
        guard let relay = sources.own.source.connectRelay(timeout: request.timeout), let gate = ConnectGate() else {
            offerProxies(request, because: "no file descriptors are left")
            return nil
        }
        let started: pid_t?
        do throws(CommandPath.Problem) { started = try begin(gate.wrap(spawn, isTraced: request.showsCalls)) } catch {
            gate.close()
            throw error
        }
        guard let process = started else {
            gate.close()
            return nil
        }
        switch gate.admit(process, passed, isTraced: request.showsCalls, forget: { forget(process) }) {
        case .gone: break
        case .runs(let gift, let guardProcess, let admission):
            answer(gift, guardProcess, admission, relay)
            admission.note.map(note)
        case .refused(let reason):
            offerProxies(request, because: reason)
            return nil
        case .notExecuted(let number):
            throw CommandPath.Problem(number, request.arguments[0])
        }
        return process
    }

    /// Answers the program's calls until no process makes any.
    private func answer(
        _ gift: crun_gift, _ guardProcess: pid_t, _ admission: ConnectGate.Admission, _ relay: ConnectRelay
    ) {
        let calls = admission.tracer.flatMap { tap($0, relay) }
        state.withLock { state in
            (state.relay, state.calls) = (relay, calls)
            state.child?.callLosses = calls.map { _ in CallLosses() }
        }
        sources.calls.withLock { $0 = calls }
        DispatchQueue(label: "socktui.connects").async { @Sendable [passed] in
            let loop = ConnectLoop(
                gift, admission.access, inbox: ConnectInbox(), relay: relay, passed: passed, calls: calls)
            admission.first.map(loop.handle)
            loop.run()
            gift.close(guardedBy: guardProcess)
            calls?.close()
            // One whose calls nobody reads ends with the last process that it traces.
            if calls == nil, let tracer = admission.tracer?.process, tracer > 0 { Self.reap(tracer) }
        }
    }

    /// Returns what has the calls of a traced program. If they can't be traced, it says why.
    private func tap(_ tracer: crun_tracer, _ relay: ConnectRelay) -> CallTap? {
        if tracer.error == 0, let tap = CallTap(tracer, relay: relay) { return tap }
        tracer.closeDescriptors()
        let reason = tracer.error == 0 ? "no memory" : "ptrace: \(POSIXErrno(tracer.error).words)"
        note("no calls are shown (\(reason))")
        return nil
    }

    /// Runs the program with proxies, because its connects can't be taken.
    private func offerProxies(_ request: RunRequest, because reason: String) {
        var request = request
        request.via = .http
        state.withLock { $0.child = ChildState(request) }
        note("connects can't be intercepted here (\(reason)), so \(request.name) is offered an HTTP proxy")
        if request.showsCalls { note("its calls are not shown") }
        open(request.via.kinds[...], request, [:])
    }

    /// Adds a sentence to what there is to say of this run.
    private func note(_ sentence: String) {
        state.withLock { state in
            let former = state.child?.note
            state.child?.note = former.map { "\($0); \(sentence)" } ?? sentence
            state.isNews = true
        }
    }

    /// Takes the end of a process that did not become the program.
    private func forget(_ process: pid_t) {
        state.withLock { $0.process = nil }
        Self.reap(process)
    }

    /// Waits for the end of a process.
    static func reap(_ process: pid_t) {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }

    /// Starts a process. Returns `nil` if this run is ending. A signal that arrives meanwhile waits for the lock, so
    /// that even one caused by the program's first instruction is handled.
    private func begin(_ spawn: Spawn) throws(CommandPath.Problem) -> pid_t? {
        let started: Result<pid_t, POSIXErrno>? = state.withLock { state in
            guard !state.isStopped else { return nil }
            let started = spawn.start()
            guard case .success(let process) = started else { return started }
            (state.process, state.isNews) = (process, true)
            state.child?.phase = .running(process: Int(process))
            return started
        }
        guard case .failure(let error)? = started else { return try? started?.get() }
        throw CommandPath.Problem(error.number, spawn.arguments[0])
    }

    // MARK: Ending

    private func wait(for process: pid_t) {
        var facts = siginfo_t()
        while waitid(P_PID, id_t(process), &facts, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let ending = state.withLock { state in
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            state.process = nil
            state.terminal?.close()
            state.terminal = nil
            let ending = status & 0x7F == 0 ? ChildEnding.exit(status >> 8 & 0xFF) : .signal(status & 0x7F)
            state.ending = ending
            return ending
        }
        gone.signal()
        queue.asyncAfter(deadline: .now() + Self.lastMoment) { @Sendable [self] in end(ending) }
    }

    /// Counts the program's connections, and ends the relays.
    private func end(_ ending: ChildEnding) {
        look { @Sendable [self] snapshot in
            let listeners = state.withLock { $0.listeners }
            let taken = state.withLock { $0.relay?.count ?? 0 }
            let accepted = listeners.reduce(UInt64(taken)) { $0 + (snapshot?.socket($1.own)?.accepted ?? 0) }
            for listener in listeners { sources.perform(.close(listener, .now)) }
            // Request this afterwards, so that a snapshot taken after the news includes the change.
            look { @Sendable [self] _ in
                state.withLock { state in
                    let process = state.child?.process
                    state.child?.phase = .ended(ending, process: process, connections: Int(accepted))
                    (state.isNews, state.ending) = (true, ending)
                }
            }
        }
    }

    /// Sends a signal to the program and its children. Returns whether it is running.
    @discardableResult
    package func signal(_ number: Int32) -> Bool {
        state.withLock { state in state.process.map { kill(-$0, number) == 0 } ?? false }
    }

    /// Types bytes into the program's terminal. Returns why that is not possible, as a sentence, or `nil`.
    package func type(_ bytes: [UInt8]) -> String? {
        state.withLock { state in
            let name = state.child?.name ?? "the program"
            guard let terminal = state.terminal else { return "\(name) no longer has a terminal; nothing was typed" }
            guard !terminal.type(bytes) else { return nil }
            return bytes.count > ChildTerminal.limit
                ? "\(Format.size(bytes.count)) is too much to type at once; the limit is \(Format.size(ChildTerminal.limit))"
                : "\(name) is not reading its terminal; the last keys were dropped"
        }
    }

    /// Gives the program's terminal a size. A terminal that it gets later begins with it.
    package func resize(columns: Int, rows: Int) {
        state.withLock { state in
            state.size = ChildTerminal.Size(columns: columns, rows: rows)
            state.terminal?.resize(state.size)
        }
    }

    /// Ends the program if it is running, with a signal, and with SIGTERM and SIGKILL if it does not end by it. None is
    /// started after that. Returns whether it was running.
    @discardableResult
    package func stop(by first: Int32 = SIGTERM) -> Bool {
        state.withLock { $0.isStopped = true }
        guard signal(first) else { return false }
        // A stopped program handles no signal until it continues.
        signal(SIGCONT)
        for next in first == SIGTERM ? [SIGKILL] : [SIGTERM, SIGKILL] {
            guard gone.wait(timeout: .now() + Self.patience) == .timedOut else { return true }
            signal(next)
        }
        _ = gone.wait(timeout: .now() + Self.patience)
        return true
    }

    // MARK: Status and news

    /// This program's exit status for the child, or `nil` if none was started or it has not ended.
    package var status: Int32? { state.withLock { $0.ending?.status } }

    /// Prepares the program's calls for a look at the sessions. Do this before it.
    package func collect() { state.withLock { $0.calls }?.collect() }

    /// Returns the news since the last call, or `nil` if there is none.
    package func news() -> ChildNews? {
        let (written, passed) = (output.take(), passed.value)
        let losses = state.withLock { $0.calls }?.losses
        return state.withLock { state in
            if let losses, state.child?.callLosses != losses {
                state.child?.callLosses = losses
                state.isNews = true
            }
            if let known = state.child?.passed, known != passed {
                state.child?.passed = passed
                state.isNews = true
            }
            defer { state.isNews = false }
            guard let child = state.child, state.isNews || !written.bytes.isEmpty else { return nil }
            return ChildNews(child, output: written.bytes, dropped: written.dropped)
        }
    }
}
