import Foundation
import SocketKit

/// Where sockets live: on one engine for all of them, or on that of the socket queue that they were given.
enum Engines {
    private struct Held {
        weak var engine: SocketEngine?
    }

    /// The engine of all sockets without a socket queue of their own.
    static let shared = SocketEngine(configuration(nil))
    private static let onQueues = Lock<[ObjectIdentifier: Held]>([:])

    private static func configuration(_ queue: DispatchQueue?) -> EngineConfiguration {
        var configuration = EngineConfiguration()
        configuration.name = GCDAsyncSocketQueueName
        configuration.queue = queue
        return configuration
    }

    /// The engine on a queue; sockets with the same queue share it. nil: the one of all others.
    static func engine(on queue: DispatchQueue?) -> SocketEngine {
        guard let queue else { return shared }
        let name = ObjectIdentifier(queue)
        // An engine that lives holds its queue, so that no other queue can have the name.
        if let engine = onQueues.withLock({ $0[name]?.engine }) { return engine }
        let made = SocketEngine(configuration(queue))
        return onQueues.withLock { held in
            if let engine = held[name]?.engine { return engine }
            held = held.filter { $0.value.engine != nil }
            held[name] = Held(engine: made)
            return made
        }
    }
}
