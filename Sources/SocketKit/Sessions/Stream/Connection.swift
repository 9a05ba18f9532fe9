import Glibc
import SocketCore

/// One session of a stream socket. It owns the state machines and the descriptor, performs what the machines request,
/// and records each action where it is performed. Runs on the engine's queue.
///
/// The other files of this folder each interpret one kind of action.
final class Connection: ConnectionStorage, EngineSession {
    let core: SessionCore
    /// Many connections can share it.
    private(set) var origin: ConnectionOrigin
    var configuration: SocketConfiguration { origin.settings.value }
    var target: String {
        get { origin.facts.target }
        set { origin = origin.withTarget(newValue) }
    }
    var role: SocketRole { origin.facts.role }
    /// The handle, from the first callback queued in a turn until all have run. The engine retains it meanwhile,
    /// because it is expensive to load a weak reference, or to count references to an object that is also held weakly.
    private var retainedHandle: BorrowedReference<AsyncSocket>?

    var connector: Connector?
    var layers = Layers()
    /// What only few connections have. Created on first use.
    private(set) var rare: ConnectionRarities?

    var connected = PackedTime()
    /// When a byte was last sent or received.
    var lastActivity: MonotonicTime
    /// When the queue last gained or lost its current operation.
    private(set) var readsSince = PackedTime()
    private(set) var writesSince = PackedTime()

    var received: UInt64 = 0
    var sent: UInt64 = 0
    /// The received bytes that follow the item on loan, in the same buffer.
    var unlent = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The weight of the reads that completed since reads last waited for their delivery.
    var completedWeight = 0

