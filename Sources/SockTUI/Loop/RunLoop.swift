import Glibc
import InspectorCore
import SocketKit

/// The program's main thread: keys, snapshots and signals go in, pictures and effects come out.
///
/// One turn: wait for input, a message or the next tick; hand what came to the reducer, keys first; perform what it
/// wants; draw. A snapshot is asked for ten times a second, and at once after something was sent, but never while
/// one is under way: so this never waits for the engine, nor the engine for the screen.
final class RunLoop {
    /// How the loop ended.
    enum Ending: Equatable {
        case quit
        case signal(Int32)
    }

    private(set) var ending: Ending?
    /// What is on the screen.
    private(set) var canvas = Canvas(Size(0, 0))

    /// Whether this is on the screen or was received, apart from what was typed and sent here.
    func shows(_ text: String) -> Bool {
        let isReceived = model.hasReceived(Array(text.utf8))
        return isReceived || InspectorCore.draw(model.withoutOwnInput, screen.size).text.contains(text)
    }

    /// Why nothing will change that was opened; `nil` while something can.
    var whyNothingGoesOn: String? { model.whyNothingGoesOn }

    /// What went wrong with the last thing that was asked for.
    var problem: String? { model.notice.flatMap { $0.isError ? $0.text : nil } }

    private let screen: any Screen
    private let runner: EffectRunner
    private var model: Model
    private var snapshotIsUnderWay = false
    private var snapshotIsWanted = true
    private var nextTick = ContinuousClock.now
    /// The instant that was asked for last; see `SnapshotRequest.turn`.
    private var turnRequested: UInt64 = 0
    private var fruitlessReads = 0

    /// Ten a second: fast enough to watch, slow enough to read.
    static let tick = Duration.milliseconds(100)

    init(model: Model, screen: any Screen, runner: EffectRunner) {
        self.model = model
        self.screen = screen
        self.runner = runner
    }

    /// Does what the command line asked for and draws the first frame, with the outcome if it is known soon.
    func start(_ effects: [Effect]) {
        effects.forEach(perform)
        requestSnapshotIfWanted()
        var messages: [Message] = [.resized(screen.size)]
        let end = ContinuousClock.now + Self.tick
        while !effects.isEmpty, !messages.contains(where: \.isSnapshot), ContinuousClock.now < end {
            var pipe = pollfd(fd: runner.inbox.readEnd, events: Int16(POLLIN), revents: 0)
            poll(&pipe, 1, 10)
            // Those that end the program first: it must not take the terminal again before it goes.
            let signals = runner.inbox.takeSignals()
            for signal in signals where !Self.isAboutStopping(signal) { heard(signal) }
            if ending == nil { signals.filter(Self.isAboutStopping).forEach(heard) }
            messages += runner.inbox.take()
        }
        handle(messages)
    }

    /// Turns until it ends.
    func run() -> Ending {
        while true {
            if let ending { return ending }
            turn()
        }
    }

    /// One turn; it takes a tick at most.
    func turn() {
        let ready = wait()
        let keys = screen.descriptor == nil ? [] : screen.input()
        if ready.hungUp || isFruitless(ready, keys) { ending = .signal(SIGHUP) }
        // Those that end the program first: it must not take the terminal again before it goes.
        let signals = runner.inbox.takeSignals()
        for signal in signals where !Self.isAboutStopping(signal) { heard(signal) }
        if ending == nil { signals.filter(Self.isAboutStopping).forEach(heard) }
        // A key is answered before a snapshot of very many sessions is looked through.
        if !keys.isEmpty { handle(keys) }
        let messages = runner.inbox.take()
        if ContinuousClock.now >= nextTick {
            nextTick = max(nextTick + Self.tick, ContinuousClock.now)
            snapshotIsWanted = true
            if model.isPlaying { handle([.time(SystemClock().now)]) }
        }
        if !messages.isEmpty { handle(messages) }
        requestSnapshotIfWanted()
    }

