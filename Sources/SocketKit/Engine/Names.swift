import SocketCore
import Synchronization

/// Gives every session and every operation of an engine a name of its own, from any thread.
final class Names: Sendable {
    private let lastSession = Atomic<UInt64>(0)
    private let lastOperation = Atomic<UInt64>(0)

    func nextSession() -> SocketID {
        SocketID(lastSession.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    func nextOperation() -> OperationID {
        OperationID(lastOperation.wrappingAdd(1, ordering: .relaxed).newValue)
    }
}
