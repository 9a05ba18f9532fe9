/// The life of one connection, and every rule in which its two directions meet.
///
/// Rules of this file:
/// - The read queue and the write queue know nothing of each other; whatever depends on both, or on one of them and
///   the connection's state (end of stream, half-close, draining, refusing), is decided here and nowhere else.
/// - The shell tells what happened (`didConnect`, `didReachEndOfStream`, bytes to the queues), then calls `next` until
///   it says `.none`, and performs each action before it asks again.
/// - Operations queued while connecting are held back, so that their timeouts start when they can begin.
package struct ConnectionMachine: Sendable {
    /// What the shell has to do next.
    package enum Action: Equatable {
        case none
        /// Send FIN; reading goes on.
        case shutWrite
        /// Send FIN, then read and throw away until the peer's FIN or until the linger time is over, then close.
        case linger
        /// Report the peer's end of stream; the connection stays open for writing.
        case reportPeerClosed
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

    private enum State: Equatable {
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

    private enum Held: Equatable {
        case read(ReadRequest, OperationID)
        case write(WriteRequest, OperationID)
    }

    package var reading = ReadQueue()
    package var writing = WriteQueue()
    /// Whether the connection stays open for writing after the peer's end of stream.
    package var allowsHalfOpen: Bool
    private var state = State.connecting
    private var input = Input.open
    private var output = Output.open
    private var held = OperationDeque<Held>()
    package private(set) var drain: Drain = []

    /// A connection that is being made.
    package init(allowsHalfOpen: Bool) {
        self.allowsHalfOpen = allowsHalfOpen
    }

    // MARK: What happened

    /// The connection stands: what was held back begins.
    package mutating func didConnect(now: MonotonicTime) {
        precondition(state == .connecting, "connected while \(state)")
        state = .open
        var waiting = OperationDeque<Held>()
        swap(&waiting, &held)
        while let operation = waiting.popFirst() {
            switch operation {
            // While connecting, a replaced standing read was already taken out of `held`.
            case .read(let request, let id): _ = reading.enqueue(request, as: id, now: now)
            case .write(let request, let id): writing.enqueue(request, as: id, now: now)
            }
        }
    }

    /// A receive returned 0.
    package mutating func didReachEndOfStream() {
        if input == .open { input = .ended }
    }

    /// The descriptor is closed; `failNext` ends what is left.
    package mutating func didClose() {
        state = .closed
    }

    // MARK: What is asked

    /// Queues a read. The answer is an operation that ended through this: the read itself when it is refused, or a
    /// standing read that it replaces.
    package mutating func add(_ request: ReadRequest, as id: OperationID, now: MonotonicTime) -> FailedOperation? {
        if let error = request.fault ?? refusal(of: "read") {
            return FailedOperation(
                operation: id, kind: .read(request.kind), tag: request.tag, done: 0, total: request.total, bytes: [],
                isStanding: request.isStanding, error: error)
        }
        if state == .connecting {
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
                operation: id, kind: .write, tag: request.tag, done: 0, total: request.bytes.count, bytes: [],
                error: error)
        }
        if state == .connecting {
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
        if output == .shutting, writing.isEmpty {
            output = .shut
            return .shutWrite
        }
        if !drain.isEmpty, !drain.contains(.reads) || areReadsOver, !drain.contains(.writes) || writing.isEmpty {
            guard drain.contains(.writes) else { return .close(nil) }
            state = .lingering
            return .linger
        }
        if input == .reported, output == .shut { return .close(Self.endOfStream) }
        return input == .ended ? nextAfterEndOfStream() : .none
    }

    /// No read is left, or none can complete any more.
    private var areReadsOver: Bool {
        reading.isDrained || (input == .reported && reading.prebuffered == 0)
    }

    /// The peer is done. What was read ahead is still delivered; writes are still drained if that was asked for.
    private mutating func nextAfterEndOfStream() -> Action {
        if reading.prebuffered > 0 { return .none }
        if drain.contains(.writes), !writing.isEmpty { return .none }
        guard allowsHalfOpen, output != .shut else { return .close(Self.endOfStream) }
        input = .reported
        return .reportPeerClosed
    }

    // MARK: Facts

    package var isConnecting: Bool { state == .connecting }
    package var isOpen: Bool { state == .open }
    package var isLingering: Bool { state == .lingering }
    package var isClosed: Bool { state == .closed }
    package var hasEndOfStream: Bool { input != .open }
    package var hasReportedEndOfStream: Bool { input == .reported }
    package var isWriteShut: Bool { output == .shut || state == .lingering }
    /// Whether a half-close waits for the write queue.
    package var isShuttingWrite: Bool { output == .shutting }

    /// When an operation in hand times out.
    package var deadline: MonotonicTime? {
        guard state == .open else { return nil }
        guard let read = reading.deadline else { return writing.deadline }
        guard let write = writing.deadline else { return read }
        return min(read, write)
    }

    /// Ends every operation, one a call: the reads in order, then the writes; nil when none is left.
    package mutating func failNext(error: SocketError) -> FailedOperation? {
        if let first = held.popFirst() { return Self.failure(of: first, error: error) }
        return reading.failNext(error: error) ?? writing.failNext(error: error)
    }
}

// MARK: - Cancelling

extension ConnectionMachine {
    /// Ends one of the operations named, if one is left that can be ended; call until nil.
    package mutating func cancelNext(_ target: SocketCommand.CancelTarget, now: MonotonicTime) -> FailedOperation? {
        let read = SocketError(.cancelled, operation: "read", detail: "cancelled")
        let write = SocketError(.cancelled, operation: "write", detail: "cancelled")
        if state == .connecting { return cancelHeld(target, read: read, write: write) }
        switch target {
        case .operation(let id):
            return reading.cancel(id, error: read, now: now) ?? writing.cancel(id, error: write, now: now)
        case .reads:
            return reading.lastQueued.flatMap { reading.cancel($0, error: read, now: now) }
        case .writes:
            return writing.lastUnsent.flatMap { writing.cancel($0, error: write, now: now) }
        }
    }

    private mutating func cancelHeld(
        _ target: SocketCommand.CancelTarget, read: SocketError, write: SocketError
    ) -> FailedOperation? {
        let cancelled = held.remove { operation in
            switch (operation, target) {
            case (.read(_, let id), .operation(let wanted)), (.write(_, let id), .operation(let wanted)): id == wanted
            case (.read, .reads), (.write, .writes): true
            case (.read, .writes), (.write, .reads): false
            }
        }
        guard let cancelled else { return nil }
        return if case .read = cancelled {
            Self.failure(of: cancelled, error: read)
        } else {
            Self.failure(of: cancelled, error: write)
        }
    }
}

// MARK: - Changing a timeout

extension ConnectionMachine {
    /// Gives an operation another timeout; its tag, or nil when it is not here or asking.
    package mutating func setTimeout(_ timeout: Duration?, of operation: OperationID) -> Int? {
        guard state == .connecting else {
            return reading.setTimeout(timeout, of: operation) ?? writing.setTimeout(timeout, of: operation)
        }
        var tag: Int?
        _ = held.change { waiting in
            switch waiting {
            case .read(var request, operation):
                request.timeout = timeout
                (waiting, tag) = (.read(request, operation), request.tag)
            case .write(var request, operation):
                request.timeout = timeout
                (waiting, tag) = (.write(request, operation), request.tag)
            case .read, .write: return false
            }
            return true
        }
        return tag
    }
}

// MARK: - Refusing and holding back

extension ConnectionMachine {
    /// What the peer's end of stream does to what waits for it.
    package static let endOfStream = SocketError(
        .closedByPeer, operation: "read", detail: "the peer closed its side (FIN)")

    private func refusal(of operation: String) -> SocketError? {
        if state == .closed || state == .lingering {
            return SocketError(.notConnected, operation: operation, detail: "the connection is closed")
        }
        guard !drain.isEmpty else { return nil }
        return SocketError(.disconnected, operation: operation, detail: "refused: the connection is closing")
    }

    private var shutRefusal: SocketError? {
        guard output != .open else { return nil }
        return SocketError(.disconnected, operation: "write", detail: "refused: this side was half-closed")
    }

    private var isDrainedWhileConnecting: Bool {
        guard !drain.isEmpty else { return false }
        return !(0..<held.count).contains { index in
            switch held[index] {
            case .read(let request, _): drain.contains(.reads) && !request.isStanding
            case .write: drain.contains(.writes)
            }
        }
    }

    private mutating func replaceHeldStanding() -> FailedOperation? {
        let replaced = held.remove { operation in
            if case .read(let request, _) = operation { request.isStanding } else { false }
        }
        let error = SocketError(.disconnected, operation: "read", detail: "replaced by a newer standing read")
        return replaced.map { Self.failure(of: $0, error: error) }
    }

    private static func failure(of operation: Held, error: SocketError) -> FailedOperation {
        switch operation {
        case .read(let request, let id):
            FailedOperation(
                operation: id, kind: .read(request.kind), tag: request.tag, done: 0, total: request.total, bytes: [],
                isStanding: request.isStanding, error: error)
        case .write(let request, let id):
            FailedOperation(
                operation: id, kind: .write, tag: request.tag, done: 0, total: request.bytes.count, bytes: [],
                error: error)
        }
    }

    /// The read queue as it is shown: what is held back while connecting counts as pending.
    package func readingSnapshot(listing: Int = QueueSnapshot.listingLimit) -> QueueSnapshot {
        guard state == .connecting else { return reading.snapshot(listing: listing) }
        let pending = (0..<held.count).compactMap { index -> OperationSnapshot? in
            guard case .read(let request, let id) = held[index] else { return nil }
            return OperationSnapshot(
                id: id, kind: .read(request.kind), tag: request.tag, total: request.total,
                isStanding: request.isStanding, timeout: request.timeout)
        }
        return QueueSnapshot(pending: Array(pending.prefix(listing)), pendingCount: pending.count)
    }

    /// The write queue as it is shown: what is held back while connecting counts as pending.
    package func writingSnapshot(listing: Int = QueueSnapshot.listingLimit) -> QueueSnapshot {
        guard state == .connecting else { return writing.snapshot(listing: listing) }
        var pending: [OperationSnapshot] = []
        var bytes = 0
        for index in 0..<held.count {
            guard case .write(let request, let id) = held[index] else { continue }
            bytes += request.bytes.count
            pending.append(
                OperationSnapshot(
                    id: id, kind: .write, tag: request.tag, total: request.bytes.count, timeout: request.timeout,
                    preview: Array(request.bytes.prefix(32))))
        }
        return QueueSnapshot(
            pending: Array(pending.prefix(listing)), pendingCount: pending.count, pendingBytes: bytes)
    }
}
