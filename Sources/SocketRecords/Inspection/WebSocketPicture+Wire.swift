import SocketCore

// WebSockets on the wire. Passwords and cookies of the handshake are not sent.

extension WebSocketPicture: WireMessage {
    package static var blank: WebSocketPicture { WebSocketPicture(role: .client, stage: .connecting, target: "") }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &role, "role", "which side it is")
        try coder.field(2, &stage, "stage", "its state")
        try coder.field(3, &target, "target", "the requested resource")
        request = request?.withoutSecrets
        response = response?.withoutSecrets
        try coder.field(4, &request, "request", "the head of the request; secrets are left out")
        try coder.field(5, &response, "response", "the head of the response; secrets are left out")
        try coder.field(6, &subprotocol, "subprotocol", "the agreed one")
        try coder.field(7, &extensions, "extensions", "the agreed ones")
        try coder.field(8, &problem, "problem", "why the handshake failed")
        try coder.field(9, &headBytes)
        try coder.field(10, &openingDeadline, "opening_deadline", "when the handshake times out")
        try coder.field(11, &openedIn, "opened_in_s", "how long it took")
        try coder.field(12, &undeliveredBytes, "undelivered_bytes", "bytes the delegate has not taken yet")
        try coder.inlined(13, &traffic)
        try coder.field(14, &report)
        try coder.field(15, &observation, "observed", "for a WebSocket that is only forwarded")
    }
}

extension WebSocketObservation: WireMessage {
    package static var blank: WebSocketObservation { WebSocketObservation() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &sending, "sending", "the message that the program sends")
        try coder.field(2, &receivedFailure, "received_failure", "why received bytes are no longer decoded")
        try coder.field(3, &sentFailure, "sent_failure", "why sent bytes are no longer decoded")
        try coder.field(4, &receivedSkipped, "received_not_inflated", "messages that were not decompressed")
        try coder.field(5, &sentSkipped, "sent_not_inflated", "messages that were not decompressed")
    }
}

extension WebSocketRole: WireWord {}
extension WebSocketStage: WireWord {}
extension WebSocketState: WireWord {}
extension WebSocketCloseReport.Origin: WireWord {}

extension HTTPHead: WireMessage {
    package static var blank: HTTPHead { HTTPHead(startLine: "") }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &startLine, "start_line", "the first line")
        try coder.field(2, &fields, "fields", "the fields")
    }
}

extension HTTPField: WireMessage {
    package static var blank: HTTPField { HTTPField("", "") }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &name, "name", "its name")
        try coder.field(2, &value, "value", "its value")
    }
}

extension WebSocketSnapshot: WireMessage {
    package static var blank: WebSocketSnapshot { WebSocketSnapshot(role: .client) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &role)
        try coder.field(2, &state)
        try coder.field(3, &awaiting)
        try coder.field(4, &receiving, "receiving", "the message in progress", after: "stage")
        try coder.field(5, &sending, "sending", "the frame in progress", after: "receiving")
        try coder.field(6, &received, "received", "what was received")
        try coder.field(7, &sent, "sent", "what was sent")
        try coder.field(8, &queuedMessages, "queued_messages", "messages that wait to be sent")
        try coder.field(9, &bufferedBytes, "buffered_bytes", "encoded, but not yet handed to the kernel")
        try coder.field(10, &heldBytes, "held_bytes", "of a message that is not complete yet")
        try coder.field(11, &discardedBytes, "discarded_bytes", "received after the end")
        try coder.field(12, &pendingPings, "pings_unanswered", "pings without a pong yet")
        try coder.field(13, &roundTrip, "rtt_ms", "the round-trip time of the last ping")
        try coder.field(
            14, &supersededPings, "pings_superseded",
            "pings that were followed by a newer ping before their pong arrived", after: "pings_unanswered")
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
        try coder.field(1, &id, "message", "its number")
        try coder.field(2, &type, "type", "its type")
        try coder.field(3, &isCompressed, "compressed", "whether it is")
        try coder.field(4, &fragments, "frames", "how many of its frames have arrived")
        try coder.field(5, &bytes, "bytes", "of the message")
        try coder.field(6, &wireBytes, "payload_bytes", "in frames")
    }
}

extension WebSocketSendProgress: WireMessage {
    package static var blank: WebSocketSendProgress {
        WebSocketSendProgress(opcode: .continuation, message: nil, done: 0, total: 0)
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &opcode, "opcode", "its opcode")
        try coder.field(2, &message, "message", "the message that it belongs to")
        try coder.field(3, &done, "done_bytes", "how much is sent")
        try coder.field(4, &total, "total_bytes", "its size")
    }
}

extension WebSocketCounters: WireMessage {
    package static var blank: WebSocketCounters { WebSocketCounters() }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &frames, "frames", "frames")
        try coder.field(2, &messages, "messages", "messages", after: "")
        try coder.field(
            3, &compressedMessages, "compressed_messages", "how many of them were compressed", after: "messages")
        try coder.field(4, &messageBytes, "message_bytes", "of messages")
        try coder.field(5, &payloadBytes, "payload_bytes", "in frames")
        try coder.field(6, &wireBytes, "wire_bytes", "frames including their headers")
        try coder.field(7, &pings, "pings", "pings")
        try coder.field(8, &pongs, "pongs", "pongs")
    }
}

extension WebSocketCloseFrame: WireMessage {
    package static var blank: WebSocketCloseFrame { WebSocketCloseFrame(code: nil) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &code, "code", "its code")
        try coder.field(2, &reason, "reason", "its text")
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
