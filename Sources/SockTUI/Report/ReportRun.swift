import Glibc
import InspectorCore
import InspectorShell
import SocketKit

/// A run without a screen. It prints what happens until everything it opened has ended, a signal arrives or the reader
/// of standard output is gone.
final class ReportRun {
    /// How a run ended.
    enum Ending: Equatable {
        case status(Int32)
        /// The process must raise this signal to end, so that its parent sees it.
        case signal(Int32)
    }

    private let runner: EffectRunner
    private let inbox = Inbox()
    private let isOnce: Bool
    /// Whether nothing is printed, because standard output is a recording.
    private let isSilent: Bool
    /// What handles the bytes themselves, or `nil` if nothing does.
    private let conversation: Conversation?
    private var lines: ReportLines
    private var last: EngineSnapshot?
    /// For a run that prints once, the events so far.
    private var events: [SocketEvent] = []
    /// The number of requested sockets that were not opened or refused yet. `answered` counts those that were opened.
    private var unanswered = 0
    private var answered = 0
    /// The value of `answered` when the pending snapshot was requested, and for the last one received. A snapshot
    /// requested before a socket was opened may arrive after the news of the socket, and then does not include it.
    private var answeredAtRequest = 0
    private var answeredInLast = 0
    /// Whether a requested snapshot has not arrived yet.
    private var isUnderWay = false
    private var endsByItself: Bool
    /// The instant of an opened file to show, in nanoseconds from its beginning. `instant` is the same as a time of
    /// day, once the beginning is known.
    private let distance: Int64?
    /// How long to look.
    private let span: Duration?
    private var instant: Int64?
    /// Whether only connections are opened, not listeners.
    private var connects = false
    /// The attached programs, or `nil` if none was requested.
    private var programs: [ProgramInfo]?
    private var refusals: [String] = []
    /// The program that is run, or `nil` if there is none.
    private var child: ChildState?
    /// When the run stops waiting for the ended program's connections.
    private var childEnd: ContinuousClock.Instant?
    /// The other ends of connections, as last found.
    private var peers: [SocketID: PeerEnd] = [:]
    /// The signals already passed to the running program.
    private var passed: Set<Int32> = []
    /// The signal that ends the run without another line.
    private var interruption: Int32?
    /// When the run gives up on a reader that accepts nothing, once SIGINT has arrived.
    private var farewellEnd: ContinuousClock.Instant?

    /// The most events kept by a run that prints once. Earlier ones are lost, which the event numbers show.
    private static let eventLimit = 1 << 16
    /// The minimum and maximum time that sockets are given to open before a single snapshot.
    private static let moment = Duration.milliseconds(500)
    private static let limit = Duration.seconds(10)
    /// How long sockets are given to close after SIGINT, and the reader to accept the last lines.
    private static let farewell = Duration.seconds(1)

    /// `received` gets what the sources' own sockets receive. It is required if something is expected or the form is
    /// bytes.
    init(
        _ form: ReportForm, isOnce: Bool, lints: LintSettings, sources: SourceList,
        options: ReportOptions = ReportOptions(), received: ReceivedBytes? = nil, isSilent: Bool = false
    ) {
        (self.isOnce, self.isSilent) = (isOnce, isSilent)
        (distance, span) = (options.instant, options.span)
        conversation = received.map { Conversation(options.expectations, carriesBytes: form == .bytes, $0, sources) }
        lines = ReportLines(form, isOnce: isOnce, lints: lints, options)
        runner = EffectRunner(sources: sources, inbox: inbox, findsPeers: form == .json, showsOutput: false)
        endsByItself = true
        received?.connect(
            wake: { @Sendable [inbox] in inbox.wake() },
            pause: { @Sendable [sources] in sources.perform(.pauseReading($0, true)) })
    }

    /// Opens what was requested and prints until the end. Each failure is reported on stderr in one line.
    func run(_ opening: [Effect]) -> Ending {
        CrashGuard.listen(inbox.writeEnd)
        defer { runner.child.stop() }
        for effect in opening {
            switch effect {
            case .startDemo, .showHost: endsByItself = false
            case .attach, .openFile, .capture: programs = []
            case .connect: (connects, unanswered) = (true, unanswered + 1)
            case .run(let request): child = ChildState(name: request.name, via: request.via)
            default: unanswered += 1
            }
            runner.perform(effect)
        }
        return isOnce ? once() : stream()
    }

    /// Prints one snapshot once every connect has ended and every attached program has answered as far as it can, but
    /// not before `moment` has passed.
    private func once() -> Ending {
        let begin = ContinuousClock.now
        let (moment, limit) = (span ?? Self.moment, (span ?? .zero) + Self.limit)
        while true {
            // Read this first, so that the snapshot includes the answers.
            let hasAnswered = runner.sources.hasAnswered
            if let signal = runPass(eventsFrom: 0), !passes(signal) { return .signal(signal) }
            let passed = ContinuousClock.now - begin
            if hasAnswered, let distance, instant == nil, let moment = last?.moment {
                guard moment.last - moment.first >= distance else { return beyond(moment) }
                (instant, events) = (moment.first + distance, [])
                continue
            }
            if var last, passed > moment, hasAnswered && isSettled(last) || passed > limit && child == nil {
                last.events = events
                return finish(absorb(last))
            }
            if passed > limit + .seconds(5), child == nil {
                return .status(Program.complain("no answer", status: 1))
            }
        }
    }

