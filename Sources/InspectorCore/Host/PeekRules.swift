import SocketCore

/// Whether the unread bytes of other programs may be looked at.
package struct PeekRules: Hashable, Sendable {
    /// Why none may ever be; `nil`: they may.
    package var refusal: String?
    /// Whether those of other users' programs may be, once the user has confirmed it.
    package var allowsOthers = false
    /// Whether the detail shows them from the start.
    package var isOn = false
    /// The user that this program runs as.
    package var user: UInt32
    /// Who ran it through sudo: the user at the keys, who may look into what is his without it.
    package var sudoUser: UInt32?

    package init(user: UInt32 = 0, sudoUser: UInt32? = nil) { (self.user, self.sudoUser) = (user, sudoUser) }

    package static let needsOthers = "start with --peek-others to look into programs of other users"

    /// Whether a socket, or the program that has it open, is another user's. A program whose user is not known may be.
    package func isForeign(_ host: HostSnapshot) -> Bool {
        isForeign(socket: host.user, program: host.programUser)
    }

    /// Both are one user's: a socket that another one handed over is not.
    package func isForeign(socket: UInt32, program: UInt32?) -> Bool {
        let own = [user, sudoUser].compactMap { $0 }
        return socket != program || !own.contains(socket)
    }
}

/// Whose unread bytes are shown.
package struct UnreadRequest: Hashable, Sendable {
    package var socket: SocketID
    /// Whether the user has confirmed that they may be another user's.
    package var isConfirmed: Bool

    package init(_ socket: SocketID, isConfirmed: Bool = false) {
        (self.socket, self.isConfirmed) = (socket, isConfirmed)
    }
}

/// The unread bytes of a socket at one instant. They come beside snapshots, so nothing that keeps those keeps them.
package struct UnreadLook: Hashable, Sendable {
    package var socket: SocketID
    package var time: MonotonicTime
    package var found: UnreadBytes
    /// What is told among the events, as the system log is told it.
    package var note: String?

    package init(_ socket: SocketID, _ time: MonotonicTime, _ found: UnreadBytes) {
        (self.socket, self.time, self.found) = (socket, time, found)
    }
}

/// What the host's administrator says in /etc/socktui.conf, which no option overrides: `name = value` in each line, `#`
/// before a comment.
package enum HostPolicy {
    package static let path = "/etc/socktui.conf"

    /// Why unread bytes may not be looked at; `nil`: they may. A line that makes no sense forbids it, too.
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
