import CSocketKitSystem
import Glibc
import SocketCore
import Synchronization

/// The thread that tells viewers about one engine. It waits in poll for viewers, for what the engine publishes, and,
/// while anybody looks, for the next update to be due.
final class InspectionServer: Sendable {
    let path: String
    let rights: InspectionRights
    let hello: InspectionHello
    private let kernel: any Kernel
    private let listener: Int32
    private let bell: Int32
    private let shared = Lock(Shared())

    /// What other threads see of it.
    private struct Shared {
        weak var engine: SocketEngine?
        var publication: (content: EngineSnapshot, round: UInt64)?
        var isStopped = false
        var viewers = 0
        var lastRefusal: String?
    }

    /// More viewers than that are refused.
    static let viewerLimit = 16
    /// Between two updates, at least.
    static let interval = Duration.milliseconds(100)
    /// An update that took long is followed by a pause so many times as long: no more than a hundredth of the time, nor
    /// of the processor time that the program uses meanwhile, unless it would be silent for longer than a person waits.
    private static let pauseFactor = 100
    private static let longestPause = Duration.seconds(2)
    /// A program that uses less of a core than this is taken to use so much: where nothing happens updates are cheap.
    private static let leastShare = 0.25
    /// Whoever comes anew is told all there is, which is dear once: it waits no longer than this for it, and no longer
    /// for the update behind it.
    private static let longestFirstPause = Duration.seconds(1)
    /// When no viewer can be accepted, for want of descriptors, the next attempt comes that much later.
    private static let acceptPause = Duration.seconds(1)

    init(
        _ engine: SocketEngine, rights: InspectionRights, folder: String, program: String, kernel: any Kernel
    ) throws(SocketError) {
        self.kernel = kernel
        (listener, path) = try InspectionFolder.listen(in: folder, kernel: kernel)
        bell = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        self.rights = rights
        var hello = InspectionHello()
        hello.process = Int(getpid())
        hello.program = program
        hello.engine = engine.name
        hello.rights = rights
        hello.started = SystemClock().wallNanoseconds
        self.hello = hello
        shared.withLock { $0.engine = engine }
        let failure = bell < 0 ? errno : ReactorThread.start(name: "inspection") { [self] in run() }
        guard failure == 0 else {
            unlink(path)
            throw .system(failure, operation: "inspect", subject: path)
        }
    }

    deinit {
        kernel.close(listener)
        if bell >= 0 { close(bell) }
    }

    var viewerCount: Int { shared.withLock { $0.viewers } }
    var lastRefusal: String? { shared.withLock { $0.lastRefusal } }

    /// Ends the thread; the socket's file is gone at once.
    func stop() {
        let isFirst = shared.withLock { shared in
            defer { shared.isStopped = true }
            return !shared.isStopped
        }
        guard isFirst else { return }
        unlink(path)
        ring()
    }

    func ring() {
        var one: UInt64 = 1
        _ = write(bell, &one, MemoryLayout<UInt64>.size)
    }

    // MARK: The thread

    /// What only the thread knows.
    private struct State {
        var viewers: [InspectionViewer] = []
        /// Kept so that one viewer can be accepted when the program has no descriptor left, which is when somebody wants
        /// to look.
        var spare: Int32?
        /// Viewers are accepted from then on.
        var accepts = MonotonicTime.zero
        var board: InspectionBoard?
        /// What is sent is put together here; its room is used again and again.
        var writer = WireWriter()
        /// What viewers send comes through here.
        var input = [UInt8](repeating: 0, count: 16 << 10)
        /// Counts the times that somebody began to look: what was asked for before is not for whoever came since.
        var round: UInt64 = 0
        var nextEvent: UInt64 = 0
        var due = MonotonicTime.zero
        var isAsked = false
        /// Whether the engine has more of what was asked for.
        var isPartial = false
        var asked = MonotonicTime.zero
        /// What this update took so far, of the engine's queue and of this thread.
        var cost = Duration.zero
        /// When the last one was whole, and what processor time the program had used by then.
        var reckoned: (time: MonotonicTime, used: Duration)?
        var interval = InspectionServer.interval

        /// When the engine is to be asked again.
        var nextDue: MonotonicTime {
            guard viewers.contains(where: \.isUntold) else { return due }
            return min(due, asked + InspectionServer.longestFirstPause)
        }
    }

    private func run() {
        var state = State()
        let clock = SystemClock()
        while true {
            wait(state, now: clock.now)
            guard !shared.withLock({ $0.isStopped }) else { break }
            accept(&state, now: clock.now)
            if let publication = delivered(state.round) { take(publication, &state, clock) }
            for viewer in state.viewers {
                serve(viewer, &state.input, now: clock.now)
                tell(viewer, &state)
                tellPassed(viewer, &state)
            }
            leave(&state)
            ask(&state, now: clock.now)
        }
        for viewer in state.viewers { viewer.close() }
        leave(&state)
        if let spare = state.spare { kernel.close(spare) }
        engine?.post(.stopPublishing)
    }

    var engine: SocketEngine? { shared.withLock { $0.engine } }

