import Glibc
import SocketCore

/// One session of a listener. It has one descriptor, or one for each family when it listens on every interface.
final class Acceptor: EngineSession {
    /// The most connections accepted before other sockets get their share of the turn.
    private static let acceptBudget = 64
    /// How long to wait before accepting again after descriptors or memory ran out.
    private static let backOff = Duration.milliseconds(100)

    /// Owns one descriptor. A class, because arrays can't hold noncopyable values.
    final class Listening {
        let socket: SocketHandle
        /// The local address that its connections share, or `nil` for a wildcard, where each must be queried.
        fileprivate(set) var own: SocketAddress?
        init(_ socket: consuming SocketHandle) {
            self.socket = socket
        }
    }

    let core: SessionCore
    var marks = SessionMarks()
    private let handle: HandleReference<SocketListener>
    let target: String
    /// Shared by all accepted connections.
    private let origin: ConnectionOrigin
    var configuration: SocketConfiguration { origin.settings.value }
    /// What secures each connection, or `nil` for no TLS.
    var tls: TLSContext?
    private var sockets: [Listening]
    /// The socket file to remove when the listener closes.
    private let path: String?
    private let local: SocketAddress?
    private var accepted: UInt64 = 0
    /// Connections that accept(2) returned, including refused ones.
    private var answered: UInt64 = 0
    /// When to accept again, or `nil` for now.
    private var resumes: MonotonicTime? { marks.deadline.value }
    private var isPaused = false
    /// Set while accepting is held back because the caller can't keep up.
    private var isHeldBack = false
    /// The rules that stop accepting, or `nil` if there are none.
    private var shutBy: FaultSnapshot?
    /// Whether user code has seen the descriptors, and may have duplicates of them.
    var mayLiveOn = false
    var descriptors: [Int32] { sockets.map { $0.socket.descriptor } }
    /// The addresses it listens on.
    var localAddresses: [SocketAddress] { descriptors.compactMap { engine.kernel.localAddress($0) } }

    init(
        id: SocketID, engine: EngineState, handle: SocketListener, target: String, sockets: [Listening],
        path: String?, configuration: SocketConfiguration, tls: TLSContext?
    ) {
        core = SessionCore(id, of: engine)
        self.handle = HandleReference(handle)
        self.target = target
        origin = ConnectionOrigin(.accepted, of: id, target: target, settings: Shared(configuration))
        self.sockets = sockets
        self.path = path
        self.tls = tls
        isPaused = configuration.startsWithAcceptingPaused
        for listening in sockets { listening.own = engine.kernel.localAddress(listening.socket.descriptor) }
        local = sockets.first?.own
        for listening in sockets where listening.own?.isWildcard == true { listening.own = nil }
        engine.record(.listening, id)
        if isPaused { engine.record(.readingPaused, id) }
        noteForViewers()
    }

    /// A listener has no rates.
    func recordIdle() {}

    /// Registers every descriptor, unless accepting is paused. Returns 0, or the errno of the first that failed.
    func watch() -> Int32 {
        if isIdle { return 0 }
        for (index, listening) in sockets.enumerated() {
            let failure = engine.reactor.add(listening.socket.descriptor, .read, ReactorToken(id, UInt16(index)))
            if failure != 0 { return failure }
        }
        return 0
    }

    /// Accepts waiting connections. What is left is reported again, because reports are level-triggered.
    func handleReadiness() {
        guard resumes == nil, !isIdle else { return }
        // `sockets` becomes empty if user code, which runs for each connection, stops the listener.
        for index in sockets.indices where index < sockets.count {
            for _ in 0..<Self.acceptBudget {
                guard index < sockets.count, acceptOnce(sockets[index]), !engine.mustLeaveOff else { break }
            }
        }
    }

    /// Whether connections are left in the kernel's backlog.
    private var isIdle: Bool { isPaused || isHeldBack || shutBy != nil }

