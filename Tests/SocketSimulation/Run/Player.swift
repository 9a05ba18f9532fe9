import SocketKit

/// Holds one socket, asks it for things as chance has it, and passes on to the ledger what it hears.
package final class Player: NoticeDelegate, Sendable {
    private struct State {
        var socket: AsyncSocket?
        /// Operations whose verdict was put off.
        var asking: [OperationID] = []
        var last: OperationID?
        /// Operations that a task awaits, as long as it has no answer.
        var awaited: [OperationID] = []
        /// A callback that a planted bug holds back.
        var held: Notice?
    }

    let number: Int
    private unowned let stage: Stage
    private let state = Lock(State())

    init(number: Int, stage: Stage) {
        self.number = number
        self.stage = stage
    }

    /// The socket; nil before it has one and once it let go of it.
    var socket: AsyncSocket? { state.withLock { $0.socket } }

    /// Takes a socket of its own, and makes itself its delegate.
    func absorb(_ socket: AsyncSocket) {
        socket.delegate = self
        if stage.chance.oneIn(3) { socket.userData = Keepsake(stage: stage, other: stage.chance.below(number + 1)) }
        state.withLock { $0.socket = socket }
    }

    // MARK: Acting

    /// Does one thing that a user of a socket may do.
    func act() {
        guard let socket else { return }
        guard let session = socket.session else { return connect(socket) }
        if isAsked, stage.chance.oneIn(10) { return answer(socket, session) }
        switch stage.chance.below(64) {
        case 0..<20: read(socket, session)
        case 20..<44: write(socket, session)
        case 44..<46: pause(socket, session)
        case 46..<48: move(socket, session)
        case 48..<52: answer(socket, session)
        case 52..<54: cancel(socket, session)
        case 54..<56: giveUp(socket, session)
        case 56..<58: halfClose(socket, session)
        case 58..<62: disconnect(socket, session)
        case 62: stage.chance.oneIn(2) ? release(session) : burst(socket, session)
        case 63 where stage.chance.oneIn(3): socket.userData = stage.chance.oneIn(4) ? nil : DyingValue(self)
        default: snapshot(socket, session)
        }
    }

    /// What it kept in its socket dies: it may act once more, at this socket or at another one.
    func valueDies() {
        guard stage.isOpen else { return }
        _ = socket?.session
        let players = stage.players
        if stage.chance.oneIn(2), !players.isEmpty { stage.chance.pick(players).act() }
    }

    /// Whether an operation waits for a verdict that was put off.
    private var isAsked: Bool { state.withLock { !$0.asking.isEmpty } }

    private func note(_ act: Coverage.Event, _ session: SocketID?, _ detail: @autoclosure () -> String = "") {
        stage.coverage.see(act, session)
        stage.trace("  player \(number) \(session?.description ?? "-"): \(act) \(detail())")
    }

    private func read(_ socket: AsyncSocket, _ session: SocketID) {
        let kind: ReadRequest.Kind
        switch stage.chance.below(9) {
        case 0..<3: kind = .length(stage.chance.within(1...200))
        case 3..<5: kind = .delimiter([13, 10], limit: stage.chance.oneIn(2) ? stage.chance.within(2...300) : nil)
        case 5: kind = .available(limit: stage.chance.within(1...50))
        case 6: kind = .available(limit: nil)
        case 7:
            // Any byte is a length, save where it is less than the header or more than the limit.
            let limit = stage.chance.oneIn(4) ? 200 : 300
            kind = .frame(LengthPrefix(.u8, offset: stage.chance.below(3), countsHeader: false, limit: limit))
        default: kind = stage.chance.oneIn(4) ? .length(0) : .length(stage.chance.within(1...3))
        }
        let isStanding = stage.chance.oneIn(8)
        var lendsBytes = false
        switch kind {
        case .available, .delimiter: lendsBytes = isStanding && stage.chance.oneIn(2)
        case .length, .frame: break
        }
        let isAwaited = !isStanding && stage.chance.oneIn(4)
        let request = stage.ledger.read(
            ReadRequest(kind, timeout: timeout, isStanding: isStanding, lendsBytes: lendsBytes), session: session,
            isAwaited: isAwaited)
        note(request.isStanding ? .standingRead : .read, session, "\(request)\(isAwaited ? ", awaited" : "")")
        if isAwaited { return wait(for: { socket.await(request, $0) }) { .read($0, tag: request.tag) } }
        let operation = socket.read(request)
        state.withLock { $0.last = operation }
    }

    /// Waits as a task does, without a task: what it waits for is answered once, whatever is cancelled meanwhile.
    private func wait(
        for begin: (@escaping @Sendable (OperationID, Result<[UInt8], FailedOperation>) -> Void) -> OperationID,
        as notice: @escaping @Sendable ([UInt8]) -> Notice
    ) {
        let operation = begin { [self] operation, result in
            state.withLock { $0.awaited.removeAll { $0 == operation } }
            switch result {
            case .success(let bytes): hear(notice(bytes))
            case .failure(let failed): hear(.failed(failed))
            }
        }
        state.withLock { state in
            state.awaited.append(operation)
            state.last = operation
        }
    }

    /// Cancels a task that waits, or once did: its answer may be under way.
    private func giveUp(_ socket: AsyncSocket, _ session: SocketID) {
        let awaited = state.withLock { $0.awaited }
        guard !awaited.isEmpty else { return cancel(socket, session) }
        note(.cancel, session, "a task")
        socket.giveUp(stage.chance.pick(awaited))
    }

    private func write(_ socket: AsyncSocket, _ session: SocketID) {
        let length = stage.chance.oneIn(10) ? stage.chance.within(0...4_000) : stage.chance.within(1...120)
        let bytes = stage.chance.bytes(length)
        let isAwaited = stage.chance.oneIn(4)
        let tag = stage.ledger.write(bytes, session: session, isAwaited: isAwaited)
        note(.write, session, "\(length) bytes, tag \(tag)\(isAwaited ? ", awaited" : "")")
        let request = WriteRequest(bytes, timeout: length > 200 ? shortTimeout : timeout, tag: tag)
        if isAwaited { return wait(for: { socket.await(request, $0) }) { _ in .wrote(tag: tag) } }
        let operation = socket.write(bytes, timeout: request.timeout, tag: tag)
        state.withLock { $0.last = operation }
    }

    private var timeout: Duration? {
        stage.chance.oneIn(3) ? .milliseconds(stage.chance.within(0...400)) : nil
    }

    /// For what cannot be done at once.
    private var shortTimeout: Duration? {
        stage.chance.oneIn(4) ? nil : .milliseconds(stage.chance.within(0...40))
    }

    private func pause(_ socket: AsyncSocket, _ session: SocketID) {
        let isPause = stage.chance.oneIn(2)
        note(isPause ? .pause : .resume, session)
        socket.isReadingPaused = isPause
    }

    private func answer(_ socket: AsyncSocket, _ session: SocketID) {
        let operation = state.withLock { $0.asking.isEmpty ? $0.last : $0.asking.removeFirst() }
        guard let operation else { return }
        let verdict = verdict
        note(.verdict, session, "\(verdict)")
        socket.answerTimeout(of: operation, verdict)
    }

    private var verdict: TimeoutVerdict {
        switch stage.chance.below(4) {
        case 0: .failOperation
        case 1: .later
        case 2: .extend(by: .milliseconds(stage.chance.within(1...300)))
        default: stage.chance.oneIn(3) ? .close : .failOperation
        }
    }

    private func cancel(_ socket: AsyncSocket, _ session: SocketID) {
        let last = state.withLock { $0.last }
        let targets: [SocketCommand.CancelTarget] = [.reads, .writes] + (last.map { [.operation($0)] } ?? [])
        note(.cancel, session)
        socket.cancel(stage.chance.pick(targets))
    }

    /// More at once than the engine does for one socket in one turn.
    private func burst(_ socket: AsyncSocket, _ session: SocketID) {
        guard stage.chance.oneIn(4) else { return }
        note(.write, session, "and reads in a burst")
        for _ in 0..<300 {
            let bytes = stage.chance.bytes(1)
            socket.write(bytes, tag: stage.ledger.write(bytes, session: session))
        }
        for _ in 0..<40 { socket.read(stage.ledger.read(ReadRequest(.length(1)), session: session)) }
    }

    private func halfClose(_ socket: AsyncSocket, _ session: SocketID) {
        note(.halfClose, session)
        socket.halfClose()
    }

    private func disconnect(_ socket: AsyncSocket, _ session: SocketID) {
        let mode = stage.chance.pick(CloseMode.allCases)
        note(Coverage.Event(mode), session)
        if mode == .now { socket.disconnect() } else { socket.disconnect(mode) }
    }

    private func release(_ session: SocketID) {
        note(.release, session)
        socket?.userData = nil
        stage.ledger.release(owner: number)
        // Nothing of the user's goes under a lock.
        var socket = state.withLock { $0.socket.take() }
        withExtendedLifetime(socket) {}
        socket = nil
    }

    /// Moves to the other engine. Between its steps, another thread goes on asking this socket for things.
    private func move(_ socket: AsyncSocket, _ session: SocketID) {
        let former = socket.engine
        guard let other = stage.stations.compactMap(\.engine).first(where: { $0 !== former }) else { return }
        note(.move, session)
        former.interleave { [self] in
            for _ in 0..<stage.chance.below(4) {
                stage.chance.oneIn(2) ? read(socket, session) : write(socket, session)
            }
        }
        try? socket.move(to: other)
        former.interleave(nil)
        if let later = socket.session, later != session { stage.ledger.move(session, to: later) }
    }

    /// Getters enter the engine in the midst of whatever it does.
    private func snapshot(_ socket: AsyncSocket, _ session: SocketID) {
        note(.snapshot, session)
        _ = socket.pendingWriteBytes
        socket.engine.requestSnapshot(SnapshotRequest(kernel: .all)) { [stage] picture in
            stage.snapshotRules.check(picture, isFresh: false)
        }
    }

    /// Begins a session, of a handle that has none.
    func connect(_ socket: AsyncSocket) {
        var configuration = SocketConfiguration()
        configuration.allowsHalfOpen = stage.chance.oneIn(2)
        configuration.prefersIPv6 = stage.chance.oneIn(2)
        if stage.chance.oneIn(4) { configuration.idleTimeout = .milliseconds(stage.chance.within(50...900)) }
        if stage.chance.oneIn(6) { configuration.prepareDescriptor = Keepsake.acting(on: stage) }
        if stage.chance.oneIn(4) { configuration.writeWatermarks = .init(low: 100, high: 1_000) }
        socket.configuration = configuration
        let host = stage.chance.pick([Network.host, Network.host, "192.0.2.1", "a.test"])
        let timeout: Duration? = stage.chance.oneIn(3) ? .milliseconds(stage.chance.within(1...600)) : nil
        do throws(SocketError) {
            try socket.connect(toHost: host, port: Simulation.port, timeout: timeout)
        } catch {
            // User code that ran before, as a descriptor was prepared, may have connected it.
            if error.reason == .badConfiguration, socket.session != nil { return }
            return stage.findings.report(.callbackOrder, "player \(number) without session: \(error)")
        }
        guard let session = socket.session else {
            return stage.findings.report(.callbackOrder, "player \(number): a session was over before it began")
        }
        stage.ledger.begin(session, owner: number, isAccepted: false)
        note(.connect, session, "to \(host)")
    }

    // MARK: Hearing

    package func hear(_ notice: Notice) {
        for heard in altered(notice) {
            stage.trace("  player \(number) hears \(heard.words)")
            stage.ledger.absorb(heard, owner: number)
        }
        stage.cancelAtTimes()
        if stage.isOpen, stage.chance.oneIn(3) { act() }
    }

    /// What a planted bug makes of a callback.
    private func altered(_ notice: Notice) -> [Notice] {
        if case .wrote = notice {
            if stage.mutation.strikes(.losesACompletion) { return [] }
            if stage.mutation.strikes(.doublesACompletion) { return [notice, notice] }
            if stage.mutation.strikes(.swapsCompletions) {
                state.withLock { $0.held = notice }
                return []
            }
            if let held = state.withLock({ $0.held.take() }) { return [notice, held] }
        }
        guard case .disconnected = notice else { return [notice] }
        if stage.mutation.strikes(.doublesTheEnd) { return [notice, notice] }
        return (state.withLock { $0.held.take() }.map { [$0] } ?? []) + [notice]
    }

    package func socket(_ socket: AsyncSocket, didBecomeWritable isWritable: Bool) { hear(.writable(isWritable)) }

    package func socket(_ socket: AsyncSocket, didTimeOut operation: TimedOutOperation) -> TimeoutVerdict {
        hear(.timedOut(operation))
        guard stage.isOpen else { return .close }
        let verdict = verdict
        if verdict == .later { state.withLock { $0.asking.append(operation.operation) } }
        return verdict
    }
}

extension Notice {
    /// Short, for a person.
    fileprivate var words: String {
        switch self {
        case .read(let bytes, let tag): "read of \(bytes.count), tag \(tag)"
        case .disconnecting(let unread): "disconnecting with \(unread.count) unread"
        case .failed(let failed): "failed tag \(failed.tag) at \(failed.done): \(failed.error)"
        default: "\(self)"
        }
    }
}
