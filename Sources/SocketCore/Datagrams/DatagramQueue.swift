/// The outgoing datagrams of one socket: the current one, and those queued after it.
///
/// Datagrams leave in the order in which they were queued, however long one takes to resolve. The caller performs what
/// `next` returns until that is `.wait`. After `.send` it offers the datagrams that `withReady` lends to the kernel,
/// then calls `complete` for each datagram that the kernel accepted, or `takeFirst` for the one it rejected. It calls
/// `expire` at `deadline`.
package struct DatagramQueue: Sendable {
    /// The destination of an entry.
    package enum Target: Sendable, Equatable {
        /// The connected peer.
        case peer
        /// A known address.
        case address(SocketAddress)
        /// A host that is still being resolved. `resolved` supplies its address.
        case name
    }

    /// The timer of the current datagram, and its filter's answer.
    private struct Current: TimedOperation {
        enum Judgement {
            case unasked, asked, passed
        }
        var timer: OperationTimer
        let ownLimit: TimeLimit
        var judgement = Judgement.unasked
    }

    private var queued = OperationDeque<QueuedDatagram>()
    private var current: Current?
    /// The resolver's answers for queued entries, or `nil` for those it hasn't answered yet.
    private var answers: [OperationID: Result<SocketAddress, SocketError>?] = [:]
    /// The number of queued payload bytes.
    package private(set) var pendingBytes = 0
    /// The number of datagrams sent, including those that the filter held back.
    package private(set) var completed: UInt64 = 0

    /// Creates an empty queue, which owns no memory.
    package init() {}

    /// The number of queued datagrams and connects.
    package var count: Int { queued.count }

    /// The queue's size as measured against its limit. An empty datagram takes room too.
    package var weight: Int { pendingBytes + count * Self.overhead }

    private static let overhead = 64

    /// The queued connect, or `nil` if there is none.
    package private(set) var connect: OperationID?

    /// Whether a connect is queued.
    package var isConnecting: Bool { connect != nil }

    // MARK: Queueing

    /// Queues a datagram, and makes it current if no other is.
    package mutating func enqueue(
        _ request: DatagramRequest, to target: Target, as operation: OperationID, now: MonotonicTime
    ) {
        append(
            QueuedDatagram(
                operation: operation, bytes: request.bytes, destination: request.destination, target: target,
                limit: TimeLimit(request.timeout), tag: request.tag, isConnect: false, queued: now), now)
    }

    /// Queues a connect after the datagrams that are already queued.
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
        if current == nil { startNext(now) }
    }

    /// Records the resolver's answer for an entry. Has no effect if the entry has left the queue.
    package mutating func resolved(_ operation: OperationID, _ answer: Result<SocketAddress, SocketError>) {
        if answers[operation] != nil { answers[operation] = .some(answer) }
    }

    /// Records the filter's answer for the current datagram. Returns the datagram if the filter held it back, which
    /// counts as sent, or `nil` if it passes or has left the queue.
    package mutating func judged(_ operation: OperationID, passes: Bool, now: MonotonicTime) -> QueuedDatagram? {
        guard current?.judgement == .asked, queued.count > 0, queued[0].operation == operation else { return nil }
        current?.judgement = .passed
        return passes ? nil : complete(now: now)
    }

    // MARK: What to do next

    /// Returns what the caller must do next. `peer` is the address that the socket is connected to. If `isFiltered` is
    /// set, each datagram is filtered before it is sent.
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
        switch current?.judgement {
        case .passed: return .send
        case .asked, nil: return .wait
        case .unasked:
            current?.judgement = .asked
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

    /// Returns the address of an entry, or `nil` while it is being resolved.
    private func known(_ entry: QueuedDatagram) -> Result<SocketAddress, SocketError>? {
        switch entry.target {
        case .address(let address): .success(address)
        case .name: answers[entry.operation] ?? nil
        case .peer: .failure(Self.misdirected("it has no destination, and the socket is not connected"))
        }
    }

    /// Returns the destination of a datagram. A connected socket sends only to its peer.
    private func address(of entry: QueuedDatagram, peer: SocketAddress?) -> Result<SocketAddress?, SocketError>? {
        guard let peer else { return known(entry)?.map { $0 } }
        switch entry.target {
        case .peer: return .success(nil)
        case .address(peer): return .success(nil)
        case .address, .name:
            let name = entry.destination?.description ?? "-"
            return .failure(Self.misdirected("\(name): the socket is connected to \(peer) and sends only to it"))
        }
    }

    private static func misdirected(_ detail: String) -> SocketError {
        SocketError(.badConfiguration, operation: "send", detail: detail)
    }

    // MARK: Sending

    /// Returns the current datagram's destination after `next` returned `.send`, or `nil` for the connected peer.
    package func destination(peer: SocketAddress?) -> SocketAddress? {
        guard queued.count > 0, case .success(let address)? = address(of: queued[0], peer: peer) else { return nil }
        return address
    }

    /// Lends the datagrams that can be sent now for the length of the call: the current one and those after it, in
    /// order, that need neither filter nor resolver and for which `isSameWay` holds. Lends at most `most`, which should
    /// stay in the hundreds, since each takes a stack frame.
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

    /// Removes the current datagram, which the kernel accepted. Traps if there is none.
    package mutating func complete(now: MonotonicTime) -> QueuedDatagram {
        completed += 1
        return takeFirst(now)
    }

    /// Removes the current entry and makes the next one current. Traps if there is none.
    package mutating func takeFirst(_ now: MonotonicTime) -> QueuedDatagram {
        guard let first = queued.popFirst() else { fatalError("nothing is queued") }
        left(first)
        current = nil
        startNext(now)
        return first
    }

    /// Removes one entry before its turn. Returns `nil` if it has left the queue.
    package mutating func remove(_ operation: OperationID, now: MonotonicTime) -> QueuedDatagram? {
        if queued.count > 0, queued[0].operation == operation { return takeFirst(now) }
        guard let entry = queued.removeOnly(where: { $0.operation == operation }) else { return nil }
        left(entry)
        return entry
    }

    /// The identifier of the first entry, or `nil` if nothing is queued.
    package var first: OperationID? { queued.count > 0 ? queued[0].operation : nil }

    /// The identifier of the last entry, or `nil` if nothing is queued.
    package var last: OperationID? { queued.last?.operation }

    private mutating func left(_ entry: QueuedDatagram) {
        if entry.isConnect { connect = nil }
        pendingBytes -= entry.bytes.count
        answers.removeValue(forKey: entry.operation)
    }

    private mutating func startNext(_ now: MonotonicTime) {
        guard queued.count > 0 else { return }
        current = Current(timer: OperationTimer(now: now), ownLimit: queued[0].limit)
    }

    // MARK: Timeouts

    /// The deadline of the current datagram, or `nil` if it has none.
    package var deadline: MonotonicTime? { current?.deadline }

    /// Removes the current datagram if its deadline has passed.
    package mutating func expire(now: MonotonicTime) -> QueuedDatagram? {
        guard current?.isDue(now) == true else { return nil }
        return takeFirst(now)
    }

    /// A snapshot of this queue.
    package var snapshot: QueueSnapshot {
        var list = (0..<min(queued.count, QueueSnapshot.listingLimit + 1)).map { queued[$0].snapshot }
        guard !list.isEmpty else { return QueueSnapshot(completed: completed) }
        var current = list.removeFirst()
        current.started = self.current?.timer.started
        current.deadline = self.current?.deadline
        return QueueSnapshot(
            current: current, pending: list, pendingCount: queued.count - 1, pendingBytes: pendingBytes,
            completed: completed)
    }
}

