import SocketCore

/// The state of a datagram socket's handle, accessible from any thread.
struct DatagramHandleState: HandleStorage, ~Copyable {
    var core: HandleCore<any DatagramSocketDelegate, DatagramConfiguration>
    /// The datagrams for a task to fetch, or `nil` if datagrams go to the delegate.
    var kept: KeptDatagrams?
    /// The answers of tasks that await a send.
    var awaitedSends: [OperationID: @Sendable (SocketError?) -> Void] = [:]

    init(
        delegate: (any DatagramSocketDelegate)?, pump: DelegatePump?, configuration: DatagramConfiguration
    ) {
        core = HandleCore(delegate: delegate, pump: pump, configuration: configuration)
    }
}

/// What a datagram handle and its session share. The session reads it for each batch, without the handle.
final class DatagramTraits: Sendable {
    /// Notices in transit to the delegate's queue.
    let backPressure = BackPressure()
    private let filters = Lock(Filters())

    private struct Filters {
        var send: Shared<DatagramSendFilter>?
        var receive: Shared<DatagramReceiveFilter>?
    }

    var sendFilter: Shared<DatagramSendFilter>? {
        get { filters.withLock { $0.send } }
        set { filters.replace(\.send, with: newValue) }
    }

    var receiveFilter: Shared<DatagramReceiveFilter>? {
        get { filters.withLock { $0.receive } }
        set { filters.replace(\.receive, with: newValue) }
    }
}

/// The engine's interface to the handle.
extension DatagramSocket: DeliveringHandle {
    var backPressure: BackPressure { _read { yield shared.backPressure } }

    func sessionBegan(_ id: SocketID) {
        state.withLock { $0.core.present.begin(id) }
    }

    /// Records that the session has ended, with its final snapshot.
    func sessionEnded(_ id: SocketID, as snapshot: SocketSnapshot) {
        state.withLock { $0.core.present.end(id, as: .whole(snapshot)) }
    }

    /// Records that the session began with a refused call, so that it never existed. No notice of its end follows; the
    /// caller must call the returned closure instead.
    func sessionVanished(_ id: SocketID) -> () -> Void {
        let answers = state.withLock { state in
            state.core.present.end(id, as: nil)
            return state.kept?.waiters.takeAll(of: id) ?? []
        }
        return { for answer in answers { answer(.success(nil)) } }
    }

    /// How callbacks are delivered, for a snapshot.
    func callbacks(in engine: EngineState) -> CallbackSnapshot {
        let (isKept, pump, delegate) = state.withLock { ($0.kept != nil, $0.pump, $0.delegate) }
        // This may be the delegate's last reference.
        if let delegate { engine.retire(delegate) }
        var snapshot = CallbackSnapshot(isHeard: delegate != nil || isKept, undelivered: backPressure.weight)
        if let measured = pump?.lag(engine.now) { (snapshot.lag, snapshot.ran) = (measured.lag, measured.ran) }
        return snapshot
    }

    // MARK: Delivery

    /// Answers the awaiting task, or calls the delegate on its queue. Once too much waits for that queue, the session
    /// stops reading from the kernel until `caughtUp` is posted.
    func deliver(_ notice: DatagramNotice) {
        let (pump, answer) = state.withLock { state in
            if case .closed(_, let id) = notice { state.core.present.deliverEnd(of: id) }
            return (state.pump, state.answer(notice))
        }
        if let answer { return answer() }
        if case .closed(let error, let id) = notice { endFetching(of: id, error) }
        deliver(notice, by: pump)
    }

    func call(_ notice: DatagramNotice) {
        guard let delegate else { return }
        switch notice {
        case .connected(let address): delegate.datagramSocket(self, didConnectTo: address)
        case .notConnected(let error): delegate.datagramSocket(self, didNotConnect: error)
        case .sent(let operation, let tag): delegate.datagramSocket(self, didSend: operation, tag: tag)
        case .notSent(let datagram): delegate.datagramSocket(self, didNotSend: datagram)
        case .received(let batch): delegate.datagramSocket(self, didReceiveBatch: batch)
        case .met(let error): delegate.datagramSocket(self, didEncounter: error)
        case .closed(let error, _): delegate.datagramSocket(self, didClose: error)
        }
    }
}

extension DatagramNotice: WeighedNotice {
    var weight: Int {
        switch self {
        case .received(let batch): batch.weight + BackPressure.noticeWeight
        case .sent: BackPressure.noticeWeight
        case .notSent(let datagram): datagram.bytes.count + BackPressure.boxedWeight
        case .connected, .notConnected, .met, .closed: BackPressure.boxedWeight
        }
    }
}

extension DatagramHandleState {
    /// Returns the awaiting task's answer, or `nil` if no task awaits this.
    fileprivate mutating func answer(_ notice: DatagramNotice) -> (() -> Void)? {
        switch notice {
        case .sent(let operation, _): take(operation, nil)
        case .notSent(let failed): take(failed.operation, failed.error)
        case .connected, .notConnected, .received, .met, .closed: nil
        }
    }

    private mutating func take(_ operation: OperationID, _ error: SocketError?) -> (() -> Void)? {
        guard !awaitedSends.isEmpty, let answer = awaitedSends.removeValue(forKey: operation) else { return nil }
        return { answer(error) }
    }
}
