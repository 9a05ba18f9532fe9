import SocketCore

/// What a datagram handle holds, from whatever thread it is asked.
struct DatagramHandleState: HandleStorage, ~Copyable {
    var core: HandleCore<any DatagramSocketDelegate, DatagramConfiguration>
    /// nil: datagrams go to the delegate.
    var kept: KeptDatagrams?
    /// Who awaits that a datagram is sent, or that the socket is connected.
    var awaitedSends: [OperationID: @Sendable (SocketError?) -> Void] = [:]

    init(
        delegate: (any DatagramSocketDelegate)?, pump: DelegatePump?, configuration: DatagramConfiguration
    ) {
        core = HandleCore(delegate: delegate, pump: pump, configuration: configuration)
    }
}

/// What a datagram handle and its session share: the session looks at it for each batch, without the handle.
final class DatagramTraits: Sendable {
    /// Notices on their way to the delegate's queue.
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

/// What the engine does with a handle.
extension DatagramSocket: DeliveringHandle {
    var backPressure: BackPressure { _read { yield shared.backPressure } }

    func sessionBegan(_ id: SocketID) {
        state.withLock { $0.core.present.begin(id) }
    }

    /// The session is over; `snapshot` is how it was at its end.
    func sessionEnded(_ id: SocketID, as snapshot: SocketSnapshot) {
        state.withLock { $0.core.present.end(id, as: .whole(snapshot)) }
    }

    /// The session began with a call that was refused, so that it never was. No notice of its end follows: the answer is
    /// to be called instead.
    func sessionVanished(_ id: SocketID) -> () -> Void {
        let answers = state.withLock { state in
            state.core.present.end(id, as: nil)
            return state.kept?.waiters.takeAll(of: id) ?? []
        }
        return { for answer in answers { answer(.success(nil)) } }
    }

    /// How callbacks arrive, for a snapshot.
    func callbacks(in engine: EngineState) -> CallbackSnapshot {
        let (isKept, pump, delegate) = state.withLock { ($0.kept != nil, $0.pump, $0.delegate) }
        // This may be its last reference.
        if let delegate { engine.retire(delegate) }
        var snapshot = CallbackSnapshot(isHeard: delegate != nil || isKept, undelivered: backPressure.weight)
        if let measured = pump?.lag(engine.now) { (snapshot.lag, snapshot.ran) = (measured.lag, measured.ran) }
        return snapshot
    }

    // MARK: Delivery

    /// Answers whoever awaits this, or calls the delegate, on the queue where it wants to be called. From when too much
    /// waits for that queue, the session takes no more from the kernel, until `caughtUp` is posted.
    func deliver(_ notice: DatagramNotice) {
        let (pump, answer) = state.withLock { state in
            if case .closed(_, let id) = notice { state.core.present.deliverEnd(of: id) }
            return (state.pump, state.answer(notice))
        }
        if let answer { return answer() }
        if case .closed(let error, let id) = notice { endFetching(of: id, error) }
        deliver(notice, by: pump)
    }

    /// Calls the present delegate.
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
    /// What answers the one who awaits this; nil: nobody does.
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
