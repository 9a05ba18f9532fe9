import Glibc
import InspectorCore
import InspectorShell
import SocketKit

/// A run without a screen. It prints what happens until everything it opened has ended, a signal arrives or the reader
/// of standard output is gone.
final class ReportRun {
    private let runner: EffectRunner
    private var pull: SnapshotPull
    private let isOnce: Bool
    /// Whether nothing is printed, because standard output is a recording.
    private let isSilent: Bool
    /// What handles the bytes themselves, or `nil` if nothing does.
    private let conversation: Conversation?
    private var openings = Openings([])
    private var farewell = Farewell()
    private var lines: ReportLines
    private var last: EngineSnapshot?
    /// The other ends of connections, as last found.
    private var peers: [SocketID: PeerEnd] = [:]
    /// For a run that prints once, the events so far.
    private var events: [SocketEvent] = []
    private let begin = ContinuousClock.now
    /// How long to look.
    private let span: Duration?
    /// The instant of an opened file to show, in nanoseconds from its beginning. `instant` is the same as a time of
    /// day, once the beginning is known.
    private let distance: Int64?
    private let filter: String
    private var instant: Int64?

    /// The most events kept by a run that prints once. Earlier ones are lost, which the event numbers show.
    private static let eventLimit = 1 << 16
    /// The minimum and maximum time that sockets are given to open before a single snapshot.
    private static let moment = Duration.milliseconds(500)
    private static let limit = Duration.seconds(10)

    /// `received` gets what the sources' own sockets receive. It is required if something is expected or the form is
    /// bytes.
    init(
        _ form: ReportForm, isOnce: Bool, lints: LintSettings, sources: SourceList, inbox: Inbox,
        options: ReportOptions = ReportOptions(), received: ReceivedBytes? = nil, isSilent: Bool = false
    ) {
        (self.isOnce, self.isSilent) = (isOnce, isSilent)
        (distance, span, filter) = (options.instant, options.span, options.filter)
        conversation = received.map { Conversation(options.expectations, carriesBytes: form == .bytes, $0, sources) }
        lines = ReportLines(form, isOnce: isOnce, lints: lints, options)
        runner = EffectRunner(sources: sources, inbox: inbox, findsPeers: form == .json, showsOutput: false)
        pull = SnapshotPull(runner)
        received?.connect(
            wake: { @Sendable [inbox] in inbox.wake() },
            pause: { @Sendable [sources] in sources.perform(.pauseReading($0, true)) })
    }

    /// Opens what was requested and prints until the end. Each failure is reported on stderr in one line.
    func run(_ opening: [Effect]) -> Ending {
        CrashGuard.listen(runner.inbox.writeEnd)
        defer { runner.child.stop() }
        openings = Openings(opening, filter: filter)
        opening.forEach(runner.perform)
        while true {
            // Read this first, so that the snapshot includes the answers.
            let hasAnswered = runner.sources.hasAnswered
            pass()
            if let ending = isOnce ? printOnce(hasAnswered) : printNews() { return ending }
        }
    }

    // MARK: Printing

    /// Prints one snapshot once every connect has ended and every attached program has answered as far as it can, but
    /// not before `moment` has passed.
    private func printOnce(_ hasAnswered: Bool) -> Ending? {
        if farewell.signal != nil { return finish(last.map(absorb) ?? []) }
        if hasAnswered, let distance, instant == nil, let last {
            guard let moment = last.moment else {
                return .status(Program.complain("--at: this source cannot be rewound", status: .failure))
            }
            guard moment.last - moment.first >= distance else {
                let end = InstantText.text(moment.last - moment.first)
                return .status(Program.complain("--at: the recording ends at \(end)", status: .failure))
            }
            (instant, events) = (moment.first + distance, [])
            return nil
        }
        let passed = ContinuousClock.now - begin
        // A large file takes as long as it takes: a part of it is not its state.
        let isReading = openings.programs?.contains { $0.progress != nil } ?? false
        let isLate = passed > (span ?? .zero) + Self.limit && openings.child == nil && !isReading
        if let last, passed > span ?? Self.moment, hasAnswered && openings.isSettled(last) || isLate {
            return finish(absorb(last))
        }
        guard isLate, passed > (span ?? .zero) + Self.limit + .seconds(5) else { return nil }
        return .status(Program.complain("no answer", status: .failure))
    }

