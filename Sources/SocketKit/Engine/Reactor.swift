import SocketCore

/// What the reactor watches a descriptor for. Errors and hang-ups are always reported.
package struct Interest: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let read = Interest(rawValue: 1)
    package static let write = Interest(rawValue: 2)
    /// Only whether the peer sent FIN; part of `read`.
    package static let peerClosed = Interest(rawValue: 4)
}

/// Names a watched descriptor: a session, and which of its descriptors (a connect races several, a listener has two).
package struct ReactorToken: Hashable, Sendable {
    package var socket: SocketID
    package var index: UInt16

    package init(_ socket: SocketID, _ index: UInt16 = 0) {
        self.socket = socket
        self.index = index
    }
}

/// What the kernel reported of one descriptor.
package struct Readiness: Hashable, Sendable {
    package var token: ReactorToken
    package var readable: Bool
    package var writable: Bool
    /// The peer sent FIN (EPOLLRDHUP); unread bytes may lie before it.
    package var peerClosed: Bool
    /// EPOLLHUP: it cannot be switched off, so what stays in this state must leave the set.
    package var hungUp: Bool
    /// EPOLLERR: SO_ERROR is set, or messages wait in the error queue. It cannot be switched off either, but it ends when
    /// both were fetched.
    package var hasError: Bool

    package init(
        _ token: ReactorToken, readable: Bool = false, writable: Bool = false, peerClosed: Bool = false,
        hungUp: Bool = false, hasError: Bool = false
    ) {
        self.token = token
        self.readable = readable
        self.writable = writable
        self.peerClosed = peerClosed
        self.hungUp = hungUp
        self.hasError = hasError
    }
}

/// Watches descriptors and the time, and enters the engine with whole batches. Small enough that epoll, a ring, and a
/// test that plays the kernel can each be one implementation.
///
/// Reports are level-triggered: what is ready and watched is reported again until it is not. All calls but `start` and
/// `stop` come from the engine's queue. Those that return `Int32` return 0 or an errno.
package protocol Reactor: AnyObject, Sendable {
    /// Begins to call `turn` with each batch, which may be empty when only the time came.
    func start(_ turn: @escaping @Sendable ([Readiness]) -> Void) -> Int32
    func add(_ descriptor: Int32, _ interest: Interest, _ token: ReactorToken) -> Int32
    func modify(_ descriptor: Int32, _ interest: Interest, _ token: ReactorToken) -> Int32
    func remove(_ descriptor: Int32)
    /// Asks for a turn at this time, in place of the time asked for before; nil: none.
    func wake(at deadline: MonotonicTime?)
    /// Whether the timer has come since this was last asked. A reactor may leave that to the engine's clock.
    func takeTimerMark() -> Bool
    /// Asks for a turn as soon as may be, from any thread; false: it cannot be asked.
    func rouse() -> Bool
    /// No turn begins after this, save one that has begun to enter.
    func stop()
    /// The threads that turns run on, where they may also call delegates; nil: they may not.
    var lead: Lead? { get }
}

extension Reactor {
    package func takeTimerMark() -> Bool { false }
    package func rouse() -> Bool { false }
    package var lead: Lead? { nil }
}
