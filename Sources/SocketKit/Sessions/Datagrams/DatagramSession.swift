import Glibc
import SocketCore

/// One session of a datagram socket. It owns the state machines and a descriptor for each family, performs what the
/// machines request, and records each action where it is performed. Runs on the engine's queue.
///
/// The other files of this folder are about opening and connecting, sending, receiving, and closing.
final class DatagramSession: EngineSession {
    /// One descriptor and its registration with the reactor. A class, because arrays can't hold noncopyable values.
    final class Link {
        let socket: SocketHandle
        /// An address of its family.
        let family: SocketAddress
        let index: UInt16
        var local: SocketAddress?
        /// The address after bind(2), or `nil` if we didn't bind it.
        var bound: SocketAddress?
        var watched: Interest?
        /// Set after the kernel refused a datagram, until the kernel or a timer reports room.
        var isBlocked = false
        /// The number of consecutive hang-up reports with neither an error nor input.
        var emptyReports = 0

        init(_ socket: consuming SocketHandle, family: SocketAddress, index: UInt16) {
            self.socket = socket
            self.family = family
            self.index = index
        }
    }

    struct Group: Equatable {
        var address: SocketAddress
        var interface: UInt32
        var name: String
    }

    let core: SessionCore
    var marks = SessionMarks()
    /// The handle, empty once the caller has released it.
    private(set) var handle: HandleReference<DatagramSocket>
    /// What the session shares with its handle: back-pressure and filters.
    let shared: DatagramTraits
    var configuration: DatagramConfiguration
    var target: String

    var links: [Link] = []
    var queue = DatagramQueue()
    var reception = DatagramReception()
    var counters = DatagramCounters()
    var peers = PeerTable()
    var groups: [Group] = []
    var peer: SocketAddress?
    var connected: MonotonicTime?
    /// Whether it was bound with bind(2), which leaves out other families.
    var isBound = false
    /// The socket file to remove when the session closes.
    var path: String?
    var nextLink: UInt16 = 0

    var isClosed = false
    var closesWhenSent = false
    var closesWhenReceived = false
    var closeMode: CloseMode?
    /// Set when there is more to send and room for it, but other sockets come first.
    var isSendBudgetSpent = false
    /// Set while receiving is held back because the delegate's queue can't keep up.
    var isHeldBack = false
    var isQueuedForFlush = false
    var isJudging = false
    var isPreparing = false
    /// Whether user code has seen descriptors, and may have duplicates of them.
    var mayLiveOn = false
    /// When to try again if the kernel doesn't report room.
    var retryTime: MonotonicTime?
    /// The kernel's drop count when last queried.
    var kernelDrops: UInt64?

    /// For a relay's association, its client and the session that the client sends to. On that session, `associations`
    /// counts them.
    var association: (client: SocketAddress, listener: SocketID?)?
    var associations: AssociationCounts?
    /// What rules do to an association, or `nil` if none applies to it.
    var faults: FaultMeter?

    var received: UInt64 = 0
    var sent: UInt64 = 0
    /// The rates, measured from the first snapshot on, or `nil` if there was none.
    var rates: (receive: RateWindow, send: RateWindow)?
    var traffic: TrafficLog? {
        didSet {
            let change = (traffic?.cost ?? 0) - chargedTraffic
            chargedTraffic += change
            if change != 0 { engine.charge(change) }
        }
    }
    /// The part of its cost that the engine has counted.
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
            handleError(of: link, isReadable: readiness.readable, isHungUp: readiness.hungUp)
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

    /// Ends the session without waiting for anything, because there is no handle to notify.
    func handleRelease() {
        detachHandle()
        close(error: nil, mode: .now)
    }

    /// Detaches the handle. Later notifications are dropped.
    func detachHandle() { handle = HandleReference() }

    func handleDelegateCaughtUp() {
        guard isHeldBack, !shared.backPressure.isHolding else { return }
        isHeldBack = false
        finishStep()
    }

    // MARK: Commands

    /// Carries out an action. `operation` identifies what it queues. Actions that are not for datagram sockets have no
    /// effect.
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

    /// Queues a user's datagram. A relay sends through its handles, so on an association this datagram is marked as not
    /// the client's.
    private func inject(_ request: DatagramRequest, as operation: OperationID) {
        if association != nil {
            traffic?.markInjected(operation)
            record(.injected, tag: request.tag, request.bytes.count)
        }
        queue(request, as: operation)
    }

    /// Pauses receiving for the user at the screen, or resumes it in the mode it had.
    private func hold(_ isHeld: Bool) {
        guard reception.isHeld != isHeld else { return }
        reception.isHeld = isHeld
        record(isHeld ? .readingPaused : .readingResumed)
        finishStep()
    }

    // MARK: The end of each step

    /// Brings interest and deadline in line with the state, and closes once a pending close has nothing to wait for.
    func finishStep() {
        guard !isClosed else { return }
        noteForViewers()
        let isWaiting = closesWhenSent && queue.count > 0 || closesWhenReceived && reception.mode == .once
        if closesWhenSent || closesWhenReceived, !isWaiting { return close(error: nil, mode: closeMode) }
        for link in links { updateInterest(link) }
        updateDeadline()
    }

    /// Every descriptor stays registered, if only for errors, which would otherwise be lost.
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

    /// Handles EPOLLERR or EPOLLHUP. A pending error is reported and ends nothing. More than 8 consecutive hang-ups
    /// with neither an error nor input mean that the descriptor was shut down. Messages in the error queue come from
    /// options that user code has set, and end nothing.
    private func handleError(of link: Link, isReadable: Bool, isHungUp: Bool) {
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

    /// Reports an error that concerns no particular datagram.
    func met(_ errno: Int32) {
        counters.errors += 1
        noteForViewers()
        record(.datagramError, Int(errno))
        notify(.met(.system(errno, operation: "receive", subject: peer.map { .address($0) } ?? .name(target))))
    }

    // MARK: Notifying

    func notify(_ notice: DatagramNotice) {
        handle.load { engine.outbox.append(.datagram($0, notice)) }
    }

    func record(_ kind: SocketEvent.Kind, tag: Int = 0, _ first: Int = 0, _ second: Int = 0) {
        engine.record(kind, id, tag: tag, first, second)
    }
}
