import SocketCore

/// The fragments of incomplete packets.
struct FragmentStore: Sendable {
    struct Key: Hashable {
        var source: IPAddress
        var destination: IPAddress
        var identification: UInt32
        var number: UInt8

        init(source: IPAddress, destination: IPAddress, identification: UInt32, _ number: UInt8) {
            (self.source, self.destination) = (source, destination)
            (self.identification, self.number) = (identification, number)
        }
    }

    private struct Partial {
        var parts: [(offset: Int, bytes: [UInt8])] = []
        var length: Int?
        var began: Int64
        /// The number of bytes in its parts.
        var size = 0
        /// The approximate memory that the parts take, in bytes.
        var cost: Int { size + FragmentStore.partCost * parts.count }
    }

    private var partial: [Key: Partial] = [:]
    private(set) var lost: UInt64 = 0

    /// The most memory for the parts of all incomplete packets, which is Linux's limit.
    private static let limit = 4 << 20
    private var cost = 0
    private static let partCost = 64
    /// The most bytes of a whole packet, and of its parts, some of which can be repeated.
    private static let lengthLimit = 65_535
    private static let sizeLimit = 2 * lengthLimit
    /// How long the rest of a packet is awaited, in nanoseconds, which is Linux's limit.
    private static let patience: Int64 = 30_000_000_000

    /// Counts a fragment that can't be used.
    mutating func lose() { lost += 1 }

    /// Adds a fragment. Returns the whole packet once it is complete.
    mutating func add(
        _ bytes: ArraySlice<UInt8>, at offset: Int, isLast: Bool, of key: Key, _ time: Int64
    ) -> [UInt8]? {
        var entry = partial.removeValue(forKey: key) ?? Partial(began: time)
        cost -= entry.cost
        if time - entry.began > Self.patience {
            lost += UInt64(entry.parts.count)
            entry = Partial(began: time)
        }
        guard offset + bytes.count <= Self.lengthLimit, entry.size + bytes.count <= Self.sizeLimit, !bytes.isEmpty
        else {
            lost += UInt64(entry.parts.count) + 1
            return nil
        }
        entry.parts.append((offset, Array(bytes)))
        entry.size += bytes.count
        if isLast { entry.length = offset + bytes.count }
        if let length = entry.length, entry.size >= length, let whole = Self.whole(entry.parts, length) { return whole }
        partial[key] = entry
        cost += entry.cost
        while cost > Self.limit { dropOldest() }
        return nil
    }

    private mutating func dropOldest() {
        guard let oldest = partial.min(by: { $0.value.began < $1.value.began })?.key,
            let dropped = partial.removeValue(forKey: oldest)
        else { return }
        lost += UInt64(dropped.parts.count)
        cost -= dropped.cost
    }

    /// Returns the reassembled parts, or `nil` if one is missing. Where two overlap, the bytes of the first one are
    /// kept.
    private static func whole(_ parts: [(offset: Int, bytes: [UInt8])], _ length: Int) -> [UInt8]? {
        var whole = [UInt8](repeating: 0, count: length)
        var covered = 0
        for part in parts.sorted(by: { $0.offset < $1.offset }) {
            guard part.offset <= covered else { return nil }
            covered = max(covered, part.offset + part.bytes.count)
        }
        guard covered >= length else { return nil }
        for part in parts.reversed() where part.offset < length {
            let bytes = part.bytes.prefix(length - part.offset)
            whole.replaceSubrange(part.offset..<(part.offset + bytes.count), with: bytes)
        }
        return whole
    }
}
