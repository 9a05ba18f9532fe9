import Foundation
import SocketKit

/// The engines of sockets: one that all share, and one for each socket queue.
enum Engines {
    private struct Weak {
        weak var engine: SocketEngine?
    }

    /// The engine of all sockets without a socket queue of their own.
    static let shared = SocketEngine(configuration(nil))
    private static let onQueues = Lock<[ObjectIdentifier: Weak]>([:])

    private static func configuration(_ queue: DispatchQueue?) -> EngineConfiguration {
        var configuration = EngineConfiguration()
        configuration.name = GCDAsyncSocketQueueName
        configuration.queue = queue
        return configuration
    }

    /// Returns the engine on a queue, which sockets with the same queue share, or the common one if `queue` is `nil`.
    static func engine(on queue: DispatchQueue?) -> SocketEngine {
        guard let queue else { return shared }
        let name = ObjectIdentifier(queue)
        // A living engine retains its queue, so no other queue can have the same identifier.
        if let engine = onQueues.withLock({ $0[name]?.engine }) { return engine }
        let made = SocketEngine(configuration(queue))
        return onQueues.withLock { engines in
            if let engine = engines[name]?.engine { return engine }
            engines = engines.filter { $0.value.engine != nil }
            engines[name] = Weak(engine: made)
            return made
        }
    }
}
