import SocketCore
import Synchronization

/// Creates the identifiers of sessions and operations, on any thread.
///
/// Each engine counts its own sessions. Operations are counted for the whole process, because a connection that moves
/// takes its operations along, and two operations of one socket must never share an identifier.
package final class Names: Sendable {
    private let lastSession: Atomic<UInt64>
    private let operations: OperationCounter

    /// Numbers sessions after `session`. Operations use the counter of the process, unless a simulation passes its own
    /// to get the same identifiers each time.
    package init(after session: UInt64 = 0, operations: OperationCounter = .process) {
        lastSession = Atomic(session)
        self.operations = operations
    }

    func nextSession() -> SocketID {
        SocketID(lastSession.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    func nextOperation() -> OperationID { operations.next() }
}

/// Counts operations.
package final class OperationCounter: Sendable {
    /// The counter of every engine of this process.
    package static let process = OperationCounter()

    private let last = Atomic<UInt64>(0)

    package init() {}

    func next() -> OperationID {
        OperationID(last.wrappingAdd(1, ordering: .relaxed).newValue)
    }
}
