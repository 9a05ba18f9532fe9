/// The bytes of one operation, kept for display.
public struct TrafficItem: Equatable, Sendable {
    /// The direction of the bytes.
    public enum Direction: String, Hashable, Sendable, CaseIterable {
        /// From the peer.
        case received
        /// To the peer.
        case sent
    }

    /// The state of the operation.
    public enum State: Equatable, Sendable {
        /// It has some of its bytes and waits for more.
        case inProgress
        /// It completed, this long after it became current.
        case complete(after: Duration)
        /// It ended without completing, for the reason in this sentence.
        case failed(String)
    }

    /// Counted from 0 over the session's life. A gap means that items were dropped to make room.
    public var sequence: UInt64
    /// The operation.
    public var operation: OperationID
    /// When its first byte was received or sent.
    public var time: MonotonicTime
    /// The direction of the bytes.
    public var direction: Direction
    /// The operation's tag.
    public var tag: Int
    /// The kind of operation.
    public var kind: OperationSnapshot.Kind
    /// The number of bytes so far.
    public var done: Int
    /// The total number of bytes, or `nil` if it is unknown.
    public var total: Int?
    /// The state of the operation.
    public var state: State
    /// The first of its `done` bytes, as many as were kept.
    public var bytes: [UInt8]
    /// Its last bytes, if those between `bytes` and them were not kept, or else empty.
    public var tail: [UInt8]
    /// The number of bytes in the items dropped between the previous item and this one.
    public var skipped: UInt64
    /// For a datagram, the address of its sender or receiver, or `nil` for a stream.
    public var address: SocketAddress?
    /// For a WebSocket, the message or control frame, or `nil` for the bytes of a stream.
    public var webSocket: WebSocketTraffic?
    /// Whether a user wrote it into a connection that belongs to others: a relayed one, or one of an inspected program.
    public var isInjected = false

    /// Describes an item.
    public init(
        sequence: UInt64, operation: OperationID, time: MonotonicTime, direction: Direction, tag: Int,
        kind: OperationSnapshot.Kind, done: Int, total: Int?, state: State, bytes: [UInt8],
        address: SocketAddress? = nil, webSocket: WebSocketTraffic? = nil, tail: [UInt8] = [], skipped: UInt64 = 0
    ) {
        self.sequence = sequence
        self.operation = operation
        self.time = time
        self.direction = direction
        self.tag = tag
        self.kind = kind
        self.done = done
        self.total = total
        self.state = state
        self.bytes = bytes
        self.tail = tail
        self.skipped = skipped
        self.address = address
        self.webSocket = webSocket
    }
}

extension TrafficItem {
    /// The number of its bytes that are kept.
    package var keptBytes: Int { bytes.count + tail.count }

    /// The number of bytes that are not kept: between `bytes` and `tail`, or after `bytes` if there is no `tail`.
    package var missingBytes: Int { max(0, done - keptBytes) }

    /// Keeps only the first and the last `edge` bytes, if it keeps more.
    package mutating func shrink(to edge: Int) {
        guard keptBytes > 2 * edge else { return }
        let ending = tail.isEmpty && bytes.count == done ? bytes : tail
        tail = Array(ending.suffix(edge))
        bytes = Array(bytes.prefix(edge))
    }
}

/// The traffic that was kept of one session.
public struct TrafficSnapshot: Equatable, Sendable {
    /// The kept items, oldest first. The last ones may still be in progress.
    public var items: [TrafficItem]
    /// The number of items dropped to make room since the session started: the oldest ones, and those in the middle of
    /// a long run of items in one direction, which leave a gap in the sequence numbers.
    public var dropped: UInt64

    /// Describes the kept traffic.
    public init(items: [TrafficItem] = [], dropped: UInt64 = 0) {
        self.items = items
        self.dropped = dropped
    }
}
