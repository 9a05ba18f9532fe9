import InspectorCore
import SocketCore

/// The scroll position of the detail.
package struct DetailState: Equatable, Sendable {
    /// The first visible row. If it is beyond the last one, the end is shown.
    package private(set) var top = 0
    /// Whether the unread bytes of other programs' sockets are shown.
    package internal(set) var showsUnread = false
    /// The socket of another user's program whose bytes the user has confirmed to show.
    package internal(set) var confirmed: SocketID?
    /// The bytes that are shown.
    package internal(set) var unread: UnreadLook?

    /// A position beyond every last row.
    private static let end = 1_000_000_000

    /// Called when another socket is shown. Scrolls to the top, and drops the previous socket's bytes.
    mutating func leaveSocket() { (top, confirmed, unread) = (0, nil, nil) }

    /// Scrolls by `step` of `count` rows, of which `height` are visible.
    mutating func scroll(_ step: Int, count: Int, height: Int) {
        let last = max(0, count - height)
        let target = max(0, min(top, last) + step)
        // At the end it stays at the end when rows are added, such as events or those of the first minute.
        top = step > 0 && target >= last && last > 0 ? Self.end : min(target, last)
    }
}
