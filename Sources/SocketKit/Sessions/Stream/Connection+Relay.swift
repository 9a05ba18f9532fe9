import SocketCore

/// What faults and breakpoints do to a connection, as shown in its snapshots. Set on the engine's queue.
package final class FaultMeter: Sendable {
    private let shown: Lock<FaultSnapshot>

    package init(_ snapshot: FaultSnapshot = FaultSnapshot()) { shown = Lock(snapshot) }

    package var snapshot: FaultSnapshot { shown.withLock { $0 } }

    /// Replaces the snapshot. Returns whether it changed.
    @discardableResult
    package func show(_ snapshot: FaultSnapshot) -> Bool {
        shown.withLock { shown in
            defer { shown = snapshot }
            return shown != snapshot
        }
    }
}

/// A command from a relay to one of its two legs.
enum LegCommand: Sendable {
    /// Forward what this leg receives to the other leg.
    case link(SocketID)
    /// Stop receiving because the other leg can't keep up (true), or resume (false).
    case holdBack(Bool)
    /// Send FIN after the queued bytes, without close_notify.
    case cutOff
    /// Send what the kernel accepts at once, then close with RST.
    case reset
    /// Count this many bytes for the leg's peer as dropped.
    case lost(Int)
    /// The server gets the client's request with a rewritten head. On the server's leg, its lengths before and after.
    case headRewritten(was: Int, is: Int)
    /// The write with this identifier, which follows, is the user's and not the relay's.
    case injects(OperationID)
    /// Rules or breakpoints apply to this leg, or have done more. Snapshots show what they do, and each read is
    /// delivered before the next.
    case faults(FaultMeter)
    /// Record what a rule or a breakpoint did as an event.
    case faulted(SocketEvent.Kind, Int, Int)
    /// For a listener, stop accepting because of these rules, or accept again if `nil`. Independent of a pause.
    case shut(FaultSnapshot?)
    /// Pass received bytes to this intake before any read, or straight to the reads if `nil`.
    case intake(Intake?)
    /// Deliver bytes, or the end of the stream, that the intake gave back.
    case deliver([UInt8])
    case deliverEnd
    /// Send each write with its own system call (true), or several together (false).
    case sendsApart(Bool)
}

extension EngineState {
    /// Carries out a relay's command to a leg. For a leg that has ended, only lost bytes and the last state of its
    /// faults are recorded.
    func perform(_ command: LegCommand, onLeg id: SocketID) {
        switch sessions[id] {
        case .stream(let connection)?: return connection.perform(command)
        case .listener(let acceptor)?:
            if case .shut(let rules) = command { return acceptor.shut(by: rules) }
        case .datagrams?, nil: break
        }
        let isKept =
            switch command {
            case .lost(let count): closed.change(id) { $0.relay?.lostBytes &+= UInt64(max(0, count)) }
            case .faults(let meter): closed.change(id) { $0.fault = meter.snapshot }
            default: false
            }
        if isKept { notes?.amended.insert(id) }
    }
}

extension Connection {
    func perform(_ command: LegCommand) {
        switch command {
        case .link(let other):
            madeRare.linked = other
            noteChange()
        case .holdBack(let hold): holdBack(hold)
        case .cutOff:
            tls?.withholdsCloseNotify = true
            halfClose()
        case .reset:
            sendPending()
            askToClose(.reset)
        case .lost(let count):
            madeRare.lost &+= UInt64(max(0, count))
            noteChange()
        case .headRewritten(let came, let sent):
            madeRare.isHeadRewritten = true
            if sent > 0 { record(.headRewritten, came, sent) }
            noteChange()
        case .faults(let meter):
            madeRare.onPurpose.meter = meter
            noteChange()
        case .faulted(let kind, let first, let second):
            record(kind, first, second)
            noteChange()
        case .intake(let intake): madeRare.onPurpose.intake = intake
        case .deliver(let bytes): deliver(bytes)
        case .deliverEnd: deliverEnd()
        case .sendsApart(let isApart): madeRare.onPurpose.gatherLimit = isApart ? 1 : Self.gatherLimit
        case .shut: return
        case .injects(let operation):
            if linked != nil { engine.injecting.insert(operation) }
        }
    }

