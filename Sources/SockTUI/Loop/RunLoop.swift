import Glibc
import InspectorCore
import InspectorScreen
import InspectorShell
import SocketKit

/// The program's main thread. Its inputs are keys, snapshots and signals, its outputs are canvases and effects.
///
/// One pass waits for input, a message or the next tick, passes the messages to the reducer with keys first, performs
/// the effects and draws. A snapshot is requested ten times a second, and at once after something was sent, but never
/// while another is pending. The loop therefore never waits for the engine, nor the engine for the screen.
final class RunLoop {
    /// How the loop ended.
    enum Ending: Equatable {
        case quit
        case signal(Int32)

        var signal: Int32? { if case .signal(let number) = self { number } else { nil } }
    }

    private(set) var ending: Ending?
    /// The canvas on the screen.
    private(set) var canvas = Canvas(Size(0, 0))

    /// Whether the text is on the screen or was received, not counting what was typed and sent here.
    func shows(_ text: String) -> Bool {
        let isReceived = model.hasReceived(Array(text.utf8))
        return isReceived || InspectorScreen.draw(model.withoutOwnInput, screen.size).text.contains(text)
    }

    /// The reason why nothing that was opened can change any more, or `nil` while something can.
    var whyNothingGoesOn: String? { model.whyNothingGoesOn }

    /// What opened files and attached programs failed with.
    var failures: [String] {
        model.shared.programs.compactMap(\.failure) + runner.sources.openedFiles.compactMap(\.file.problem)
    }

    /// The error of the last request, if it failed.
    var problem: String? { model.notice.flatMap { $0.isError ? $0.text : nil } }

    private let screen: any Screen
    private let runner: EffectRunner
    private var model: Model
    /// Whether a signal was passed on to the running program.
    private var hasPassed = false
    private var pull: SnapshotPull
    private var snapshotIsWanted = true
    private var settled = SettledRequest()
    private var nextTick = ContinuousClock.now
    /// The last instant requested. See `SnapshotRequest.jump`.
    private var jumpRequested: UInt64 = 0
    private var fruitlessReads = 0

    /// How long the last lines wait for a reader once a signal ends the loop.
    private static let farewell = Duration.milliseconds(900)

    init(model: Model, screen: any Screen, runner: EffectRunner) {
        self.model = model
        self.screen = screen
        self.runner = runner
        pull = SnapshotPull(runner)
    }

    /// Performs the command line's effects and draws the first frame, with the outcome if it is known soon.
    func start(_ effects: [Effect]) {
        effects.forEach(perform)
        requestSnapshotIfWanted()
        var messages: [Message] = [.resized(screen.size)]
        let end = ContinuousClock.now + SnapshotPull.tick
        while !effects.isEmpty, !messages.contains(where: \.isAnswer), ContinuousClock.now < end {
            _ = pull.wait(until: min(end, ContinuousClock.now + .milliseconds(10)))
            hearSignals()
            messages += pull.take()
        }
        handle(messages)
    }

    /// Runs passes until the loop ends.
    func run() -> Ending {
        while true {
            if let ending { return ending }
            pass()
        }
    }

    /// Runs one pass, which takes at most one tick.
    func pass() {
        let events = pull.wait(until: nextTick, or: screen.descriptor)
        let keys = screen.descriptor == nil ? [] : screen.input()
        let hungUp = events & (POLLHUP | POLLERR | POLLNVAL) != 0
        if hungUp || isFruitless(events & POLLIN != 0, keys) { ending = .signal(SIGHUP) }
        hearSignals()
        // Respond to keys before examining a snapshot with many sessions.
        if !keys.isEmpty { handle(keys) }
        let messages = pull.take()
        if ContinuousClock.now >= nextTick {
            nextTick = max(nextTick + SnapshotPull.tick, ContinuousClock.now)
            snapshotIsWanted = true
            if model.isPlaying { handle([.time(SystemClock().now)]) }
        }
        if !messages.isEmpty { handle(messages) }
        requestSnapshotIfWanted()
    }

    /// Passes a batch to the reducer and draws the result. Skips messages that bring nothing new, because an attached
    /// program may send updates less often than they are requested.
    func handle(_ messages: [Message]) {
        let news = messages.filter { !model.knows($0) }
        guard !news.isEmpty || messages.isEmpty else { return }
        for (index, message) in news.enumerated() {
            let moreKeysFollow = news.dropFirst(index + 1).first?.isTyped ?? false
            model.update(message, moreKeysFollow: moreKeysFollow).forEach(perform)
        }
        draw()
    }

