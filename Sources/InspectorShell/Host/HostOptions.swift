import InspectorCore
import SocketCore

/// How the sockets of this host's programs are inspected, and which of them count.
package struct HostOptions: Equatable {
    /// How long to look, or `nil` for one second and then until problems of stalled bytes are proven.
    package var span: Duration?
    package var isJSON = false
    /// What `why` says.
    package var answer = HostAnswer.Options()
    /// The severity at which a check fails, or `nil` for a warning.
    package var level: Severity?
    /// Whether a check fails if something was hidden from it.
    package var isStrict = false
    /// Whether to read system calls and their arguments.
    package var readsCalls = true
    /// Whether the editor tools may return payload bytes.
    package var tellsPayload = false
    /// Whether and whose unread bytes may be peeked at.
    package var peeks = PeekRules()
    /// The process whose network namespace is inspected, or `nil` for this process's.
    package var namespace: Int32?
    /// Whether to inspect the network namespaces of all processes, where that is allowed.
    package var entersOthers = true
    /// The hosts that are inspected, or empty for this one alone.
    package var places: [HostPlace] = []
    /// Which sockets count. An empty filter matches all.
    package var filter = ""
    /// Whether other sockets are left out of the list. On a screen the user can clear the filter.
    package var listsOnlyMatches = false

    package init() {}
}
