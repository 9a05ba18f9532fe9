import SocketCore
import SocketWorkshop

/// One direction with rules, a clock that is set by hand, and all that came out.
struct FaultBench {
    var pipeline: FaultPipeline
    var now = MonotonicTime.zero
    var output: [UInt8] = []
    /// The bytes of each piece, and when it came.
    var pieces: [(bytes: [UInt8], time: MonotonicTime, isApart: Bool)] = []
    /// Those that a person wrote.
    var ours: [UInt8] = []
    var isHolding = false
    var hasEnded = false
    var wasReset = false
    var reports: [FaultReport] = []
    var wake: MonotonicTime?

    init(
        _ rules: [String], seed: UInt64 = 7, connection: UInt64 = 1, _ direction: FaultDirection = .upstream,
        delayBuffer: Int = FaultBook.delayBuffer, breaks: [String] = [], passed: UInt64 = 0
    ) throws {
        let place = FaultPlace(seed: seed, connection: connection, direction: direction, began: .zero)
        pipeline = FaultPipeline(place, delayBuffer: delayBuffer, passed: passed)
        for (index, text) in rules.enumerated() { pipeline.add(NumberedFault(index + 1, try FaultRule.parse(text))) }
        for (index, text) in breaks.enumerated() { pipeline.add(NumberedBreak(index + 1, try Breakpoint.parse(text))) }
        perform(pipeline.start(now))
    }

    mutating func perform(_ actions: [FaultPipeline.Action]) {
        for action in actions {
            switch action {
            case .deliver(let bytes, let isApart, let isOurs):
                output += bytes
                pieces.append((bytes, now, isApart))
                if isOurs { ours += bytes }
            case .hold(let holds): isHolding = holds
            case .end: hasEnded = true
            case .reset: wasReset = true
            case .wake(let time): wake = time
            case .report(let report): reports.append(report)
            }
        }
    }

    /// Adds a rule, or a breakpoint, to a connection that exists.
    mutating func add(_ number: Int, _ rule: String) throws {
        pipeline.add(NumberedFault(number, try FaultRule.parse(rule)))
        perform(pipeline.start(now))
    }

    mutating func addBreak(_ number: Int, _ point: String) throws {
        pipeline.add(NumberedBreak(number, try Breakpoint.parse(point)))
        perform(pipeline.start(now))
    }

    mutating func send(_ text: String) { send(Array(text.utf8)) }
    /// Sends, and calls `wake` until the pipeline has done what it can do at this time.
    mutating func send(_ bytes: [UInt8]) {
        sendOnce(bytes)
        pass(.zero)
    }

    /// Sends, and lets the pipeline take one turn.
    mutating func sendOnce(_ bytes: [UInt8]) { perform(pipeline.receive(bytes, now)) }
    mutating func end() { perform(pipeline.end(now)) }
    mutating func release(_ release: BreakRelease) { perform(pipeline.release(release, now)) }

    /// Lets time pass, calling `wake` whenever it was asked for.
    mutating func pass(_ time: Duration) {
        let end = now + time
        while let due = wake, due <= end {
            now = max(now, due)
            wake = nil
            perform(pipeline.wake(now))
        }
        now = end
    }

    var text: String { String(decoding: output, as: UTF8.self) }
}

/// Chops bytes into reads, as a seed has it.
struct Chopper {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 2 &+ 1 }

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }

    mutating func chop(_ bytes: [UInt8], most: Int) -> [[UInt8]] {
        var reads: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = min(rest.count, 1 + next(most))
            reads.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return reads
    }
}
