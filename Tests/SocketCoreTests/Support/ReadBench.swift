import SocketCore

extension MonotonicTime {
    /// So many milliseconds after the clock's zero.
    static func at(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }
}

/// Does for a `ReadQueue` what the shell does: a pretended kernel holds what arrived, and at most what the queue wants
/// is taken from it.
struct ReadBench: ~Copyable {
    var queue = ReadQueue()
    /// What arrived and was not taken.
    private(set) var kernel: [UInt8] = []
    /// What the queue asked the shell to do since the last look.
    private(set) var actions: [ReadAction] = []
    /// The most bytes that one receive brings.
    var scratch = Int.max
    var now = MonotonicTime.zero
    private var operations: UInt64 = 0

    /// Queues a read and returns its name; a replaced standing read's failure is dropped.
    @discardableResult
    mutating func read(
        _ kind: ReadRequest.Kind, timeout: Duration? = nil, tag: Int = 0, isStanding: Bool = false
    ) -> OperationID {
        operations += 1
        let operation = OperationID(operations)
        let request = ReadRequest(kind, timeout: timeout, tag: tag, isStanding: isStanding)
        queue.enqueue(request, as: operation, now: now)
        pump()
        return operation
    }

    /// Bytes come from the peer.
    mutating func arrive(_ bytes: [UInt8]) {
        kernel += bytes
        pump()
    }

    /// Bytes come from the peer.
    mutating func arrive(_ text: String) {
        arrive(Array(text.utf8))
    }

    /// One pass of the shell.
    mutating func pump() {
        advance()
        while true {
            let amount = min(queue.wanted, kernel.count, scratch)
            guard amount > 0 else { return }
            kernel[..<amount].withUnsafeBytes { queue.receive($0, now: now) }
            kernel.removeFirst(amount)
            advance()
        }
    }

    /// The actions since the last look.
    mutating func takeActions() -> [ReadAction] {
        defer { actions = [] }
        return actions
    }

    /// The deliveries since the last look, as text; everything else is dropped.
    mutating func takeTexts() -> [String] {
        takeActions().compactMap { $0.delivery.map { String(decoding: $0.bytes, as: UTF8.self) } }
    }

    private mutating func advance() {
        while true {
            let action = queue.advance(now: now)
            guard action != .none else { return }
            actions.append(action)
        }
    }
}

extension ReadAction {
    /// The delivery; nil for the other actions.
    var delivery: ReadDelivery? {
        switch self {
        case .deliver(let delivery): delivery
        case .none, .partial, .exceeded: nil
        }
    }

    /// The increment of a partial; nil for the other actions.
    var increment: Int? {
        switch self {
        case .partial(_, _, let increment, _): increment
        case .none, .deliver, .exceeded: nil
        }
    }

    /// The failure of a read that overran its limit; nil for the other actions.
    var overrun: FailedOperation? {
        switch self {
        case .exceeded(let failed): failed
        case .none, .deliver, .partial: nil
        }
    }
}

extension SocketError {
    /// What the tests let operations fail with.
    static let test = SocketError(.disconnected, operation: "test", detail: "ended by the test")
}

extension ReadRequest.Kind {
    /// Up to and including this text.
    static func through(_ terminator: String, limit: Int? = nil) -> ReadRequest.Kind {
        .delimiter(Array(terminator.utf8), limit: limit)
    }
}
