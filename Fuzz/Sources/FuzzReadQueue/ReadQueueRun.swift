import FuzzSupport
import SocketCore

/// One row of events, given to a read queue and to the model at once; after each, both must agree.
struct ReadQueueRun: ~Copyable {
    private var input: FuzzInput
    private var queue = ReadQueue()
    private var model = ReadModel()
    private var now = MonotonicTime.zero
    private var operations: UInt64 = 0
    private var completed: UInt64 = 0
    /// A small alphabet makes delimiters and short frames frequent.
    private let mask: UInt8
    private static let error = SocketError(.disconnected, operation: "fuzz", detail: "ended by the fuzzer")

    init(_ input: FuzzInput) {
        self.input = input
        mask = self.input.byte() & 1 == 0 ? 0x03 : 0xFF
    }

    mutating func play() {
        while !input.isEmpty {
            step()
            checkState()
        }
        finish()
    }

    private mutating func step() {
        switch input.below(16) {
        case 0..<4: enqueue()
        case 4..<6: receive(input.bytes(1 + input.below(24), mask: mask))
        case 6..<9: receiveWanted(input.bytes(min(queue.wanted, 1 + input.below(24)), mask: mask))
        case 9..<12: performAll()
        case 12: expire()
        case 13: cancel()
        case 14: queue.isPausedByHand.toggle()
        default: now = now + .milliseconds(input.below(8))
        }
    }

    // MARK: Inputs

    private mutating func enqueue() {
        operations += 1
        let operation = OperationID(operations)
        let choices = input.byte()
        let timeout = choices & 1 == 0 ? nil : Duration.milliseconds(input.below(8))
        var request = ReadRequest(
            kind(choices >> 1 & 7), timeout: timeout, tag: Int(operations), isStanding: choices >> 4 == 0)
        switch request.kind {
        case .available, .delimiter: request.lendsBytes = request.isStanding && operations & 1 == 0
        case .length, .frame: break
        }
        let replaced = queue.enqueue(request, as: operation, now: now)
        let expected = model.enqueue(ReadModel.Read(operation: operation, request: request), now: now)
        require(replaced?.operation == expected, "replaced: \(String(describing: replaced))")
        require(replaced?.bytes.isEmpty != false, "a replaced read keeps bytes: \(String(describing: replaced))")
    }

    private mutating func kind(_ choice: UInt8) -> ReadRequest.Kind {
        switch choice {
        case 0: return .available(limit: nil)
        case 1: return .available(limit: 1 + input.below(16))
        case 2, 3: return .length(1 + input.below(32))
        case 4, 5:
            let terminator = [input.byte() & mask] + input.bytes(input.below(4), mask: mask)
            return .delimiter(terminator, limit: choice == 4 ? nil : terminator.count + input.below(16))
        default:
            let choices = input.byte()
            let widths: [LengthPrefix.Width] = [.u8, .u16, .u32, .u64]
            var prefix = LengthPrefix(
                widths[Int(choices & 3)], isLittleEndian: choices & 4 != 0, offset: Int(choices >> 4 & 3),
                countsHeader: choices & 8 != 0)
            if choices & 0x40 == 0 { prefix.limit = prefix.headerLength + input.below(64) }
            return .frame(prefix)
        }
    }

    private mutating func receive(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { queue.receive($0, now: now) }
        model.receive(bytes)
    }

    /// Bytes that the queue wants are lent where its read in hand lends.
    private mutating func receiveWanted(_ bytes: [UInt8]) {
        var rest = bytes
        while !rest.isEmpty, let loan = rest.withUnsafeBytes({ queue.lend($0, now: now) }) {
            require(model.head?.request.lendsBytes == true, "lent for a read that does not lend: \(loan)")
            require(model.stream.isEmpty, "lent before bytes that came earlier: \(loan)")
            require(!model.isAsking && loan.operation == model.head?.operation, "lent out of turn: \(loan)")
            completed += 1
            model.receive(rest)
            guard case .complete(let least, let most)? = model.outcome else {
                return require(false, "lent an item that is not whole: \(loan)")
            }
            require(least...most ~= loan.count, "\(loan), not \(least) to \(most) bytes")
            model.unreceive(rest.count - loan.count)
            model.complete(loan.count, now: now)
            rest.removeFirst(loan.count)
        }
        receive(rest)
    }

    private mutating func expire() {
        let isDue = model.deadline.map { $0 <= now } ?? false
        guard let timedOut = queue.expire(now: now) else {
            return require(!isDue || !isWaiting, "a read that is due did not time out")
        }
        require(isDue && isWaiting, "timed out too early: \(timedOut)")
        require(timedOut.operation == model.head?.operation, "timed out, not in hand: \(timedOut)")
        require(timedOut.done <= model.stream.count, "more than came: \(timedOut)")
        model.ask()
        answer(timedOut.operation)
    }

    private mutating func answer(_ operation: OperationID) {
        let choice = input.below(4)
        switch choice {
        case 0, 1:
            let interval = Duration.milliseconds(input.below(4))
            let isTaken = queue.answer(operation, extendBy: interval, now: now)
            require(isTaken == (interval > .zero), "an extension by \(interval): \(isTaken)")
            if isTaken { model.extend(by: interval, now: now) }
        case 2:
            let failed = queue.failAsking(operation, error: Self.error, now: now)
            require(failed?.operation == operation, "the asking read did not fail")
            if let failed { end(failed) }
        default: return
        }
    }

