/// A queued or current operation at the instant of a snapshot.
public struct OperationSnapshot: Hashable, Sendable, Identifiable {
    /// The kind of operation.
    public enum Kind: Hashable, Sendable {
        /// A read of this kind.
        case read(ReadRequest.Kind)
        /// A write.
        case write
    }

    /// Its identifier within the engine.
    public var id: OperationID
    /// The kind of operation.
    public var kind: Kind
    /// The caller's tag.
    public var tag: Int
    /// The number of bytes so far.
    public var done: Int
    /// The total number of bytes, or `nil` if it is unknown (available and delimiter reads), so that progress cannot be
    /// shown as a share.
    public var total: Int?
    /// Whether it is a standing read.
    public var isStanding: Bool
    /// Whether it timed out and waits for a verdict.
    public var isAsking: Bool
    /// Its timeout including extensions, or `nil` if it has none.
    public var timeout: Duration?
    /// When it became current, or `nil` while it is queued.
    public var started: MonotonicTime?
    /// Its deadline, or `nil` if it has none, is not current yet, or waits for a verdict.
    public var deadline: MonotonicTime?
    /// When it last received or sent a byte, or `nil` if it has not yet.
    public var lastProgress: MonotonicTime?
    /// Its first bytes, at most 32: for a write, the bytes to send; for a read, those received so far.
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

    /// The word on the screen, without its values: `length`, `until`, `write`.
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

/// A read queue or a write queue at the instant of a snapshot.
public struct QueueSnapshot: Equatable, Sendable {
    /// The current operation.
    public var current: OperationSnapshot?
    /// The operations queued after it, in order, a standing read last. At most `listingLimit` of them.
    public var pending: [OperationSnapshot]
    /// The number of operations queued after the current one, listed or not.
    public var pendingCount: Int
    /// For the write queue, the bytes that the kernel has not accepted, including those of the current write. 0 for the
    /// read queue.
    public var pendingBytes: Int
    /// Operations completed over the session's life.
    public var completed: UInt64
    /// The number of operations before the TLS barrier, including the current one, or `nil` if there is no barrier or
    /// TLS is established.
    public var barrier: Int?
    /// When it last became empty or stopped being empty, or `nil` if it never did.
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