    private func wait(_ state: State, now: MonotonicTime) {
        let mayAccept = now >= state.accepts
        var polled = [mayAccept ? listener : -1, bell].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        polled += state.viewers.map(\.polled)
        var due: [MonotonicTime] = state.viewers.compactMap(\.helloDeadline)
        if !mayAccept { due.append(state.accepts) }
        // Where nobody has room there is nothing to ask for: poll says when somebody has.
        if !state.isAsked, state.viewers.contains(where: { $0.isGreeted && $0.hasRoom }) { due.append(state.nextDue) }
        let left = due.min().map { max(0, ($0 - now).wholeNanoseconds / 1_000_000 + 1) } ?? -1
        poll(&polled, nfds_t(polled.count), Int32(clamping: left))
        var count: UInt64 = 0
        _ = read(bell, &count, MemoryLayout<UInt64>.size)
    }

    /// What the engine published since; nil: nothing, or for viewers who have gone.
    private func delivered(_ round: UInt64) -> EngineSnapshot? {
        let delivered = shared.withLock { $0.publication.take() }
        return delivered?.round == round ? delivered?.content : nil
    }

    private func accept(_ state: inout State, now: MonotonicTime) {
        guard now >= state.accepts else { return }
        if state.spare == nil, case .bytes(let opened) = kernel.openStream(for: .unnamed) {
            state.spare = Int32(opened)
        }
        while true {
            switch kernel.accept(listener) {
            case .accepted(let descriptor, _): admit(descriptor, &state, now: now)
            case .wouldBlock: return
            case .failed(ECONNABORTED): continue
            case .failed:
                guard let spare = state.spare.take() else {
                    state.accepts = now + Self.acceptPause
                    return
                }
                kernel.close(spare)
            }
        }
    }

    private func admit(_ descriptor: Int32, _ state: inout State, now: MonotonicTime) {
        let viewer = InspectionViewer(descriptor, kernel, now: now)
        let user = csystem_peer_user(descriptor)
        if user != Int64(geteuid()) {
            refuse(
                viewer, "\(hello.program)[\(hello.process)] is inspected by user \(geteuid()) only, not by \(user)")
        } else if state.viewers.count >= Self.viewerLimit {
            refuse(
                viewer, "\(hello.program)[\(hello.process)] has \(Self.viewerLimit) viewers already, the most it takes")
        } else {
            state.viewers.append(viewer)
        }
    }

    /// Says why, as far as it can be said without waiting, and hangs up.
    private func refuse(_ viewer: InspectionViewer, _ sentence: String) {
        shared.withLock { $0.lastRefusal = sentence }
        viewer.send(InspectionFrame.refusal(sentence).bytes)
        viewer.close()
    }

    /// Asks the engine for the next publication when it is due and somebody has room for it.
    private func ask(_ state: inout State, now: MonotonicTime) {
        let greeted = state.viewers.filter(\.isGreeted)
        guard !greeted.isEmpty else {
            guard state.board != nil else { return }
            state.board = nil
            state.nextEvent = 0
            state.round += 1
            state.reckoned = nil
            (state.isAsked, state.isPartial, state.cost) = (false, false, .zero)
            // With nobody to tell, nothing is kept.
            state.writer = WireWriter()
            engine?.post(.stopPublishing)
            return
        }
        guard !state.isAsked, state.isPartial || now >= state.nextDue && greeted.contains(where: \.hasRoom) else {
            return
        }
        var changes = SnapshotRequest.Changes()
        changes.isWhole = state.board == nil
        changes.isContinued = state.isPartial
        if state.board == nil { state.board = InspectionBoard(showsPayload: rights >= .payload) }
        var request = SnapshotRequest(eventsFrom: state.nextEvent)
        let watches = greeted.map(\.progress.watch)
        changes.watched = Set(watches.flatMap(\.sockets))
        changes.watchesAll = watches.contains(where: \.wantsAll)
        if rights >= .payload { changes.traffic = Set(watches.compactMap(\.traffic)) }
        request.changes = changes
        state.isAsked = true
        if !state.isPartial {
            state.asked = now
            state.due = now + state.interval
        }
        let round = state.round
        engine?.post(
            .snapshot(request) { @Sendable [self] publication in
                shared.withLock { $0.publication = (publication, round) }
                ring()
            })
    }

    /// Puts what the engine published on the board, where viewers find it once it is whole.
    private func take(_ publication: consuming EngineSnapshot, _ state: inout State, _ clock: SystemClock) {
        let before = ProcessorTime.ofThread
        state.isAsked = false
        state.isPartial = publication.changes?.isPartial ?? false
        state.cost += publication.changes?.cost ?? .zero
        if !state.isPartial { state.nextEvent = publication.nextEvent }
        state.board?.take(publication, every: state.interval)
        let tellsAll = state.viewers.contains(where: \.isUntold)
        if !state.isPartial {
            for viewer in state.viewers where viewer.isGreeted { viewer.isBehind = true }
            for viewer in state.viewers { tell(viewer, &state) }
        }
        state.cost += ProcessorTime.ofThread - before
        if !state.isPartial { rest(&state, clock, tellsAll: tellsAll) }
    }

