import SocketCore

/// What an editor was opened for.
package enum EditSubject: Equatable, Sendable {
    /// The line in a connection's composer.
    case line(SocketID)
    /// Bytes that were transferred on a connection.
    case item(SocketID)
    /// Bytes that a breakpoint holds.
    case held(SocketID)
}
