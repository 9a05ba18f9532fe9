import SocketCore

/// Determines where in a stream a rule or a breakpoint takes effect.
struct FaultTrigger {
    /// A part of the stream that is entirely before, at or after such a place.
    struct Piece {
        var bytes: [UInt8]
        /// Where it begins in the stream.
        var offset: UInt64
        /// Whether an occurrence begins with its first byte, or here if it is empty.
        var isPoint = false
        /// Whether that is the first one of the stream, or of its exchange if the rule applies to some exchanges only.
        var isFirst = false
        /// Whether it is an occurrence, or follows the point of a rule that searches for nothing.
        var isHit = false
        /// Whether there was a point before its end.
        var hasBegun = false
        /// The number of bytes that a change must spare: the header of a frame.
        var header = 0
    }

    private let afterBytes: UInt64
    private let afterTime: MonotonicTime?
    private var scanner: MatchScanner?
    /// The number of bytes that came in, and of those that went out as pieces.
    private var received: UInt64
    private var passed: UInt64
    /// The number of the exchange that a rule applies to, and what must be in its question.
    private let exchange: UInt64?
    private let question: BytePattern?
    private var place = FaultTalk.Place()
    /// Whether the present bytes are of an exchange that the rule applies to.
    private var isWithin = false
    private(set) var hasBegun = false

    /// - Parameters:
    ///   - began: When the connection began.
    ///   - start: How many bytes had passed in this direction before the trigger was created.
    init(_ conditions: [FaultCondition], _ direction: FaultDirection, began: MonotonicTime, from start: UInt64 = 0) {
        var (bytes, time, pattern, frame) = (UInt64(0), MonotonicTime?.none, BytePattern?.none, FaultFrame?.none)
        var (exchange, question) = (UInt64?.none, BytePattern?.none)
        for condition in conditions {
            switch condition {
            case .afterBytes(let count): bytes = count
            case .afterTime(let after): time = began + after
            case .match(let found): pattern = found
            case .frame(let kind): frame = kind
            case .exchange(let number): exchange = number
            case .question(let found): question = found
            case .connection, .every, .first, .peer, .probability: break
            }
        }
        (afterBytes, afterTime, self.exchange, self.question) = (bytes, time, exchange, question)
        (received, passed) = (start, start)
        if pattern != nil || frame != nil { scanner = MatchScanner(pattern, frame: frame, direction) }
    }

    /// The number of bytes held because they may be the start of a match.
    var heldCount: Int { scanner?.heldCount ?? 0 }

    /// Returns up to `most` of the held bytes.
    func held(_ most: Int) -> [UInt8] { scanner?.held(most) ?? [] }

    /// Removes and returns the held bytes.
    mutating func takeHeld() -> [UInt8] {
        let bytes = scanner?.takeHeld() ?? []
        passed += UInt64(bytes.count)
        return bytes
    }

    /// When it takes effect without another byte, or `nil` if never or already.
    var due: MonotonicTime? {
        guard scanner == nil, !choosesExchanges, !hasBegun, received >= afterBytes else { return nil }
        return afterTime ?? .distantPast
    }

    /// Returns the point that is reached without another byte, or `nil`.
    mutating func poll(_ now: MonotonicTime) -> Piece? {
        guard let due, due <= now else { return nil }
        hasBegun = true
        return Piece(bytes: [], offset: passed, isPoint: true, isHit: true, hasBegun: true)
    }

    /// Whether it takes effect during some exchanges only. It then begins anew in each of them.
    var choosesExchanges: Bool { exchange != nil || question != nil }

    /// Notes the exchange that the next bytes belong to.
    mutating func enter(_ place: FaultTalk.Place) {
        guard choosesExchanges, place != self.place else { return }
        self.place = place
        hasBegun = false
        isWithin =
            place.number > 0 && (exchange.map { $0 == place.number } ?? true)
            && (question.map { place.question.map($0.matches) ?? false } ?? true)
    }