    /// Accepts or refuses the first connection that waits at any of the descriptors.
    private func answer(_ verdict: SocketCommand.ConnectionVerdict) {
        let before = answered
        for index in sockets.indices where answered == before {
            while index < sockets.count, acceptOnce(sockets[index], verdict), answered == before {}
        }
    }

    /// Accepts one connection. Returns true if more may be waiting.
    private func acceptOnce(_ listening: Listening, _ verdict: SocketCommand.ConnectionVerdict = .accept) -> Bool {
        switch engine.kernel.accept(listening.socket.descriptor) {
        case .accepted(let descriptor, let peer):
            answered += 1
            switch verdict {
            case .accept: adopt(SocketHandle(descriptor, kernel: engine.kernel), own: listening.own, peer: peer)
            case .refuse: refuse(SocketHandle(descriptor, kernel: engine.kernel))
            }
            return true
        case .wouldBlock:
            return false
        case .failed(let errno):
            engine.record(.acceptFailed, id, Int(errno))
            engine.refusedDescriptor(errno)
            // With these errors one connection was lost while it waited. Others may be waiting behind it.
            if [ECONNABORTED, EPROTO, ENETDOWN, EHOSTUNREACH, ENETUNREACH].contains(errno) { return true }
            backOff()
            return false
        }
    }

    /// Closes with RST instead of FIN. The descriptor closes with its handle.
    private func refuse(_ socket: consuming SocketHandle) {
        _ = engine.kernel.set(.resetOnClose, on: socket.descriptor)
        engine.record(.connectionRefused, id)
    }

    private func adopt(_ socket: consuming SocketHandle, own: SocketAddress?, peer: SocketAddress) {
        origin.prepare(socket.descriptor, for: peer, in: engine)
        // If user code has stopped the listener, this connection ends like those still in the backlog.
        guard !sockets.isEmpty, let child = makeChild(from: peer) else { return }
        accepted += 1
        noteForViewers()
        let connection = Connection(
            id: child.id, engine: engine, handle: child.handle, origin: origin)
        connection.local = own
        connection.peer = peer
        connection.socket = consume socket
        engine.sessions[child.id] = .stream(connection)
        connection.didConnect()
        // A server's settings were checked when it began to listen, so a new connection rejects none of them.
        if let tls { try? connection.startTLS(tls) }
        connection.finishStep()
    }

    /// Queues a new handle for the caller. Returns `nil` if the listener's handle has been released.
    private func makeChild(from peer: SocketAddress) -> (id: SocketID, handle: AsyncSocket)? {
        var child: (id: SocketID, handle: AsyncSocket)?
        handle.load { handle in
            let id = engine.nextSocketID()
            engine.record(.accepted, self.id, Int(id.number))
            let accepted = AsyncSocket(acceptedBy: handle, session: id, configuration: origin.settings)
            engine.outbox.append(.listener(handle, .accepted(accepted, from: peer)))
            child = (id, accepted)
        }
        return child
    }

    /// Carries out an action. Has no effect if the action is not one for listeners.
    func perform(_ action: SocketCommand.Action) {
        switch action {
        case .close(let mode): close(error: nil, mode: mode)
        case .pauseReading(let pause): pauseAccepting(pause)
        case .answerConnection(let verdict): answer(verdict)
        default: return
        }
    }

    /// Leaves connections in the kernel's backlog, or resumes accepting.
    private func pauseAccepting(_ pause: Bool) {
        guard pause != isPaused else { return }
        let wasIdle = isIdle
        isPaused = pause
        noteForViewers()
        engine.record(pause ? .readingPaused : .readingResumed, id)
        updateWatch(wasIdle)
    }

    /// Holds back accepting while the caller can't keep up. Unlike a pause, the user didn't request this.
    func holdBack(_ hold: Bool) {
        guard hold != isHeldBack else { return }
        let wasIdle = isIdle
        isHeldBack = hold
        noteForViewers()
        updateWatch(wasIdle)
    }

