import CSystem
import Glibc
import SocketCore
import Synchronization

/// The thread that tells viewers about one engine. It waits in poll for viewers, for what the engine publishes, and,
/// while anybody looks, for the next update to be due.
final class InspectionServer: Sendable {
    let path: String
    let rights: InspectionRights
    private let hello: InspectionHello
    private let listener: Int32
    private let bell: Int32
    private let shared = Lock(Shared())

    /// What other threads see of it.
    private struct Shared {
        weak var engine: SocketEngine?
        var publication: Publication?
        var isStopped = false
        var viewers = 0
        var lastRefusal: String?
    }

    /// More viewers than that are refused.
    static let viewerLimit = 16
    /// Between two updates, at least.
    static let interval = Duration.milliseconds(100)
    /// An update that took long is followed by a pause so many times as long: no more than a hundredth of the time.
    private static let pauseFactor: Int64 = 100
    /// Whoever comes anew is told all there is, which is dear once: it waits no longer than this for it, and no longer
    /// for the update behind it.
    private static let longestFirstPause = Duration.seconds(1)

    init(
        _ engine: SocketEngine, rights: InspectionRights, folder: String, program: String
    ) throws(SocketError) {
        (listener, path) = try InspectionFolder.listen(in: folder)
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
        close(listener)
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

    private func ring() {
        var one: UInt64 = 1
        _ = write(bell, &one, MemoryLayout<UInt64>.size)
    }

    // MARK: The thread

    /// What only the thread knows.
    private struct State {
        var viewers: [InspectionViewer] = []
        var board: InspectionBoard?
        var nextEvent: UInt64 = 0
        var due = MonotonicTime.zero
        var isAsked = false
        var asked = MonotonicTime.zero
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
            let (publication, isStopped) = shared.withLock { shared in
                defer { shared.publication = nil }
                return (shared.publication, shared.isStopped)
            }
            guard !isStopped else { break }
            accept(&state, now: clock.now)
            if let publication { tell(publication, &state, clock) }
            for viewer in state.viewers { serve(viewer, now: clock.now) }
            leave(&state)
            ask(&state, now: clock.now)
        }
        for viewer in state.viewers { viewer.close() }
        engine?.post(.stopPublishing)
    }

    private var engine: SocketEngine? { shared.withLock { $0.engine } }

    private func wait(_ state: State, now: MonotonicTime) {
        var polled = [listener, bell].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        polled += state.viewers.map(\.polled)
        var due: [MonotonicTime] = state.viewers.compactMap(\.helloDeadline)
        if !state.isAsked, state.viewers.contains(where: \.isGreeted) { due.append(state.nextDue) }
        let left = due.min().map { max(0, ($0 - now).wholeNanoseconds / 1_000_000 + 1) } ?? -1
        poll(&polled, nfds_t(polled.count), Int32(clamping: left))
        var count: UInt64 = 0
        _ = read(bell, &count, MemoryLayout<UInt64>.size)
    }

    private func accept(_ state: inout State, now: MonotonicTime) {
        while case let descriptor = csystem_accept4(
            listener, nil, nil, Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)),
            descriptor >= 0
        {
            let viewer = InspectionViewer(descriptor, now: now)
            let user = csystem_peer_user(descriptor)
            if user != Int64(geteuid()) {
                refuse(
                    viewer, "\(hello.program)[\(hello.process)] is inspected by user \(geteuid()) only, not by \(user)")
            } else if state.viewers.count >= Self.viewerLimit {
                refuse(
                    viewer,
                    "\(hello.program)[\(hello.process)] has \(Self.viewerLimit) viewers already, the most it takes")
            } else {
                state.viewers.append(viewer)
            }
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
            guard state.board != nil || state.isAsked else { return }
            state.board = nil
            state.nextEvent = 0
            engine?.post(.stopPublishing)
            return
        }
        guard !state.isAsked, now >= state.nextDue, greeted.contains(where: \.hasRoom) else { return }
        var request = PublicationRequest()
        request.isWhole = state.board == nil
        request.eventsFrom = state.nextEvent
        for viewer in greeted {
            request.watched.formUnion(viewer.progress.watch.sockets)
            if rights >= .payload, let id = viewer.progress.watch.traffic { request.traffic.insert(id) }
        }
        state.isAsked = true
        state.asked = now
        state.due = now + state.interval
        engine?.post(
            .publish(request) { @Sendable [self] publication in
                shared.withLock { $0.publication = publication }
                ring()
            })
    }

    private func tell(_ publication: Publication, _ state: inout State, _ clock: SystemClock) {
        state.isAsked = false
        guard state.viewers.contains(where: \.isGreeted) else { return }
        let before = Self.threadTime
        var board = state.board ?? InspectionBoard(showsPayload: rights >= .payload)
        var publication = publication
        publication.tick.interval = state.interval
        board.take(publication)
        state.nextEvent = publication.tick.nextEvent
        let tellsAll = state.viewers.contains { $0.isUntold && $0.hasRoom }
        for viewer in state.viewers where viewer.isGreeted && viewer.hasRoom {
            viewer.send(board.update(&viewer.progress))
            viewer.isUntold = false
        }
        state.board = board
        let cost = Self.threadTime - before + publication.cost.wholeNanoseconds
        state.interval = max(Self.interval, .nanoseconds(cost * Self.pauseFactor))
        if tellsAll { state.interval = min(state.interval, Self.longestFirstPause) }
        state.due = max(state.due, clock.now + (state.interval - Self.interval))
    }

    /// Processor time of this thread, in nanoseconds.
    private static var threadTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    // MARK: One viewer

    private func serve(_ viewer: InspectionViewer, now: MonotonicTime) {
        viewer.flush()
        do throws(WireError) {
            viewer.receive()
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
        case .watch, .command, .unknown, .refusal, .sockets, .tick, .events, .traffic, .notice, .reset:
            guard viewer.isGreeted else {
                refuse(viewer, "the viewer did not say who it is")
                return false
            }
            if case .watch(let watch) = frame { viewer.watches(watch) }
            if case .command(let command) = frame { carryOut(command, for: viewer) }
        }
        return true
    }

    private func carryOut(_ command: SocketCommand, for viewer: InspectionViewer) {
        guard rights >= .control else {
            let sentence = "\(hello.program)[\(hello.process)] lets viewers \(rights.rawValue) only; nothing was done"
            return viewer.send(InspectionFrame.notice(sentence).bytes)
        }
        engine?.post(command)
    }

    private func leave(_ state: inout State) {
        state.viewers.removeAll(where: \.isClosed)
        let count = state.viewers.count { $0.isGreeted }
        shared.withLock { $0.viewers = count }
    }
}