    /// Scans the next bytes. Some may be held until more arrive.
    mutating func scan(_ bytes: [UInt8], _ now: MonotonicTime, _ pieces: inout [Piece]) {
        guard scanner == nil else {
            received += UInt64(bytes.count)
            var segments: [MatchScanner.Segment] = []
            scanner?.scan(bytes, into: &segments)
            return emit(segments, now, &pieces)
        }
        guard !choosesExchanges else { return scanWithin(bytes, now, &pieces) }
        guard !hasBegun else { return emitHit(bytes, &pieces) }
        guard received + UInt64(bytes.count) >= afterBytes else {
            received += UInt64(bytes.count)
            return emitPlain(bytes, &pieces)
        }
        let before = afterBytes > received ? Int(afterBytes - received) : 0
        received += UInt64(before)
        if before > 0 { emitPlain(Array(bytes.prefix(before)), &pieces) }
        if let point = poll(now) { pieces.append(point) }
        let rest = before == 0 ? bytes : Array(bytes.dropFirst(before))
        guard !rest.isEmpty else { return }
        if hasBegun { return emitHit(rest, &pieces) }
        received += UInt64(rest.count)
        emitPlain(rest, &pieces)
    }

    /// Scans bytes of one exchange.
    private mutating func scanWithin(_ bytes: [UInt8], _ now: MonotonicTime, _ pieces: inout [Piece]) {
        let isOpen = isWithin && (afterTime.map { $0 <= now } ?? true)
        let before = isOpen ? Int(clamping: afterBytes - min(afterBytes, received)) : bytes.count
        let (plain, rest) = (bytes.prefix(before), bytes.dropFirst(before))
        received += UInt64(plain.count)
        if !plain.isEmpty { emitPlain(Array(plain), &pieces) }
        guard !rest.isEmpty else { return }
        guard !hasBegun else { return emitHit(Array(rest), &pieces) }
        received += UInt64(rest.count)
        emitPoint(Array(rest), header: 0, &pieces)
    }

    /// Handles the end of the stream by releasing the held bytes.
    mutating func finish(_ now: MonotonicTime, _ pieces: inout [Piece]) {
        var segments: [MatchScanner.Segment] = []
        scanner?.finish(into: &segments)
        emit(segments, now, &pieces)
    }

    private mutating func emitHit(_ bytes: [UInt8], _ pieces: inout [Piece]) {
        received += UInt64(bytes.count)
        pieces.append(Piece(bytes: bytes, offset: passed, isHit: true, hasBegun: true))
        passed += UInt64(bytes.count)
    }

    private mutating func emitPlain(_ bytes: [UInt8], _ pieces: inout [Piece]) {
        pieces.append(Piece(bytes: bytes, offset: passed, hasBegun: hasBegun))
        passed += UInt64(bytes.count)
    }

    private mutating func emit(_ segments: [MatchScanner.Segment], _ now: MonotonicTime, _ pieces: inout [Piece]) {
        for segment in segments {
            let isOpen =
                passed >= afterBytes && (afterTime.map { $0 <= now } ?? true) && (isWithin || !choosesExchanges)
            switch segment {
            case .plain(let bytes): emitPlain(bytes, &pieces)
            case .match(let bytes) where !isOpen: emitPlain(bytes, &pieces)
            case .frame(let frame, _) where !isOpen: emitPlain(frame.bytes, &pieces)
            case .match(let bytes): emitPoint(bytes, header: 0, &pieces)
            case .frame(let frame, _): emitPoint(frame.bytes, header: frame.payloadStart, &pieces)
            }
        }
    }

    private mutating func emitPoint(_ bytes: [UInt8], header: Int, _ pieces: inout [Piece]) {
        var point = Piece(bytes: bytes, offset: passed, isPoint: true, isHit: true, hasBegun: true, header: header)
        point.isFirst = !hasBegun
        hasBegun = true
        pieces.append(point)
        passed += UInt64(bytes.count)
    }
}

extension MonotonicTime {
    static let distantPast = MonotonicTime(nanoseconds: .min)
    static let distantFuture = MonotonicTime(nanoseconds: .max)
}