    private func beyond(_ moment: SnapshotMoment) -> Ending {
        let end = InstantText.text(moment.last - moment.first)
        return .status(Program.complain("--at: what was opened ends at \(end)", status: 1))
    }

    private func stream() -> Ending {
        let end = span.map { ContinuousClock.now + $0 }
        while true {
            let signal = runPass(eventsFrom: lines.nextEvent).flatMap { passes($0) ? nil : $0 }
            var text = last.map(absorb) ?? []
            if signal == SIGINT { return finish(text + closeAll()) }
            if isOver || signal == nil && end.map({ .now >= $0 }) ?? false {
                listen()
                conversation?.finish()
                return finish(text)
            }
            if case .broken(let outcome)? = conversation?.verdict { return ending(after: outcome) }
            if conversation?.verdict != nil, signal == nil {
                text += closeAll()
                return finish(text)
            }
            if let signal { return .signal(signal) }
            let outcome = put(text)
            guard outcome == .written else { return ending(after: outcome) }
            // SIGINT arrived while the reader was stalled, and the reader has now resumed.
            if farewellEnd != nil { return finish(closeAll()) }
        }
    }

    private func absorb(_ snapshot: EngineSnapshot) -> [String] {
        lines.absorb(
            snapshot, among: Surroundings(process: Int(getpid()), programs: programs ?? [], peers: peers, child: child))
            + payload(snapshot)
    }

    /// Returns the lines about the traffic since the last snapshot.
    private func payload(_ snapshot: EngineSnapshot) -> [String] {
        var text: [String] = []
        while case let due = lines.duePayload(snapshot), !due.isEmpty {
            text += runner.sources.traffic(of: due).flatMap { lines.absorb($0.traffic, of: $0.id) }
        }
        return text
    }

    /// Examines the received bytes.
    private func listen() {
        conversation?.step { bytes in StandardStream.output.write(bytes: bytes, until: interruptible) }
    }

    /// Closes every socket of this program, so that the last lines say how each ended. Waits at most one second. A
    /// second signal ends the run at once.
    private func closeAll() -> [String] {
        farewellEnd = .now + Self.farewell
        runner.child.stop()
        guard programs == nil else { return [] }
        runner.sources.close()
        let end = ContinuousClock.now + Self.farewell
        defer { farewellEnd = .now + Self.farewell }
        var text: [String] = []
        repeat {
            for socket in last?.sockets ?? [] where socket.phase != .closed {
                runner.perform(.send(.close(socket.id, .now)))
            }
            interruption = runPass(eventsFrom: lines.nextEvent)
            guard interruption == nil else { break }
            text += last.map(absorb) ?? []
        } while last?.sockets.contains { $0.phase != .closed } ?? false && ContinuousClock.now < end
        return text
    }

    /// Waits for a tick and requests a snapshot. Returns the signal that ends the program, if one arrived.
    private func runPass(eventsFrom: UInt64) -> Int32? {
        var pipe = pollfd(fd: inbox.readEnd, events: Int16(POLLIN), revents: 0)
        let end = ContinuousClock.now + RunLoop.tick
        // One at a time: events are sent only once, so each snapshot must be printed.
        if !isUnderWay {
            (isUnderWay, answeredAtRequest) = (true, answered)
            var request = SnapshotRequest(kernel: .all, eventsFrom: eventsFrom)
            (request.instant, request.jump) = (instant, instant == nil ? 0 : 1)
            runner.requestSnapshot(request)
        }
        var hasSnapshot = false
        while !hasSnapshot || ContinuousClock.now < end && conversation?.verdict == nil {
            let next = conversation?.deadline.map { min($0, end) } ?? end
            poll(&pipe, 1, Int32(max(0, (next - ContinuousClock.now).wholeNanoseconds / 1_000_000) + 1))
            if let signal = takeSignal() { return signal }
            listen()
            for message in inbox.take() { hasSnapshot = absorb(message) || hasSnapshot }
            if !hasSnapshot, ContinuousClock.now > end + Self.limit { return nil }
        }
        return nil
    }

    /// Handles a message. Returns whether it was a snapshot.
    private func absorb(_ message: Message) -> Bool {
        switch message {
        case .snapshot(let snapshot):
            last = snapshot
            peers = snapshot.peers ?? peers
            isUnderWay = false
            answeredInLast = answeredAtRequest
            conversation?.look(snapshot)
            if isOnce { events = (events + snapshot.events).suffix(Self.eventLimit) }
            return true
        case .opened, .relays:
            if connects, case .opened(let id, _) = message { conversation?.begin(with: id) }
            unanswered -= 1
            answered += 1
        case .refused(let sentence):
            unanswered -= 1
            refusals.append(sentence)
        case .programs(let news):
            programs = news.programs
            refusals += news.notices
        case .child(let news):
            child = news.state
            if child?.ending != nil, childEnd == nil { childEnd = .now + Self.farewell }
        default: break
        }
        return false
    }

