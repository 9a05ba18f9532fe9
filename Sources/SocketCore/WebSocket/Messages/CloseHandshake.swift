/// The end of a WebSocket (RFC 6455, 7): who said what, and what each waits for.
struct CloseHandshake {
    /// What is to come.
    enum Phase {
        /// Nobody closes.
        case open
        /// Input is over: the peer's Close came, or it broke the protocol. What came before is being delivered, and may
        /// be answered, before this end says its own Close.
        case ending
        /// This end's Close waits behind what was queued before it.
        case queued
        /// This end's Close was handed on; the peer's, or the end of the transport, is awaited.
        case said
        /// This end's half of the transport was ended, the peer's is awaited.
        case halfClosed
        /// All is over.
        case over
    }

    /// What the machine does next.
    enum Step: Equatable {
        case none
        case endOutput
        case finish
    }

    private let role: WebSocketRole
    private let patience: Duration
    private(set) var phase = Phase.open
    /// What this end is to say, or said.
    private(set) var own: WebSocketCloseFrame?
    private(set) var sent: WebSocketCloseFrame?
    private(set) var received: WebSocketCloseFrame?
    private(set) var failure: WebSocketFailure?
    private(set) var origin: WebSocketCloseReport.Origin?
    private var began = MonotonicTime.zero
    /// The transport's other half has ended.
    private var hasEnded = false
    /// When it is waited no longer.
    private(set) var deadline: MonotonicTime?

    init(role: WebSocketRole, patience: Duration) {
        self.role = role
        self.patience = patience
    }

    /// Whether messages may be queued.
    var acceptsMessages: Bool {
        switch phase {
        case .open, .ending: true
        case .queued, .said, .halfClosed, .over: false
        }
    }

    /// Whether what comes is still looked at.
    var acceptsInput: Bool {
        received == nil && failure == nil && !hasEnded && phase != .over && phase != .halfClosed
    }

    /// Whether this end's Close is to be handed on, once what is before it was.
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

    /// This end is to close. Without effect once anybody closes.
    mutating func close(_ frame: WebSocketCloseFrame, now: MonotonicTime) {
        guard phase == .open else { return }
        begin(.local, now)
        phase = .queued
        own = frame
    }

    /// The peer's Close came (5.5.1): it is answered with its own code, once.
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

    /// The peer broke the protocol, or is silent.
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

    /// What came before the end of input is delivered.
    mutating func acknowledge(now: MonotonicTime) {
        guard phase == .ending else { return }
        phase = .queued
        deadline = now + patience
    }

    /// This end's Close was handed on.
    mutating func didSay(_ frame: WebSocketCloseFrame, now: MonotonicTime) -> Step {
        phase = .said
        sent = frame
        deadline = now + patience
        if failure != nil { return halfClose(now) }
        return received == nil ? .none : saidBoth(now)
    }

    /// The server ends TCP first; the client waits for that (7.1.1). It ends its half only, and reads on: the peer's
    /// kernel drops what it has not read when what it sends meets a closed socket.
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

    /// What was handed on moves: whoever reads is there. `isAllWritten` when nothing is left.
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

    /// The peer's half of the transport ended.
    mutating func receiveEnd(isAllWritten: Bool, now: MonotonicTime) -> Step {
        hasEnded = true
        guard received != nil || failure != nil else {
            failure = .endedWithoutClose
            if phase == .open { begin(.peer, now) }
            return .finish
        }
        switch phase {
        case .open: fatalError("input was over while open")
        // This end's Close still goes out: the peer may have ended its half only.
        case .ending, .queued, .over: return .none
        case .said, .halfClosed: return isAllWritten ? .finish : .none
        }
    }

    /// Waiting has been long enough.
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

    /// It is over, of this cause unless there was one before; nil when it was over before.
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
