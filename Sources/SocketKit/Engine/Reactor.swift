import SocketCore

/// The events that a descriptor is registered for. Errors and hang-ups are always reported.
package struct Interest: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let read = Interest(rawValue: 1)
    package static let write = Interest(rawValue: 2)
    /// Only whether the peer sent FIN, which is part of `read`.
    package static let peerClosed = Interest(rawValue: 4)
    /// Urgent data, which must be received in line, or the report would never end.
    package static let urgent = Interest(rawValue: 8)
}

/// Identifies a registered descriptor: a session, and which of its descriptors (a connect races several, a listener has
/// two).
package struct ReactorToken: Hashable, Sendable {
    package var socket: SocketID
    package var index: UInt16

    package init(_ socket: SocketID, _ index: UInt16 = 0) {
        self.socket = socket
        self.index = index
    }
}

/// What the kernel reported about one descriptor.
package struct Readiness: Equatable, Sendable {
    package var token: ReactorToken
    package var readable: Bool
    package var writable: Bool
    /// The peer sent FIN (EPOLLRDHUP). Unread bytes may precede it.
    package var peerClosed: Bool
    /// EPOLLHUP. It cannot be masked, so a descriptor in this state must leave the set.
    package var hungUp: Bool
    /// EPOLLERR: SO_ERROR is set, or messages wait in the error queue. It cannot be masked either, but it ends when
    /// both were fetched.
    package var hasError: Bool
    /// EPOLLPRI: there is urgent data among the unread bytes.
    package var urgent: Bool

    package init(
        _ token: ReactorToken, readable: Bool = false, writable: Bool = false, peerClosed: Bool = false,
        hungUp: Bool = false, hasError: Bool = false, urgent: Bool = false
    ) {
        self.token = token
        self.readable = readable
        self.writable = writable
        self.peerClosed = peerClosed
        self.hungUp = hungUp
        self.hasError = hasError
        self.urgent = urgent
    }
}

/// Waits for registered descriptors and the time, and enters the engine with whole batches. Small enough that epoll, a
/// ring and a test's own kernel can each be an implementation.
///
/// Reports are level-triggered: a registered event is reported again until it ends. All calls except `start`, `rouse`
/// and `stop` come from the engine's queue. Those that return `Int32` return 0 or an errno.
package protocol Reactor: AnyObject, Sendable {
    /// Starts calling `turn` with each batch, which may be empty if only the timer fired. Returns 0 or an errno, and can
    /// then be called again.
    func start(_ turn: @escaping @Sendable ([Readiness]) -> Void) -> Int32
    func add(_ descriptor: Int32, _ interest: Interest, _ token: ReactorToken) -> Int32
    func modify(_ descriptor: Int32, _ interest: Interest, _ token: ReactorToken) -> Int32
    func remove(_ descriptor: Int32)
    /// Requests a turn at this time, in place of the time requested before. Pass `nil` for none.
    func wake(at deadline: MonotonicTime?)
    /// Returns whether the timer has fired since the last call. A reactor may leave that to the engine's clock.
    func takeTimerMark() -> Bool
    /// Requests a turn as soon as possible, from any thread. Returns `false` if the reactor can't do that.
    func rouse() -> Bool
    /// Stops the reactor. No turn starts after this, except one that is already entering.
    func stop()
    /// The threads that turns run on, if they may also call delegates, or `nil` if they may not.
    var lead: Lead? { get }
}

extension Reactor {
    package func takeTimerMark() -> Bool { false }
    package func rouse() -> Bool { false }
    package var lead: Lead? { nil }
}
