import Synchronization

/// What waits for a user, by weight, and whether the session takes nothing more from the kernel until most of it is
/// delivered. The one rule of back-pressure: every kind of handle has one of these, and whatever a peer can cause is
/// weighed at the memory that it takes up, or a peer that sends small things would be held far too late.
///
/// The engine's queue adds, any thread removes.
struct BackPressure: ~Copyable, Sendable {
    /// What one notice takes up besides its payload: its place in the queue, its array's header, and their slack.
    static let noticeWeight = 96
    /// The same of one whose content has a box of its own: an address, or an error and its text.
    static let boxedWeight = 384
    /// What one accepted connection takes up until the user has it, in the engine and in the kernel.
    static let connectionWeight = 4_096
    /// The most that waits for streams, datagrams and listeners.
    static let limit = 1 << 20
    /// The most that waits for a WebSocket, where messages of the inbox count too.
    static let webSocketLimit = 128 << 10
    /// Connections that wait for a task before a listener leaves the rest to the kernel's own backlog.
    static let connectionLimit = 16

    private let limit: Int
    private let waiting = Atomic<Int>(0)
    private let holds = Atomic<Bool>(false)

    init(limit: Int = BackPressure.limit) {
        self.limit = limit
    }

    /// What waits, in bytes.
    var weight: Int { waiting.load(ordering: .relaxed) }

    /// Whether the session holds back, or is about to.
    var isHolding: Bool { holds.load(ordering: .sequentiallyConsistent) }

    /// Adds something that waits from now on; true if the session must hold back. `remove` says when that is over.
    func add(_ weight: Int) -> Bool {
        guard waiting.add(weight, ordering: .sequentiallyConsistent).newValue > limit else { return isHolding }
        holds.store(true, ordering: .sequentiallyConsistent)
        // All of it may be delivered by now, and whoever did that saw no reason to say so.
        return !endsHolding() && isHolding
    }

    /// Removes what was delivered; true if the session may go on. True once for each time that it held back.
    func remove(_ weight: Int) -> Bool {
        waiting.subtract(weight, ordering: .sequentiallyConsistent)
        return isHolding && endsHolding()
    }

    /// Ends the hold if little enough waits; false if it was over already.
    private func endsHolding() -> Bool {
        guard waiting.load(ordering: .sequentiallyConsistent) <= limit / 2 else { return false }
        return holds.compareExchange(expected: true, desired: false, ordering: .sequentiallyConsistent).exchanged
    }
}

/// The same in memory of its own, for a session that looks at it without its handle.
final class SharedBackPressure: Sendable {
    let pressure: BackPressure
    init(limit: Int) { pressure = BackPressure(limit: limit) }
}
