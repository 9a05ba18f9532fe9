/// The closing handshake of a WebSocket (RFC 6455, 7): the Close sent by each side, and what is still awaited.
struct CloseHandshake {
    /// The step of the closing handshake.
    enum Phase {
        /// Neither side is closing.
        case open
        /// Input has ended: the peer sent a Close or broke the protocol. Earlier messages are being delivered, and can
        /// be answered, before the local Close is queued.
        case ending
        /// The local Close waits for everything queued before it.
        case queued
        /// The local Close was given to the transport. The peer's Close, or the end of the transport, is awaited.
        case said
        /// The local side sent FIN. The peer's FIN is awaited.
        case halfClosed
        /// The WebSocket has ended.
        case over
    }

    /// The machine's next action.
    enum Step: Equatable {
        case none
        case endOutput
        case finish
    }

    private let role: WebSocketRole
    private let patience: Duration
    private(set) var phase = Phase.open
    /// The local Close, sent or yet to be sent.
    private(set) var own: WebSocketCloseFrame?
    private(set) var sent: WebSocketCloseFrame?
    private(set) var received: WebSocketCloseFrame?
    private(set) var failure: WebSocketFailure?
    private(set) var origin: WebSocketCloseReport.Origin?
    private var began = MonotonicTime.zero
    /// Whether the peer's end of stream was received.
    private var hasEnded = false
    /// When the current phase times out.
    private(set) var deadline: MonotonicTime?

    init(role: WebSocketRole, patience: Duration) {
        self.role = role
        self.patience = patience
    }

    /// Whether messages can be queued.
    var acceptsMessages: Bool {
        switch phase {
        case .open, .ending: true
        case .queued, .said, .halfClosed, .over: false
        }
    }

    /// Whether input is still parsed.
    var acceptsInput: Bool {
        received == nil && failure == nil && !hasEnded && phase != .over && phase != .halfClosed
    }

    /// The local Close to send after everything queued before it, or `nil` if none is to be sent.
    var closeToSend: WebSocketCloseFrame? {
        phase == .queued ? own : nil
    }

    var state: WebSocketState {
        switch phase {
        case .open: .open
        case .ending, .queued, .said, .halfClosed: .closing
        case .over: .closed
        }
    }

    /// Closes from the local side. Has no effect if either side is closing already.
    mutating func close(_ frame: WebSocketCloseFrame, now: MonotonicTime) {
        guard phase == .open else { return }
        begin(.local, now)
        phase = .queued
        own = frame
    }

    /// Handles the peer's Close (5.5.1), which is answered once, with the same code.
    mutating func receive(_ frame: WebSocketCloseFrame, now: MonotonicTime) -> Step {
        received = frame
        switch phase {
        case .open:
            begin(.peer, now)
            phase = .ending
            own = WebSocketCloseFrame(code: frame.code)
            return .none
        case .queued: return .none
        case .said: return saidBoth(now)
        case .ending, .halfClosed, .over: fatalError("a Close came while \(phase)")
        }
    }

    /// Handles a protocol violation or a timeout of the peer.
    mutating func fail(_ failure: WebSocketFailure, now: MonotonicTime) -> Step {
        self.failure = failure
        let frame = WebSocketCloseFrame(code: failure.closeCode, reason: failure.description)
        switch phase {
        case .open:
            begin(.local, now)
            phase = .ending
            own = frame
            return .none
        case .queued:
            own = frame
            return .none
        case .said: return halfClose(now)
        case .ending, .halfClosed, .over: return .none
        }
    }

    /// Notes that everything received before the end of input is delivered.
    mutating func acknowledge(now: MonotonicTime) {
        guard phase == .ending else { return }
        phase = .queued
        deadline = now + patience
    }

    /// Notes that the local Close was given to the transport.
    mutating func didSay(_ frame: WebSocketCloseFrame, now: MonotonicTime) -> Step {
        phase = .said
        sent = frame
        deadline = now + patience
        if failure != nil { return halfClose(now) }
        return received == nil ? .none : saidBoth(now)
    }

    /// Handles the second Close. The server ends TCP first, and the client waits for that (7.1.1). Both only half-close
    /// and keep reading, because a peer's kernel that sends to a closed socket drops what the peer has not read.
    private mutating func saidBoth(_ now: MonotonicTime) -> Step {
        deadline = now + patience
        guard role == .server || hasEnded else { return .none }
        return halfClose(now)
    }

    private mutating func halfClose(_ now: MonotonicTime) -> Step {
        phase = .halfClosed
        deadline = now + patience
        return .endOutput
    }

    /// Extends the deadline when the kernel accepts bytes, since the peer is reading. `isAllWritten` is whether no
    /// bytes are left.
    mutating func didWrite(isAllWritten: Bool, now: MonotonicTime) -> Step {
        switch phase {
        case .open, .ending, .over: return .none
        case .queued:
            deadline = now + patience
            return .none
        case .said, .halfClosed:
            if hasEnded, isAllWritten { return .finish }
            deadline = now + patience
            return .none
        }
    }

    /// Handles the peer's end of stream.
    mutating func receiveEnd(isAllWritten: Bool, now: MonotonicTime) -> Step {
        hasEnded = true
        guard received != nil || failure != nil else {
            failure = .endedWithoutClose
            if phase == .open { begin(.peer, now) }
            return .finish
        }
        switch phase {
        case .open: fatalError("input ended while open")
        // The local Close is still sent, because the peer may only have half-closed.
        case .ending, .queued, .over: return .none
        case .said, .halfClosed: return isAllWritten ? .finish : .none
        }
    }

    /// Handles a deadline that has passed.
    mutating func expire(now: MonotonicTime) -> Step {
        guard let deadline, deadline <= now else { return .none }
        switch phase {
        case .open, .over: return .none
        case .ending:
            acknowledge(now: now)
            return .none
        case .queued, .said:
            if failure == nil, received == nil || sent == nil { failure = .closeTimeout(patience) }
            return .finish
        case .halfClosed: return .finish
        }
    }

    /// Ends the WebSocket and returns the report, or `nil` if it has ended already. `cause` is the failure unless there
    /// was an earlier one.
    mutating func finish(
        _ cause: WebSocketFailure? = nil, by origin: WebSocketCloseReport.Origin, unsentBytes: Int, now: MonotonicTime
    ) -> WebSocketCloseReport? {
        guard phase != .over else { return nil }
        if phase == .open { begin(origin, now) }
        if received == nil, failure == nil { failure = cause }
        phase = .over
        deadline = nil
        return WebSocketCloseReport(
            sent: sent, received: received, failure: failure, origin: self.origin ?? origin,
            wasClean: sent != nil && received != nil, unsentBytes: unsentBytes, began: began, ended: now)
    }

    private mutating func begin(_ origin: WebSocketCloseReport.Origin, _ now: MonotonicTime) {
        self.origin = origin
        began = now
        deadline = now + patience
    }
}
