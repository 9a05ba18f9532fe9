import SocketCore

/// One rule or breakpoint in one direction of one connection. Bytes enter, and the same or other bytes leave, at once
/// or later.
///
/// A stage pulls nothing. `FaultPipeline` gives it what comes from the stage before and asks it for what is due.
struct FaultStage {
    enum Kind: Equatable {
        case fault(FaultEffect)
        /// Where a breakpoint holds: at a place in the stream, or at its end.
        case place, end
        /// Where the user, or a hold in the other direction, holds this one.
        case gate
    }

    /// What accompanies bytes on their way.
    struct Marks: Equatable {
        /// Whether to send them separately from other bytes.
        var isApart = false
        /// Whether the user wrote them here.
        var isOurs = false
        /// The exchange that they belong to.
        var talk = FaultTalk.Place()
    }

    /// What passes from stage to stage.
    enum Item: Equatable {
        case bytes(ArraySlice<UInt8>, Marks)
        case end
        /// A reset overtakes everything that waits in the stages after this one.
        case reset
    }

    struct Chunk {
        var bytes: ArraySlice<UInt8>
        var due: MonotonicTime
        /// Whether the bytes go out in pieces, or at a limited rate.
        var isCut = false
        var offset: UInt64 = 0
        var marks: Marks
    }

    /// Something that waits in the stage.
    enum Entry {
        case bytes(Chunk)
        case end(due: MonotonicTime)
        case reset
        /// Let nothing pass for this long, or forever if `nil`.
        case block(Duration?)
        /// Let nothing pass until it is released.
        case hold
    }

    /// How much of the held bytes may pass.
    enum Allowance: Equatable {
        case bytes(Int)
        /// What came in one read.
        case read
    }

    let number: Int
    let kind: Kind
    let hasFrame: Bool
    /// Whether the rule searches the stream and takes effect at each match.
    let findsPlaces: Bool
    let random: FaultRandom
    let share: Double
    let capacity: Int
    var trigger: FaultTrigger
    var replacing: MatchScanner?
    var entries = FaultQueue<Entry>()
    var entryBytes = 0
    /// The marks of the item that is being taken in.
    var marks = Marks()
    /// No paced bytes go out before this time.
    var clock = MonotonicTime.distantPast
    var lastDue = MonotonicTime.distantPast
    var blockedUntil = MonotonicTime.distantPast
    /// Bytes left of a limit.
    var left: UInt64?
    /// Bytes left of the current slice.
    var sliceLeft = 0
    /// The bits of a block that `corrupt` flips, drawn once even if its bytes arrive one at a time.
    var drawn: (block: UInt64, bits: [UInt64])?
    /// The number of places found, including those that chance left unchanged.
    var places: UInt64 = 0
    /// The stream offset at which replacing begins, and the one it has reached.
    var replacesFrom: UInt64?
    var replaced: UInt64
    /// The offsets of the frames that the rule applies to.
    var framesToChange = FaultQueue<UInt64>()
    var isShut = false
    var isHeld = false
    /// The breakpoint for which a gate holds.
    var heldBy: Int?
    var allowance: Allowance?
    /// Whether it was removed. It then keeps nothing and changes nothing more.
    var isOff = false {
        didSet { if isOff { flushScanners() } }
    }
    /// How often it took effect, and how many bytes it dropped.
    var count: UInt64 = 0
    var dropped: UInt64 = 0
    /// The number of places left as they were, because their frame would have grown too large.
    var limited: UInt64 = 0
    /// The reports since they were last collected.
    var reports: [FaultReport] = []
    var reported = 0

    /// The maximum number of reports for one rule in one direction of one connection. Counting continues beyond it.
    static let reportLimit = 32
    /// How late a timer may fire without lowering a bandwidth, as an offset from now.
    static let lateness = Duration.milliseconds(-100)
    /// The sizes of the ranges in which `corrupt` counts its bits, and of those that share one jitter. They are small
    /// enough that each message of a dialog has its own.
    static let (block, jitterBlock) = (UInt64(1_024), UInt64(16))
    /// The size to which a frame may grow.
    static let frameLimit = 4 << 20
    /// What each piece costs in a bounded buffer in addition to its bytes.
    static let overhead = 64

