/// TLS on its way: one barrier in both queues.
///
/// What was queued before it finishes in clear; what is queued behind it is held back and goes encrypted. The handshake
/// begins when the barrier has come to the head of both queues, and what was read ahead by then is fed to it.
/// GCDAsyncSocket: `startTLS:`, with its special packet in both queues.
package struct TLSUpgrade: Equatable, Sendable {
    private enum State: Equatable {
        case none
        case queued
        case handshaking
        /// Somebody judges the peer's certificate; the clock of the handshake stands.
        case asking
        case secure
    }

    /// Nanoseconds: when the handshake times out or, while somebody judges, how much is left of its time. `Int64.max`: it
    /// has no limit.
    private var time = Int64.max
    private var state = State.none {
        didSet { isPending = Self.isPending(state) }
    }

    /// Whether operations wait behind the barrier. Stored because every step reads it.
    package private(set) var isPending = false

    /// Whether TLS was ever asked for; it can be only once a session.
    package var isAskedFor: Bool { state != .none }

    private static func isPending(_ state: State) -> Bool {
        switch state {
        case .queued, .handshaking, .asking: true
        case .none, .secure: false
        }
    }

    /// Whether the barrier is at the head of both queues, or has been.
    package var hasBegun: Bool {
        switch state {
        case .handshaking, .asking, .secure: true
        case .none, .queued: false
        }
    }

    package var isSecure: Bool { state == .secure }

    /// Whether somebody judges the peer's certificate.
    package var isAsking: Bool { state == .asking }

    /// When the handshake times out; nil: never, or not while somebody is asked.
    package var deadline: MonotonicTime? {
        state == .handshaking && time != .max ? MonotonicTime(nanoseconds: time) : nil
    }

    mutating func queue() {
        precondition(state == .none, "TLS queued while \(state)")
        state = .queued
    }

    mutating func begin(until: MonotonicTime?) {
        precondition(state == .queued, "handshake begun while \(state)")
        time = until?.nanoseconds ?? .max
        state = .handshaking
    }

    /// The peer's certificate is to be judged: that takes the time it takes. No effect unless handshaking.
    package mutating func ask(now: MonotonicTime) {
        guard state == .handshaking else { return }
        if time != .max { time = (MonotonicTime(nanoseconds: time) - now).wholeNanoseconds }
        state = .asking
    }

    /// The verdict is here; false when nobody was asked.
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
    /// What the peer's end of stream does to TLS that has not come about (GCDAsyncSocket: errSSLClosedAbort).
    package static let cutOffBeforeTLS = SocketError(
        .tls(.closedAbort), operation: "handshake", detail: "the peer closed the connection before TLS was set up")

    /// Puts the barrier in both queues. The answer is why not: TLS was asked for before, or the connection is ending.
    ///
    /// A standing read never completes for good, so it does not hold the barrier up: it goes behind it, and what it had
    /// gathered is read ahead.
    package mutating func startTLS() -> SocketError? {
        if upgrade.isAskedFor {
            return SocketError(
                .badConfiguration, operation: "startTLS", detail: "TLS was asked for already, once is all there is")
        }
        if let refusal = refusal(of: "startTLS") { return refusal }
        if isWriteShut || isShuttingWrite {
            return SocketError(.disconnected, operation: "startTLS", detail: "refused: this side was half-closed")
        }
        if hasEndOfStream { return Self.cutOffBeforeTLS }
        let standing = state == .connecting ? takeHeldStanding() : reading.takeStanding().map { .read($0, $1) }
        held.append(.barrier)
        if let standing { held.append(standing) }
        upgrade.queue()
        return nil
    }

    /// The handshake begins. The answer is what was read ahead, which is the handshake's first input.
    package mutating func beginHandshake(until: MonotonicTime?) -> [UInt8] {
        upgrade.begin(until: until)
        return reading.takeUnread()
    }

    /// The handshake is done: what waited behind the barrier begins.
    package mutating func didSecure(now: MonotonicTime) {
        upgrade.finish()
        while !held.isEmpty { releaseFirstHeld(now: now) }
    }
}
