import Dispatch
import SocketKit

/// The engine's later work, kept until the run says that it is time.
package final class HeldWork: Sendable {
    private let work = Lock<[@Sendable () -> Void]>([])

    package init() {}

    /// Keeps a piece of work; give this to the engine as its scheduler.
    package func add(_ piece: @escaping @Sendable () -> Void) {
        work.withLock { $0.append(piece) }
    }

    /// Whether nothing waits.
    package var isEmpty: Bool { work.withLock { $0.isEmpty } }

    /// Runs the first piece on the queue, and waits until it is done.
    package func runOne(on queue: DispatchQueue) {
        let piece = work.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if let piece { queue.sync(execute: piece) }
    }
}
