/// The life of one connection, and every rule in which its two directions meet.
///
/// Rules of this file:
/// - The read queue and the write queue know nothing of each other; whatever depends on both, or on one of them and
///   the connection's state (end of stream, half-close, draining, refusing), is decided here and nowhere else.
/// - The shell tells what happened (`didConnect`, `didReachEndOfStream`, bytes to the queues), then calls `next` until
///   it says `.none`, and performs each action before it asks again.
/// - Operations queued while connecting are held back, so that their timeouts start when they can begin.
package struct ConnectionMachine: ~Copyable, Sendable {
    /// What the shell has to do next.
    package enum Action: Equatable {
        case none
        /// Send FIN; reading goes on.
        case shutWrite
        /// Send FIN, then read and throw away until the peer's FIN or until the linger time is over, then close.
        case linger
        /// Report the peer's end of stream; the connection stays open for writing.
        case reportPeerClosed
        /// The TLS barrier has come to the head of both queues: begin the handshake.
        case startHandshake
        /// Close now. nil: this side asked for it.
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
        /// recv returned 0; bytes read ahead may still wait for reads.
        case ended
        /// Ended, and the delegate was told so.
        case reported
    }

    /// The direction to the peer.
    private enum Output: Equatable {
        case open
        /// FIN goes out when the write queue is empty.
        case shutting
        case shut
    }

    /// What waits for the connection, or for TLS, in the order in which it was asked for.
    enum Held: Equatable {
        case read(ReadRequest, OperationID)
        case write(WriteRequest, OperationID)
        /// TLS begins here; see `TLSUpgrade`.
        case barrier
    }

    package var reading = ReadQueue()
    package var writing = WriteQueue()
    var held = HeldOperations()
    /// How the peer's stream ended, where that was no orderly end. None, or one: an error is big.
    private var endErrors: [SocketError] = []
    package var upgrade = TLSUpgrade() { didSet { settle() } }
    /// Whether the connection stays open for writing after the peer's end of stream.
    package var allowsHalfOpen: Bool
    /// Whether it also stays open when that end was no orderly one; how it ended is said when it closes.
    package var passesCuts = false
    private(set) var state = State.connecting { didSet { stateChanged() } }
    private var input = Input.open { didSet { inputChanged() } }
    private var output = Output.open { didSet { settle() } }

    // Stored, because they are asked at every step: from another module, a computed one is a call with all of the machine.
    package private(set) var isConnecting = true
    package private(set) var isOpen = false
    package private(set) var isLingering = false
    package private(set) var isClosed = false
    package private(set) var hasEndOfStream = false
    package private(set) var hasReportedEndOfStream = false
    package private(set) var drain: Drain = [] { didSet { settle() } }
    /// Whether an operation goes straight to its queue: the connection stands, and nothing is about to end.
    private var isPlain = false
    /// Whether `next` may have something to say.
    package private(set) var mayAct = true

    /// A connection that is being made.
    package init(allowsHalfOpen: Bool) {
        self.allowsHalfOpen = allowsHalfOpen
    }

    // MARK: What happened

    /// The connection stands: what was held back begins.
    package mutating func didConnect(now: MonotonicTime) {
        precondition(state == .connecting, "connected while \(state)")
        state = .open
        while !held.isEmpty, held[0] != .barrier { releaseFirstHeld(now: now) }
    }

    /// The peer's stream ended: a receive returned 0, or TLS says so. `error`: it was cut off.
    package mutating func didReachEndOfStream(_ error: SocketError? = nil) {
        guard input == .open else { return }
        input = .ended
        endErrors = error.map { [$0] } ?? []
    }

    /// The descriptor is closed; `failNext` ends what is left.
    package mutating func didClose() {
        state = .closed
    }

    // MARK: What is asked

    /// Queues a read, if there is nothing to be said against it; else false, and nothing changes: `add` says it. Almost
    /// every read comes by here, and an answer that may be a failure is a big one.
    package mutating func queue(_ request: ReadRequest, as id: OperationID, now: MonotonicTime) -> Bool {
        guard isPlain, request.isPlain else { return false }
        reading.queue(request, as: id, now: now)
        return true
    }

    /// Completes such a read at once with bytes that are here; nil, and nothing changes, where they do not do or where
    /// another stands before it.
    package mutating func completeAtOnce(_ request: ReadRequest, from spares: inout ShortArrays) -> [UInt8]? {
        guard reading.hasBytes, isPlain, request.isPlain else { return nil }
        return reading.completeAtOnce(request, from: &spares)
    }

    /// Queues a write, likewise.
    package mutating func queue(_ request: WriteRequest, as id: OperationID, now: MonotonicTime) -> Bool {
        guard isPlain, output == .open, request.contents.count > 0, request.timeout.map({ $0 >= .zero }) ?? true else {
            return false
        }
        writing.enqueue(request, as: id, now: now)
        return true
    }

    /// Queues a read. The answer is an operation that ended through this: the read itself when it is refused, or a
    /// standing read that it replaces.
    package mutating func add(_ request: ReadRequest, as id: OperationID, now: MonotonicTime) -> FailedOperation? {
        if let error = request.fault ?? refusal(of: "read") {
            return FailedOperation(
                operation: id, kind: .read(request.kind), tag: request.tag, done: 0, total: request.total, bytes: [],
                isStanding: request.isStanding, error: error)
        }
        if isHolding {
            let replaced = request.isStanding ? replaceHeldStanding() : nil
            held.append(.read(request, id))
            return replaced
        }
        return reading.enqueue(request, as: id, now: now)
    }

    /// Queues a write. The answer is the write itself when it is refused.
    package mutating func add(_ request: WriteRequest, as id: OperationID, now: MonotonicTime) -> FailedOperation? {
        if let error = request.fault ?? refusal(of: "write") ?? shutRefusal {
            return FailedOperation(
                operation: id, kind: .write, tag: request.tag, done: 0, total: request.contents.count, bytes: [],
                error: error)
        }
        if isHolding {
            held.append(.write(request, id))
        } else {
            writing.enqueue(request, as: id, now: now)
        }
        return nil
    }

    /// Closes when the named queues are empty. Asked again, it waits for those queues too.
    package mutating func closeAfter(_ queues: Drain) {
        drain.formUnion(queues)
    }

    /// Sends FIN when the write queue is empty; false when that was asked before.
    package mutating func shutWriteWhenDrained() -> Bool {
        guard output == .open else { return false }
        output = .shutting
        return true
    }

    // MARK: What is to be done

    /// The next thing for the shell to do; call until `.none`.
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

    /// The barrier is an operation of both queues: no drain and no half-close comes before it.
    private mutating func nextBeforeTLS() -> Action {
        if input == .ended, upgrade.hasBegun || reading.isEmpty || writing.isEmpty {
            return .close(Self.cutOffBeforeTLS)
        }
        if input == .ended { return nextAfterEndOfStream() }
        guard !upgrade.hasBegun, reading.isEmpty, writing.isEmpty else { return .none }
        return .startHandshake
    }

    /// No read is left, or none can complete any more.
    private var areReadsOver: Bool {
        reading.isDrained || (input == .reported && reading.prebuffered == 0)
    }

    /// The peer is done. What was read ahead is still delivered; writes are still drained if that was asked for.
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

    /// When an operation in hand times out.
    package var deadline: MonotonicTime? {
        guard state == .open else { return nil }
        return earlier(earlier(reading.deadline, writing.deadline), upgrade.deadline)
    }

    private func earlier(_ one: MonotonicTime?, _ other: MonotonicTime?) -> MonotonicTime? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    /// Ends every operation, one a call: the reads in order, then the writes; nil when none is left.
    package mutating func failNext(error: SocketError) -> FailedOperation? {
        if let failed = reading.failNext(error: error) ?? writing.failNext(error: error) { return failed }
        while let first = held.popFirst() {
            if let failed = Self.failure(of: first, error: error) { return failed }
        }
        return nil
    }
}
