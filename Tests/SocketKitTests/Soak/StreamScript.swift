import Glibc
import SocketKit
import SocketTestSupport

/// A stream of frames, and reads chosen for it, all from one seed.
///
/// Frames have each width and order of the number that says their length, at each place; their contents hold many of
/// the bytes that delimiters are made of. Every byte is known, so that a read of any kind can be checked from wherever
/// it began.
struct StreamScript {
    /// One frame of the stream.
    struct Frame {
        var start: Int
        var length: Int
        var prefix: LengthPrefix
    }

    /// The whole stream.
    let bytes: [UInt8]
    private let frames: [Frame]
    private var nextFrame = 0
    private var generator: SplitMix64

    init(seed: UInt64, length: Int) {
        generator = SplitMix64(seed: seed)
        var bytes: [UInt8] = []
        var frames: [Frame] = []
        bytes.reserveCapacity(length + 65_536)
        while bytes.count < length {
            let frame = Self.frame(at: bytes.count, &generator)
            frames.append(frame)
            Self.append(frame, to: &bytes, &generator)
        }
        self.bytes = bytes
        self.frames = frames
    }

    // MARK: Making the stream

    private static func frame(at start: Int, _ generator: inout SplitMix64) -> Frame {
        let widths: [LengthPrefix.Width] = [.u8, .u16, .u32, .u64]
        let width = widths[Int.random(in: 0..<4, using: &generator)]
        var prefix = LengthPrefix(
            width, isLittleEndian: Bool.random(using: &generator), offset: Int.random(in: 0...3, using: &generator),
            countsHeader: Bool.random(using: &generator))
        let longest = width == .u8 ? 200 : [16, 300, 5_000, 60_000][Int.random(in: 0..<4, using: &generator)]
        let length = prefix.headerLength + Int.random(in: 0...longest, using: &generator)
        // Now and then the limit is as tight as can be.
        if Int.random(in: 0..<4, using: &generator) == 0 { prefix.limit = length }
        return Frame(start: start, length: length, prefix: prefix)
    }

    private static func append(_ frame: Frame, to bytes: inout [UInt8], _ generator: inout SplitMix64) {
        let prefix = frame.prefix
        for _ in 0..<prefix.offset { bytes.append(UInt8.random(in: 0...255, using: &generator)) }
        let number = UInt64(frame.length - (prefix.countsHeader ? 0 : prefix.headerLength))
        let digits = (0..<prefix.width.rawValue).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        bytes += prefix.isLittleEndian ? digits : digits.reversed()
        let isText = Bool.random(using: &generator)
        var left = frame.length - prefix.headerLength
        while left > 0 {
            var random = generator.next()
            // Line ends and little else, or anything.
            if isText { random = random & 0x0101_0101_0101_0101 &* 3 &+ 0x0A0A_0A0A_0A0A_0A0A }
            withUnsafeBytes(of: random) { bytes += $0.prefix(left) }
            left -= 8
        }
    }

    /// Cuts the next piece to write: from one byte to 64 KiB, of each magnitude as often.
    mutating func cut(behind start: Int) -> Range<Int> {
        let longest = 1 << Int.random(in: 0...16, using: &generator)
        return start..<min(bytes.count, start + Int.random(in: 1...longest, using: &generator))
    }

    // MARK: Choosing reads

    /// Some reads to queue where `position` bytes have been read; empty at the end.
    mutating func reads(from position: Int) -> [ReadRequest.Kind] {
        guard position < bytes.count else { return [] }
        switch Int.random(in: 0..<4, using: &generator) {
        case 0, 1: return alignedReads(from: position)
        case 2: return [measuredDelimiter(from: position)]
        default: return (0...Int.random(in: 0..<6, using: &generator)).map { _ in looseRead(from: position) }
        }
    }

    /// The frame that begins at `position`.
    mutating func frame(at position: Int) -> Frame? {
        while nextFrame < frames.count, frames[nextFrame].start < position { nextFrame += 1 }
        return nextFrame < frames.count && frames[nextFrame].start == position ? frames[nextFrame] : nil
    }

    /// What is left of a frame that was begun, then whole frames, some of them as bare lengths.
    private mutating func alignedReads(from position: Int) -> [ReadRequest.Kind] {
        let isAligned = frame(at: position) != nil
        let boundary = nextFrame < frames.count ? frames[nextFrame].start : bytes.count
        let rest: [ReadRequest.Kind] = isAligned ? [] : [.length(boundary - position)]
        let whole = frames[nextFrame...].prefix(Int.random(in: 0...6, using: &generator)).map { frame in
            Int.random(in: 0..<5, using: &generator) == 0
                ? ReadRequest.Kind.length(frame.length) : .frame(frame.prefix)
        }
        return rest.isEmpty && whole.isEmpty ? [.available(limit: nil)] : rest + whole
    }

    /// Up to bytes that are known to come, with no limit, the tightest one, or one that leaves some room.
    private mutating func measuredDelimiter(from position: Int) -> ReadRequest.Kind {
        let terminator = terminator(behind: position)
        let end = firstEnd(of: terminator, in: position..<bytes.count) ?? 0
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: return .delimiter(terminator, limit: nil)
        case 1: return .delimiter(terminator, limit: end)
        default: return .delimiter(terminator, limit: end + Int.random(in: 1...100, using: &generator))
        }
    }

    /// A read that makes sense wherever it begins; near the end it may ask for more than will come.
    private mutating func looseRead(from position: Int) -> ReadRequest.Kind {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: .available(limit: nil)
        case 1: .available(limit: 1 << Int.random(in: 0...12, using: &generator))
        case 2: .length(1 << Int.random(in: 0...14, using: &generator))
        default: .delimiter(terminator(behind: position), limit: nil)
        }
    }

    private mutating func terminator(behind position: Int) -> [UInt8] {
        let start = min(bytes.count - 1, position + Int.random(in: 0...6_000, using: &generator))
        return Array(bytes[start...].prefix(Int.random(in: 1...4, using: &generator)))
    }

    // MARK: Checking

    /// Whether these bytes stand at `position`.
    func holds(_ found: [UInt8], at position: Int) -> Bool {
        guard position + found.count <= bytes.count else { return false }
        return bytes.withUnsafeBytes { all in
            found.withUnsafeBytes { found in
                guard let start = all.baseAddress, let other = found.baseAddress else { return found.isEmpty }
                return memcmp(start + position, other, found.count) == 0
            }
        }
    }

    /// How many bytes of `range` the first occurrence of `terminator` ends behind. It looks for the first byte, where
    /// the engine looks for the last.
    func firstEnd(of terminator: [UInt8], in range: Range<Int>) -> Int? {
        bytes.withUnsafeBytes { all in
            guard let start = all.baseAddress, let first = terminator.first else { return nil }
            var scan = range.lowerBound
            while scan + terminator.count <= range.upperBound,
                let hit = memchr(start + scan, Int32(first), range.upperBound - terminator.count + 1 - scan)
            {
                let place = UnsafeRawPointer(hit) - start
                if memcmp(hit, terminator, terminator.count) == 0 { return place + terminator.count - range.lowerBound }
                scan = place + 1
            }
            return nil
        }
    }
}
