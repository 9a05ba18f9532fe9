/// One operation's bytes, kept for a person to look at.
public struct TrafficItem: Hashable, Sendable, Codable {
    /// Which way the bytes went.
    public enum Direction: String, Hashable, Sendable, Codable {
        /// From the peer.
        case received
        /// To the peer.
        case sent
    }

    /// How the operation stands.
    public enum State: Hashable, Sendable, Codable {
        /// It has some of its bytes and wants more.
        case inProgress
        /// It completed, this long after it became the one in hand.
        case complete(after: Duration)
        /// It ended without completing; the reason as a sentence.
        case failed(String)
    }

    /// Counted from 0 over the session's life; gaps are items dropped for room.
    public var sequence: UInt64
    /// The operation.
    public var operation: OperationID
    /// When its first byte came or went.
    public var time: MonotonicTime
    /// Which way.
    public var direction: Direction
    /// The operation's tag.
    public var tag: Int
    /// What it waited for.
    public var kind: OperationSnapshot.Kind
    /// Bytes so far.
    public var done: Int
    /// Bytes in all, where known.
    public var total: Int?
    /// How it stands.
    public var state: State
    /// The first `done` bytes or fewer: what was kept of them.
    public var bytes: [UInt8]
    /// The last bytes, where those between `bytes` and them are not kept; else empty.
    public var tail: [UInt8]
    /// Bytes of the items dropped for room between the item before and this one.
    public var skipped: UInt64
    /// Of a datagram: who sent it, or to whom it went; nil for streams.
    public var address: SocketAddress?
    /// Of a WebSocket: what was sent or came as one; nil: bytes of a stream.
    public var webSocket: WebSocketTraffic?
    /// Whether a user wrote it into a connection that belongs to others: a relayed one, or one of a program that is
    /// inspected.
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
    /// Bytes of it that are kept.
    package var keptBytes: Int { bytes.count + tail.count }

    /// Bytes that are not kept: between `bytes` and `tail`, or after `bytes` where there is no `tail`.
    package var missingBytes: Int { max(0, done - keptBytes) }

    /// Keeps the first and the last `edge` bytes, where more are kept.
    package mutating func shrink(to edge: Int) {
        guard keptBytes > 2 * edge else { return }
        let ending = tail.isEmpty && bytes.count == done ? bytes : tail
        tail = Array(ending.suffix(edge))
        bytes = Array(bytes.prefix(edge))
    }
}

/// What was kept of one session's traffic.
public struct TrafficSnapshot: Hashable, Sendable, Codable {
    /// The items kept, oldest first; the last ones may still be in progress.
    public var items: [TrafficItem]
    /// Items dropped for room since the session began: the oldest, and those in the middle of a long run of items in one
    /// direction, which leave a gap in the sequence numbers.
    public var dropped: UInt64

    /// Describes what was kept.
    public init(items: [TrafficItem] = [], dropped: UInt64 = 0) {
        self.items = items
        self.dropped = dropped
    }
}
