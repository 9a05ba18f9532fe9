import SocketCore
import SocketTestSupport
import Testing

/// What the read queue makes of a stream must not depend on how the stream comes, and no byte may be lost or doubled.
struct ReadQueueRandomTests {
    /// Compares reads of lengths and delimiters with what they give for the whole stream. `feed` gives the pieces and
    /// the reads to the queue.
    private func compare(seed: UInt64, _ feed: ([[UInt8]], [ReadRequest.Kind], inout ReadBench) -> Void) {
        var generator = SplitMix64(seed: seed)
        for seed in 0..<40 {
            let stream = randomStream(60, &generator)
            let kinds = (0..<12).map { _ in randomKind(withAvailable: false, &generator) }
            let mismatch = DecoderVerifier.firstMismatch(
                of: stream, expected: naiveDeliveries(of: kinds, in: stream), seed: UInt64(seed), randomCuts: 20
            ) { pieces in
                var bench = ReadBench()
                feed(pieces, kinds, &bench)
                return bench.takeActions().compactMap { $0.delivery?.bytes }
            }
            #expect(mismatch == nil, "reads: \(kinds), stream: \(stream)")
        }
    }

    @Test func lengthAndDelimiterReadsGiveTheSameForEveryCut() {
        compare(seed: 1) { pieces, kinds, bench in
            for kind in kinds { bench.read(kind) }
            for piece in pieces { bench.arrive(piece) }
        }
    }

    @Test func lengthAndDelimiterReadsGiveTheSameWhenBytesAreHandedOverUnasked() {
        compare(seed: 2) { pieces, kinds, bench in
            for piece in pieces { piece.withUnsafeBytes { bench.queue.receive($0, now: .zero) } }
            for kind in kinds { bench.read(kind) }
        }
    }

    @Test func inAnyOrderOfEventsNoByteIsLostAndEveryReadEndsOnce() {
        for seed in 0..<6_000 {
            var run = RandomReads(seed: UInt64(seed))
            run.play(steps: 30)
            #expect(run.bytesOut == run.bytesIn, "seed \(seed)")
            #expect(run.endings == run.queued, "seed \(seed)")
            #expect(run.complaint == nil, "seed \(seed)")
        }
    }

    private func naiveDeliveries(of kinds: [ReadRequest.Kind], in stream: [UInt8]) -> [[UInt8]] {
        var rest = stream[...]
        var deliveries: [[UInt8]] = []
        for kind in kinds {
            let end: Int?
            switch kind {
            case .available, .frame: end = nil
            case .length(let length): end = length <= rest.count ? length : nil
            case .delimiter(let terminator, _):
                end = (1...max(1, rest.count)).first { rest.prefix($0).suffix(terminator.count) == terminator[...] }
            }
            guard let end, end <= rest.count else { break }
            deliveries.append(Array(rest.prefix(end)))
            rest = rest.dropFirst(end)
        }
        return deliveries
    }
}

/// A row of random events for a read queue, with what must hold at its end.
private struct RandomReads: ~Copyable {
    private(set) var bytesIn: [UInt8] = []
    private(set) var bytesOut: [UInt8] = []
    /// Every operation, in order of its name.
    private(set) var queued: [OperationID] = []
    private var ended: [OperationID] = []
    /// The first rule that was broken.
    private(set) var complaint: String?
    private var queue = ReadQueue()
    /// The sum of partials of each operation.
    private var reported: [OperationID: Int] = [:]
    private var standing: Set<OperationID> = []
    private var now = MonotonicTime.zero
    private var isOver = false
    private var generator: SplitMix64

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    /// Every ending, in order of the operations' names.
    var endings: [OperationID] { ended.sorted() }

    mutating func play(steps: Int) {
        for _ in 0..<steps where !isOver {
            now = now + .milliseconds(Int.random(in: 0...3, using: &generator))
            step()
            if Int.random(in: 0..<3, using: &generator) > 0 { performAll() }
            expire()
        }
        while let failed = queue.failNext(error: .test) { end(failed) }
        bytesOut += queue.takeUnread()
    }

