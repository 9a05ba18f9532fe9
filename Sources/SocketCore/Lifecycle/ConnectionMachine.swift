/// The life of one connection, and every rule that involves both of its directions.
///
/// Rules of this file:
/// - The read queue and the write queue do not know each other. Everything that depends on both, or on one of them and
///   the connection's state (end of stream, half-close, draining, rejecting), is decided here and nowhere else.
/// - The engine reports what happened (`didConnect`, `didReachEndOfStream`, bytes to the queues), then calls `next`
///   until it returns `.none`, and performs each action before it calls again.
/// - Operations queued while connecting are kept apart as early, so that their timeouts start when they can begin.
package struct ConnectionMachine: ~Copyable, Sendable {
    /// The engine's next action.
    package enum Action: Equatable {
        case none
        /// Send FIN and keep reading.
        case shutWrite
        /// Send FIN, then read and discard until the peer's FIN or until the linger time has passed, then close.
        case linger
        /// Report the peer's end of stream; the connection stays open for writing.
        case reportPeerClosed
        /// Start the handshake. The TLS barrier has reached the head of both queues.
        case startHandshake
        /// Close now. The error is `nil` if the local side requested the close.
        case close(SocketError?)
    }

    /// Which queues must be empty before the connection closes.
    package struct Drain: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let reads = Drain(rawValue: 1)
        package static let writes = Drain(rawValue: 2)
    }

    enum State: Equatable {
        case connecting
        case open
        case lingering
        case closed
    }

    /// The direction from the peer.
    private enum Input: Equatable {
        case open
        /// A receive returned 0. Bytes read ahead may still wait for reads.
        case ended
        /// The stream has ended and the delegate was notified.
        case reported
    }

    /// The direction to the peer.
    private enum Output: Equatable {
        case open
        /// FIN is sent when the write queue is empty.
        case shutting
        case shut
    }

    /// An operation that waits for the connection or for TLS. They are kept in the order in which they were requested.
    enum Early: Equatable {
        case read(ReadRequest, OperationID)
        case write(WriteRequest, OperationID)
        /// TLS starts here; see `TLSUpgrade`.
        case barrier
    }

    package var reading = ReadQueue()
    package var writing = WriteQueue()
    var early = EarlyOperations()
    /// The error that ended the peer's stream, or none if it ended cleanly. An array, because an error is large.
    private var endErrors: [SocketError] = []
    package var upgrade = TLSUpgrade() { didSet { settle() } }
    /// Whether the connection stays open for writing after the peer's end of stream.
    package var allowsHalfOpen: Bool
    /// Whether it also stays open if that end was not clean. The error is then reported when it closes.
    package var passesCuts = false
    private(set) var state = State.connecting { didSet { stateChanged() } }
    private var input = Input.open { didSet { inputChanged() } }
    private var output = Output.open { didSet { settle() } }

    // Stored because every step reads them. From another module, a computed property is a call that passes the whole
    // machine.
    package private(set) var isConnecting = true
    package private(set) var isOpen = false
    package private(set) var isLingering = false
    package private(set) var isClosed = false
    package private(set) var hasEndOfStream = false
    package private(set) var hasReportedEndOfStream = false
    package private(set) var drain: Drain = [] { didSet { settle() } }
    /// Whether an operation goes straight to its queue: the connection is open, not closing, and not waiting for TLS.
    private var isPlain = false
    /// Whether `next` may return an action.
    package private(set) var mayAct = true

    /// Creates a machine for a connection that is being established.
    package init(allowsHalfOpen: Bool) {
        self.allowsHalfOpen = allowsHalfOpen
    }

    // MARK: Events

    /// Opens the connection and queues the early operations.
    package mutating func didConnect(now: MonotonicTime) {
        precondition(state == .connecting, "connected while \(state)")
        state = .open
        while !early.isEmpty, early[0] != .barrier { releaseFirstEarly(now: now) }
    }

    /// Records the end of the peer's stream: a receive returned 0, or TLS reported it. Pass `error` if the stream was
    /// cut off.
    package mutating func didReachEndOfStream(_ error: SocketError? = nil) {
        guard input == .open else { return }
        input = .ended
        endErrors = error.map { [$0] } ?? []
    }

    /// Records that the descriptor is closed. `failNext` ends the remaining operations.
    package mutating func didClose() {
        state = .closed
    }

    // MARK: Requests

    /// Queues a read on the fast path. Returns `false` and changes nothing if the read must go through `add`. Almost
    /// every read takes this path, which avoids the large result of `add`.
    package mutating func queue(_ request: ReadRequest, as id: OperationID, now: MonotonicTime) -> Bool {
        guard isPlain, request.isPlain else { return false }
        reading.queue(request, as: id, now: now)
        return true
    }

    /// Completes a read at once from buffered bytes. Returns `nil` and changes nothing if the read must go through
    /// `add`, the bytes do not suffice, or another read is ahead of it.
    package mutating func completeAtOnce(_ request: ReadRequest, from spares: inout ShortArrayPool) -> [UInt8]? {
        guard reading.hasBytes, isPlain, request.isPlain else { return nil }
        return reading.completeAtOnce(request, from: &spares)
    }

    /// Takes pieces of the bytes read ahead for reads that would complete at once; see `ReadQueue.takePieces`. Returns
    /// `nil` and changes nothing if such a read would be rejected or have to wait.
    package mutating func takePieces(
        endingWith terminator: [UInt8], limit: Int?, most: Int
    ) -> (bytes: [UInt8], ends: [Int])? {
        guard reading.hasBytes, isPlain else { return nil }
        return reading.takePieces(endingWith: terminator, limit: limit, most: most)
    }

    /// Takes all bytes read ahead in pieces of at most `limit`; see `ReadQueue.takeChunks`. Returns `nil` and changes
    /// nothing if bytes may not be read ahead.
    package mutating func takeChunks(limit: Int) -> (bytes: [UInt8], ends: [Int])? {
        mayReadAhead ? reading.takeChunks(limit: limit) : nil
    }

    /// Whether bytes may be received although no read wants them: none is queued, and one could be.
    package var mayReadAhead: Bool { isPlain && !hasEndOfStream && reading.isEmpty && !reading.isPausedByHand }

    /// Queues a write on the fast path. Returns `false` and changes nothing if the write must go through `add`.
    package mutating func queue(_ request: WriteRequest, as id: OperationID, now: MonotonicTime) -> Bool {
        guard isPlain, output == .open, request.contents.count > 0, request.timeout.map({ $0 >= .zero }) ?? true else {
            return false
        }
        writing.enqueue(request, as: id, now: now)
        return true
    }

    /// Queues a read. Returns the operation that this ended, if any: the read itself if it is rejected, or the standing
    /// read that it replaces.
    package mutating func add(_ request: ReadRequest, as id: OperationID, now: MonotonicTime) -> FailedOperation? {
        if let error = request.fault ?? refusal(of: "read") {
            return FailedOperation(
                operation: id, kind: .read(request.kind), tag: request.tag, done: 0, total: request.total, bytes: [],
                isStanding: request.isStanding, error: error)
        }
        if isTooEarly {
            let replaced = request.isStanding ? replaceEarlyStanding() : nil
            early.append(.read(request, id))
            return replaced
        }
        return reading.enqueue(request, as: id, now: now)
    }

    /// Queues a write. Returns its failure if it is rejected.
    package mutating func add(_ request: WriteRequest, as id: OperationID, now: MonotonicTime) -> FailedOperation? {
        if let error = request.fault ?? refusal(of: "write") ?? shutRefusal {
            return FailedOperation(
                operation: id, kind: .write, tag: request.tag, done: 0, total: request.contents.count, bytes: [],
                error: error)
        }
        if isTooEarly {
            early.append(.write(request, id))
        } else {
            writing.enqueue(request, as: id, now: now)
        }
        return nil
    }

    /// Closes when the named queues are empty. A later call adds its queues to these.
    package mutating func closeAfter(_ queues: Drain) {
        drain.formUnion(queues)
    }

    /// Sends FIN when the write queue is empty. Returns `false` if this was already requested.
    package mutating func shutWriteWhenDrained() -> Bool {
        guard output == .open else { return false }
        output = .shutting
        return true
    }

    // MARK: Actions

    /// Returns the engine's next action. Call it until it returns `.none`.
    package mutating func next() -> Action {
        switch state {
        case .connecting:
            return isDrainedWhileConnecting ? .close(nil) : .none
        case .open:
            return nextWhileOpen()
        case .lingering, .closed:
            return .none
        }
    }

    private mutating func nextWhileOpen() -> Action {
        if upgrade.isPending { return nextBeforeTLS() }
        if output == .shutting, writing.isEmpty {
            output = .shut
            return .shutWrite
        }
        if !drain.isEmpty, !drain.contains(.reads) || areReadsOver, !drain.contains(.writes) || writing.isEmpty {
            guard drain.contains(.writes) else { return .close(nil) }
            state = .lingering
            return .linger
        }
        if input == .reported, output == .shut { return .close(endErrors.first ?? Self.endOfStream) }
        return input == .ended ? nextAfterEndOfStream() : .none
    }

    /// The barrier is an operation of both queues, so no drain or half-close takes effect before it.
    private mutating func nextBeforeTLS() -> Action {
        if input == .ended, upgrade.hasBegun || reading.isEmpty || writing.isEmpty {
            return .close(Self.cutOffBeforeTLS)
        }
        if input == .ended { return nextAfterEndOfStream() }
        guard !upgrade.hasBegun, reading.isEmpty, writing.isEmpty else { return .none }
        return .startHandshake
    }

    /// Whether no read is left, or none can complete.
    private var areReadsOver: Bool {
        reading.isDrained || (input == .reported && reading.prebuffered == 0)
    }

    /// Handles the end of the peer's stream. Bytes read ahead are still delivered, and writes are still drained if that
    /// was requested.
    private mutating func nextAfterEndOfStream() -> Action {
        if reading.prebuffered > 0 { return .none }
        if drain.contains(.writes), !writing.isEmpty { return .none }
        guard allowsHalfOpen, endErrors.isEmpty || passesCuts, output != .shut else {
            return .close(endErrors.first ?? Self.endOfStream)
        }
        input = .reported
        return .reportPeerClosed
    }

    // MARK: Facts

    private mutating func stateChanged() {
        isConnecting = state == .connecting
        isOpen = state == .open
        isLingering = state == .lingering
        isClosed = state == .closed
        settle()
    }

    private mutating func inputChanged() {
        hasEndOfStream = input != .open
        hasReportedEndOfStream = input == .reported
        settle()
    }

    private mutating func settle() {
        isPlain = isOpen && drain.isEmpty && !upgrade.isPending
        mayAct = !isPlain || hasEndOfStream || output != .open
    }

    package var isWriteShut: Bool { output == .shut || state == .lingering }
    /// Whether a half-close waits for the write queue.
    package var isShuttingWrite: Bool { output == .shutting }

    /// The earliest deadline of the current operations and the handshake, or `nil` if there is none or the connection
    /// is not open.
    package var deadline: MonotonicTime? {
        guard state == .open else { return nil }
        return earlier(earlier(reading.deadline, writing.deadline), upgrade.deadline)
    }

    private func earlier(_ one: MonotonicTime?, _ other: MonotonicTime?) -> MonotonicTime? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    /// Ends one operation for each call: the reads in order, then the writes, then the early ones. Returns `nil` if
    /// none is left.
    package mutating func failNext(error: SocketError) -> FailedOperation? {
        if let failed = reading.failNext(error: error) ?? writing.failNext(error: error) { return failed }
        while let first = early.popFirst() {
            if let failed = Self.failure(of: first, error: error) { return failed }
        }
        return nil
    }
}