    // MARK: Parts of a pass

    /// A terminal that disappeared can also show as readable input that yields nothing, repeatedly.
    private func isFruitless(_ hasInput: Bool, _ messages: [Message]) -> Bool {
        fruitlessReads = hasInput && messages.isEmpty ? fruitlessReads + 1 : 0
        return fruitlessReads > 1000
    }

    private static func isAboutStopping(_ signal: Int32) -> Bool { signal == SIGCONT || signal == SIGTSTP }

    /// Handles signals that end the program first: it must not take the terminal back before it ends.
    private func hearSignals() {
        let signals = runner.inbox.takeSignals()
        for signal in signals where !Self.isAboutStopping(signal) { heard(signal) }
        if ending == nil { signals.filter(Self.isAboutStopping).forEach(heard) }
    }

    /// Ends a write that waits for a reader once a signal ends the program.
    var interruption: StandardStream.Interruption {
        StandardStream.Interruption(descriptor: runner.inbox.readEnd) { [self] in
            hearSignals()
            return ending != nil
        }
    }

    private func heard(_ signal: Int32) {
        CrashGuard.heard()
        switch signal {
        case SIGCONT:
            screen.resume()
            draw()
        case SIGTSTP: perform(.screen(.suspend))
        // The running program gets the first one, and this one continues as long as it does. TERM and HUP end this one
        // too, which passes them on as it ends.
        case SIGINT where !hasPassed && runner.child.signal(SIGINT): hasPassed = true
        default:
            ending = ending ?? .signal(signal)
            StandardStream.giveUpErrors(at: .now + Self.farewell)
            CrashGuard.endAtNextSignal()
        }
    }

    /// Closes the sources, after which only lines for standard error are left. The next signal ends the program at once,
    /// because a reader that takes nothing would delay it. One that has arrived gives the reader a moment.
    func conclude() {
        runner.sources.close()
        CrashGuard.endAtNextSignal()
        runner.inbox.takeSignals().filter { !Self.isAboutStopping($0) }.forEach(heard)
    }

    private func perform(_ effect: Effect) {
        if case .screen(let effect) = effect { return perform(effect) }
        runner.perform(effect)
        snapshotIsWanted = true
    }

    private func perform(_ effect: ScreenEffect) {
        switch effect {
        case .repaint: screen.repaint()
        case .mouse(let isOn): screen.hearMouse(isOn)
        case .suspend: suspend()
        case .quit: ending = ending ?? .quit
        case .copy(let bytes):
            guard screen.copy(bytes) else { return perform(.saveCopy(bytes)) }
            tell(.success("\(Format.size(bytes.count)) sent to the terminal's clipboard (OSC 52)"))
        case .edit(let subject, let bytes): edit(subject, bytes)
        case .bell: screen.bell()
        }
    }

    private func suspend() {
        let begin = ContinuousClock.now
        runner.sources.rest()
        screen.suspend()
        let stopped = Format.duration(ContinuousClock.now - begin)
        runner.log?.note("suspended for \(stopped); overdue timeouts fire now")
        if !CrashGuard.isDying { draw() }
    }

    private func tell(_ result: Result<String, MessageText.Unsendable>) {
        switch result {
        case .success(let sentence): _ = model.update(.told(sentence))
        case .failure(let problem): _ = model.update(.refused(problem.sentence))
        }
    }

    /// Messages stay in the inbox meanwhile. At most one of them is a snapshot.
    private func edit(_ subject: EditSubject, _ bytes: [UInt8]) {
        runner.sources.rest()
        do throws(MessageText.Unsendable) {
            let edited = try Editor.edit(bytes, on: screen)
            model.update(.edited(subject, edited ?? bytes, wasChanged: edited != nil)).forEach(perform)
        } catch {
            tell(.failure(error))
        }
    }

    private func requestSnapshotIfWanted() {
        if model.jump != jumpRequested { snapshotIsWanted = true }
        guard snapshotIsWanted, !pull.isUnderWay, ending == nil else { return }
        snapshotIsWanted = false
        let request = model.snapshotRequest
        guard settled.isNeeded(request, isStill: runner.sources.isStill), pull.request(request) else { return }
        jumpRequested = model.jump
        if let request = model.unreadRequest { runner.requestUnread(request) }
    }

    private func draw() {
        canvas = InspectorScreen.draw(model, screen.size)
        screen.show(canvas)
    }
}

extension Message {
    fileprivate var isTyped: Bool {
        switch self {
        case .key, .paste: true
        default: false
        }
    }
}