    /// Hands a batch to the reducer and draws what came of it. What is known already changes nothing: a program that is
    /// looked at may tell less often than it is asked.
    func handle(_ messages: [Message]) {
        if messages.contains(where: \.isSnapshot) { snapshotIsUnderWay = false }
        let news = messages.filter { !model.knows($0) }
        guard !news.isEmpty || messages.isEmpty else { return }
        for (index, message) in news.enumerated() {
            let moreKeysFollow = news.dropFirst(index + 1).first?.isTyped ?? false
            model.update(message, moreKeysFollow: moreKeysFollow).forEach(perform)
        }
        draw()
    }

    // MARK: Parts of a turn

    private func wait() -> (input: Bool, hungUp: Bool) {
        var polled = [pollfd(fd: runner.inbox.readEnd, events: Int16(POLLIN), revents: 0)]
        if let descriptor = screen.descriptor {
            polled.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        }
        let left = max(.zero, nextTick - ContinuousClock.now)
        let count = poll(&polled, nfds_t(polled.count), Int32(left.wholeNanoseconds / 1_000_000) + 1)
        guard count > 0, polled.count > 1 else { return (false, false) }
        let events = Int32(polled[1].revents)
        return (events & POLLIN != 0, events & (POLLHUP | POLLERR | POLLNVAL) != 0)
    }

    /// A terminal that went away can also show as input of which nothing can be read, again and again.
    private func isFruitless(_ ready: (input: Bool, hungUp: Bool), _ messages: [Message]) -> Bool {
        fruitlessReads = ready.input && messages.isEmpty ? fruitlessReads + 1 : 0
        return fruitlessReads > 1000
    }

    private static func isAboutStopping(_ signal: Int32) -> Bool { signal == SIGCONT || signal == SIGTSTP }

    private func heard(_ signal: Int32) {
        CrashGuard.heard()
        switch signal {
        case SIGCONT:
            screen.resume()
            draw()
        case SIGTSTP: perform(.suspend)
        // The program that runs gets it, and this one stays as it does.
        case SIGINT where runner.child.signal(SIGINT): break
        default: ending = ending ?? .signal(signal)
        }
    }

    private func perform(_ effect: Effect) {
        switch effect {
        case .repaint: screen.repaint()
        case .mouse(let isOn): screen.hearMouse(isOn)
        case .suspend:
            let begin = ContinuousClock.now
            runner.sources.rest()
            screen.suspend()
            let stopped = Format.duration(ContinuousClock.now - begin)
            runner.log?.note("stopped for \(stopped); what timed out meanwhile times out now")
            if !CrashGuard.isDying { draw() }
        case .quit: ending = ending ?? .quit
        case .copy(let bytes) where screen.copy(bytes):
            tell(.success("\(Format.size(bytes.count)) sent to the terminal's clipboard (OSC 52)"))
        case .edit(let subject, let bytes): edit(subject, bytes)
        case .bell: screen.bell()
        case .copy, .save, .saveTraffic, .find, .stopFind, .dissect: runner.perform(effect)
        case .send, .connect, .listen, .startTLS, .relay, .run, .signalChild, .attach, .showHost, .openFile, .capture,
            .startDemo, .transmit,
            .record, .stopRecording, .keepHistory,
            .stopTransmission,
            .examine,
            .completePath,
            .setPace, .remember, .setReplies, .setDestination, .fault, .fetchHeld:
            runner.perform(effect)
            snapshotIsWanted = true
        }
    }

    private func tell(_ result: Result<String, MessageText.Unsendable>) {
        switch result {
        case .success(let sentence): _ = model.update(.told(sentence))
        case .failure(let problem): _ = model.update(.refused(problem.sentence))
        }
    }

    /// Messages wait in the inbox meanwhile; there is one snapshot among them at most.
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
        if model.turn != turnRequested { snapshotIsWanted = true }
        guard snapshotIsWanted, !snapshotIsUnderWay, ending == nil else { return }
        snapshotIsWanted = false
        snapshotIsUnderWay = true
        turnRequested = model.turn
        runner.requestSnapshot(model.snapshotRequest)
        if let request = model.unreadRequest { runner.requestUnread(request) }
    }

    private func draw() {
        canvas = InspectorCore.draw(model, screen.size)
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

    fileprivate var isSnapshot: Bool {
        if case .snapshot = self { true } else { false }
    }
}