    /// - Parameter start: The number of bytes that passed in this direction before.
    init(
        _ number: Int, _ kind: Kind, when conditions: [FaultCondition], _ place: FaultPlace, capacity: Int = 0,
        from start: UInt64 = 0
    ) {
        (self.number, self.kind, self.capacity, replaced) = (number, kind, capacity, start)
        random = FaultRandom(
            seed: place.seed, rule: number, connection: place.connection, direction: place.direction)
        trigger = FaultTrigger(conditions, place.direction, began: place.began, from: start)
        hasFrame = conditions.contains { if case .frame = $0 { true } else { false } }
        findsPlaces = hasFrame || conditions.contains { if case .match = $0 { true } else { false } }
        share = conditions.probability ?? 1
        let frame = conditions.lazy.compactMap { if case .frame(let frame) = $0 { frame } else { nil } }.first
        if case .fault(.replace(let pattern, _)) = kind {
            replacing = MatchScanner(pattern, frame: frame, place.direction)
        }
    }

    /// Whether nothing waits here, neither for its time nor for more bytes.
    var isEmpty: Bool { entries.isEmpty && scannedBytes == 0 }

    /// The number of bytes that wait here, including those that may be the start of a match.
    var waitingBytes: Int { entryBytes + scannedBytes }
    private var scannedBytes: Int { trigger.heldCount + (replacing?.heldCount ?? 0) }

    /// Whether it was removed and has nothing left to pass on.
    var isDone: Bool { isOff && entries.isEmpty }

    /// Whether it accepts more from the stage before it.
    var accepts: Bool {
        if isOff { return entries.isEmpty }
        guard blockedUntil == .distantPast else { return false }
        if case .fault(.latency) = kind { return storedBytes < capacity }
        return entries.isEmpty && (!isHeld || allowance != nil)
    }

    private var storedBytes: Int { entryBytes + entries.count * Self.overhead }

    var isFull: Bool {
        if case .fault(.latency) = kind { return storedBytes >= capacity && !isOff }
        return false
    }

    /// Whether it can use more of the sender's bytes, now or once the waiting ones have passed.
    var takesFromSender: Bool { isOff || blockedUntil == .distantPast && (!isHeld || allowance != nil) }

    /// Whether it has a reset to pass on, which overtakes everything.
    var isResetting: Bool {
        guard kind == .fault(.reset), !isOff else { return false }
        return entries.all.contains { if case .reset = $0 { true } else { false } }
    }

    /// When its reset takes effect without another byte, or `nil` if it doesn't.
    var resetDue: MonotonicTime? { kind == .fault(.reset) && !isOff ? trigger.due : nil }

    var isFault: Bool { if case .fault = kind { true } else { false } }

    // MARK: Input

    mutating func tick(_ now: MonotonicTime) {
        guard !isOff, let point = trigger.poll(now) else { return }
        apply(point, now)
    }

    mutating func absorb(_ item: Item, _ now: MonotonicTime) {
        if case .bytes(_, let marks) = item { self.marks = marks }
        defer { marks = Marks() }
        guard !isOff else { return append(item) }
        var pieces: [FaultTrigger.Piece] = []
        switch item {
        case .bytes(let bytes, let marks):
            trigger.enter(marks.talk)
            trigger.scan(Array(bytes), now, &pieces)
        case .end: trigger.finish(now, &pieces)
        case .reset: return
        }
        for piece in pieces { apply(piece, now) }
        if case .end = item { applyEnd(now) }
    }

    private mutating func append(_ item: Item) {
        switch item {
        case .bytes(let bytes, _): append(bytes)
        case .end: entries.append(.end(due: .distantPast))
        case .reset: entries.append(.reset)
        }
    }

    mutating func append(
        _ bytes: ArraySlice<UInt8>, due: MonotonicTime = .distantPast, isCut: Bool = false, offset: UInt64 = 0
    ) {
        guard !bytes.isEmpty else { return }
        entryBytes += bytes.count
        entries.append(.bytes(Chunk(bytes: bytes, due: due, isCut: isCut, offset: offset, marks: marks)))
    }

    /// Lets partly scanned bytes pass unchanged. Those of `replacing` precede those of the trigger in the stream.
    mutating func flushScanners() {
        append(takeScanned()[...])
        isHeld = false
        allowance = nil
    }

    /// Whether a lasting effect applies to this piece. With `frame` only frames count, otherwise all from the point on.
    func lasts(_ piece: FaultTrigger.Piece) -> Bool {
        hasFrame ? piece.isHit : piece.hasBegun
    }