    /// Prints what is new. Returns the ending if that was the last.
    private func printNews() -> Ending? {
        let text = last.map(absorb) ?? []
        if openings.isOver(last, hasAnswered: runner.sources.hasAnswered) {
            listen()
            conversation?.finish()
            return finish(text)
        }
        if case .broken(let outcome)? = conversation?.verdict { return ending(after: outcome) }
        let isLate = span.map { .now >= begin + $0 } ?? false
        guard farewell.signal != nil || conversation?.verdict != nil || isLate else {
            let outcome = put(text)
            return outcome == .written ? nil : ending(after: outcome)
        }
        let rest = text + closeAll()
        if farewell.signal == nil {
            listen()
            conversation?.finish()
        }
        return finish(rest)
    }

    /// Formats a snapshot: for a run that prints once, with all events so far.
    private func absorb(_ snapshot: EngineSnapshot) -> [String] {
        var snapshot = snapshot
        if isOnce { snapshot.events = events.suffix(Self.eventLimit) }
        let surroundings = Surroundings(
            process: Int(getpid()), programs: openings.programs ?? [], peers: peers, child: openings.child)
        return lines.absorb(snapshot, among: surroundings) + payload(snapshot)
    }

    /// Returns the lines about the traffic since the last snapshot.
    private func payload(_ snapshot: EngineSnapshot) -> [String] {
        var text: [String] = []
        while case let due = lines.dueTraffic(snapshot), !due.isEmpty {
            text += runner.sources.traffic(of: due).flatMap { lines.absorb($0.traffic, of: $0.id) }
        }
        return text
    }

    /// Examines the received bytes.
    private func listen() {
        conversation?.step { bytes in StandardStream.output.write(bytes: bytes, until: interruptible) }
    }

    // MARK: Pulling

    /// Waits for a tick and a snapshot. Returns early once a signal ends the run. The last snapshots follow each other
    /// at once.
    private func pass() {
        let end = ContinuousClock.now + (farewell.isClosing ? .zero : SnapshotPull.tick)
        var request = SnapshotRequest(kernel: .all, eventsFrom: isOnce ? 0 : lines.nextEvent)
        (request.instant, request.jump) = (instant, instant == nil ? 0 : 1)
        if let last, last.sockets.count > QuietLook.many { request.kernelAge = QuietLook.limit }
        if pull.request(request) { openings.noteRequest() }
        var hasSnapshot = false
        while !hasSnapshot || ContinuousClock.now < end && conversation?.verdict == nil {
            _ = pull.wait(until: conversation?.deadline.map { min($0, end) } ?? end)
            farewell.hear(runner)
            if farewell.signal != nil, !farewell.isClosing { return }
            listen()
            for message in pull.take() { hasSnapshot = absorb(message) || hasSnapshot }
            if !hasSnapshot, .now > patience(end) { return }
        }
    }

    /// When the snapshot of a pass that ends at `end` is given up. The last ones of this program's own sockets are
    /// waited for, however many there are: the engine always answers.
    private func patience(_ end: ContinuousClock.Instant) -> ContinuousClock.Instant {
        farewell.isClosing && !closesOwn ? farewell.end ?? end : end + Self.limit
    }

    private var closesOwn: Bool { farewell.isClosing && runner.sources.present != nil }

    /// Handles a message. Returns whether it had a snapshot.
    private func absorb(_ message: Message) -> Bool {
        switch message {
        case .answer(let answer):
            openings.absorb(answer, patience: Farewell.patience)
            guard let snapshot = answer.snapshot?.withEarlierEvents else { return false }
            last = snapshot
            peers = snapshot.peers ?? peers
            conversation?.look(snapshot)
            if isOnce { keep(snapshot.events) }
            return true
        case .opened(let id, _):
            if openings.connects { conversation?.begin(with: id) }
            openings.noteOpened()
        case .relays: openings.noteOpened()
        case .refused(let sentence): openings.noteRefusal(sentence)
        default: break
        }
        return false
    }

    /// Keeps the latest events. Older ones go in large parts, since each removal moves all that stay.
    private func keep(_ news: [SocketEvent]) {
        events += news
        if events.count > 2 * Self.eventLimit { events.removeFirst(events.count - Self.eventLimit) }
    }

    // MARK: Ending

