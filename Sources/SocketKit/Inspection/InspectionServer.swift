import CSocketKitSystem
import Glibc
import SocketCore
import SocketRecords
import Synchronization

/// The thread that sends viewers the updates of one engine. It polls for viewers, for the engine's publications and,
/// while any viewer is attached, for the next due update.
final class InspectionServer: Sendable {
    let path: String
    let rights: InspectionRights
    let hello: InspectionHello
    private let kernel: any Kernel
    private let listener: Int32
    private let bell: Int32
    private let shared = Lock(Shared())

    /// State shared with other threads.
    private struct Shared {
        weak var engine: SocketEngine?
        var publication: (content: EngineSnapshot, round: UInt64)?
        var isStopped = false
        var viewers = 0
        var lastRefusal: String?
    }

    /// The most viewers at a time. Further ones are refused.
    static let viewerLimit = 16
    /// The shortest time between two updates.
    static let interval = Duration.milliseconds(100)
    /// The pause after an update, as a multiple of its cost: updates take at most a hundredth of the elapsed time. They
    /// also take at most a hundredth of the program's processor time, unless that needs a pause beyond `longestPause`.
    private static let pauseFactor = 100
    private static let longestPause = Duration.seconds(2)
    /// The least share of a core that a program is assumed to use. Updates of an idle program are cheap.
    private static let leastShare = 0.25
    /// The longest that a new viewer waits for its first update, which covers every session and is expensive, and for
    /// the one after it.
    private static let longestFirstPause = Duration.seconds(1)
    /// The delay before the next attempt when no viewer can be accepted because no descriptor is left.
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
            path.withNative { unlink($0) }
            throw .system(failure, operation: "inspect", subject: path)
        }
    }

    deinit {
        kernel.close(listener)
        if bell >= 0 { close(bell) }
    }

    var viewerCount: Int { shared.withLock { $0.viewers } }
    var lastRefusal: String? { shared.withLock { $0.lastRefusal } }

    /// Ends the thread. The socket's file is removed before this returns.
    func stop() {
        let isFirst = shared.withLock { shared in
            defer { shared.isStopped = true }
            return !shared.isStopped
        }
        guard isFirst else { return }
        path.withNative { unlink($0) }
        ring()
    }

    func ring() {
        var one: UInt64 = 1
        _ = write(bell, &one, MemoryLayout<UInt64>.size)
    }

    // MARK: The thread

    /// State that only the thread uses.
    private struct State {
        var viewers: [InspectionViewer] = []
        /// A spare descriptor, so that one viewer can be accepted when the program has none left, which is when a user
        /// needs to look.
        var spare: Int32?
        /// When to accept viewers again.
        var accepts = MonotonicTime.zero
        var board: InspectionBoard?
        /// Encodes what is sent. Its memory is reused.
        var writer = WireWriter()
        /// The buffer for the viewers' input.
        var input = [UInt8](repeating: 0, count: 16 << 10)
        /// Counts the times that the first viewer arrived. What was requested in an earlier round is not for later
        /// viewers.
        var round: UInt64 = 0
        var nextEvent: UInt64 = 0
        var due = MonotonicTime.zero
        var isAsked = false
        /// Whether the engine has more pieces of the requested publication.
        var isPartial = false
        var asked = MonotonicTime.zero
        /// What this update has cost so far, on the engine's queue and on this thread.
        var cost = Duration.zero
        /// When the last update was complete, and the program's processor time at that point.
        var reckoned: (time: MonotonicTime, used: Duration)?
        var interval = InspectionServer.interval

        /// When to request the next publication.
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
            if let publication = delivered(state.round) { absorb(publication, &state, clock) }
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
        // If no viewer has room, there is nothing to request. poll reports when one has.
        if !state.isAsked, state.viewers.contains(where: { $0.isGreeted && $0.hasRoom }) { due.append(state.nextDue) }
        let left = due.min().map { max(0, ($0 - now).wholeNanoseconds / 1_000_000 + 1) } ?? -1
        poll(&polled, nfds_t(polled.count), Int32(clamping: left))
        var count: UInt64 = 0
        _ = read(bell, &count, MemoryLayout<UInt64>.size)
    }

    /// Returns what the engine has published, or `nil` if it published nothing or its viewers have left.
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
                viewer, "\(hello.program)[\(hello.process)] accepts viewers of user \(geteuid()) only, not of \(user)")
        } else if state.viewers.count >= Self.viewerLimit {
            refuse(
                viewer, "\(hello.program)[\(hello.process)] already has \(Self.viewerLimit) viewers, its limit")
        } else {
            state.viewers.append(viewer)
        }
    }

    /// Sends the reason if that needs no waiting, and disconnects.
    private func refuse(_ viewer: InspectionViewer, _ sentence: String) {
        shared.withLock { $0.lastRefusal = sentence }
        viewer.send(InspectionFrame.refusal(sentence).bytes)
        viewer.close()
    }

    /// Requests the next publication when it is due and a viewer has room for it.
    private func ask(_ state: inout State, now: MonotonicTime) {
        let greeted = state.viewers.filter(\.isGreeted)
        guard !greeted.isEmpty else {
            guard state.board != nil else { return }
            state.board = nil
            state.nextEvent = 0
            state.round += 1
            state.reckoned = nil
            (state.isAsked, state.isPartial, state.cost) = (false, false, .zero)
            // Without viewers, no memory is kept.
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

    /// Puts a publication on the board. Viewers get it from there once it is complete.
    private func absorb(_ publication: consuming EngineSnapshot, _ state: inout State, _ clock: SystemClock) {
        let before = ProcessorTime.ofThread
        state.isAsked = false
        state.isPartial = publication.changes?.isPartial ?? false
        state.cost += publication.changes?.cost ?? .zero
        if !state.isPartial { state.nextEvent = publication.nextEvent }
        state.board?.absorb(publication, every: state.interval)
        let tellsAll = state.viewers.contains(where: \.isUntold)
        if !state.isPartial {
            for viewer in state.viewers where viewer.isGreeted { viewer.isBehind = true }
            for viewer in state.viewers { tell(viewer, &state) }
        }
        state.cost += ProcessorTime.ofThread - before
        if !state.isPartial { rest(&state, clock, tellsAll: tellsAll) }
    }

    /// Sends a viewer its missing updates until it has no more room.
    private func tell(_ viewer: InspectionViewer, _ state: inout State) {
        while viewer.isBehind, viewer.hasRoom, state.board?.isComplete ?? false {
            state.writer.clear()
            viewer.isUntold = false
            viewer.isBehind = state.board?.update(&viewer.progress, to: &state.writer) ?? false
            viewer.send(state.writer.bytes)
        }
    }

    /// Sets when the next update is due, by the cost of this one and the program's use of the processor.
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
            return refuse(viewer, "the viewer's data cannot be read: \(problem)")
        }
        if let deadline = viewer.helloDeadline, deadline <= now { refuse(viewer, "the viewer did not identify itself") }
    }

    /// Carries out a frame. Returns `false` if the viewer was refused.
    private func obey(_ frame: InspectionFrame, of viewer: InspectionViewer) -> Bool {
        switch frame {
        case .hello(let theirs):
            guard !viewer.isGreeted else { return true }
            if let sentence = hello.refusal(of: theirs, who: "the viewer") {
                // Each side learns what the other one is.
                viewer.send(InspectionFrame.hello(hello).bytes)
                refuse(viewer, sentence)
                return false
            }
            viewer.greeted()
            viewer.send(InspectionFrame.hello(hello).bytes)
        case .watch, .command, .request, .answer, .unknown, .refusal, .sockets, .tick, .events, .traffic, .notice,
            .peers, .calls, .reset, .passed:
            guard viewer.isGreeted else {
                refuse(viewer, "the viewer did not identify itself")
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

    /// Starts or stops a viewer's tape. The engine may be busy, so this does not wait for it.
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

    /// Sends a viewer the recorded traffic until it has no more room. Traffic recorded meanwhile stays on its tape,
    /// within the tape's limit.
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

/// Processor time as counted by the kernel.
enum ProcessorTime {
    static var ofThread: Duration { read(CLOCK_THREAD_CPUTIME_ID) }
    static var ofProcess: Duration { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
