import SocketCore

/// What few connections ever have, in memory of its own.
final class ConnectionRarities {
    /// Who looks at what passes.
    var taps = Taps()
    /// The connection that this one's bytes are passed on to.
    var linked: SocketID?
    /// Bytes for its peer that its relay could not deliver.
    var lost: UInt64 = 0
    /// Whether it is a leg whose server got the client's request with another head.
    var isHeadRewritten = false
    /// What is done to it on purpose.
    var onPurpose = OnPurpose()
    var lingerDeadline: MonotonicTime?
    /// Marks of the write queue where they are not those of the configuration.
    var watermarks: Watermarks?
    /// Bytes of somebody else that are being written. Each is released when its write is over, and not in the midst of a
    /// step.
    var owners: [OperationID: OwnedBytes] = [:]
    /// Measured once somebody has looked.
    var rates = Rare<ConnectionRates>()
    /// What was last made of it for somebody who looks, as long as nothing changes.
    var cachedSnapshot: SocketSnapshot?
    /// What the handle's `hasInlineDelegate` was then.
    var cachedInlineDelegate: Bool?
}

/// Each as if it were the connection's own.
extension Connection {
    var linked: SocketID? { rare?.linked }

    var lost: UInt64 { rare?.lost ?? 0 }

    var isHeadRewritten: Bool { rare?.isHeadRewritten ?? false }

    /// What rules and breakpoints do to it, for snapshots; `nil`: none concerns it.
    var faultMeter: FaultMeter? { rare?.onPurpose.meter }

    /// What takes received bytes before the reads do; `nil`: nothing.
    var intake: Intake? { rare?.onPurpose.intake }

    /// Writes that one system call may carry.
    var gatherLimit: Int { rare?.onPurpose.gatherLimit ?? Self.gatherLimit }

    var lingerDeadline: MonotonicTime? { rare?.lingerDeadline }

    /// The marks of the write queue.
    var watermarks: Watermarks? {
        get { hasWatermarks ? rare?.watermarks ?? configuration.writeWatermarks : nil }
        set {
            hasWatermarks = newValue != nil
            if rare?.watermarks != nil || newValue != configuration.writeWatermarks { madeRare.watermarks = newValue }
        }
    }

    /// Whether bytes of somebody else are being written.
    var hasOwners: Bool { rare.map { !$0.owners.isEmpty } ?? false }

    var rates: ConnectionRates? { rare?.rates.present }
}