    /// Queues a user's write on a connection that isn't the user's own. Marks its traffic, and records an event if the
    /// write was queued.
    func inject(_ request: WriteRequest, as operation: OperationID) {
        traffic?.markInjected(operation)
        tap?.markInjected(operation)
        if enqueue(request, as: operation) { record(.injected, tag: request.tag, request.contents.count) }
        askForFlush()
        finishQueueing()
    }

    /// Performs a user's command on a WebSocket that isn't the user's own. Marks and records a message like an injected
    /// write.
    func inject(_ command: WebSocketCommand, as operation: OperationID) {
        guard let webSocket else { return injectFrame(command, as: operation) }
        if command.isPartOfMessage { traffic?.markInjected(operation) }
        let isQueued = webSocket.perform(command, as: operation, on: self)
        if isQueued, command.isPartOfMessage { record(.injected, command.byteCount) }
    }

    /// Queues a user's message between forwarded messages, on a relay leg that carries WebSocket frames.
    private func injectFrame(_ command: WebSocketCommand, as operation: OperationID) {
        guard let tap, case .message(let message) = command else { return }
        switch tap.place(message, as: operation, after: machine.writing) {
        case .now(let frame): inject(WriteRequest(frame), as: operation)
        case .later: break
        case .never: record(.writeFailed, 0, message.bytes.count)
        }
    }

    /// Queues forwarded bytes, and the user's waiting messages between the forwarded messages.
    func queueAroundInjected(_ request: WriteRequest, as operation: OperationID) {
        guard let tap, let count = tap.bytesBeforeInjected(request.bytes) else {
            enqueue(request, as: operation)
            return
        }
        var (first, rest) = (request, request)
        first.bytes = Array(request.bytes[..<count])
        rest.bytes = Array(request.bytes[count...])
        enqueue(first, as: operation)
        finishInjecting()
        if !rest.bytes.isEmpty { enqueue(rest, as: engine.names.nextOperation()) }
    }

    /// Sends the user's waiting messages, or records that they will never be sent.
    func finishInjecting() {
        guard let (messages, canGoOut) = tap?.takeInjected() else { return }
        for message in messages {
            if canGoOut {
                inject(WriteRequest(message.frame), as: message.operation)
            } else {
                record(.writeFailed, 0, message.frame.count)
            }
        }
    }

    /// What a snapshot shows of the relay, or `nil` if this connection is not a leg.
    var relayFacts: RelaySnapshot? {
        linked.map {
            RelaySnapshot(
                lostBytes: lost, isOtherGone: engine.connection($0) == nil, isHeadRewritten: isHeadRewritten)
        }
    }

    /// Notes a hang-up and returns whether it ended the session. A reset ends a leg from which nothing is received now,
    /// whatever is unread before it, so that the other peer is notified at once. Otherwise those bytes are received
    /// first.
    func hangUpEnds() -> Bool {
        interest.isHungUp = true
        guard linked != nil, machine.isOpen, takesNothing, let descriptor = socket?.descriptor else { return false }
        let errno = engine.kernel.pendingError(descriptor)
        guard errno != 0 else { return false }
        close(error: .system(errno, operation: "read", subject: errorSubject))
        return true
    }

    /// Shows in the other leg's snapshot that this leg is gone, even if the other has ended too.
    func tellOtherLeg() {
        guard let linked else { return }
        if let other = engine.connection(linked) { return other.noteChange() }
        guard engine.closed.change(linked, { $0.relay?.isOtherGone = true }) else { return }
        engine.notes?.amended.insert(linked)
    }
}
