import SocketCore
import Synchronization

/// Names sessions and operations, from any thread.
///
/// Each engine counts its own sessions. Operations are counted for the whole process, because a connection that moves
/// brings its operations along, and two of one socket must never share a name.
package final class Names: Sendable {
    private let lastSession: Atomic<UInt64>
    private let operations: OperationCounter

    /// Names sessions after `session`, and operations by a counter that is the process's own unless a simulation, which
    /// must give the same names each time, brings another one.
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
