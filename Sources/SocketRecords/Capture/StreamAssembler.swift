/// Reassembles one direction of a TCP stream from captured segments. They can be lost, reordered, repeated or
/// overlapping, can wrap the sequence numbers, and can start at the beginning or in the middle of the stream.
package struct StreamAssembler: Sendable {
    /// The next part of the stream.
    package enum Piece: Equatable, Sendable {
        case bytes([UInt8])
        /// This many bytes are not in the file.
        case gap(UInt64)
        /// This many bytes were repeated with different values. The first values are kept.
        case differs(Int)
    }

    private struct Pending {
        var offset: Int64
        var bytes: [UInt8]
    }

    /// The most bytes that wait for earlier ones, and the most segments that contain them.
    package static let pendingLimit = 1 << 20
    package static let segmentLimit = 4_096
    /// The number of segments after a hole that the other side must have acknowledged before the hole counts as lost by
    /// the capture.
    private static let acknowledgedLimit = 4
    /// The number of latest bytes that are kept to compare with repeated ones.
    private static let memory = 16 << 10

    private var base: UInt32?
    /// The offset of the next byte. Offset 0 is the byte after the SYN, or the first one seen.
    private var next: Int64 = 0
    private var pending: [Pending] = []
    /// The number of bytes that wait for earlier ones.
    package private(set) var pendingBytes = 0
    private var latest: [UInt8] = []
    private var acknowledged: Int64 = 0
    private var end: Int64?
    /// The number of bytes that were captured twice.
    package private(set) var repeated: UInt64 = 0
    /// The number of bytes that are not in the file.
    package private(set) var missing: UInt64 = 0
    /// The number of bytes before the first one seen, in a stream whose beginning was not captured. They are left out.
    package private(set) var early: UInt64 = 0
    /// The number of holes that were given up because a limit was reached.
    package private(set) var givenUp: UInt64 = 0

    package init() {}

    /// Whether any segment was seen.
    package var hasBegun: Bool { base != nil }
    /// Whether everything up to the FIN was received, or is known to be missing.
    package var hasEnded: Bool { end.map { next >= $0 } ?? false }

    /// The number of bytes that it keeps.
    var remembered: Int { latest.count + pendingBytes }
    /// The approximate memory of bytes that wait for earlier ones, including the overhead of their segments.
    package var waiting: Int { pendingBytes + 64 * pending.count }

    /// Drops the bytes that are kept to compare with repeated ones.
    mutating func forget() { latest = [] }

    /// Returns whether a SYN with this number began the stream.
    func begins(after sequence: UInt32) -> Bool { base.map { $0 == sequence &+ 1 } ?? false }

    /// Processes a segment. `missing` is the number of bytes at its end that are not in the file.
    package mutating func absorb(
        _ segment: ParsedPacket.TCPSegment, _ payload: ArraySlice<UInt8>, missing: Int = 0
    ) -> [Piece] {
        var sequence = segment.sequence
        if segment.flags.contains(.syn) {
            sequence &+= 1
            if base == nil { base = sequence }
        }
        if base == nil { base = sequence }
        let offset = place(of: sequence)
        var pieces: [Piece] = []
        if !payload.isEmpty { add(payload, at: offset, &pieces) }
        let wireEnd = offset + Int64(payload.count) + Int64(missing)
        // Truncated bytes count as acknowledged at once, since no other packet will contain them.
        if missing > 0, wireEnd > next {
            acknowledged = max(acknowledged, wireEnd)
            if pending.isEmpty { skip(to: wireEnd, &pieces) }
        }
        if segment.flags.contains(.fin), end == nil { end = wireEnd }
        deliver(&pieces)
        if hasEnded { latest = [] }
        return pieces
    }

    /// Records that the other side acknowledged everything before this number. What is still missing by then was lost
    /// by the capture.
    package mutating func otherSide(acknowledges number: UInt32) -> [Piece] {
        guard base != nil else {
            base = number
            return []
        }
        let offset = place(of: number)
        guard offset > acknowledged, offset - next < 1 << 30 else { return [] }
        acknowledged = offset
        var pieces: [Piece] = []
        deliver(&pieces)
        return pieces
    }

    /// Delivers the waiting bytes, with gaps where bytes are missing, since no more will arrive.
    package mutating func finish() -> [Piece] {
        var pieces: [Piece] = []
        while let first = pending.first {
            skip(to: first.offset, &pieces)
            deliver(&pieces)
        }
        // A FIN takes a sequence number, which is acknowledged too.
        let known = end ?? acknowledged
        if acknowledged >= known, known > next { skip(to: known, &pieces) }
        return pieces
    }

    /// Returns the offset nearest to `next` that has this sequence number.
    private func place(of sequence: UInt32) -> Int64 {
        let expected = (base ?? 0) &+ UInt32(truncatingIfNeeded: next)
        return next + Int64(Int32(bitPattern: sequence &- expected))
    }

    private mutating func add(_ payload: ArraySlice<UInt8>, at offset: Int64, _ pieces: inout [Piece]) {
        var (payload, offset) = (payload, offset)
        if offset < next {
            let old = payload.prefix(Int(clamping: next - offset))
            let before = min(old.count, Int(clamping: max(0, -offset)))
            early += UInt64(before)
            repeated += UInt64(old.count - before)
            compare(old, at: offset, &pieces)
            payload = payload.dropFirst(old.count)
            offset = next
        }
        guard !payload.isEmpty else { return }
        if offset == next, pending.isEmpty { return deliver(Array(payload), &pieces) }
        insert(payload, at: offset, &pieces)
        while pendingBytes > Self.pendingLimit || pending.count > Self.segmentLimit { giveUpHole(&pieces) }
    }

    /// Delivers all waiting bytes, with gaps where bytes are missing.
    package mutating func giveUp() -> [Piece] {
        var pieces: [Piece] = []
        while !pending.isEmpty { giveUpHole(&pieces) }
        return pieces
    }

    private mutating func giveUpHole(_ pieces: inout [Piece]) {
        guard let first = pending.first else { return }
        givenUp += 1
        skip(to: first.offset, &pieces)
        deliver(&pieces)
    }

    /// Compares repeated bytes with those that are kept.
    private mutating func compare(_ old: ArraySlice<UInt8>, at offset: Int64, _ pieces: inout [Piece]) {
        let start = next - Int64(latest.count)
        let first = Int(clamping: max(0, start - offset))
        guard first < old.count else { return }
        let known = latest.dropFirst(Int(clamping: max(0, offset - start)))
        let differing = zip(old.dropFirst(first), known).reduce(0) { $0 + ($1.0 == $1.1 ? 0 : 1) }
        if differing > 0 { pieces.append(.differs(differing)) }
    }

    /// Adds the parts of a segment that no waiting segment covers.
    private mutating func insert(_ payload: ArraySlice<UInt8>, at offset: Int64, _ pieces: inout [Piece]) {
        var (payload, offset) = (payload, offset)
        var index = firstPending(endingAfter: offset)
        while !payload.isEmpty {
            guard index < pending.count, pending[index].offset < offset + Int64(payload.count) else {
                return place(Array(payload), at: offset, index)
            }
            let present = pending[index]
            if offset < present.offset {
                let before = payload.prefix(Int(present.offset - offset))
                place(Array(before), at: offset, index)
                payload = payload.dropFirst(before.count)
                offset = present.offset
                index += 1
            }
            let known = present.bytes.dropFirst(Int(offset - present.offset))
            let differing = zip(payload, known).reduce(0) { $0 + ($1.0 == $1.1 ? 0 : 1) }
            if differing > 0 { pieces.append(.differs(differing)) }
            let covered = min(payload.count, known.count)
            repeated += UInt64(covered)
            payload = payload.dropFirst(covered)
            offset += Int64(covered)
            index += 1
        }
    }

    private mutating func place(_ bytes: [UInt8], at offset: Int64, _ index: Int) {
        pending.insert(Pending(offset: offset, bytes: bytes), at: index)
        pendingBytes += bytes.count
    }

    private func firstPending(endingAfter offset: Int64) -> Int {
        var (low, high) = (0, pending.count)
        while low < high {
            let middle = (low + high) / 2
            if pending[middle].offset + Int64(pending[middle].bytes.count) <= offset {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// Delivers the bytes that are next, and skips holes that will not be filled.
    private mutating func deliver(_ pieces: inout [Piece]) {
        while true {
            var count = 0
            while count < pending.count, pending[count].offset == next {
                pendingBytes -= pending[count].bytes.count
                deliver(pending[count].bytes, &pieces)
                count += 1
            }
            pending.removeFirst(count)
            // An acknowledged FIN means that everything before it was received.
            let isOver = end.map { acknowledged > $0 } ?? false
            guard let first = pending.first else { return isOver ? skip(to: end ?? next, &pieces) : () }
            guard isOver || first.offset <= acknowledged && pending.count >= Self.acknowledgedLimit else { return }
            skip(to: first.offset, &pieces)
        }
    }

    private mutating func deliver(_ bytes: [UInt8], _ pieces: inout [Piece]) {
        next += Int64(bytes.count)
        latest += bytes.suffix(Self.memory)
        if latest.count > 2 * Self.memory { latest.removeFirst(latest.count - Self.memory) }
        pieces.append(.bytes(bytes))
    }

    private mutating func skip(to offset: Int64, _ pieces: inout [Piece]) {
        guard offset > next else { return }
        missing += UInt64(offset - next)
        pieces.append(.gap(UInt64(offset - next)))
        next = offset
        latest = []
    }
}
