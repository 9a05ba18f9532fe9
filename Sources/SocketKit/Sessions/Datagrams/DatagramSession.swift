import Glibc
import SocketCore

/// One session of a datagram socket: it owns the machines and a descriptor for each family, performs what the machines
/// ask for, and records each action where it is performed. Lives on the engine's queue.
///
/// The other files of this folder: opening and connecting, sending, receiving, closing.
final class DatagramSession: EngineSession {
    /// One descriptor, and how it stands with the reactor. A class, since arrays cannot hold what cannot be copied.
    final class Link {
        let socket: SocketHandle
        /// An address of its family.
        let family: SocketAddress
        let index: UInt16
        var local: SocketAddress?
        /// What bind(2) made of it; nil: it was not bound by us.
        var bound: SocketAddress?
        var watched: Interest?
        /// The kernel refused a datagram; it says when there is room, or a timer does.
        var isBlocked = false
        /// Reports of an error or hang-up, one after the other, that came to nothing.
        var emptyReports = 0

        init(_ socket: consuming SocketHandle, family: SocketAddress, index: UInt16) {
            self.socket = socket
            self.family = family
            self.index = index
        }
    }

    /// A group that was joined.
    struct Group: Equatable {
        var address: SocketAddress
        var interface: UInt32
        var name: String
    }

    let core: SessionCore
    var marks = SessionMarks()
    /// Where callbacks go; nil once the user let go of the handle.
    private(set) var handle: HandleReference<DatagramSocket>
    /// What it shares with that: back-pressure and filters.
    let shared: DatagramTraits
    var configuration: DatagramConfiguration
    var target: String

    var links: [Link] = []
    var queue = DatagramQueue()
    var reception = DatagramReception()
    var counters = DatagramCounters()
    var peers = PeerTable()
    var groups: [Group] = []
    /// Whom it is connected to.
    var peer: SocketAddress?
    var connected: MonotonicTime?
    /// By bind(2): other families are left out.
    var isBound = false
    /// The socket file to remove when it closes.
    var path: String?
    var nextLink: UInt16 = 0

    var isClosed = false
    var closesWhenSent = false
    var closesWhenReceived = false
    var closeMode: CloseMode?
    /// There is more to send and room for it, but other sockets come first.
    var isSendBudgetSpent = false
    /// The delegate's queue is so far behind that no more is taken from the kernel.
    var isHeldBack = false
    var isQueuedForFlush = false
    /// Whether a send filter runs right now.
    var isJudging = false
    /// Whether user code prepares a descriptor right now.
    var isPreparing = false
    /// Whether user code has seen descriptors, and may have others for the same sockets.
    var mayLiveOn = false
    /// When to try again where the kernel does not say that there is room.
    var retryTime: MonotonicTime?
    /// What the kernel had dropped when last asked.
    var kernelDrops: UInt64?

    /// Of a relay: the client that it serves and the session that the client sends to; or, of that one, how many.
    var association: (client: SocketAddress, listener: SocketID?)?
    var associations: AssociationCounts?
    /// What rules do to an association; `nil`: none concerns it.
    var faults: FaultMeter?

    var received: UInt64 = 0
    var sent: UInt64 = 0
    /// Measured from the first snapshot on; nil: there was none.
    var rates: (receive: RateWindow, send: RateWindow)?
    var traffic: TrafficLog? {
        didSet {
            let change = (traffic?.cost ?? 0) - chargedTraffic
            chargedTraffic += change
            if change != 0 { engine.charge(change) }
        }
    }
    /// What of it is counted among the engine's.
    private var chargedTraffic = 0

    init(
        id: SocketID, engine: EngineState, handle: DatagramSocket, target: String, configuration: DatagramConfiguration
    ) {
        core = SessionCore(id, of: engine)
        self.handle = HandleReference(handle)
        shared = handle.shared
        self.target = target
        self.configuration = configuration
        mayLiveOn = configuration.prepareDescriptor != nil
        if engine.capturesTraffic { traffic = engine.newTrafficLog() }
        noteForViewers()
    }

    // MARK: From the reactor and the clock

    func handle(_ readiness: Readiness) {
        guard let link = links.first(where: { $0.index == readiness.token.index }) else { return }
        if readiness.hungUp || readiness.hasError {
            takeError(of: link, isReadable: readiness.readable, isHungUp: readiness.hungUp)
        }
        if readiness.readable, !isClosed { receive(link) }
        if readiness.writable, !isClosed {
            unblock(link)
            isSendBudgetSpent = false
            send()
        }
        finishStep()
    }

    func handleDeadline() {
        guard takeDeadline() else { return }
        if let time = retryTime, time <= engine.now {
            retryTime = nil
            links.forEach(unblock)
            send()
        }
        while let late = queue.expire(now: engine.now) {
            let time = late.destination?.datagramText ?? peer?.description ?? "the peer"
            fail(late, SocketError(.sendTimeout, operation: "send", detail: "to \(time): timed out"))
        }
        send()
        finishStep()
    }