    /// Tells a viewer what it was not told, as much as it has room for.
    private func tell(_ viewer: InspectionViewer, _ state: inout State) {
        while viewer.isBehind, viewer.hasRoom, state.board?.isComplete ?? false {
            state.writer.clear()
            viewer.isUntold = false
            viewer.isBehind = state.board?.update(&viewer.progress, to: &state.writer) ?? false
            viewer.send(state.writer.bytes)
        }
    }

    /// Says when the next update is due, by what this one took and by what the program does beside.
    private func rest(_ state: inout State, _ clock: SystemClock, tellsAll: Bool) {
        let (time, used) = (clock.now, ProcessorTime.ofProcess)
        let share = state.reckoned.map { (used - $0.used).inSeconds / max(0.001, (time - $0.time).inSeconds) } ?? 1
        state.reckoned = (time, used)
        let least = state.cost * Self.pauseFactor
        let fair = min(.seconds(least.inSeconds / max(Self.leastShare, share)), Self.longestPause)
        state.interval = max(Self.interval, least, fair)
        if tellsAll { state.interval = min(state.interval, Self.longestFirstPause) }
        state.cost = .zero
        state.due = max(state.due, time + (state.interval - Self.interval))
    }

    // MARK: One viewer

    private func serve(_ viewer: InspectionViewer, _ input: inout [UInt8], now: MonotonicTime) {
        viewer.flush()
        for sentence in viewer.account.takeRefusals() { viewer.send(InspectionFrame.notice(sentence).bytes) }
        for answer in viewer.account.takeAnswers() { viewer.send(InspectionFrame.answer(answer).bytes) }
        do throws(WireError) {
            viewer.receive(by: &input)
            while let frame = try viewer.next() {
                guard obey(frame, of: viewer) else { return }
            }
        } catch {
            let problem = if case .malformed(let sentence) = error { sentence } else { "" }
            return refuse(viewer, "what the viewer sent cannot be read: \(problem)")
        }
        if let deadline = viewer.helloDeadline, deadline <= now { refuse(viewer, "the viewer did not say who it is") }
    }

    /// Does what a frame asks for; false when the viewer was refused.
    private func obey(_ frame: InspectionFrame, of viewer: InspectionViewer) -> Bool {
        switch frame {
        case .hello(let theirs):
            guard !viewer.isGreeted else { return true }
            if let sentence = hello.refusal(of: theirs, who: "the viewer") {
                // Both learn what the other one is.
                viewer.send(InspectionFrame.hello(hello).bytes)
                refuse(viewer, sentence)
                return false
            }
            viewer.greeted()
            viewer.send(InspectionFrame.hello(hello).bytes)
        case .watch, .command, .request, .answer, .unknown, .refusal, .sockets, .tick, .events, .traffic, .notice,
            .peers, .reset, .passed:
            guard viewer.isGreeted else {
                refuse(viewer, "the viewer did not say who it is")
                return false
            }
            if case .watch(let watch) = frame {
                viewer.watches(watch)
                tap(viewer)
            }
            if case .command(let command) = frame { carryOut(command, for: viewer) }
            if case .request(let line) = frame { carryOut(line, for: viewer) }
        }
        return true
    }

    /// Begins to tell a viewer what passes, or ends it. The engine may be busy, and is not waited for.
    private func tap(_ viewer: InspectionViewer) {
        let wants = viewer.progress.watch.wantsPassing && rights >= .payload && !viewer.isClosed
        guard let engine, wants != (viewer.tape != nil) else { return }
        if let tape = viewer.tape {
            viewer.tape = nil
            engine.post { @Sendable [engine] in engine.stopRecording(on: tape) }
        } else {
            let tape = RecordingTape { @Sendable [weak self] in self?.ring() }
            viewer.tape = tape
            engine.post { @Sendable [engine] in engine.record(on: tape) }
        }
    }

    /// Tells a viewer what passed, as much as it has room for. What comes meanwhile waits, within the limit of its tape.
    private func tellPassed(_ viewer: InspectionViewer, _ state: inout State) {
        while let tape = viewer.tape, viewer.hasRoom {
            var entries = tape.take(atMost: InspectionRecord.most).entries
            guard !entries.isEmpty else { return }
            for record in entries.flatMap(InspectionRecord.records) {
                state.writer.clear()
                state.writer.frame(.passed) { $0.append(1, record) }
                viewer.send(state.writer.bytes)
            }
            tape.reuse(&entries)
        }
    }

    private func leave(_ state: inout State) {
        for viewer in state.viewers where viewer.isClosed { tap(viewer) }
        state.viewers.removeAll(where: \.isClosed)
        let count = state.viewers.count { $0.isGreeted }
        shared.withLock { $0.viewers = count }
    }
}

/// Processor time, as the kernel counts it.
enum ProcessorTime {
    /// What this thread has used so far.
    static var ofThread: Duration { read(CLOCK_THREAD_CPUTIME_ID) }
    /// What all threads of this process have.
    static var ofProcess: Duration { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