    private mutating func step() {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4: enqueue()
        case 4: queue.isPausedByHand.toggle()
        case 5: receive(Int.random(in: 1...6, using: &generator))
        default: receive(min(queue.wanted, Int.random(in: 1...12, using: &generator)))
        }
    }

    private mutating func enqueue() {
        let isStanding = Int.random(in: 0..<6, using: &generator) == 0
        let timeout = Int.random(in: 0..<3, using: &generator) == 0 ? Duration.milliseconds(4) : nil
        let kind = randomKind(withAvailable: true, &generator)
        let operation = OperationID(UInt64(queued.count + 1))
        if isStanding { standing.insert(operation) }
        queued.append(operation)
        let request = ReadRequest(kind, timeout: timeout, tag: queued.count, isStanding: isStanding)
        if let replaced = queue.enqueue(request, as: operation, now: now) { end(replaced) }
    }

    private mutating func receive(_ amount: Int) {
        let bytes = randomStream(amount, &generator)
        bytesIn += bytes
        bytes.withUnsafeBytes { queue.receive($0, now: now) }
    }

    private mutating func performAll() {
        var partials = 0
        while true {
            let action = queue.advance(now: now)
            switch action {
            case .none: return
            case .partial(let operation, _, let increment, let done):
                partials += 1
                reported[operation, default: 0] += increment
                require(partials == 1 && increment > 0 && reported[operation] == done, "\(action)")
            case .deliver(let delivery): absorb(delivery)
            case .exceeded(let failed):
                isOver = true
                require(
                    reported[failed.operation] == (standing.contains(failed.operation) ? nil : failed.done), "\(action)"
                )
                end(failed)
            }
        }
    }

    private mutating func absorb(_ delivery: ReadDelivery) {
        bytesOut += delivery.bytes
        require(reported[delivery.operation] ?? 0 < delivery.bytes.count, "nothing left to report: \(delivery)")
        require(!delivery.isStanding || reported[delivery.operation] == nil, "a partial of a standing read")
        require(delivery.fitsItsKind, "\(delivery)")
        if !delivery.isStanding { ended.append(delivery.operation) }
    }

    private mutating func expire() {
        guard let timedOut = queue.expire(now: now) else { return }
        if Bool.random(using: &generator) {
            require(queue.answer(timedOut.operation, extendBy: .milliseconds(2), now: now), "answer refused")
        } else if Bool.random(using: &generator),
            let failed = queue.failAsking(
                timedOut.operation, error: .test, now: now)
        {
            end(failed)
        }
    }

    private mutating func end(_ failed: FailedOperation) {
        bytesOut += failed.bytes
        require(failed.done == failed.bytes.count, "\(failed)")
        ended.append(failed.operation)
    }

    private mutating func require(_ holds: Bool, _ rule: String) {
        if !holds, complaint == nil { complaint = rule }
    }
}

extension ReadDelivery {
    fileprivate var fitsItsKind: Bool {
        switch kind {
        case .available(let limit): !bytes.isEmpty && bytes.count <= limit ?? .max
        case .length(let length): bytes.count == length
        case .delimiter(let terminator, let limit):
            bytes.suffix(terminator.count) == terminator[...] && bytes.count <= limit ?? .max
        case .frame(let prefix): bytes.count >= prefix.headerLength && bytes.count <= prefix.limit
        }
    }
}

/// Bytes of an alphabet so small that delimiters are frequent and overlap themselves.
private func randomStream(_ count: Int, _ generator: inout SplitMix64) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...1, using: &generator) }
}

private func randomKind(withAvailable: Bool, _ generator: inout SplitMix64) -> ReadRequest.Kind {
    switch Int.random(in: 0..<(withAvailable ? 5 : 2), using: &generator) {
    case 0: .length(Int.random(in: 1...8, using: &generator))
    case 1: .delimiter(randomStream(Int.random(in: 1...3, using: &generator), &generator), limit: nil)
    case 2: .delimiter(randomStream(2, &generator), limit: Int.random(in: 8...20, using: &generator))
    case 3: .available(limit: Int.random(in: 1...4, using: &generator))
    default: .available(limit: nil)
    }
}
