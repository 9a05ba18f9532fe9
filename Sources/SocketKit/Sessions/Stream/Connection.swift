import Glibc
import SocketCore

/// One session of a stream socket: it owns the machines and the descriptor, performs what the machines ask for, and
/// records each action where it is performed. Lives on the engine's queue.
///
/// The other files of this folder each interpret one kind of action: connecting, reading, writing, closing.
final class Connection: ConnectionStorage, EngineSession {
    let core: SessionCore
    /// Where it comes from; many may have the same.
    private(set) var origin: ConnectionOrigin
    var configuration: SocketConfiguration { origin.settings.value }
    var target: String {
        get { origin.facts.target }
        set { origin = origin.withTarget(newValue) }
    }
    var role: SocketRole { origin.facts.role }
    /// The handle, from the first callback that is decided in a turn until all of them are made. The engine keeps it
    /// meanwhile; to load a weak reference, and to count one to what is also held weakly, is expensive.
    private var heldHandle: BorrowedReference<AsyncSocket>?

    /// The connect in progress, or how it went.
    var connector: Connector?
    /// What lies below it and above it.
    var layers = Layers()
    /// What it has that others have not; made once it is needed.
    private(set) var rare: ConnectionRarities?

    var connected = PackedTime()
    /// When a byte last passed, either way.
    var lastActivity: MonotonicTime
    /// Since when a read, and a write, is in hand or none is.
    private(set) var readsSince = PackedTime()
    private(set) var writesSince = PackedTime()

    var received: UInt64 = 0
    var sent: UInt64 = 0
    /// Received bytes behind the item that is lent right now; they lie where that lies.
    var unlent = UnsafeRawBufferPointer(start: nil, count: 0)
    /// What reads weigh that completed since it last waited for their delivery.
    var completedWeight = 0

    // Flags lie behind what does not fill its last word.
    /// The session is over, and its handle knows.
    private(set) var isDetached = false
    var local: SocketAddress?
    /// More bytes are queued for writing than the high watermark allows.
    var isAboveHighMark = false
    /// Whether the write queue has watermarks: asked at every step.
    var hasWatermarks: Bool
    var peer: SocketAddress?
    var hasToldPeerClosed = (user: false, events: false)
    var closeMode: CloseMode?
    /// Whether somebody else may have a descriptor for the same socket: it came from the caller, or user code has seen it.
    var mayLiveOn: Bool
    /// Those who record it and know it; see `EngineTapes`.
    var tapeGeneration: UInt32 = 0
    /// What decides what the reactor watches.
    var interest = StreamInterest()
    /// The delegate's queue is so far behind that no more is taken from the kernel.
    var isHeldBack = false
    var marks = SessionMarks()
    /// What it is linked to is so far behind that no more is taken from the kernel.
    var isHeldByLink = false
    /// So much has completed that the callbacks come first: whether the user keeps up is known after them.
    var waitsForDelivery = false
    var isQueuedForFlush = false
    /// The last receive stopped where no read was left, and there may be more.
    var hasUnreceived = false
    /// Whether it ends when no byte has passed for a while.
    private let hasIdleTimeout: Bool
    /// Whether a read, and a write, was in hand at the end of the last step.
    private var hasRead = false
    private var hasWrite = false

    init(id: SocketID, engine: EngineState, handle: AsyncSocket?, origin: ConnectionOrigin) {
        core = SessionCore(id, of: engine)
        self.origin = origin
        lastActivity = engine.now
        let start = origin.start
        hasWatermarks = start.hasWatermarks
        mayLiveOn = start.mayLiveOn
        hasIdleTimeout = start.hasIdleTimeout
        super.init(machine: ConnectionMachine(allowsHalfOpen: start.allowsHalfOpen), handle: handle)
        machine.passesCuts = start.passesCuts
        if engine.capturesTraffic { traffic = engine.newTrafficLog() }
        noteChange()
    }

    /// What it has that others have not.
    var madeRare: ConnectionRarities {
        if let rare { return rare }
        let made = ConnectionRarities()
        rare = made
        return made
    }

