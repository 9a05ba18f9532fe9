/// The upgrade to TLS: one barrier in both queues.
///
/// Operations queued before the barrier finish in plaintext. Those queued after it are early, and run encrypted. The
/// handshake starts when the barrier has reached the head of both queues, and receives the bytes read ahead by then.
/// GCDAsyncSocket: `startTLS:`, with its special packet in both queues.
package struct TLSUpgrade: Equatable, Sendable {
    private enum State: Equatable {
        case none
        case queued
        case handshaking
        /// The peer's certificate waits for a verdict, and the handshake's timeout is paused.
        case asking
        case secure
    }

    /// In nanoseconds, when the handshake times out or, while a verdict is pending, how much of its time is left.
    /// `Int64.max` means no limit.
    private var time = Int64.max
    private var state = State.none {
        didSet { isPending = Self.isPending(state) }
    }

    /// Whether operations wait behind the barrier. Stored because every step reads it.
    package private(set) var isPending = false

    /// Whether TLS was ever requested. It can be requested only once in a session.
    package var isAskedFor: Bool { state != .none }

    private static func isPending(_ state: State) -> Bool {
        switch state {
        case .queued, .handshaking, .asking: true
        case .none, .secure: false
        }
    }

    /// Whether the barrier has reached the head of both queues.
    package var hasBegun: Bool {
        switch state {
        case .handshaking, .asking, .secure: true
        case .none, .queued: false
        }
    }

    package var isSecure: Bool { state == .secure }

    /// Whether the peer's certificate waits for a verdict.
    package var isAsking: Bool { state == .asking }

    /// The deadline of the handshake, or `nil` if it has none or is waiting for a verdict.
    package var deadline: MonotonicTime? {
        state == .handshaking && time != .max ? MonotonicTime(nanoseconds: time) : nil
    }

    mutating func queue() {
        precondition(state == .none, "TLS queued while \(state)")
        state = .queued
    }

    mutating func begin(until: MonotonicTime?) {
        precondition(state == .queued, "handshake started while \(state)")
        time = until?.nanoseconds ?? .max
        state = .handshaking
    }

    /// Pauses the handshake's timeout until there is a verdict on the peer's certificate. Has no effect unless
    /// handshaking.
    package mutating func ask(now: MonotonicTime) {
        guard state == .handshaking else { return }
        if time != .max { time = (MonotonicTime(nanoseconds: time) - now).wholeNanoseconds }
        state = .asking
    }

    /// Resumes the handshake after the verdict. Returns `false` if none was pending.
    package mutating func answer(now: MonotonicTime) -> Bool {
        guard state == .asking else { return false }
        if time != .max { time = (now + .nanoseconds(time)).nanoseconds }
        state = .handshaking
        return true
    }

    mutating func finish() {
        precondition(hasBegun && isPending, "handshake done while \(state)")
        state = .secure
    }
}

extension ConnectionMachine {
    /// The error if the peer's stream ends before TLS is established (GCDAsyncSocket: errSSLClosedAbort).
    package static let cutOffBeforeTLS = SocketError(
        .tls(.closedAbort), operation: "handshake", detail: "the peer closed the connection before TLS was set up")

    /// Puts the barrier in both queues. Returns an error if TLS was already requested or the connection is ending.
    ///
    /// A standing read never completes for good, so it does not delay the barrier: it moves behind it, and the bytes it
    /// had gathered count as read ahead.
    package mutating func startTLS() -> SocketError? {
        if upgrade.isAskedFor {
            return SocketError(
                .badConfiguration, operation: "startTLS", detail: "TLS was already requested for this session")
        }
        if let refusal = refusal(of: "startTLS") { return refusal }
        if isWriteShut || isShuttingWrite {
            return SocketError(.disconnected, operation: "startTLS", detail: "refused: this side was half-closed")
        }
        if hasEndOfStream { return Self.cutOffBeforeTLS }
        let standing = state == .connecting ? takeEarlyStanding() : reading.takeStanding().map { .read($0, $1) }
        early.append(.barrier)
        if let standing { early.append(standing) }
        upgrade.queue()
        return nil
    }

    /// Starts the handshake. Returns the bytes read ahead, which are its first input.
    package mutating func beginHandshake(until: MonotonicTime?) -> [UInt8] {
        upgrade.begin(until: until)
        return reading.takeUnread()
    }

    /// Ends the handshake and queues the early operations after the barrier.
    package mutating func didSecure(now: MonotonicTime) {
        upgrade.finish()
        while !early.isEmpty { releaseFirstEarly(now: now) }
    }
}
