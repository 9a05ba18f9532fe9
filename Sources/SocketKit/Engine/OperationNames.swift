import SocketCore
import Synchronization

/// Gives every operation of an engine a name of its own, from any thread.
final class OperationNames: Sendable {
    private let last = Atomic<UInt64>(0)

    func next() -> OperationID {
        OperationID(last.wrappingAdd(1, ordering: .relaxed).newValue)
    }
}
