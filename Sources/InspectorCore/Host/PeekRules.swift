import SocketCore

/// Whether the unread bytes of other programs may be peeked at.
package struct PeekRules: Equatable, Sendable {
    /// The reason why peeking is forbidden, or `nil` if it is allowed.
    package var refusal: String?
    /// Whether other users' programs may be peeked at, once the user has confirmed it.
    package var allowsOthers = false
    /// Whether the detail shows unread bytes from the start.
    package var isOn = false
    /// The user that this program runs as.
    package var user: UInt32
    /// The user who ran it through sudo, who may inspect their own programs without confirming it.
    package var sudoUser: UInt32?

    package init(user: UInt32 = 0, sudoUser: UInt32? = nil) { (self.user, self.sudoUser) = (user, sudoUser) }

    package static let needsOthers = "start with --peek-others to see bytes of other users' programs"

    /// Whether a socket or its program belongs to another user. A program whose user is unknown counts as another's.
    package func isForeign(_ host: HostSnapshot) -> Bool {
        isForeign(socket: host.user, program: host.programUser)
    }

    /// Whether they belong to another user, or to two users, as when one user's program passed its socket to another's.
    package func isForeign(socket: UInt32?, program: UInt32?) -> Bool {
        guard let socket else { return true }
        return socket != program || ![user, sudoUser].contains(socket)
    }
}

/// A request to show a socket's unread bytes.
package struct UnreadRequest: Equatable, Sendable {
    package var socket: SocketID
    /// Whether the user has confirmed that they may belong to another user.
    package var isConfirmed: Bool

    package init(_ socket: SocketID, isConfirmed: Bool = false) {
        (self.socket, self.isConfirmed) = (socket, isConfirmed)
    }
}

/// The unread bytes of a socket at one instant. They are sent separately from snapshots, so storing snapshots never
/// stores them.
package struct UnreadLook: Equatable, Sendable {
    package var socket: SocketID
    package var time: MonotonicTime
    package var found: UnreadBytes
    /// The note for the events, the same as in the system log.
    package var note: String?

    package init(_ socket: SocketID, _ time: MonotonicTime, _ found: UnreadBytes) {
        (self.socket, self.time, self.found) = (socket, time, found)
    }
}

/// The host administrator's policy in /etc/socktui.conf, which no option overrides. Each line is `name = value`, and
/// `#` starts a comment.
package enum HostPolicy {
    package static let path = "/etc/socktui.conf"

    /// Returns the reason why peeking is forbidden, or `nil` if it is allowed. An invalid line forbids it, too.
    package static func refusal(_ text: String) -> String? {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.prefix { $0 != "#" }.split(separator: "=", omittingEmptySubsequences: false)
                .map { $0.filter { !$0.isWhitespace && $0 != "\"" } }
            if words == [""] { continue }
            switch words {
            case ["peek", "never"]: return "peek = never in \(path)"
            case ["peek", "allow"]: continue
            default: return "line \(index + 1) of \(path) is not peek = never or peek = allow"
            }
        }
        return nil
    }
}