    /// Takes what has happened until now, and closes every socket of this program, so that the last lines say how each
    /// ended. Gives up on those that have not closed when the farewell is over.
    private func closeAll() -> [String] {
        farewell.close()
        runner.sources.makeRoomForEndings()
        if runner.child.stop() { farewell.extend() }
        runner.sources.stopAccepting()
        let end = (farewell.end ?? .now) - Farewell.reading
        var closing = SourceList.Closing()
        var text: [String] = []
        var open = last.map { closing.step($0, runner.sources) } ?? 0
        var isLate = true
        repeat {
            // Requested before the sources were stopped, it lacks what they had.
            let isOlder = pull.isUnderWay
            pass()
            isLate = isLate && (isOlder || pull.isUnderWay)
            text += last.map(absorb) ?? []
            open = last.map { closing.step($0, runner.sources) } ?? 0
        } while !pull.isUnderWay && (isLate || (open > 0 || openings.child?.isRunning ?? false) && .now < end)
        farewell.allowReading()
        return text
    }

    private func finish(_ text: [String]) -> Ending {
        if case .broken(let outcome)? = conversation?.verdict { return ending(after: outcome) }
        // The last line has the status, which depends on the recording.
        runner.sources.close()
        let status = runner.sources.statusWithLosses(status)
        let outcome = put(text + (last.map { lines.end($0, status: status, signal: farewell.signal) } ?? []))
        return ending(after: outcome, openings.programs?.notes ?? [])
    }

    private func ending(after outcome: StandardStream.Outcome, _ notes: [String] = []) -> Ending {
        // A program that is stopped because nobody reads has the status of that.
        runner.child.stop()
        // Nothing is left to write but lines for standard error, which may have no reader.
        runner.sources.close()
        CrashGuard.endAtNextSignal()
        farewell.hear(runner)
        for note in notes + unread { _ = Program.complain(note, status: .success) }
        for complaint in complaints { _ = Program.complain(complaint, status: .failure) }
        let status = Program.status(of: outcome, otherwise: status)
        return farewell.signal.map { .signal($0) } ?? .status(status)
    }

    /// The exit status: that of the program that was run, if there was one.
    private var status: Int32 {
        guard let status = runner.child.status else {
            let hasFoundNothing = runner.sources.hasFoundNothing || isOnce && openings.matchesNothing(last)
            let isHidden = isOnce && openings.programs?.lacksAllHosts == true
            let failure: ExitStatus = isHidden ? .hidden : hasFoundNothing ? .nothing : .failure
            return complaints.isEmpty ? 0 : failure.rawValue
        }
        return losses.isEmpty ? status : max(1, status)
    }

    /// The failures reported at the end.
    private var complaints: [String] {
        let failures = openings.failures(last, of: conversation?.partner, isOnce: isOnce)
        switch conversation?.verdict {
        case .met: return losses
        case .failed(let sentence): return failures + [sentence] + losses
        case .broken: return failures + losses
        case nil: return (failures.isEmpty ? conversation?.inputProblem.map { [$0] } ?? [] : failures) + losses
        }
    }

    /// Says that what was piped in for a connection was not sent.
    private var unread: [String] {
        guard openings.connects, conversation?.carriesBytes != true, InputPump.hasBytes else { return [] }
        return ["standard input was not read; write - after the target to send it"]
    }

    /// A stream that lacks events is not what was asked for. A single snapshot has the latest ones only.
    private var losses: [String] {
        guard !isOnce, !isSilent else { return [] }
        return (lines.lost > 0 ? ["\(lines.lost) events were overwritten before they could be read"] : [])
            + (closesOwn && pull.isUnderWay ? ["the last events could not be read in time"] : [])
    }

    // MARK: Writing

    /// Writes lines to standard output. Signals are handled even while the reader is stalled. The first that ends the
    /// run gives the reader what is left of the farewell; without one, it has all the time it needs.
    private func put(_ lines: [String]) -> StandardStream.Outcome {
        isSilent ? .written : StandardStream.output.write(lines: lines, until: interruptible)
    }

    private var interruptible: StandardStream.Interruption {
        let deadline = { [self] in farewell.signal == nil ? nil : farewell.end }
        return StandardStream.Interruption(descriptor: runner.inbox.readEnd, deadline: deadline) { [self] in
            farewell.hear(runner)
            return false
        }
    }
}