    /// Of the connection that stands; attempts count from 0.
    var token: ReactorToken { ReactorToken(id, .max) }

    // MARK: From the reactor and the clock

    func handle(_ readiness: Readiness) {
        guard !machine.isConnecting else { return handleAttempt(readiness) }
        // A report of an attempt that lost in this very batch says nothing about the one that won.
        guard readiness.token == token else { return }
        if readiness.hungUp, hangUpEnds() { return }
        if readiness.peerClosed { markPeerClosed() }
        if readiness.hasError, !readiness.hungUp {
            guard takeError() else { return finishStep() }
        } else if readiness.readable || readiness.hungUp || readiness.peerClosed && interest.isReadingOff {
            // With interest off, FIN alone is reported; it is looked at too, since no bytes need lie before it.
            receive()
        }
        if readiness.writable || interest.isHungUp, !machine.isClosed { handleWritable() }
        endIfBothSidesAreGone()
        finishStep()
    }

    func handleDeadline() {
        guard takeDeadline() else { return }
        if layers.deadline.map({ $0 <= engine.now }) == true { webSocket?.expire(on: self) }
        if machine.isConnecting {
            handleConnectDeadline()
        } else if let lingerDeadline, lingerDeadline <= engine.now {
            close(error: nil)
        } else {
            expireOperations()
            expireIdleness()
        }
        finishStep()
    }

    /// The handle is gone: nobody can be told, so nothing is worth waiting for.
    func handleRelease() {
        handle = HandleReference()
        webSocket?.goAway(on: self)
        close(error: nil)
    }

    // MARK: The end of each step

    /// Notes, where anybody wants to be told, that this session looks different.
    @inline(__always)
    func noteChange() {
        if rare != nil || engine.takesNotes { noteDifference() }
    }

    private func noteDifference() {
        if let rare, rare.cachedSnapshot != nil {
            rare.cachedSnapshot = nil
            recordIdle()
        }
        noteForViewers()
    }

    func recordIdle() {
        _ = rare?.rates.changePresent { $0.recordIdle(until: engine.now) }
    }

    /// Performs what the lifecycle asks for, then brings interest and deadline in line with the state.
    func finishStep() {
        noteChange()
        if machine.mayAct {
            performLifecycle()
            guard !machine.isClosed else { return }
        }
        updateInterest()
        updateDeadline()
        if hasWatermarks { updateWatermark() }
        noteQueues()
    }

    /// Behind an operation that was queued: nothing, where the turn comes back to flush this connection anyway.
    func finishQueueing() {
        guard isQueuedForFlush, !hasWatermarks else { return finishStep() }
        guard !machine.mayAct else { return finishStep() }
        noteChange()
        noteQueues()
    }

    /// Notes when a queue fills or empties.
    private func noteQueues() {
        if machine.reading.hasCurrent != hasRead {
            hasRead.toggle()
            readsSince = PackedTime(engine.now)
        }
        if machine.writing.hasCurrent != hasWrite {
            hasWrite.toggle()
            writesSince = PackedTime(engine.now)
        }
    }

    private func performLifecycle() {
        while true {
            switch machine.next() {
            case .none: return
            case .startHandshake: beginHandshake()
            case .shutWrite: sendFIN()
            case .linger: beginLinger()
            case .reportPeerClosed:
                notify(.closedReadStream)
                failAwaitedReads()
                endIfBothSidesAreGone()
            case .close(let error):
                // What was written before the read that found the end is tried first.
                if isQueuedForFlush { sendPending() }
                close(error: error)
            }
        }
    }

    /// Watches for what can be used. A descriptor in a state that cannot be masked (hung up) leaves the set.
    private func updateInterest() {
        guard let descriptor = socket?.descriptor, !machine.isConnecting else { return }
        switch interest.change(canReceive: !machine.hasEndOfStream && !isEndTaken && !layers.hasWireEnded) {
        case .none: return
        case .add(let wanted):
            let failure = engine.reactor.add(descriptor, wanted, token)
            // It is not in the set, so that it need not leave it.
            if failure != 0 { _ = interest.leave() }
            closeOnFailure(failure)
        case .modify(let wanted): closeOnFailure(engine.reactor.modify(descriptor, wanted, token))
        case .remove: engine.reactor.remove(descriptor)
        }
    }

