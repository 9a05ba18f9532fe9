import SocketCore

/// Finds a pattern, or frames, in a stream. What it finds doesn't depend on how reads divide the stream.
struct MatchScanner {
    enum Segment {
        case plain([UInt8])
        case match([UInt8])
        /// A frame of the requested kind, and the ranges of its payload that match the pattern.
        case frame(WireFrame, [Range<Int>])
    }

    /// The longest line that a regular expression is matched against. A longer one is split there.
    static let longestLine = 16_384

    private let pattern: BytePattern?
    private let frame: FaultFrame?
    /// Splits the stream into frames, or `nil` if bytes are searched anywhere, even across frames.
    private var splitter: FrameSplitter?
    /// Bytes that may be the start of a match: less than a literal, or less than a line.
    private var held: [UInt8] = []

    /// - Parameter frame: Limits the search to frames of this kind. Without a pattern, all of them match.
    init(_ pattern: BytePattern?, frame: FaultFrame? = nil, _ direction: FaultDirection) {
        self.pattern = pattern
        self.frame = frame
        if case .literal = pattern, frame == nil { return }
        splitter = FrameSplitter(direction)
    }

    var heldCount: Int { held.count + (splitter?.held.count ?? 0) }

    /// Returns up to `most` of the held bytes, in stream order.
    func held(_ most: Int) -> [UInt8] {
        Array(held.prefix(most)) + Array((splitter?.held ?? []).prefix(max(0, most - held.count)))
    }

    /// Removes and returns the held bytes, which have not been searched as a whole.
    mutating func takeHeld() -> [UInt8] {
        defer { held = [] }
        return held + (splitter?.takeHeld() ?? [])
    }

    mutating func scan(_ bytes: [UInt8], into segments: inout [Segment]) {
        guard splitter != nil else { return scanRaw(bytes, into: &segments) }
        var units: [FrameSplitter.Unit] = []
        splitter?.split(bytes, into: &units)
        add(units, to: &segments)
    }

    /// Handles the end of the stream by searching the held bytes as they are.
    mutating func finish(into segments: inout [Segment]) {
        var units: [FrameSplitter.Unit] = []
        splitter?.finish(into: &units)
        add(units, to: &segments)
        flush(into: &segments)
    }

    private mutating func add(_ units: [FrameSplitter.Unit], to segments: inout [Segment]) {
        for unit in units {
            switch unit {
            case .raw(let bytes): scanRaw(bytes, into: &segments)
            case .frame(let found):
                flush(into: &segments)
                scan(found, into: &segments)
            case .part(let bytes):
                flush(into: &segments)
                segments.append(.plain(bytes))
            }
        }
    }

    private func scan(_ found: WireFrame, into segments: inout [Segment]) {
        guard frame == nil || frame?.opcode == found.header.opcode else { return segments.append(.plain(found.bytes)) }
        var ranges: [Range<Int>] = []
        switch pattern {
        case nil: break
        // A regular expression can't match compressed text.
        case .expression where found.header.isCompressed: return segments.append(.plain(found.bytes))
        case .expression(let expression): ranges = expression.ranges(in: found.payload)
        case .literal(let literal): ranges = Self.ranges(of: literal, in: found.payload)
        }
        let isFound = pattern == nil || !ranges.isEmpty
        segments.append(isFound ? .frame(found, ranges) : .plain(found.bytes))
    }

    /// Searches the held bytes, which are complete because something else or nothing follows them.
    private mutating func flush(into segments: inout [Segment]) {
        guard !held.isEmpty else { return }
        let rest = held
        held = []
        if case .expression(let expression) = pattern {
            Self.add(rest, expression.ranges(in: Self.content(of: rest)), to: &segments)
        } else {
            segments.append(.plain(rest))
        }
    }

    private mutating func scanRaw(_ bytes: [UInt8], into segments: inout [Segment]) {
        switch pattern {
        // Only frames can match.
        case _ where frame != nil: segments.append(.plain(bytes))
        case nil: segments.append(.plain(bytes))
        case .literal(let literal): scan(bytes, for: literal, into: &segments)
        case .expression(let expression): scanLines(bytes, for: expression, into: &segments)
        }
    }

    // MARK: Literals

    private mutating func scan(_ bytes: [UInt8], for literal: [UInt8], into segments: inout [Segment]) {
        let whole = held.isEmpty ? bytes : held + bytes
        let found = Self.ranges(of: literal, in: whole)
        let end = found.last?.upperBound ?? 0
        let kept = Self.start(of: literal, atTheEndOf: whole[end...])
        held = Array(whole.suffix(kept))
        Self.add(kept == 0 ? whole : Array(whole.dropLast(kept)), found, to: &segments)
    }

    /// Returns how many of the last bytes begin the literal, which is always less than its length.
    private static func start(of literal: [UInt8], atTheEndOf bytes: ArraySlice<UInt8>) -> Int {
        var count = min(literal.count - 1, bytes.count)
        while count > 0, !bytes.suffix(count).elementsEqual(literal.prefix(count)) { count -= 1 }
        return count
    }

    private static func ranges(of literal: [UInt8], in bytes: [UInt8]) -> [Range<Int>] {
        bytes.withUnsafeBytes { bytes in
            var found: [Range<Int>] = []
            var start = 0
            while start < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
                guard case .found(let end) = TerminatorSearch.find(literal, in: rest, from: 0) else { break }
                found.append(start + end - literal.count..<start + end)
                start += end
            }
            return found
        }
    }

    // MARK: Lines

    private mutating func scanLines(_ bytes: [UInt8], for expression: Pattern, into segments: inout [Segment]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let room = Self.longestLine - held.count
            let part = rest.prefix(room)
            let end = part.firstIndex(of: 0x0A).map { $0 + 1 }
            let taken = end.map { rest[rest.startIndex..<$0] } ?? part
            held += taken
            rest = rest.dropFirst(taken.count)
            guard end != nil || held.count == Self.longestLine else { return }
            flush(into: &segments)
        }
    }

    /// Returns a line without its line ending.
    private static func content(of line: [UInt8]) -> [UInt8] {
        guard line.last == 0x0A else { return line }
        return Array(line.dropLast(line.dropLast().last == 0x0D ? 2 : 1))
    }

    private static func add(_ bytes: [UInt8], _ ranges: [Range<Int>], to segments: inout [Segment]) {
        guard !ranges.isEmpty else {
            if !bytes.isEmpty { segments.append(.plain(bytes)) }
            return
        }
        var start = 0
        for range in ranges {
            if start < range.lowerBound { segments.append(.plain(Array(bytes[start..<range.lowerBound]))) }
            segments.append(.match(Array(bytes[range])))
            start = range.upperBound
        }
        if start < bytes.count { segments.append(.plain(Array(bytes[start...]))) }
    }
}