    // The flags follow fields that leave their last word partly empty.
    /// Set once the session has ended and its handle has been notified.
    private(set) var isDetached = false
    var local: SocketAddress?
    /// Set while more bytes are queued for writing than the high watermark allows.
    var isAboveHighMark = false
    /// Whether the write queue has watermarks. Checked at every step.
    var hasWatermarks: Bool
    var peer: SocketAddress?
    var hasToldPeerClosed = (user: false, events: false)
    var closeMode: CloseMode?
    /// Whether another descriptor for the same socket may exist, because the caller supplied it or user code has seen
    /// it.
    var mayLiveOn: Bool
    /// The generation of the recordings that know this session. See `EngineTapes`.
    var tapeGeneration: UInt32 = 0
    /// What decides the registered interest.
    var interest = StreamInterest()
    /// Set while reads are held back because the delegate's queue can't keep up.
    var isHeldBack = false
    var marks = SessionMarks()
    /// Set while reads are held back because the other leg can't keep up.
    var isHeldByLink = false
    /// Set when so much has completed that callbacks run first. Only they show whether the delegate keeps up.
    var waitsForDelivery = false
    var isQueuedForFlush = false
    /// Set when the last receive ran out of reads, and there may be more.
    var hasUnreceived = false
    /// Whether there is an idle timeout.
    private let hasIdleTimeout: Bool
    /// Whether there was a current operation at the end of the last step.
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
        interest.takesUrgentInLine = start.options.takesUrgentInLine
        if engine.capturesTraffic { traffic = engine.newTrafficLog() }
        noteChange()
    }

    var madeRare: ConnectionRarities {
        if let rare { return rare }
        let made = ConnectionRarities()
        rare = made
        return made
    }

    /// The token once established. Attempts count from 0.
    var token: ReactorToken { ReactorToken(id, .max) }

    // MARK: From the reactor and the clock

    func handle(_ readiness: Readiness) {
        guard !machine.isConnecting else { return handleAttempt(readiness) }
        // A report for an attempt that lost in the same batch says nothing about the one that won.
        guard readiness.token == token else { return }
        if readiness.urgent { noteUrgent() }
        if readiness.hungUp, hangUpEnds() { return }
        if readiness.peerClosed { markPeerClosed() }
        if readiness.hasError, !readiness.hungUp {
            guard handleError() else { return finishStep() }
        } else if readiness.readable || readiness.hungUp || readiness.peerClosed && interest.isReadingOff {
            // With read interest off, only FIN is reported. Receive then too, because no bytes need precede it.
            receive()
        }
        if readiness.writable || interest.isHungUp, !machine.isClosed { handleWritable() }
        endIfBothSidesAreGone()
        finishStep()
    }

    /// Records urgent data once its byte is the next one. It is reported until it is received, and a receive ends before
    /// it.
    func noteUrgent() {
        guard let descriptor = socket?.descriptor, engine.kernel.isAtUrgentMark(descriptor),
            madeRare.urgentAt != received
        else { return }
        madeRare.urgentAt = received
        record(.urgentData)
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

    /// Ends the session without waiting for anything, because there is no handle to notify.
    func handleRelease() {
        handle = HandleReference()
        webSocket?.goAway(on: self)
        close(error: nil)
    }

    // MARK: The end of each step

    /// Notes a change of this session if viewers or a cached snapshot need to know.
    @inline(__always)
    func noteChange() {
        if rare != nil || engine.takesNotes { noteDifference() }
    }

    /// The tally comes last, as a call that nothing follows.
    private func noteDifference() {
        noteForOthers()
        if engine.talliesExchanges { tallyExchanges() }
    }

    @inline(__always)
    private func noteForOthers() {
        if rare?.cachedSnapshot != nil { dropSnapshot() }
        if !marks.isNoted { noteForViewers() }
    }

    @inline(never)
    private func dropSnapshot() {
        rare?.cachedSnapshot = nil
        recordIdle()
    }

    func recordIdle() {
        _ = rare?.rates.changePresent { $0.recordIdle(until: engine.now) }
    }

    /// Performs what the lifecycle requests, then brings interest and deadline in line with the state.
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

    /// Finishes the step after an operation was queued. Does little if the turn will flush this connection anyway.
    func finishQueueing() {
        guard isQueuedForFlush, !hasWatermarks else { return finishStep() }
        guard !machine.mayAct else { return finishStep() }
        // No byte has passed.
        if rare != nil || engine.takesNotes { noteForOthers() }
        noteQueues()
    }

    /// Notes when a queue gains or loses its current operation.
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
                // Writes that were queued before the read that found the end are tried first.
                if isQueuedForFlush { sendPending() }
                close(error: error)
            }
        }
    }

    /// Registers for the events the connection can use. A hung-up descriptor is removed, because EPOLLHUP and EPOLLERR
    /// can't be masked.
    private func updateInterest() {
        guard let descriptor = socket?.descriptor, !machine.isConnecting else { return }
        switch interest.change(canReceive: !machine.hasEndOfStream && !isEndTaken && !layers.hasWireEnded) {
        case .none: return
        case .add(let wanted):
            let failure = engine.reactor.add(descriptor, wanted, token)
            // The descriptor isn't in the set, so it doesn't have to leave it.
            if failure != 0 { _ = interest.leave() }
            closeOnFailure(failure)
        case .modify(let wanted): closeOnFailure(engine.reactor.modify(descriptor, wanted, token))
        case .remove: engine.reactor.remove(descriptor)
        }
    }

    /// Removes the descriptor from the reactor's set. close(2) does so only for the last descriptor of a socket.
    /// Another one would keep it reported forever, to a session that has ended.
    func leaveReactor() {
        if interest.leave(), mayLiveOn, let descriptor = socket?.descriptor { engine.reactor.remove(descriptor) }
    }

    private func closeOnFailure(_ failure: Int32) {
        guard failure != 0 else { return }
        close(error: .system(failure, operation: "epoll_ctl", subject: target))
    }

    private func updateDeadline() {
        // A TLS handshake has a deadline, and so may a session that is about to end.
        let hasDeadline = machine.reading.hasDeadline || machine.writing.hasDeadline || machine.mayAct
        guard hasDeadline || hasOtherDeadlines else { return }
        let operations = machine.isConnecting ? connector?.deadline : machine.deadline
        let own = earlier(operations, idleDeadline)
        if let deadline = lingerDeadline ?? earlier(own, layers.deadline) { wake(by: deadline) }
    }

    /// Whether anything other than an operation may have a deadline.
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
                .idleTimeout, operation: "idle", detail: "\(target): no bytes were sent or received for \(time)"))
    }

    // MARK: Notifying

    func notify(_ notice: consuming SocketNotice) {
        if let webSocket { return notify(webSocket, notice) }
        guard !isDetached else { return }
        if retainedHandle == nil {
            guard handle.give(to: { retain($0) }) else { return }
        }
        engine.outbox.append(.socket(SocketCall(connection: BorrowedReference(self), notice: notice)))
    }

    /// Keeps the handle until all callbacks of the turn have run, so that it can't be destroyed in the middle of a
    /// step.
    func retain(_ handle: consuming AsyncSocket) {
        guard retainedHandle == nil else { return }
        retainedHandle = BorrowedReference(handle)
        engine.retainedHandles.append(RetainedHandle(connection: BorrowedReference(self), handle: handle))
    }

    func retains(_ handle: AsyncSocket) -> Bool {
        retainedHandle?({ $0 === handle }) ?? false
    }

    /// The handle, kept until all callbacks of the turn have run, or `nil` once it is detached or released.
    var keptHandle: AsyncSocket? {
        guard !isDetached else { return nil }
        return retainedHandle?.retained ?? handle.load { retain($0) }
    }

    /// Delivers a notice to the held handle. The handle is released after all callbacks, never within one.
    @inline(__always)
    func deliver(_ notice: SocketNotice) {
        if retainedHandle?({ $0.deliver(notice, of: self) }) == true { handleIsBehind() }
    }

    /// Not inlined, because `deliver` is part of the loop that runs the callbacks.
    @inline(never)
    private func handleIsBehind() {
        isHeldBack = true
        noteChange()
    }

    /// Detaches the handle. Later notifications are dropped.
    func detachHandle() {
        handle = HandleReference()
        isDetached = true
    }

    /// Called when all callbacks have run and the engine is about to release the handle.
    func releaseHandle() { retainedHandle = nil }

    func record(_ kind: SocketEvent.Kind, tag: Int = 0, _ first: Int = 0, _ second: Int = 0) {
        engine.record(kind, id, tag: tag, first, second)
    }
}
