import CSocketKitSystem

/// Gives memory back to the system after many sockets have gone. The allocator keeps what lies between blocks that are
/// still used, and a history releases its part later.
package struct SpareMemory {
    /// The most sockets since memory was last given back, and the looks left at which more of it may be free.
    private var most = 0
    private var looks = 0
    private static let few = 1_000
    /// A history of a minute has been dropped by then, at one look a second.
    private static let lastLook = 90
    private static let pause = 10

    /// Each look makes arrays of all sockets, and drops those of the look before.
    package init() { csystem_trim_memory() }

    /// Called after each look with the number of sockets.
    package mutating func note(_ sockets: Int) {
        most = max(most, sockets)
        if most > Self.few, sockets < most / 2 { (most, looks) = (sockets, Self.lastLook) }
        guard looks > 0 else { return }
        looks -= 1
        if looks % Self.pause == 0 { csystem_trim_memory() }
    }
}
