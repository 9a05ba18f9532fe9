/// Puts one direction of a TCP stream together from segments as they were captured: lost, out of order, twice,
/// overlapping, across a wrap of the sequence numbers, from the beginning or from the middle.
package struct StreamAssembler: Sendable {
    /// What follows next in the stream.
    package enum Piece: Equatable, Sendable {
        case bytes([UInt8])
        /// So many bytes are not in the file.
        case gap(UInt64)
        /// So many bytes came again and differed; those that came first stay.
        case differs(Int)
    }

    private struct Pending {
        var offset: Int64
        var bytes: [UInt8]
    }

    /// Bytes that wait for others before them, and segments that they are in.
    package static let pendingLimit = 1 << 20
    package static let segmentLimit = 4_096
    /// Segments after a hole that the other side has acknowledged, before the hole is taken for a loss of the capture.
    private static let acknowledgedLimit = 4
    /// The latest bytes that what comes again is compared with.
    private static let memory = 16 << 10

    private var base: UInt32?
    /// The offset of the next byte; the one after the SYN, or the first that was seen, is 0.
    private var next: Int64 = 0
    private var pending: [Pending] = []
    /// Bytes that wait for others before them.
    package private(set) var pendingBytes = 0
    private var latest: [UInt8] = []
    private var acknowledged: Int64 = 0
    private var end: Int64?
    /// Bytes that were captured twice.
    package private(set) var repeated: UInt64 = 0
    /// Bytes that are not in the file.
    package private(set) var missing: UInt64 = 0
    /// Bytes from before the first that was seen, in a stream that was joined in its middle. They are left out.
    package private(set) var early: UInt64 = 0
    /// Holes that were waited for no longer because a limit was reached.
    package private(set) var givenUp: UInt64 = 0

    package init() {}

    /// Whether any segment was seen.
    package var hasBegun: Bool { base != nil }
    /// Whether everything up to the FIN is there, or known to be missing.
    package var hasEnded: Bool { end.map { next >= $0 } ?? false }

    /// Bytes that it keeps.
    var remembered: Int { latest.count + pendingBytes }
    /// What waits for bytes before it, with about what each segment takes beside its bytes.
    package var waiting: Int { pendingBytes + 64 * pending.count }

    /// Forgets the bytes that what comes again is compared with.
    mutating func forget() { latest = [] }

    /// Whether a SYN with this number began the stream.
    func begins(after sequence: UInt32) -> Bool { base.map { $0 == sequence &+ 1 } ?? false }

    /// Takes a segment; `missing`: how many bytes of its end are not in the file.
    package mutating func take(
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
        // What was cut off is acknowledged as soon as it was sent: nothing else will bring it.
        if missing > 0, wireEnd > next {
            acknowledged = max(acknowledged, wireEnd)
            if pending.isEmpty { skip(to: wireEnd, &pieces) }
        }
        if segment.flags.contains(.fin), end == nil { end = wireEnd }
        deliver(&pieces)
        if hasEnded { latest = [] }
        return pieces
    }

    /// The other side has everything before this number: what is not here by then was lost by the capture.
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

    /// Nothing more will come: what waits follows, with gaps where bytes are missing.
    package mutating func finish() -> [Piece] {
        var pieces: [Piece] = []
        while let first = pending.first {
            skip(to: first.offset, &pieces)
            deliver(&pieces)
        }
        // A FIN has a number of its own, which is acknowledged too.
        let known = end ?? acknowledged
        if acknowledged >= known, known > next { skip(to: known, &pieces) }
        return pieces
    }

    /// The offset nearest to `next` that has this sequence number.
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

    /// Waits for nothing any more: what waits follows, with gaps where bytes are missing.
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

    /// Compares bytes that came again with those that are remembered.
    private mutating func compare(_ old: ArraySlice<UInt8>, at offset: Int64, _ pieces: inout [Piece]) {
        let start = next - Int64(latest.count)
        let first = Int(clamping: max(0, start - offset))
        guard first < old.count else { return }
        let known = latest.dropFirst(Int(clamping: max(0, offset - start)))
        let differing = zip(old.dropFirst(first), known).reduce(0) { $0 + ($1.0 == $1.1 ? 0 : 1) }
        if differing > 0 { pieces.append(.differs(differing)) }
    }

    /// Adds the parts of a segment that no waiting one covers.
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

    /// Delivers what follows on, and steps over holes that nothing will fill any more.
    private mutating func deliver(_ pieces: inout [Piece]) {
        while true {
            var count = 0
            while count < pending.count, pending[count].offset == next {
                pendingBytes -= pending[count].bytes.count
                deliver(pending[count].bytes, &pieces)
                count += 1
            }
            pending.removeFirst(count)
            // Who acknowledges a FIN has all that is before it.
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