    /// Stops accepting because of these rules, or resumes if `nil`. A user's pause is neither started nor ended.
    func shut(by rules: FaultSnapshot?) {
        guard rules != shutBy else { return }
        let wasIdle = isIdle
        let before = Set(shutBy?.rules.map(\.number) ?? [])
        shutBy = rules
        noteForViewers()
        for rule in rules?.rules ?? [] where !before.contains(rule.number) {
            engine.record(.faulted, id, rule.number, -1)
        }
        updateWatch(wasIdle)
    }

    /// Resumes accepting, unless the delegate's queue fell behind again.
    func handleDelegateCaughtUp() {
        if handle.load(in: engine)?.backPressure.isHolding != true { holdBack(false) }
    }

    private func updateWatch(_ wasIdle: Bool) {
        guard resumes == nil, isIdle != wasIdle else { return }
        if isIdle { unwatch() } else { watchAgain() }
    }

    private func unwatch() {
        for listening in sockets { engine.reactor.remove(listening.socket.descriptor) }
    }

    private func watchAgain() {
        let failure = watch()
        if failure != 0 { close(error: .system(failure, operation: "epoll_ctl", subject: target), mode: nil) }
    }

    /// Pauses accepting when descriptors or memory run out. A listener that keeps trying would burn a core for nothing.
    private func backOff() {
        if !isIdle { unwatch() }
        noteForViewers()
        wake(at: engine.now + Self.backOff)
    }

    func handleDeadline() {
        guard takeDeadline() else { return }
        noteForViewers()
        if !isIdle { watchAgain() }
    }

    /// Stops listening. Accepted connections continue.
    func close(error: SocketError?, mode: CloseMode?, isReleased: Bool = false) {
        var snapshot = snapshot(withKernel: false)
        // Removed first: once the descriptor is closed, another program may replace the file and listen there.
        if let path { _ = engine.kernel.removeSocketFile(path) }
        if configuration.prepareDescriptor != nil || mayLiveOn { unwatch() }
        sockets = []
        noteForViewers()
        engine.sessions[id] = nil
        engine.retire(self)
        engine.counters.closed += 1
        engine.record(.closed, id)
        snapshot.phase = .closed
        snapshot.descriptor = nil
        snapshot.flags = []
        snapshot.closed = CloseRecord(time: engine.now, error: error, mode: mode)
        engine.closed.append(.whole(snapshot), traffic: nil)
        handle.load { handle in
            handle.sessionEnded(id, as: snapshot)
            guard isReleased else { return engine.outbox.append(.listener(handle, .stopped(error, of: id))) }
            engine.retire(handle)
        }
    }

    func snapshot(withKernel: Bool) -> SocketSnapshot {
        var snapshot = SocketSnapshot(id: id, role: .listener, phase: .listening, target: target, opened: opened)
        snapshot.name = configuration.name
        snapshot.local = local
        snapshot.descriptor = sockets.first?.socket.descriptor
        snapshot.flags = resumes == nil ? [.socketStarted] : [.socketStarted, .readSourceSuspended]
        snapshot.accepted = accepted
        snapshot.isReadingPaused = isPaused
        snapshot.isHeldBack = isHeldBack
        snapshot.fault = shutBy
        if withKernel { snapshot.kernel = askKernel() }
        return snapshot
    }

    /// Sums all descriptors, because a connection can wait at any of them.
    private func askKernel() -> KernelSnapshot? {
        let isTCP = local?.family.isIP ?? false
        let each = sockets.map { engine.kernel.describe($0.socket.descriptor, isTCP: isTCP) }
        var answer = each.first
        for one in each.dropFirst() {
            let (waiting, limit) = (answer?.receiveQueue, answer?.sendQueue)
            answer?.receiveQueue = Self.sum(waiting, one.receiveQueue)
            answer?.sendQueue = Self.sum(limit, one.sendQueue)
        }
        if answer?.state == nil { answer?.state = "LISTEN" }
        return answer
    }

    private static func sum(_ one: Int?, _ other: Int?) -> Int? {
        guard let one, let other else { return one ?? other }
        return one + other
    }
}
