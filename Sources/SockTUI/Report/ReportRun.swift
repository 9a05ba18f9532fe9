import Glibc
import InspectorCore
import InspectorShell
import SocketKit

/// A run without a screen. It prints what happens until everything it opened has ended, a signal arrives or the reader
/// of standard output is gone.
final class ReportRun {
    private let runner: EffectRunner
    private let inbox: Inbox
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
    /// Whether a signal was passed to the running program.
    private var hasPassed = false
    /// The signal that ends the run.
    private var signal: Int32?
    /// When the run gives up on sockets that do not close and on a reader that accepts nothing, once it is ending.
    private var farewellEnd: ContinuousClock.Instant?
    /// Whether the last snapshots are being taken.
    private var isClosing = false

    /// The most events kept by a run that prints once. Earlier ones are lost, which the event numbers show.
    private static let eventLimit = 1 << 16
    /// The minimum and maximum time that sockets are given to open before a single snapshot.
    private static let moment = Duration.milliseconds(500)
    private static let limit = Duration.seconds(10)
    /// How long the run takes to end: its sockets to close, and its reader to accept the last lines. The reader has
    /// `reading` of that at least.
    private static let farewell = Duration.milliseconds(900)
    private static let reading = Duration.milliseconds(300)

    /// `received` gets what the sources' own sockets receive. It is required if something is expected or the form is
    /// bytes.
    init(
        _ form: ReportForm, isOnce: Bool, lints: LintSettings, sources: SourceList, inbox: Inbox,
        options: ReportOptions = ReportOptions(), received: ReceivedBytes? = nil, isSilent: Bool = false
    ) {
        (self.isOnce, self.isSilent, self.inbox) = (isOnce, isSilent, inbox)
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
            runPass(eventsFrom: 0)
            if signal != nil { return finish(last.map(absorbOnce) ?? []) }
            let passed = ContinuousClock.now - begin
            if hasAnswered, let distance, instant == nil, let moment = last?.moment {
                guard moment.last - moment.first >= distance else { return beyond(moment) }
                (instant, events) = (moment.first + distance, [])
                continue
            }
            if let last, passed > moment, hasAnswered && isSettled(last) || passed > limit && child == nil {
                return finish(absorbOnce(last))
            }
            if passed > limit + .seconds(5), child == nil {
                return .status(Program.complain("no answer", status: .failure))
            }
        }
    }

    private func beyond(_ moment: SnapshotMoment) -> Ending {
        let end = InstantText.text(moment.last - moment.first)
        return .status(Program.complain("--at: what was opened ends at \(end)", status: .failure))
    }

    private func stream() -> Ending {
        let end = span.map { ContinuousClock.now + $0 }
        while true {
            runPass(eventsFrom: lines.nextEvent)
            let text = last.map(absorb) ?? []
            if isOver {
                listen()
                conversation?.finish()
                return finish(text)
            }
            if case .broken(let outcome)? = conversation?.verdict { return ending(after: outcome) }
            if signal != nil || conversation?.verdict != nil || end.map({ .now >= $0 }) ?? false {
                let rest = text + closeAll()
                if signal == nil {
                    listen()
                    conversation?.finish()
                }
                return finish(rest)
            }
            let outcome = put(text)
            guard outcome == .written else { return ending(after: outcome) }
        }
    }

    /// Formats the one snapshot that is printed, with all events so far.
    private func absorbOnce(_ snapshot: EngineSnapshot) -> [String] {
        var snapshot = snapshot
        snapshot.events = events
        return absorb(snapshot)
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

    /// Takes what has happened until now, and closes every socket of this program, so that the last lines say how each
    /// ended. Gives up when `farewell` has passed.
    private func closeAll() -> [String] {
        (isClosing, farewellEnd) = (true, farewellEnd ?? .now + Self.farewell)
        if runner.child.stop() { farewellEnd = .now + Self.farewell }
        runner.sources.stopAccepting()
        let end = (farewellEnd ?? .now) - Self.reading
        var closing = SourceList.Closing()
        var text: [String] = []
        var open = last.map { closing.step($0, runner.sources) } ?? 0
        var isLate = true
        repeat {
            // Requested before the sources were stopped, it lacks what they had.
            let isOlder = isUnderWay
            runPass(eventsFrom: lines.nextEvent)
            isLate = isLate && (isOlder || isUnderWay)
            text += last.map(absorb) ?? []
            open = last.map { closing.step($0, runner.sources) } ?? 0
        } while (isLate || open > 0 || child?.isRunning ?? false) && .now < end
        return text
    }

    /// Waits for a tick and requests a snapshot. Returns early once a signal ends the run. The last snapshots follow
    /// each other at once.
    private func runPass(eventsFrom: UInt64) {
        var pipe = pollfd(fd: inbox.readEnd, events: Int16(POLLIN), revents: 0)
        let end = ContinuousClock.now + (isClosing ? .zero : RunLoop.tick)
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
            hear()
            if signal != nil, !isClosing { return }
            listen()
            for message in inbox.take() { hasSnapshot = absorb(message) || hasSnapshot }
            if !hasSnapshot, .now > (isClosing ? farewellEnd : nil) ?? end + Self.limit { return }
        }
    }

    /// Handles a message. Returns whether it was a snapshot.
    private func absorb(_ message: Message) -> Bool {
        switch message {
        case .snapshot(let answer):
            let snapshot = answer.withEarlierEvents
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

    /// Passes the first signal on to the running program. Returns whether this run continues.
    private func passes(_ signal: Int32) -> Bool {
        guard !hasPassed, runner.child.signal(signal) else { return false }
        hasPassed = true
        return true
    }

    /// The refusals, and the requested connections that failed. Failed connections in the demo are intended.
    private var failures: [String] {
        if let programs { return refusals + programs.compactMap(\.failure) + (isOnce ? unseen(programs) : []) }
        guard endsByItself, let last else { return refusals }
        if let child, child.wasUnseen || child.ending?.wasStarted == false { return refusals + [child.farewell ?? ""] }
        // A connection that failed at once was refused, and is in the last snapshot too.
        let failures = last.failures(of: conversation?.partner)
        let others = failures.filter { failure in !refusals.contains { failure.hasSuffix($0) } }
        return refusals + others + (child?.remarks.map { "run: \($0)" } ?? [])
    }

    /// Reports programs that are inspected from outside without a socket that can be seen.
    private func unseen(_ programs: [ProgramInfo]) -> [String] {
        guard last?.sockets.isEmpty == true else { return [] }
        return programs.filter(\.isOutside).map { "\($0.title) has no sockets that can be seen" }
    }

    /// The failures reported at the end.
    private var complaints: [String] { outcomes + losses }

    /// A stream that lacks events is not what was asked for. A single snapshot has the latest ones only.
    private var losses: [String] {
        guard !isOnce, !isSilent, lines.lost > 0 else { return [] }
        return ["\(lines.lost) events were overwritten before they could be read"]
    }

    private var outcomes: [String] {
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
    private var status: Int32 {
        guard let status = runner.child.status else { return complaints.isEmpty ? 0 : 1 }
        return losses.isEmpty ? status : max(1, status)
    }

    private func finish(_ text: [String]) -> Ending {
        if case .broken(let outcome)? = conversation?.verdict { return ending(after: outcome) }
        // The last line has the status, which depends on the recording.
        runner.sources.close()
        let status = runner.sources.statusWithLosses(status)
        let outcome = put(text + (last.map { lines.end($0, status: status, signal: signal) } ?? []))
        for note in notes { _ = Program.complain(note, status: .success) }
        return ending(after: outcome)
    }

    /// Takes the signals that have arrived. A stop signal takes effect here.
    private func hear() {
        for number in inbox.takeSignals() {
            CrashGuard.heard()
            switch number {
            case SIGTSTP: CrashGuard.stop()
            case SIGCONT: break
            case SIGQUIT:
                runner.child.signal(SIGKILL)
                CrashGuard.die(by: SIGQUIT)
            case _ where passes(number): break
            default:
                if signal != nil { CrashGuard.die(by: number) }
                (signal, farewellEnd) = (number, .now + Self.farewell)
                CrashGuard.endAtNextSignal()
            }
        }
    }

    /// Writes lines to standard output. Signals are handled even while the reader is stalled. The first that ends the
    /// run gives the reader `farewell`; without one, it has all the time it needs.
    private func put(_ lines: [String]) -> StandardStream.Outcome {
        guard !lines.isEmpty, !isSilent else { return .written }
        return StandardStream.output.write(lines.joined(separator: "\n") + "\n", until: interruptible)
    }

    private var interruptible: StandardStream.Interruption {
        let deadline = { [self] in signal == nil ? nil : farewellEnd }
        return StandardStream.Interruption(descriptor: inbox.readEnd, deadline: deadline) { [self] in
            hear()
            return false
        }
    }

    private func ending(after outcome: StandardStream.Outcome) -> Ending {
        // A program that is stopped because nobody reads has the status of that.
        runner.child.stop()
        for complaint in complaints { _ = Program.complain(complaint, status: .failure) }
        let status = Program.status(of: outcome, otherwise: status)
        return signal.map { .signal($0) } ?? .status(status)
    }
}
