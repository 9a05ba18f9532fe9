/// One queued or current operation, as it was at the instant of a snapshot.
public struct OperationSnapshot: Hashable, Sendable, Codable, Identifiable {
    /// What the operation is.
    public enum Kind: Hashable, Sendable, Codable {
        /// A read, and what it waits for.
        case read(ReadRequest.Kind)
        /// A write.
        case write
    }

    /// Its name within the engine.
    public var id: OperationID
    /// What it is.
    public var kind: Kind
    /// The caller's number.
    public var tag: Int
    /// Bytes so far.
    public var done: Int
    /// Bytes in all; nil where that is not known (available and delimiter reads), so no share of it can be shown.
    public var total: Int?
    /// Whether it is a standing read.
    public var isStanding: Bool
    /// Whether it timed out and waits for an answer.
    public var isAsking: Bool
    /// Its timeout, extensions included; nil: none.
    public var timeout: Duration?
    /// When it became the one in hand; nil while it waits.
    public var started: MonotonicTime?
    /// When it will time out; nil: never, or not yet in hand, or asking.
    public var deadline: MonotonicTime?
    /// When it last got or gave a byte; nil: not yet.
    public var lastProgress: MonotonicTime?
    /// Its first bytes: of a write what is to be sent, of a read what it has so far. At most 32.
    public var preview: [UInt8]

    /// Describes an operation.
    public init(
        id: OperationID, kind: Kind, tag: Int = 0, done: Int = 0, total: Int? = nil, isStanding: Bool = false,
        isAsking: Bool = false, timeout: Duration? = nil, started: MonotonicTime? = nil,
        deadline: MonotonicTime? = nil, lastProgress: MonotonicTime? = nil, preview: [UInt8] = []
    ) {
        self.id = id
        self.kind = kind
        self.tag = tag
        self.done = done
        self.total = total
        self.isStanding = isStanding
        self.isAsking = isAsking
        self.timeout = timeout
        self.started = started
        self.deadline = deadline
        self.lastProgress = lastProgress
        self.preview = preview
    }
}

extension OperationSnapshot.Kind {
    /// The name in JSON and on the inspection wire.
    package var name: String {
        switch self {
        case .read(let kind): kind.word.name
        case .write: "write"
        }
    }

    /// The word on the screen, without what follows it: `length`, `until`, `write`.
    package var word: String {
        switch self {
        case .read(let kind): kind.word.rawValue
        case .write: name
        }
    }

    /// The words on the screen: `length 4096`, `until CRLF`, `any`, `write`.
    package var words: String {
        switch self {
        case .read(let kind): kind.words
        case .write: name
        }
    }
}

/// A read queue or a write queue, as it was at the instant of a snapshot.
public struct QueueSnapshot: Hashable, Sendable, Codable {
    /// The operation in hand.
    public var current: OperationSnapshot?
    /// The operations behind it, in order, a standing read last; at most `listingLimit` of them.
    public var pending: [OperationSnapshot]
    /// How many operations wait behind the one in hand, whether listed or not.
    public var pendingCount: Int
    /// Of the write queue: bytes not yet with the kernel, those of the write in hand included. Of the read queue: 0.
    public var pendingBytes: Int
    /// Operations completed over the session's life.
    public var completed: UInt64
    /// How many operations stand before the TLS barrier, that in hand included; nil: there is no barrier, or TLS is
    /// set up.
    public var barrier: Int?
    /// When it last went from empty to not empty, or back; nil: never yet.
    public var since: MonotonicTime?

    /// The most operations that a snapshot lists.
    public static let listingLimit = 64

    /// Describes a queue.
    public init(
        current: OperationSnapshot? = nil, pending: [OperationSnapshot] = [], pendingCount: Int = 0,
        pendingBytes: Int = 0, completed: UInt64 = 0, since: MonotonicTime? = nil
    ) {
        self.current = current
        self.pending = pending
        self.pendingCount = pendingCount
        self.pendingBytes = pendingBytes
        self.completed = completed
        self.since = since
    }
}