/// What to do with the current datagram.
package enum DatagramAction: Equatable {
    /// Nothing is queued, or the datagram waits for the resolver or the filter.
    case wait
    /// The datagram can never be sent, or the host never connected to: remove the entry and report it.
    case refuse(SocketError)
    /// Ask the filter, then call `judged`.
    case judge(QueuedDatagram)
    /// Offer the datagram and those after it to the kernel.
    case send
    /// Remove the entry and connect to this address.
    case connect(SocketAddress)
}

/// A queued datagram, or a connect queued among datagrams.
package struct QueuedDatagram: Sendable, Equatable {
    package let operation: OperationID
    package let bytes: [UInt8]
    package let destination: Endpoint?
    package let target: DatagramQueue.Target
    let limit: TimeLimit
    package let tag: Int
    package let isConnect: Bool
    package let queued: MonotonicTime

    /// Returns the failure of this datagram.
    package func failed(_ error: SocketError) -> FailedDatagram {
        FailedDatagram(operation: operation, tag: tag, bytes: bytes, destination: destination, error: error)
    }

    /// A snapshot of the entry while it is queued.
    var snapshot: OperationSnapshot {
        OperationSnapshot(
            id: operation, kind: .write, tag: tag, total: bytes.count, timeout: limit.duration,
            preview: Array(bytes.prefix(32)))
    }
}
