import SocketCore

/// What only few connections have, in separate memory.
final class ConnectionRarities {
    var taps = Taps()
    /// The session of the other leg, which gets this one's bytes.
    var linked: SocketID?
    /// Bytes for its peer that its relay could not deliver.
    var lost: UInt64 = 0
    /// Whether it is a leg whose server got a rewritten request head.
    var isHeadRewritten = false
    /// Rules and breakpoints that apply to it.
    var onPurpose = OnPurpose()
    var lingerDeadline: MonotonicTime?
    /// The number of bytes received before the last urgent data.
    var urgentAt: UInt64?
    /// The watermarks of the write queue, if they differ from the configuration's.
    var watermarks: Watermarks?
    /// The owners of lent bytes that are being written. Each is released after its write has ended, but not in the
    /// middle of a step.
    var owners: [OperationID: OwnedBytes] = [:]
    /// Pieces that a task fetches without the engine.
    var handed: HandedPieces?
    /// What may be received ahead for a task that iterates chunks, or `nil` if nothing may.
    var ahead: ReadAhead?
    /// Its questions and answers, or `nil` before its first byte or if the engine is not inspected.
    var exchanges: ConnectionExchanges? {
        didSet { oldValue?.free() }
    }
    /// The rates, measured from the first snapshot on.
    var rates = Rare<ConnectionRates>()
    /// The snapshot, or `nil` if it must be rebuilt.
    var cachedSnapshot: SocketSnapshot?
    /// When it was made, and the kernel asked for its part.
    var kernelAsked = MonotonicTime.zero
    /// The handle's `hasInlineDelegate` when the snapshot was cached.
    var cachedInlineDelegate: Bool?

    deinit { exchanges?.free() }
}

/// Shortcuts to what only few connections have.
extension Connection {
    var linked: SocketID? { rare?.linked }

    var lost: UInt64 { rare?.lost ?? 0 }

    var isHeadRewritten: Bool { rare?.isHeadRewritten ?? false }

    /// What rules and breakpoints do to it, for snapshots, or `nil` if none applies to it.
    var faultMeter: FaultMeter? { rare?.onPurpose.meter }

    /// What takes received bytes before the reads do, or `nil` if nothing does.
    var intake: Intake? { rare?.onPurpose.intake }

    /// The most writes in one system call.
    var gatherLimit: Int { rare?.onPurpose.gatherLimit ?? Self.gatherLimit }

    var lingerDeadline: MonotonicTime? { rare?.lingerDeadline }

    var watermarks: Watermarks? {
        get { hasWatermarks ? rare?.watermarks ?? configuration.writeWatermarks : nil }
        set {
            hasWatermarks = newValue != nil
            if rare?.watermarks != nil || newValue != configuration.writeWatermarks { madeRare.watermarks = newValue }
        }
    }

    /// Whether bytes that have another owner are being written.
    var hasOwners: Bool { rare.map { !$0.owners.isEmpty } ?? false }

    var rates: ConnectionRates? { rare?.rates.present }
}
