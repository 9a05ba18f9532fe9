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

    /// Names operations from now on beyond all that `other` has named: a connection that comes from there brings some
    /// along, and one socket must not have two of the same name.
    func goBeyond(_ other: Names) {
        let reached = other.lastOperation.load(ordering: .relaxed)
        _ = lastOperation.max(reached, ordering: .relaxed)
    }
}