    private mutating func apply(_ piece: FaultTrigger.Piece, _ now: MonotonicTime) {
        guard !isShut else {
            dropped += UInt64(piece.bytes.count)
            return
        }
        switch kind {
        case .place:
            if piece.isPoint { entries.append(.hold) }
            append(piece.bytes[...])
        case .end, .gate: append(piece.bytes[...])
        case .fault(let effect): apply(effect, piece, now)
        }
    }

    // MARK: Output

    /// When it has something to deliver or do without more input, or `nil` if never.
    var due: MonotonicTime? {
        if isOff { return nil }
        var earliest = trigger.due
        func add(_ time: MonotonicTime) {
            if time != .distantFuture { earliest = min(earliest ?? .distantFuture, time) }
        }
        if blockedUntil != .distantPast {
            add(blockedUntil)
        } else if !isHeld, let entry = entries.first {
            switch entry {
            case .bytes(let chunk): add(chunk.isCut ? max(chunk.due, clock) : chunk.due)
            case .end(let due): add(due)
            case .block, .hold, .reset: break
            }
        }
        return earliest
    }

    /// Returns the next item that may pass now, or `nil`.
    mutating func output(_ now: MonotonicTime) -> Item? {
        if blockedUntil != .distantPast {
            guard isOff || blockedUntil <= now else { return nil }
            blockedUntil = .distantPast
        }
        while let entry = entries.first {
            switch entry {
            case .block(let time):
                entries.removeFirst()
                guard !isOff else { continue }
                blockedUntil = time.map { now + $0 } ?? .distantFuture
                return nil
            case .hold:
                if isHeld, allowance == nil { return nil }
                entries.removeFirst()
                if !isOff { hold() }
            case .reset:
                guard !isHeld || allowance != nil else { return nil }
                entries.removeFirst()
                return .reset
            case .end(let due):
                guard isOff || due <= now, !isHeld || allowance != nil else { return nil }
                entries.removeFirst()
                if allowance == .read { allowance = nil }
                return .end
            case .bytes(let chunk):
                guard isOff || chunk.due <= now else { return nil }
                return pass(chunk, now)
            }
        }
        return nil
    }

    private mutating func pass(_ chunk: Chunk, _ now: MonotonicTime) -> Item? {
        var count = chunk.bytes.count
        var marks = chunk.marks
        if isHeld {
            switch allowance {
            case nil: return nil
            case .read: allowance = nil
            case .bytes(let most):
                count = min(count, most)
                allowance = most == count ? nil : .bytes(most - count)
            }
        } else if chunk.isCut, !isOff, case .fault(let effect) = kind {
            guard clock <= now else { return nil }
            let (piece, isApart) = cut(count, effect, at: chunk.offset, now)
            count = piece
            if isApart { marks.isApart = true }
        }
        entryBytes -= count
        var rest = chunk
        rest.bytes = chunk.bytes.dropFirst(count)
        (rest.due, rest.offset) = (.distantPast, chunk.offset + UInt64(count))
        if rest.bytes.isEmpty { entries.removeFirst() } else { entries.replaceFirst(.bytes(rest)) }
        return .bytes(chunk.bytes.prefix(count), marks)
    }

    /// Returns how many of the waiting bytes go out in one piece, and sets the clock for the next one.
    private mutating func cut(
        _ available: Int, _ effect: FaultEffect, at offset: UInt64, _ now: MonotonicTime
    ) -> (count: Int, isApart: Bool) {
        switch effect {
        case .bandwidth(let rate):
            // A timer that fires late doesn't lower the rate.
            let count = min(available, Int(clamping: max(1, rate / 50)))
            let cost = Duration.nanoseconds(Int64(Double(count) / Double(rate) * 1e9))
            clock = max(clock, clock == .distantPast ? now : now + Self.lateness) + cost
            self.count += 1
            return (count, false)
        case .slice(let size, let vary, let every):
            if sliceLeft == 0 { sliceLeft = sliceSize(size, vary, at: offset) }
            let count = min(available, sliceLeft)
            sliceLeft -= count
            if let every { clock = max(clock, now) + every }
            self.count += 1
            return (count, true)
        default: return (available, false)
        }
    }

    private func sliceSize(_ size: UInt64, _ vary: UInt64, at offset: UInt64) -> Int {
        guard vary > 0 else { return Int(clamping: size) }
        let least = size > vary ? size - vary : 1
        return Int(clamping: least + random.below(size + vary - least + 1, at: offset))
    }
}