    /// The handle is gone: nobody can be told, so nothing is worth waiting for.
    func handleRelease() {
        detachHandle()
        close(error: nil, mode: .now)
    }

    /// What is decided from now on is told to nobody.
    func detachHandle() { handle = HandleReference() }

    /// The delegate's queue has caught up.
    func handleDelegateCaughtUp() {
        guard isHeldBack, !shared.backPressure.isHolding else { return }
        isHeldBack = false
        finishStep()
    }

    // MARK: Commands

    /// Carries out an action; `operation` names what it queues. Those that no datagram socket takes have no effect.
    func perform(_ action: SocketCommand.Action, as operation: OperationID) {
        switch action {
        case .send(let request): inject(request, as: operation)
        case .write(let request):
            inject(DatagramRequest(request.bytes, timeout: request.timeout, tag: request.tag), as: operation)
        case .read(let request):
            guard case .available = request.kind else { return record(.readFailed, tag: request.tag) }
            receive(request.isStanding ? .continuous : .once)
        case .close(let mode): askToClose(mode)
        case .pauseReading(let pause): hold(pause)
        case .cancel(let target): cancel(target)
        default: return
        }
    }

    /// Queues a datagram of a user. A relay sends by its handles, so on an association of one it is marked as not the
    /// client's.
    private func inject(_ request: DatagramRequest, as operation: OperationID) {
        if association != nil {
            traffic?.markInjected(operation)
            record(.injected, tag: request.tag, request.bytes.count)
        }
        queue(request, as: operation)
    }

    /// A person at a screen stops receiving, or lets it go on in the mode that it had.
    private func hold(_ isHeld: Bool) {
        guard reception.isHeld != isHeld else { return }
        reception.isHeld = isHeld
        record(isHeld ? .readingPaused : .readingResumed)
        finishStep()
    }

    // MARK: The end of each step

    /// Brings interest and deadline in line with the state, and closes when all is done that was waited for.
    func finishStep() {
        guard !isClosed else { return }
        noteForViewers()
        let isWaiting = closesWhenSent && queue.count > 0 || closesWhenReceived && reception.mode == .once
        if closesWhenSent || closesWhenReceived, !isWaiting { return close(error: nil, mode: closeMode) }
        for link in links { updateInterest(link) }
        updateDeadline()
    }

    /// Every descriptor is watched all the time, if only for errors, which would be lost otherwise.
    private func updateInterest(_ link: Link) {
        var wanted: Interest = []
        if !isHeldBack, reception.wanted(most: 1) > 0 { wanted.insert(.read) }
        if link.isBlocked && retryTime == nil || isSendBudgetSpent && !link.isBlocked { wanted.insert(.write) }
        guard wanted != link.watched, !isClosed else { return }
        let token = ReactorToken(id, link.index)
        let failure =
            link.watched == nil
            ? engine.reactor.add(link.socket.descriptor, wanted, token)
            : engine.reactor.modify(link.socket.descriptor, wanted, token)
        link.watched = wanted
        if failure != 0 { close(error: .system(failure, operation: "epoll_ctl", subject: target), mode: nil) }
    }

    private func updateDeadline() {
        guard !isClosed else { return }
        let deadlines = [queue.deadline, retryTime].compactMap(\.self)
        if let deadline = deadlines.min() { wake(by: deadline) }
    }

    // MARK: Errors of datagrams sent earlier

    /// EPOLLERR or EPOLLHUP was reported. An error is taken, told, and that is all; a hang-up that comes to nothing,
    /// again and again, is a descriptor that somebody shut down. Messages in the error queue are those of options that
    /// user code has set; they end nothing.
    private func takeError(of link: Link, isReadable: Bool, isHungUp: Bool) {
        let errno = engine.kernel.pendingError(link.socket.descriptor)
        guard errno == 0 else {
            link.emptyReports = 0
            return met(errno)
        }
        guard isHungUp else { return engine.kernel.drainErrorQueue(link.socket.descriptor) }
        link.emptyReports = isReadable ? 0 : link.emptyReports + 1
        guard link.emptyReports > 8 else { return }
        close(
            error: SocketError(.other, operation: "receive", detail: "\(target): the socket was shut down"), mode: nil)
    }

    /// Tells of an error that concerns no datagram in particular.
    func met(_ errno: Int32) {
        counters.errors += 1
        noteForViewers()
        record(.datagramError, Int(errno))
        notify(.met(.system(errno, operation: "receive", subject: peer.map { .address($0) } ?? .name(target))))
    }

    // MARK: Telling

    func notify(_ notice: DatagramNotice) {
        handle.load { engine.outbox.append(.datagram($0, notice)) }
    }

    func record(_ kind: SocketEvent.Kind, tag: Int = 0, _ first: Int = 0, _ second: Int = 0) {
        engine.record(kind, id, tag: tag, first, second)
    }
}
