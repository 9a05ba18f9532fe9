import SocketCore

// WebSockets on the wire. Passwords and cookies of the handshake are not sent.

extension WebSocketPicture: WireMessage {
    package static var blank: WebSocketPicture { WebSocketPicture(role: .client, stage: .connecting, target: "") }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &role)
        try coder.field(2, &stage)
        try coder.field(3, &target)
        request = request?.withoutSecrets
        response = response?.withoutSecrets
        try coder.field(4, &request)
        try coder.field(5, &response)
        try coder.field(6, &subprotocol)
        try coder.field(7, &extensions)
        try coder.field(8, &problem)
        try coder.field(9, &headBytes)
        try coder.field(10, &openingDeadline)
        try coder.field(11, &openedIn)
        try coder.field(12, &undeliveredBytes)
        try coder.field(13, &traffic)
        try coder.field(14, &report)
        try coder.field(15, &observation)
    }
}

extension WebSocketObservation: WireMessage {
    package static var blank: WebSocketObservation { WebSocketObservation() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &sending)
        try coder.field(2, &receivedFailure)
        try coder.field(3, &sentFailure)
        try coder.field(4, &receivedSkipped)
        try coder.field(5, &sentSkipped)
    }
}

extension WebSocketRole: WireWord {}
extension WebSocketStage: WireWord {}
extension WebSocketState: WireWord {}
extension WebSocketCloseReport.Origin: WireWord {}

extension HTTPHead: WireMessage {
    package static var blank: HTTPHead { HTTPHead(startLine: "") }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &startLine)
        try coder.field(2, &fields)
    }
}

extension HTTPField: WireMessage {
    package static var blank: HTTPField { HTTPField("", "") }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &name)
        try coder.field(2, &value)
    }
}

extension WebSocketSnapshot: WireMessage {
    package static var blank: WebSocketSnapshot { WebSocketSnapshot(role: .client) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &role)
        try coder.field(2, &state)
        try coder.field(3, &awaiting)
        try coder.field(4, &receiving)
        try coder.field(5, &sending)
        try coder.field(6, &received)
        try coder.field(7, &sent)
        try coder.field(8, &queuedMessages)
        try coder.field(9, &bufferedBytes)
        try coder.field(10, &heldBytes)
        try coder.field(11, &discardedBytes)
        try coder.field(12, &pendingPings)
        try coder.field(13, &roundTrip)
        try coder.field(14, &supersededPings)
        try coder.field(15, &closeSent)
        try coder.field(16, &closeReceived)
        try coder.field(17, &closeOrigin)
        try coder.field(18, &failure)
        try coder.field(19, &deflate)
    }
}

extension WebSocketMessageProgress: WireMessage {
    package static var blank: WebSocketMessageProgress {
        WebSocketMessageProgress(
            id: WebSocketMessageID(0), type: .binary, isCompressed: false, fragments: 0, bytes: 0, wireBytes: 0)
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &id)
        try coder.field(2, &type)
        try coder.field(3, &isCompressed)
        try coder.field(4, &fragments)
        try coder.field(5, &bytes)
        try coder.field(6, &wireBytes)
    }
}

extension WebSocketSendProgress: WireMessage {
    package static var blank: WebSocketSendProgress {
        WebSocketSendProgress(opcode: .continuation, message: nil, done: 0, total: 0)
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &opcode)
        try coder.field(2, &message)
        try coder.field(3, &done)
        try coder.field(4, &total)
    }
}

extension WebSocketCounters: WireMessage {
    package static var blank: WebSocketCounters { WebSocketCounters() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &frames)
        try coder.field(2, &messages)
        try coder.field(3, &compressedMessages)
        try coder.field(4, &messageBytes)
        try coder.field(5, &payloadBytes)
        try coder.field(6, &wireBytes)
        try coder.field(7, &pings)
        try coder.field(8, &pongs)
    }
}

extension WebSocketCloseFrame: WireMessage {
    package static var blank: WebSocketCloseFrame { WebSocketCloseFrame(code: nil) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &code)
        try coder.field(2, &reason)
    }
}

extension WebSocketCloseReport: WireMessage {
    package static var blank: WebSocketCloseReport {
        WebSocketCloseReport(
            sent: nil, received: nil, failure: nil, origin: .local, wasClean: false, unsentBytes: 0, began: .zero,
            ended: .zero)
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &sent)
        try coder.field(2, &received)
        try coder.field(3, &failure)
        try coder.field(4, &origin)
        try coder.field(5, &wasClean)
        try coder.field(6, &unsentBytes)
        try coder.field(7, &began)
        try coder.field(8, &ended)
    }
}

extension PerMessageDeflateParameters: WireMessage {
    package static var blank: PerMessageDeflateParameters { PerMessageDeflateParameters() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &serverNoContextTakeover)
        try coder.field(2, &clientNoContextTakeover)
        try coder.field(3, &serverMaxWindowBits)
        try coder.field(4, &clientMaxWindowBits)
    }
}
