import SocketCore
import Synchronization

/// Pieces of a stream that a task fetches without the engine.
///
/// A read that completes for an iterator brings the whole pieces that follow it and have already been received. The
/// engine keeps the other reference. Before anything else may have these bytes, it closes this, on whatever thread that
/// is requested, and puts the pieces that were not fetched back in front of the stream. Each piece is fetched once, or
/// goes back: `state` decides, in one atomic step.
///
/// Other modules inline it, because a call would cost more than the rest.
@usableFromInline final class PiecesAhead: Sendable {
    /// Set in `state` once no more pieces may be fetched.
    private static let closed = 1 << 62

    @usableFromInline let bytes: [UInt8]
    /// The offset at which each piece ends.
    @usableFromInline let ends: [Int]
    /// The number of pieces fetched, and `closed`, which makes it larger than any number of pieces.
    @usableFromInline let state = Atomic<Int>(0)

    /// For chunks, the most bytes of one; otherwise `nil`.
    let limit: Int?

    init(_ bytes: [UInt8], ends: [Int], limit: Int? = nil) {
        self.bytes = bytes
        self.ends = ends
        self.limit = limit
    }

    /// Fetches the next piece, or returns `nil` if there is none or they were closed.
    @inlinable @inline(__always) func next() -> [UInt8]? {
        var index = state.load(ordering: .acquiring)
        while index < ends.count {
            let (isFetched, present) = state.compareExchange(
                expected: index, desired: index + 1, ordering: .acquiringAndReleasing)
            if isFetched { return piece(index) }
            index = present
        }
        return nil
    }

    /// A copy in memory of its own, unless it is all there is.
    @inlinable func piece(_ index: Int) -> [UInt8] {
        if ends.count == 1 { return bytes }
        let start = index == 0 ? 0 : ends[index - 1]
        return bytes.withUnsafeBytes { [UInt8](UnsafeRawBufferPointer(rebasing: $0[start..<ends[index]])) }
    }

    /// Makes `next` return `nil` from now on.
    func close() { _ = state.bitwiseOr(Self.closed, ordering: .acquiringAndReleasing) }

    /// The number of pieces fetched so far. It doesn't change once they are closed.
    var fetched: Int { state.load(ordering: .acquiring) & ~Self.closed }

    /// The number of bytes of the first `count` pieces.
    func length(of count: Int) -> Int { count == 0 ? 0 : ends[count - 1] }

    /// Whether all of them were fetched.
    var areFetched: Bool { fetched == ends.count }

    /// The bytes of all pieces after the first `count`.
    func rest(after count: Int) -> [UInt8] { Array(bytes[length(of: count)..<(ends.last ?? 0)]) }
}

/// What an iterator's read takes along: pieces as its kind of read delivers them, of at most `most` bytes in all. For
/// chunks, `ahead` bytes may also be received while the task does something else.
///
/// Finding pieces and putting them back takes time for each byte. An iterator therefore begins with few, and gets more
/// while it fetches all: one that alternates with other reads stays at few.
struct PiecesWanted: Sendable {
    static let least = 1_024
    /// All these bytes were received, so this is not a limit of what is received.
    static let limit = 65_536

    let kind: ReadRequest.Kind
    let ahead: Int
    private(set) var most = Self.least

    init(_ kind: ReadRequest.Kind, ahead: Int) {
        self.kind = kind
        self.ahead = ahead
    }

    /// Adapts to what became of the pieces that the last read took along.
    mutating func adapt(to last: PiecesAhead?) {
        if let last { most = last.areFetched ? min(Self.limit, most * 4) : Self.least }
    }
}
