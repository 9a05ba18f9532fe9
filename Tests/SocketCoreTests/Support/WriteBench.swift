import SocketCore

/// Does for a `WriteQueue` what the shell does: a pretended kernel takes as many bytes as it is told to.
struct WriteBench: ~Copyable {
    var queue = WriteQueue()
    /// What the kernel took.
    private(set) var sent: [UInt8] = []
    var now = MonotonicTime.zero
    private var operations: UInt64 = 0

    /// Queues a write and returns its name.
    @discardableResult
    mutating func write(_ request: WriteRequest) -> OperationID {
        operations += 1
        let operation = OperationID(operations)
        queue.enqueue(request, as: operation, now: now)
        return operation
    }

    /// Queues a write and returns its name.
    @discardableResult
    mutating func write(_ bytes: [UInt8], timeout: Duration? = nil, tag: Int = 0) -> OperationID {
        write(WriteRequest(bytes, timeout: timeout, tag: tag))
    }

    /// Queues a write of what somebody else owns.
    mutating func write(contentsOf owner: any ContiguousBytesOwner) { write(WriteRequest(contentsOf: owner)) }

    /// Queues a write and returns its name.
    @discardableResult
    mutating func write(_ text: String, timeout: Duration? = nil, tag: Int = 0) -> OperationID {
        write(Array(text.utf8), timeout: timeout, tag: tag)
    }

    /// The kernel takes up to `most` bytes of up to `buffers` writes; how many it took.
    @discardableResult
    mutating func send(_ most: Int, buffers: Int = 64) -> Int {
        let taken = Array(unsent(buffers: buffers).joined().prefix(most))
        sent += taken
        queue.wrote(taken.count, now: now)
        return taken.count
    }

    /// What the queue lends, buffer by buffer.
    func unsent(buffers: Int = 64) -> [[UInt8]] {
        var lent: [[UInt8]] = []
        queue.withUnsent(buffers: buffers) { list in lent = list.map { [UInt8]($0) } }
        return lent
    }

    /// Everything that the shell is asked to do now.
    mutating func actions() -> [WriteAction] {
        var actions: [WriteAction] = []
        while true {
            let action = queue.advance(now: now)
            guard action != .none else { return actions }
            actions.append(action)
        }
    }
}

extension WriteAction {
    /// The completion; nil for the other actions.
    var completion: WriteCompletion? {
        switch self {
        case .complete(let completion): completion
        case .none, .partial: nil
        }
    }
}
