import SocketCore

/// The session of a handle, and how the last one ended.
///
/// The engine ends a session before the notice of its end is delivered, and the next session may begin in between. Tasks
/// await within a session (`Waiters`), so the end of a session ends no task of another.
///
/// A listener and a datagram socket, whose tasks iterate, also note the delivery of that notice. A `WebSocket` ends its
/// session when the notice is delivered, and keeps its own report of the end.
struct PresentSession {
    /// The present session, or `nil` if there is none.
    private(set) var id: SocketID?
    /// How the last session ended, or `nil` if there is none or that is kept elsewhere.
    private var ending: EndedSession?
    /// Whether the notice of that end is still to be delivered. Only handles whose tasks iterate ask.
    private var isEndComing = false

    /// Notes that a session begins.
    mutating func begin(_ id: SocketID) {
        self.id = id
        (ending, isEndComing) = (nil, false)
    }

    /// Notes that a session is over. `ending` is its final state, or `nil` if no notice follows: the session never came to
    /// be, or its notice is being delivered.
    mutating func end(_ id: SocketID, as ending: EndedSession?) {
        guard self.id == id else { return }
        self.id = nil
        (self.ending, isEndComing) = (ending, ending != nil)
    }

    /// The final state of the last session, until the next one begins.
    var ended: SocketSnapshot? { ending?.snapshot }

    /// Notes that the notice of that end is delivered, after all earlier notices.
    mutating func deliverEnd(of id: SocketID) {
        if ending?.id == id { isEndComing = false }
    }

    /// The session in which a task that asks now awaits, or `nil` if the last one is over and the iteration has ended.
    var awaited: SocketID? { id ?? (isEndComing ? ending?.id : nil) }

    /// The error that ended a task's iteration, or `nil` if this side ended it.
    var error: SocketError? { ended?.closed?.error }
}
