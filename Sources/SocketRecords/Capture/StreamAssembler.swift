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
        /// A keep-alive probe with an octet that is not part of the stream.
        case keepAlive
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
    /// The largest window (RFC 7323, 2.3).
    private static let windowLimit: Int64 = 1 << 30

    private var base: UInt32?
    /// Whether the base follows a SYN.
    package private(set) var hasSYN = false
    /// Whether any segment of this side was seen. Its base can be known before, from an acknowledgement.
    package private(set) var isSeen = false
    /// The offset of the next byte. Offset 0 is the byte after the SYN, or the first one seen.
    private var next: Int64 = 0
    /// The offset after everything that was sent, FIN included.
    private var sent: Int64 = 0
    /// The offset after the farthest byte that the other side's window had room for.
    private var edge: Int64?
    private var pending: [Pending] = []
    /// The number of bytes that wait for earlier ones.
    package private(set) var pendingBytes = 0
    private var latest: [UInt8] = []
    private var acknowledged: Int64 = 0
    private var hasAcknowledgement = false
    private var end: Int64?
    /// The number of bytes that were captured twice.
    package private(set) var repeated: UInt64 = 0
    /// The number of bytes that are not in the file.
    package private(set) var missing: UInt64 = 0
    /// The number of bytes before the first one seen, in a stream whose beginning was not captured. They are left out.
    package private(set) var early: UInt64 = 0
    /// The number of keep-alive probes that carried an octet.
    package private(set) var keepAlives: UInt64 = 0
    /// The number of segments that no window can include, or whose bytes follow the FIN. They are left out.
    package private(set) var outside: UInt64 = 0
    /// The number of holes that were given up because a limit was reached.
    package private(set) var givenUp: UInt64 = 0

    package init() {}

    /// The sequence number of its first byte, or `nil` if no number of this side is known.
    package var first: UInt32? { base }
    var hasBegun: Bool { base != nil }
    /// Whether everything up to the FIN was received, or is known to be missing.
    package var hasEnded: Bool { end.map { next >= $0 } ?? false }

    /// Whether a FIN was seen, whatever is missing before it.
    var hasFIN: Bool { end != nil }

    /// The number of bytes that it keeps.
    var remembered: Int { latest.count + pendingBytes }
    /// The approximate memory of bytes that wait for earlier ones, including the overhead of their segments.
    package var waiting: Int { pendingBytes + 64 * pending.count }

    /// Whether the other side acknowledged bytes that are not in the file so far.
    var lacksAcknowledged: Bool { acknowledged > next && !hasEnded }

    /// Drops the bytes that are kept to compare with repeated ones.
    mutating func forget() { latest = [] }

    /// Returns whether a SYN with this number, followed by `length` bytes, can have begun the stream. An acknowledgement
    /// that was seen before it can include those bytes (RFC 7413).
    func begins(after sequence: UInt32, _ length: Int) -> Bool {
        guard let base else { return true }
        let ahead = Int32(bitPattern: base &- (sequence &+ 1))
        return ahead == 0 || !hasSYN && next == 0 && ahead > 0 && Int(ahead) <= length
    }

    /// Returns the distance of a sequence number from the next expected one, or 0 if none is expected.
    func distance(to sequence: UInt32) -> Int64 { base == nil ? 0 : abs(place(of: sequence) - next) }

    /// Processes a segment. `missing` is the number of bytes at its end that are not in the file.
    package mutating func absorb(
        _ segment: ParsedPacket.TCPSegment, _ payload: ArraySlice<UInt8>, missing: Int = 0
    ) -> [Piece] {
        begin(with: segment, payload.count + missing)
        let offset = place(of: segment.flags.contains(.syn) ? segment.sequence &+ 1 : segment.sequence)
        let wireEnd = offset + Int64(payload.count) + Int64(missing)
        guard offset - next < Self.windowLimit, next - wireEnd < Self.windowLimit else {
            outside += 1
            return []
        }
        if isKeepAlive(segment, payload, payload.count + missing, at: offset) {
            keepAlives += 1
            return [.keepAlive]
        }
        isSeen = true
        var pieces: [Piece] = []
        if !payload.isEmpty { add(payload, at: offset, &pieces) }
        // Truncated bytes count as acknowledged at once, since no other packet will contain them.
        if missing > 0, wireEnd > next {
            acknowledged = max(acknowledged, wireEnd)
            if pending.isEmpty { skip(to: wireEnd, &pieces) }
        }
        // What follows a FIN that was reached is left out, so the earliest one is the end.
        if segment.flags.contains(.fin), wireEnd >= next, wireEnd < end ?? .max { end = wireEnd }
        sent = max(sent, wireEnd + (end == wireEnd && segment.flags.contains(.fin) ? 1 : 0))
        deliver(&pieces)
        if hasEnded { drop() }
        return pieces
    }

    /// Sets where the stream begins, or moves its beginning while no byte was delivered: to the byte after a SYN, or to
    /// the first byte if only an acknowledgement was seen before it.
    private mutating func begin(with segment: ParsedPacket.TCPSegment, _ length: Int) {
        let isSYN = segment.flags.contains(.syn)
        let first = isSYN ? segment.sequence &+ 1 : segment.sequence
        guard let known = base else { return (base, hasSYN) = (first, isSYN) }
        guard !hasSYN, next == 0 else { return }
        let ahead = Int64(Int32(bitPattern: known &- first))
        let isEarlier = !isSeen && length > 1 && ahead > 0 && ahead < Self.windowLimit
        guard ahead >= 0, isSYN || isEarlier else { return }
        (base, hasSYN) = (first, isSYN)
        for index in pending.indices { pending[index].offset += ahead }
        (acknowledged, sent) = (acknowledged + ahead, sent + ahead)
        (end, edge) = (end.map { $0 + ahead }, edge.map { $0 + ahead })
    }

    /// Returns whether a segment is a keep-alive probe (RFC 1122, 4.2.3.6): an octet without meaning before the next
    /// one, when everything is acknowledged. Whether it is, isn't known if the other side's segments were not captured.
    private func isKeepAlive(
        _ segment: ParsedPacket.TCPSegment, _ payload: ArraySlice<UInt8>, _ length: Int, at offset: Int64
    ) -> Bool {
        guard length == 1, segment.flags.isDisjoint(with: [.syn, .fin, .reset]), offset == sent - 1
        else { return false }
        if hasAcknowledgement || offset < 0 { return acknowledged > offset }
        return offset == next - 1 && latest.last.map { payload.first != $0 } ?? false
    }

    /// Drops what follows the FIN, and the bytes that are kept to compare with repeated ones.
    private mutating func drop() {
        outside += UInt64(pending.count)
        (pending, pendingBytes, latest) = ([], 0, [])
    }

    /// Records that the other side acknowledged everything before this number, and has room for `window` bytes after
    /// it. What is still missing by then was lost by the capture.
    package mutating func otherSide(acknowledges number: UInt32, window: Int? = nil) -> [Piece] {
        guard base != nil else {
            (base, edge) = (number, window.map { Int64($0) })
            return []
        }
        let offset = place(of: number)
        guard abs(offset - next) < Self.windowLimit else { return [] }
        hasAcknowledgement = true
        if let window { edge = max(edge ?? 0, offset + Int64(window)) }
        guard offset > acknowledged else { return [] }
        // An empty segment of a stream that began before the capture can be a probe, with the number of the octet before.
        if isSeen, !hasSYN, next == 0, offset == 1, sent == 0, pending.isEmpty {
            base = number
            edge = edge.map { $0 - 1 }
            return []
        }
        acknowledged = offset
        var pieces: [Piece] = []
        deliver(&pieces)
        if hasEnded { drop() }
        return pieces
    }

    /// Delivers the waiting bytes, with gaps where bytes are missing, since no more will arrive. If the other side has
    /// closed and no FIN of this side was seen, the last acknowledged number was its FIN, which is not a byte.
    package mutating func finish(otherHasClosed: Bool = false) -> [Piece] {
        var pieces: [Piece] = []
        while let first = pending.first, first.offset < end ?? .max {
            skip(to: first.offset, &pieces)
            deliver(&pieces)
        }
        drop()
        let known = end ?? (otherHasClosed && acknowledged > sent ? acknowledged - 1 : acknowledged)
        if acknowledged >= known, known > next { skip(to: known, &pieces) }
        return pieces
    }

    /// Whether a receiver takes a reset.
    enum ResetVerdict { case exact, inWindow, outside }

    /// Returns whether the receiver of this stream takes a reset with this number (RFC 9293, 3.10.7.4). It must be the
    /// next one that the receiver expects, which is known as well as the capture has both sides. Another number in the
    /// window is only answered.
    func verdict(onReset sequence: UInt32) -> ResetVerdict {
        guard base != nil else { return .exact }
        let offset = place(of: sequence)
        if [next, sent, acknowledged].contains(offset) { return .exact }
        let expected = max(next, acknowledged)
        return offset > expected && offset <= edge ?? (expected + Self.windowLimit) ? .inWindow : .outside
    }

    /// Whether an acknowledgement is of something that was sent.
    func wasSent(before number: UInt32) -> Bool { base == nil || (0...sent).contains(place(of: number)) }

    /// Returns the offset nearest to `next` that has this sequence number.
    private func place(of sequence: UInt32) -> Int64 {
        let expected = (base ?? 0) &+ UInt32(truncatingIfNeeded: next)
        return next + Int64(Int32(bitPattern: sequence &- expected))
    }

    private mutating func add(_ payload: ArraySlice<UInt8>, at offset: Int64, _ pieces: inout [Piece]) {
        var (payload, offset) = (payload, offset)
        if let end, next >= end, offset + Int64(payload.count) > end {
            payload = payload.prefix(Int(clamping: max(0, end - offset)))
            outside += 1
        }
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
        guard first.offset < end ?? .max else { return drop() }
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
            guard let first = pending.first, first.offset < end ?? .max else {
                return isOver ? skip(to: end ?? next, &pieces) : ()
            }
            guard isOver || first.offset <= acknowledged && pending.count >= Self.acknowledgedLimit else { return }
            skip(to: first.offset, &pieces)
        }
    }

    private mutating func deliver(_ bytes: [UInt8], _ pieces: inout [Piece]) {
        next += Int64(bytes.count)
        // What is kept is contiguous, so bytes that are not kept whole replace it.
        if bytes.count >= Self.memory { latest.removeAll(keepingCapacity: true) }
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
