import SocketCore

/// Which session a handle has, and whether its tasks still have to be told that the last one is over.
///
/// The engine ends a session before the notice of it is delivered, and the next one may begin in between. Those who wait
/// do so within a session (`Waiters`), and the end of a session ends no other.
struct PresentSession {
    /// nil when there is none.
    private(set) var id: SocketID?
    private var ending: EndedSession?
    /// Whether the notice of that end is still to be delivered.
    private var isEndComing = false

    /// A session begins.
    mutating func begin(_ id: SocketID) {
        self.id = id
        (ending, isEndComing) = (nil, false)
    }

    /// A session is over; `ending` is how it was at its end, and nil where it never was, of which no notice follows.
    mutating func end(_ id: SocketID, as ending: EndedSession?) {
        guard self.id == id else { return }
        self.id = nil
        (self.ending, isEndComing) = (ending, ending != nil)
    }

    /// The last session as it was at its end, until the next one begins; nil if it never was.
    var ended: SocketSnapshot? { ending?.snapshot }

    /// The notice of that end is delivered, behind all that came before it.
    mutating func deliverEnd(of id: SocketID) {
        if ending?.id == id { isEndComing = false }
    }

    /// The session in which a task waits that asks now; nil: the last one is over, and so is what the task iterates.
    var awaited: SocketID? { id ?? (isEndComing ? ending?.id : nil) }

    /// How what a task iterates ended: nil by this side.
    var error: SocketError? { ended?.closed?.error }
}
