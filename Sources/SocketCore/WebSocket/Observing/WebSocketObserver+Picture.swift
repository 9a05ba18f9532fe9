/// Reports the state of an observed WebSocket. These methods change nothing, and are mutating because the compiler takes
/// ten seconds to check what they read of a borrowed value with so many fields.
extension WebSocketObserver {
    /// Returns the current snapshot, or `nil` if no WebSocket was requested.
    package mutating func picture() -> WebSocketPicture? {
        guard let request else { return nil }
        var picture = WebSocketPicture(role: role, stage: shown, target: request.resource)
        picture.request = request.head
        picture.response = response
        picture.headBytes = headBytes
        picture.openedIn = openedIn
        picture.problem = problem
        picture.report = report
        if openedIn != nil {
            picture.subprotocol = response?.values(of: "sec-websocket-protocol").first
            picture.extensions = response?.list(of: "sec-websocket-extensions") ?? []
        }
        picture.traffic = traffic()
        picture.observation = observation()
        return picture
    }

    private mutating func traffic() -> WebSocketSnapshot? {
        guard hasFrames else { return nil }
        var traffic = WebSocketSnapshot(role: role)
        switch shown {
        case .closing: traffic.state = .closing
        case .closed: traffic.state = .closed
        case .connecting, .tunnelling, .opening, .open, .refused: break
        }
        traffic.awaiting = received.awaiting
        traffic.receiving = received.receiving
        traffic.sending = sent.progress
        traffic.received = received.counters
        traffic.sent = sent.counters
        traffic.discardedBytes = received.discarded + sent.discarded
        traffic.pendingPings = pings.pending
        traffic.roundTrip = pings.roundTrip
        traffic.closeSent = sent.close
        traffic.closeReceived = received.close
        traffic.closeOrigin = closeOrigin
        traffic.failure = received.failure ?? sent.failure
        traffic.deflate = deflate
        return traffic
    }

    private mutating func observation() -> WebSocketObservation {
        var observation = WebSocketObservation()
        observation.sending = sent.receiving
        observation.receivedFailure = received.failure
        observation.sentFailure = sent.failure
        observation.receivedSkipped = received.skipped
        observation.sentSkipped = sent.skipped
        return observation
    }

    /// Returns how the WebSocket ended, once the transport has.
    mutating func ending(by origin: WebSocketCloseReport.Origin, now: MonotonicTime) -> WebSocketCloseReport {
        let closes = (sent: sent.close, received: received.close)
        let isUnsaid = closes.sent == nil && closes.received == nil
        return WebSocketCloseReport(
            sent: closes.sent, received: closes.received,
            failure: received.failure ?? sent.failure ?? (isUnsaid ? .endedWithoutClose : nil),
            origin: closeOrigin ?? origin, wasClean: closes.sent != nil && closes.received != nil, unsentBytes: 0,
            began: closeBegan ?? now, ended: now)
    }
}
