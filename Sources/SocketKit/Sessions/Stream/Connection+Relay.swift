import SocketCore

/// What faults and breakpoints do to a connection, as its snapshots show it. Set on the engine's queue.
package final class FaultMeter: Sendable {
    private let shown: Lock<FaultSnapshot>

    package init(_ snapshot: FaultSnapshot = FaultSnapshot()) { shown = Lock(snapshot) }

    package var snapshot: FaultSnapshot { shown.withLock { $0 } }

    /// Changes what is shown. Whether that is another thing than before.
    @discardableResult
    package func show(_ snapshot: FaultSnapshot) -> Bool {
        shown.withLock { shown in
            defer { shown = snapshot }
            return shown != snapshot
        }
    }
}

/// What a relay asks of one of its two legs.
enum LegCommand: Sendable {
    /// What this leg receives goes out by the other one.
    case link(SocketID)
    /// Take nothing from the kernel, since the other leg cannot take it (true), or take it again (false).
    case holdBack(Bool)
    /// Send FIN after the queued bytes, without close_notify.
    case cutOff
    /// Send what the kernel takes at once, then close with RST.
    case reset
    /// So many bytes for the peer of this leg were dropped.
    case lost(Int)
    /// The server gets the client's request with another head. On the server's leg: how long it was, and is.
    case headRewritten(was: Int, is: Int)
    /// The write of this name, which follows, is a user's and not the relay's.
    case injects(OperationID)
    /// Rules or breakpoints concern this leg, or have done more: what they do is shown, and each read is delivered before
    /// the next.
    case faults(FaultMeter)
    /// Something that a rule or a breakpoint did, for the events.
    case faulted(SocketEvent.Kind, Int, Int)
    /// To a listener: accept nothing, since these rules say so; `nil`: accept again. A pause is another matter.
    case shut(FaultSnapshot?)
    /// Received bytes go there before any read gets them; `nil`: straight to the reads.
    case intake(Intake?)
    /// Bytes, or the end of the stream, that the intake gives back.
    case deliver([UInt8])
    case deliverEnd
    /// Send each write with a system call of its own (true), or several together.
    case sendsApart(Bool)
}

extension EngineState {
    /// Carries out what a relay asks of a leg. Bytes can also be lost once it is over, and rules change nothing more then.
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

    /// Queues a write that is a user's, on a connection that belongs to others. Its traffic is marked; an event tells of
    /// it if it was queued.
    func inject(_ request: WriteRequest, as operation: OperationID) {
        traffic?.markInjected(operation)
        tap?.markInjected(operation)
        if enqueue(request, as: operation) { record(.injected, tag: request.tag, request.contents.count) }
        askForFlush()
        finishQueueing()
    }

    /// Performs a command of a user for a WebSocket that belongs to others, likewise.
    func inject(_ command: WebSocketCommand, as operation: OperationID) {
        guard let webSocket else { return injectFrame(command, as: operation) }
        if command.isPartOfMessage { traffic?.markInjected(operation) }
        let isQueued = webSocket.perform(command, as: operation, on: self)
        if isQueued, command.isPartOfMessage { record(.injected, command.byteCount) }
    }

    /// Queues a message of a user between those of others, on a leg of a relay where frames pass.
    private func injectFrame(_ command: WebSocketCommand, as operation: OperationID) {
        guard let tap, case .message(let message) = command else { return }
        switch tap.place(message, as: operation, after: machine.writing) {
        case .now(let frame): inject(WriteRequest(frame), as: operation)
        case .later: break
        case .never: record(.writeFailed, 0, message.bytes.count)
        }
    }

    /// Queues what a relay passes on, and between its messages those of a user that wait.
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

    /// Sends the messages of a user that waited, or says that they never go out.
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

    /// The leg that this one belongs to is told of, as long as there are two.
    var relayFacts: RelaySnapshot? {
        linked.map {
            RelaySnapshot(
                lostBytes: lost, isOtherGone: engine.connection($0) == nil, isHeadRewritten: isHeadRewritten)
        }
    }

    /// Notes a hang-up; whether it ended the session. A reset does on a leg from which nothing is taken for now, whatever
    /// is unread before it: the other peer is to hear of it at once. Elsewhere the bytes before it are received first.
    func hangUpEnds() -> Bool {
        interest.isHungUp = true
        guard linked != nil, machine.isOpen, takesNothing, let descriptor = socket?.descriptor else { return false }
        let errno = engine.kernel.pendingError(descriptor)
        guard errno != 0 else { return false }
        close(error: .system(errno, operation: "read", subject: errorSubject))
        return true
    }

    /// The other leg shows that this one is gone, be it over itself.
    func tellOtherLeg() {
        guard let linked else { return }
        if let other = engine.connection(linked) { return other.noteChange() }
        guard engine.closed.change(linked, { $0.relay?.isOtherGone = true }) else { return }
        engine.notes?.amended.insert(linked)
    }
}
