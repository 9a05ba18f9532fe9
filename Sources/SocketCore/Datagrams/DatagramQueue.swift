/// The datagrams that one socket has to send: the one in hand, and those behind it.
///
/// They leave in the order in which they were queued, however long the resolver takes for one of them. The shell calls
/// `next` and performs what it says until it says `.wait`: after `.send` it offers what `withReady` lends to the kernel,
/// then calls `complete` for each datagram that the kernel took, or `failFirst` for the one it refused. It wakes at
/// `deadline` and calls `expire`.
package struct DatagramQueue: Sendable {
    /// What one entry is for.
    package enum Target: Sendable, Equatable {
        /// The connected peer.
        case peer
        /// This address.
        case address(SocketAddress)
        /// A host whose address is not known yet; `resolved` says it.
        case name
    }

    /// The clock of the datagram in hand, and what its filter said.
    private struct InHand: TimedOperation {
        enum Judgement {
            case unasked, asked, passed
        }
        var timer: OperationTimer
        let ownLimit: TimeLimit
        var judgement = Judgement.unasked
    }

    private var queued = OperationDeque<QueuedDatagram>()
    private var inHand: InHand?
    /// Answers of the resolver to entries that are still queued; nil: not there yet.
    private var answers: [OperationID: Result<SocketAddress, SocketError>?] = [:]
    /// Payload bytes queued.
    package private(set) var pendingBytes = 0
    /// Datagrams sent, those held back by the filter included.
    package private(set) var completed: UInt64 = 0

    /// An empty queue, which owns no memory.
    package init() {}

    /// How many datagrams and connects are queued.
    package var count: Int { queued.count }

    /// What the queue weighs against its limit: a datagram without bytes takes room too.
    package var weight: Int { pendingBytes + count * Self.overhead }

    private static let overhead = 64

    /// The connect that is queued; nil: none is.
    package private(set) var connect: OperationID?

    /// Whether a connect is queued.
    package var isConnecting: Bool { connect != nil }

    // MARK: Queueing

    /// Queues a datagram, and takes it in hand when no other is.
    package mutating func enqueue(
        _ request: DatagramRequest, to target: Target, as operation: OperationID, now: MonotonicTime
    ) {
        append(
            QueuedDatagram(
                operation: operation, bytes: request.bytes, destination: request.destination, target: target,
                limit: TimeLimit(request.timeout), tag: request.tag, isConnect: false, queued: now), now)
    }

    /// Queues a connect behind the datagrams that were queued before it.
    package mutating func enqueueConnect(
        to destination: Endpoint, _ target: Target, as operation: OperationID, now: MonotonicTime
    ) {
        connect = operation
        append(
            QueuedDatagram(
                operation: operation, bytes: [], destination: destination, target: target, limit: TimeLimit(nil),
                tag: 0, isConnect: true, queued: now), now)
    }

    private mutating func append(_ entry: QueuedDatagram, _ now: MonotonicTime) {
        if entry.target == .name { answers.updateValue(nil, forKey: entry.operation) }
        pendingBytes += entry.bytes.count
        queued.append(entry)
        if inHand == nil { startNext(now) }
    }

    /// The resolver answered for an entry; no effect when it is not here any more.
    package mutating func resolved(_ operation: OperationID, _ answer: Result<SocketAddress, SocketError>) {
        if answers[operation] != nil { answers[operation] = .some(answer) }
    }

    /// The filter answered for the datagram in hand. The datagram that it held back, which counts as sent; nil: it
    /// passes, or is not here any more.
    package mutating func judged(_ operation: OperationID, passes: Bool, now: MonotonicTime) -> QueuedDatagram? {
        guard inHand?.judgement == .asked, queued.count > 0, queued[0].operation == operation else { return nil }
        inHand?.judgement = .passed
        return passes ? nil : complete(now: now)
    }

    // MARK: What to do next

    /// What the shell has to do next. `peer`: whom the socket is connected to. `isFiltered`: each datagram is to be
    /// judged before it is sent.
    package mutating func next(peer: SocketAddress?, isFiltered: Bool) -> DatagramAction {
        guard queued.count > 0 else { return .wait }
        let first = queued[0]
        if first.isConnect { return connectAction(first) }
        switch address(of: first, peer: peer) {
        case nil: return .wait
        case .failure(let error)?: return .refuse(error)
        case .success?: break
        }
        guard isFiltered else { return .send }
        switch inHand?.judgement {
        case .passed: return .send
        case .asked, nil: return .wait
        case .unasked:
            inHand?.judgement = .asked
            return .judge(first)
        }
    }

    private func connectAction(_ first: QueuedDatagram) -> DatagramAction {
        switch known(first) {
        case nil: .wait
        case .failure(let error)?: .refuse(error)
        case .success(let address)?: .connect(address)
        }
    }

    /// The address that an entry names; nil while it is being resolved.
    private func known(_ entry: QueuedDatagram) -> Result<SocketAddress, SocketError>? {
        switch entry.target {
        case .address(let address): .success(address)
        case .name: answers[entry.operation] ?? nil
        case .peer: .failure(Self.misdirected("it has no destination, and the socket is not connected"))
        }
    }

    /// Where a datagram goes; on a connected socket only to its peer.
    private func address(of entry: QueuedDatagram, peer: SocketAddress?) -> Result<SocketAddress?, SocketError>? {
        guard let peer else { return known(entry)?.map { $0 } }
        switch entry.target {
        case .peer: return .success(nil)
        case .address(peer): return .success(nil)
        case .address, .name:
            let name = entry.destination?.description ?? "-"
            return .failure(Self.misdirected("\(name): the socket is connected to \(peer) and sends to nobody else"))
        }
    }

    private static func misdirected(_ detail: String) -> SocketError {
        SocketError(.badConfiguration, operation: "send", detail: detail)
    }

    // MARK: Sending

    /// Where the datagram in hand goes, once `next` has said `.send`; nil: to the peer.
    package func destination(peer: SocketAddress?) -> SocketAddress? {
        guard queued.count > 0, case .success(let address)? = address(of: queued[0], peer: peer) else { return nil }
        return address
    }

    /// Lends the datagrams that may leave now with the one in hand, in order, at most `most` of them, for the length of
    /// the call: those behind it that need no filter and no resolver and for which `isSameWay` holds. `most` should stay
    /// in the hundreds, since each takes a frame of the stack.
    package func withReady<R>(
        most: Int, peer: SocketAddress?, isSameWay: (SocketAddress?) -> Bool,
        _ body: (UnsafeBufferPointer<OutgoingDatagram>) -> R
    ) -> R {
        withUnsafeTemporaryAllocation(of: OutgoingDatagram.self, capacity: min(most, queued.count)) { list in
            lend(list, filled: 0, peer, isSameWay, body)
        }
    }

    private func lend<R>(
        _ list: UnsafeMutableBufferPointer<OutgoingDatagram>, filled: Int, _ peer: SocketAddress?,
        _ isSameWay: (SocketAddress?) -> Bool, _ body: (UnsafeBufferPointer<OutgoingDatagram>) -> R
    ) -> R {
        guard filled < list.count, !queued[filled].isConnect,
            case .success(let address)? = address(of: queued[filled], peer: peer), filled == 0 || isSameWay(address)
        else {
            defer { list.prefix(filled).deinitialize() }
            return body(UnsafeBufferPointer(rebasing: list[..<filled]))
        }
        return queued[filled].bytes.withUnsafeBytes {
            list.initializeElement(at: filled, to: OutgoingDatagram($0, to: address))
            return lend(list, filled: filled + 1, peer, isSameWay, body)
        }
    }

    /// The kernel took the datagram in hand. Traps when there is none.
    package mutating func complete(now: MonotonicTime) -> QueuedDatagram {
        completed += 1
        return takeFirst(now)
    }

    /// Takes the entry in hand out, and the next one in hand. Traps when there is none.
    package mutating func takeFirst(_ now: MonotonicTime) -> QueuedDatagram {
        guard let first = queued.popFirst() else { fatalError("nothing is queued") }
        left(first)
        inHand = nil
        startNext(now)
        return first
    }

    /// Takes one entry out before its turn; nil when it is not here any more.
    package mutating func remove(_ operation: OperationID, now: MonotonicTime) -> QueuedDatagram? {
        if queued.count > 0, queued[0].operation == operation { return takeFirst(now) }
        guard let entry = queued.removeOnly(where: { $0.operation == operation }) else { return nil }
        left(entry)
        return entry
    }

    /// The name of the first entry; nil when nothing is queued.
    package var first: OperationID? { queued.count > 0 ? queued[0].operation : nil }

    /// The last entry's name; nil: nothing is queued.
    package var last: OperationID? { queued.last?.operation }

    private mutating func left(_ entry: QueuedDatagram) {
        if entry.isConnect { connect = nil }
        pendingBytes -= entry.bytes.count
        answers.removeValue(forKey: entry.operation)
    }

    private mutating func startNext(_ now: MonotonicTime) {
        guard queued.count > 0 else { return }
        inHand = InHand(timer: OperationTimer(now: now), ownLimit: queued[0].limit)
    }

    // MARK: Timeouts

    /// When the datagram in hand times out; nil: never.
    package var deadline: MonotonicTime? { inHand?.deadline }

    /// Takes the datagram in hand out when its time is up.
    package mutating func expire(now: MonotonicTime) -> QueuedDatagram? {
        guard inHand?.isDue(now) == true else { return nil }
        return takeFirst(now)
    }

    /// This queue as it is shown.
    package var snapshot: QueueSnapshot {
        var list = (0..<min(queued.count, QueueSnapshot.listingLimit + 1)).map { queued[$0].snapshot }
        guard !list.isEmpty else { return QueueSnapshot(completed: completed) }
        var current = list.removeFirst()
        current.started = inHand?.timer.started
        current.deadline = inHand?.deadline
        return QueueSnapshot(
            current: current, pending: list, pendingCount: queued.count - 1, pendingBytes: pendingBytes,
            completed: completed)
    }
}

