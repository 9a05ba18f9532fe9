import SocketCore

/// Identifies which sessions a snapshot lists.
package struct SessionsMark: Equatable, Sendable {
    private let opened: UInt64
    private let closed: UInt64
    private let count: Int

    package init(_ snapshot: EngineSnapshot) {
        opened = snapshot.counters.opened
        closed = snapshot.counters.closed
        count = snapshot.sockets.count
    }
}