    private mutating func cancel() {
        let operation = OperationID(operations &- UInt64(input.below(8)))
        let isThere = model.reads.contains { $0.operation == operation }
        let failed = queue.cancel(operation, error: Self.error, now: now)
        require(failed?.operation == (isThere ? operation : nil), "cancelled: \(String(describing: failed))")
        require(failed?.bytes.isEmpty != false, "a cancelled read keeps bytes")
        if let failed { end(failed) }
    }

    /// A read failed, with the bytes it had: the first of the stream.
    private mutating func end(_ failed: FailedOperation) {
        require(failed.done == failed.bytes.count, "\(failed)")
        require(model.stream.prefix(failed.done) == failed.bytes[...], "bytes of another place: \(failed)")
        model.end(failed.operation, taking: failed.done, now: now)
    }

    // MARK: Actions

    private mutating func performAll() {
        while true {
            let action = queue.advance(now: now)
            let outcome = model.isAsking ? nil : model.outcome
            switch action {
            case .none: return checkRest(outcome)
            case .partial(let operation, _, let increment, let done):
                partial(operation, increment, done, outcome)
            case .deliver(let delivery): absorb(delivery, outcome)
            case .exceeded(let failed):
                require(outcome == .overrun(done: failed.done), "\(action)")
                require(failed.operation == model.head?.operation, "\(action)")
                require(model.stream.prefix(failed.done) == failed.bytes[...], "\(action)")
                model.overrun(taking: failed.done)
            }
        }
    }

    private mutating func partial(
        _ operation: OperationID, _ increment: Int, _ done: Int, _ outcome: ReadModel.Outcome?
    ) {
        require(operation == model.head?.operation && model.head?.request.isStanding == false, "partial of another")
        model.reported += increment
        require(increment > 0 && model.reported == done, "increments do not add up to \(done)")
        switch outcome {
        case .incomplete: require(done == model.stream.count, "\(done) of \(model.stream.count) bytes")
        case .overrun(let all): require(done == all, "\(done) of \(all) bytes")
        case .complete, nil: require(false, "a partial report of a read that is done")
        }
    }

    private mutating func absorb(_ delivery: ReadDelivery, _ outcome: ReadModel.Outcome?) {
        require(delivery.operation == model.head?.operation, "out of order: \(delivery)")
        guard case .complete(let least, let most) = outcome else { fatalError("not complete: \(delivery)") }
        require(least...most ~= delivery.bytes.count, "\(delivery), not \(least) to \(most) bytes")
        require(model.stream.prefix(delivery.bytes.count) == delivery.bytes[...], "other bytes: \(delivery)")
        completed += 1
        model.complete(delivery.bytes.count, now: now)
    }

    // MARK: Rules

    /// Whether there is a read in hand that needs more bytes.
    private var isWaiting: Bool {
        if case .incomplete = model.outcome { true } else { false }
    }

    /// Nothing is left to do: the read in hand waits, knows how much it wants, and has told all that it has.
    private func checkRest(_ outcome: ReadModel.Outcome?) {
        guard let outcome else { return require(queue.wanted == 0, "bytes wanted, and no read takes them") }
        guard case .incomplete(let wanted) = outcome else { fatalError("a read rests that could end: \(outcome)") }
        require(queue.wanted == (queue.isPausedByHand ? 0 : wanted), "wanted \(queue.wanted), not \(wanted)")
        require(queue.prebuffered == 0, "\(queue.prebuffered) bytes are kept from the read in hand")
        let isReported = model.head?.request.isStanding == true || model.reported == model.stream.count
        require(isReported, "\(model.reported) of \(model.stream.count) bytes reported")
    }

    private func checkState() {
        let picture = queue.snapshot(listing: 4)
        let hasHead = model.head != nil
        require(picture.current?.id == model.head?.operation, "in hand: \(String(describing: picture.current))")
        require(picture.pendingCount == model.reads.count - (hasHead ? 1 : 0), "\(picture.pendingCount) reads wait")
        require(picture.completed == completed, "\(picture.completed) completed, not \(completed)")
        require(queue.prebuffered + (picture.current?.done ?? 0) == model.stream.count, "a byte is lost or doubled")
        require(queue.isAsking == model.isAsking, "asking: \(queue.isAsking)")
        require(queue.deadline == model.deadline, "deadline: \(String(describing: queue.deadline))")
        let rests = model.reads.count == 1 && hasHead && model.reads[0].request.isStanding && model.stream.isEmpty
        require(queue.isDrained == (model.reads.isEmpty || rests), "drained: \(queue.isDrained)")
        require(queue.lastQueued == model.reads.last?.operation, "last: \(String(describing: queue.lastQueued))")
    }

    /// The connection closes: what no read has goes out, then each read ends once, in order, with what it had.
    private mutating func finish() {
        let unread = queue.takeUnread()
        for read in model.reads {
            guard let failed = queue.failNext(error: Self.error) else { fatalError("\(read) did not end") }
            require(failed.operation == read.operation, "ended out of order: \(failed)")
            end(failed)
        }
        require(queue.failNext(error: Self.error) == nil, "a read ended twice")
        require(model.stream == unread, "unread: \(unread), not \(model.stream)")
    }
}