    private func isSettled(_ snapshot: EngineSnapshot) -> Bool {
        // Other programs' connects are not waited for.
        guard programs == nil else { return true }
        if child != nil { return isChildOver(snapshot) }
        return unanswered == 0 && answeredInLast == answered
            && snapshot.sockets.allSatisfy { $0.phase != .resolving && $0.phase != .connecting }
    }

    /// Whether nothing more can happen.
    private var isOver: Bool {
        if let programs {
            // Other programs of the same name may still be attaching.
            guard programs.isEmpty else { return programs.allSatisfy(\.hasEnded) }
            return !refusals.isEmpty && runner.sources.hasAnswered
        }
        if child != nil { return last.map(isChildOver) ?? false }
        guard endsByItself, unanswered == 0, answeredInLast == answered, let last else { return false }
        return last.sockets.allSatisfy { $0.phase == .closed }
    }

    /// Whether the run program has ended and its connections have closed or been given up.
    private func isChildOver(_ snapshot: EngineSnapshot) -> Bool {
        guard let childEnd else { return false }
        return snapshot.sockets.allSatisfy { $0.phase == .closed } || .now > childEnd
    }

    /// Passes a signal on to the running program. Returns whether this run continues. The same signal ends it the
    /// second time.
    private func passes(_ signal: Int32) -> Bool {
        guard signal == SIGINT || signal == SIGTERM, !passed.contains(signal) else { return false }
        passed.insert(signal)
        return runner.child.signal(signal)
    }

    /// The refusals, and the requested connections that failed. Failed connections in the demo are intended.
    private var failures: [String] {
        if isOnce, let programs { return refusals + unseen(programs) }
        guard endsByItself, programs == nil, let last else { return refusals }
        if let child, child.wasUnseen || child.ending?.wasStarted == false { return refusals + [child.farewell ?? ""] }
        // A connection that failed at once was refused, and is in the last snapshot too.
        return refusals + last.failures.filter { failure in !refusals.contains { failure.hasSuffix($0) } }
    }

    /// Reports programs that are inspected from outside without a socket that can be seen.
    private func unseen(_ programs: [ProgramInfo]) -> [String] {
        guard last?.sockets.isEmpty == true else { return [] }
        return programs.filter(\.isOutside).map { "\($0.title) has no sockets that can be seen" }
    }

    /// The failures reported at the end.
    private var complaints: [String] {
        switch conversation?.verdict {
        case .met: []
        case .failed(let sentence): failures + [sentence]
        case .broken: failures
        case nil:
            failures.isEmpty ? conversation?.inputProblem.map { [$0] } ?? [] : failures
        }
    }

    /// What opened files lack, which is not a failure. A capture's losses are told once it has ended.
    private var notes: [String] {
        (programs ?? []).filter { !$0.isOutside && $0.dropped == nil }.compactMap { program in
            program.missing.map { "\(program.name): \($0)" }
        }
    }

    /// The exit status of the program that was run, if there was one.
    private var status: Int32 { runner.child.status ?? (complaints.isEmpty ? 0 : 1) }

    private func finish(_ text: [String]) -> Ending {
        if let interruption { return .signal(interruption) }
        if case .broken(let outcome)? = conversation?.verdict { return ending(after: outcome) }
        let outcome = put(text + (last.map { lines.end($0, status: status) } ?? []))
        for note in notes { _ = Program.complain(note, status: 0) }
        for complaint in complaints { _ = Program.complain(complaint, status: 1) }
        return ending(after: outcome)
    }

    /// Returns the signal that ends the program, if one arrived. A stop signal takes effect here.
    private func takeSignal() -> Int32? {
        for signal in inbox.takeSignals() {
            CrashGuard.heard()
            if signal == SIGTSTP { CrashGuard.stop() } else if signal != SIGCONT { return signal }
        }
        return nil
    }

    /// Writes lines to standard output. Signals are handled even while the reader is stalled. The first SIGINT gives a
    /// stalled reader a final second. Any other signal, or a second SIGINT, ends the run at once.
    private func put(_ lines: [String]) -> StandardStream.Outcome {
        guard !lines.isEmpty, !isSilent else { return .written }
        return StandardStream.output.write(lines.joined(separator: "\n") + "\n", until: interruptible)
    }

    private var interruptible: StandardStream.Interruption {
        StandardStream.Interruption(descriptor: inbox.readEnd, deadline: { [self] in farewellEnd }) { [self] in
            isInterrupted()
        }
    }

    /// Whether a signal arrived that leaves no time for another line.
    private func isInterrupted() -> Bool {
        guard let signal = takeSignal(), !passes(signal) else { return false }
        if signal == SIGINT, farewellEnd == nil, !isOnce {
            farewellEnd = .now + Self.farewell
            return false
        }
        interruption = signal
        return true
    }

    private func ending(after outcome: StandardStream.Outcome) -> Ending {
        if outcome == .interrupted { return .signal(interruption ?? SIGINT) }
        return .status(Program.status(of: outcome, otherwise: status))
    }
}