    /// Takes the descriptor out of the reactor's set. close(2) does so too, but only for the last descriptor of a
    /// socket; another one would have it reported for ever, to a session that is over.
    func leaveReactor() {
        if interest.leave(), mayLiveOn, let descriptor = socket?.descriptor { engine.reactor.remove(descriptor) }
    }

    private func closeOnFailure(_ failure: Int32) {
        guard failure != 0 else { return }
        close(error: .system(failure, operation: "epoll_ctl", subject: target))
    }

    private func updateDeadline() {
        // TLS that is being agreed on has one, and so may whatever is about to end.
        let hasDeadline = machine.reading.hasDeadline || machine.writing.hasDeadline || machine.mayAct
        guard hasDeadline || hasOtherDeadlines else { return }
        let operations = machine.isConnecting ? connector?.deadline : machine.deadline
        let own = earlier(operations, idleDeadline)
        if let deadline = lingerDeadline ?? earlier(own, layers.deadline) { wake(by: deadline) }
    }

    /// Whether anything but an operation may have to end in time.
    private var hasOtherDeadlines: Bool {
        machine.isConnecting || hasIdleTimeout || !layers.isTakenByHandle || lingerDeadline != nil
    }

    private var idleDeadline: MonotonicTime? {
        guard hasIdleTimeout, machine.isOpen else { return nil }
        return origin.facts.idleTimeout.map { lastActivity + $0 }
    }

    private func earlier(_ one: MonotonicTime?, _ other: MonotonicTime?) -> MonotonicTime? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    private func expireIdleness() {
        guard let idleDeadline, idleDeadline <= engine.now else { return }
        let time = origin.facts.idleTimeout ?? .zero
        close(
            error: SocketError(
                .idleTimeout, operation: "idle", detail: "\(target): no byte passed either way for \(time)"))
    }

    // MARK: Telling

    func notify(_ notice: consuming SocketNotice) {
        if let webSocket { return notify(webSocket, notice) }
        guard !isDetached else { return }
        if heldHandle == nil {
            guard handle.give(to: { hold($0) }) else { return }
        }
        engine.outbox.append(.socket(SocketCall(connection: BorrowedReference(self), notice: notice)))
    }

    /// Keeps the handle until all callbacks of the turn are made, so that it cannot go in the midst of anything.
    func hold(_ handle: consuming AsyncSocket) {
        guard heldHandle == nil else { return }
        heldHandle = BorrowedReference(handle)
        engine.holding.append(HeldHandle(connection: BorrowedReference(self), handle: handle))
    }

    /// Whether it holds this handle.
    func holds(_ handle: AsyncSocket) -> Bool {
        heldHandle?({ $0 === handle }) ?? false
    }

    /// The handle, which is kept until all callbacks of the turn are made; nil once it is not told any more.
    var keptHandle: AsyncSocket? {
        guard !isDetached else { return nil }
        return heldHandle?.retained ?? handle.load { hold($0) }
    }

    /// Tells the handle that is held. It is let go of behind all callbacks, never within one.
    @inline(__always)
    func deliver(_ notice: SocketNotice) {
        if heldHandle?({ $0.deliver(notice) }) == true { handleIsBehind() }
    }

    /// Out of line, since `deliver` is part of the loop that makes the callbacks.
    @inline(never)
    private func handleIsBehind() {
        isHeldBack = true
        noteChange()
    }

    /// The handle belongs to this session no more: what is decided from now on is told to nobody.
    func detachHandle() {
        handle = HandleReference()
        isDetached = true
    }

    /// All callbacks are made, and the engine is about to release the handle.
    func releaseHandle() { heldHandle = nil }

    func record(_ kind: SocketEvent.Kind, tag: Int = 0, _ first: Int = 0, _ second: Int = 0) {
        engine.record(kind, id, tag: tag, first, second)
    }
}