/// What to do about the datagram in hand.
package enum DatagramAction: Equatable {
    /// Nothing is queued, or it waits for the resolver or the filter.
    case wait
    /// It can never be sent, or that host connected to: take it out and report it.
    case refuse(SocketError)
    /// Ask the filter, then call `judged`.
    case judge(QueuedDatagram)
    /// Offer it, and those behind it, to the kernel.
    case send
    /// Take it out and connect to this address.
    case connect(SocketAddress)
}

/// A datagram that waits to be sent, or a connect that waits behind some.
package struct QueuedDatagram: Sendable, Equatable {
    package let operation: OperationID
    package let bytes: [UInt8]
    package let destination: Endpoint?
    package let target: DatagramQueue.Target
    let limit: TimeLimit
    package let tag: Int
    package let isConnect: Bool
    package let queued: MonotonicTime

    /// This datagram, which was not sent.
    package func failed(_ error: SocketError) -> FailedDatagram {
        FailedDatagram(operation: operation, tag: tag, bytes: bytes, destination: destination, error: error)
    }

    /// As it is shown while it waits.
    var snapshot: OperationSnapshot {
        OperationSnapshot(
            id: operation, kind: .write, tag: tag, total: bytes.count, timeout: limit.duration,
            preview: Array(bytes.prefix(32)))
    }
}
