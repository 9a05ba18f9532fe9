import SocketCore

/// Where the detail is scrolled to.
package struct DetailState: Hashable, Sendable {
    /// The first row in sight. It may be beyond the last one; then the end is shown.
    package private(set) var top = 0
    /// Whether the unread bytes of sockets of other programs are shown.
    package internal(set) var showsUnread = false
    /// The socket of another user's program whose bytes the user wants to see.
    package internal(set) var confirmed: SocketID?
    /// The bytes that are shown.
    package internal(set) var unread: UnreadLook?

    /// Beyond every last row.
    private static let end = 1_000_000_000

    /// Another socket is shown: from its top, and without what was seen of this one.
    mutating func leaveSocket() { (top, confirmed, unread) = (0, nil, nil) }

    /// Moves by some rows, of `count` rows that are shown `height` at a time.
    mutating func scroll(_ step: Int, count: Int, height: Int) {
        let last = max(0, count - height)
        let target = max(0, min(top, last) + step)
        // At the end it stays at the end when rows are added, as those of events and of the first minute are.
        top = step > 0 && target >= last && last > 0 ? Self.end : min(target, last)
    }
}
