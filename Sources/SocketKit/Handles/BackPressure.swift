import Synchronization

/// The weight of what waits for a user, and whether the session must stop reading from the kernel until most of it is
/// delivered. This is the one rule of back-pressure, and every kind of handle has one of these. Whatever a peer can
/// cause is weighed at the memory that it takes up, or a peer that sends small things would be held back far too late.
///
/// The engine's queue adds, any thread removes.
struct BackPressure: ~Copyable, Sendable {
    /// The memory of one notice besides its payload: its place in the queue, its array's header, and their slack.
    static let noticeWeight = 96
    /// The memory of a notice whose content has a box of its own: an address, or an error and its text.
    static let boxedWeight = 384
    /// The memory of one accepted connection until the user has it, in the engine and in the kernel.
    static let connectionWeight = 4_096
    /// The limit for streams, datagrams and listeners, in bytes.
    static let limit = 1 << 20
    /// The limit for a WebSocket, in bytes, which covers the inbox too.
    static let webSocketLimit = 128 << 10
    /// How many connections wait for a task before a listener leaves the rest in the kernel's backlog.
    static let connectionLimit = 16

    private let limit: Int
    private let waiting = Atomic<Int>(0)
    private let holds = Atomic<Bool>(false)

    init(limit: Int = BackPressure.limit) {
        self.limit = limit
    }

    /// The weight of what waits, in bytes.
    var weight: Int { waiting.load(ordering: .relaxed) }

    /// Whether the session holds back, or is about to.
    var isHolding: Bool { holds.load(ordering: .sequentiallyConsistent) }

    /// Adds the weight of something that waits. Returns `true` if the session must hold back, until `remove` says
    /// otherwise.
    func add(_ weight: Int) -> Bool {
        guard waiting.add(weight, ordering: .sequentiallyConsistent).newValue > limit else { return isHolding }
        holds.store(true, ordering: .sequentiallyConsistent)
        // All of it may have been delivered by now, by a thread that saw no hold to end.
        return !endsHolding() && isHolding
    }

    /// Removes the weight of what was delivered. Returns `true` if the session can resume, once for each hold.
    func remove(_ weight: Int) -> Bool {
        waiting.subtract(weight, ordering: .sequentiallyConsistent)
        return isHolding && endsHolding()
    }

    /// Ends the hold if at most half the limit waits. Returns `false` if it didn't, or if the hold was already over.
    private func endsHolding() -> Bool {
        guard waiting.load(ordering: .sequentiallyConsistent) <= limit / 2 else { return false }
        return holds.compareExchange(expected: true, desired: false, ordering: .sequentiallyConsistent).exchanged
    }
}

/// Back-pressure in memory of its own, for a session that reads it without its handle.
final class SharedBackPressure: Sendable {
    let pressure: BackPressure
    init(limit: Int) { pressure = BackPressure(limit: limit) }
}
