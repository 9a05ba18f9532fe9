import SocketCore

// Hides what a viewer without the right to payload must not see: bytes that passed, and what either side said in its
// handshake or Close frame beyond what the protocol needs. It is replaced by `***`.

private let hidden = "***"

extension SocketSnapshot {
    mutating func hidePayload() {
        reading.hidePayload()
        writing.hidePayload()
        fault?.hold?.upstreamNext = []
        fault?.hold?.downstreamNext = []
        guard webSocket != nil || target.hasPrefix("ws://") || target.hasPrefix("wss://") else { return }
        let (whole, shown) = (target, target.withoutQuery)
        target = shown
        webSocket?.hidePayload()
        if let error = closed?.error { closed?.error = error.withoutPayload(whole, shown) }
    }
}

extension QueueSnapshot {
    fileprivate mutating func hidePayload() {
        current?.preview = []
        for index in pending.indices { pending[index].preview = [] }
    }
}

extension WebSocketPicture {
    fileprivate mutating func hidePayload() {
        target = target.withoutQuery
        request?.hideRequest()
        response?.hideResponse()
        if subprotocol != nil { subprotocol = hidden }
        // The problem quotes the peer.
        if problem != nil { problem = hidden }
        traffic?.closeSent?.hideReason()
        traffic?.closeReceived?.hideReason()
        report?.sent?.hideReason()
        report?.received?.hideReason()
    }
}

extension WebSocketCloseFrame {
    fileprivate mutating func hideReason() { if !reason.isEmpty { reason = hidden } }
}

extension HTTPHead {
    /// Fields whose values concern only the handshake.
    private static let plain: Set = [
        "connection", "host", "sec-websocket-accept", "sec-websocket-extensions", "sec-websocket-key",
        "sec-websocket-version", "upgrade",
    ]

    fileprivate mutating func hideRequest() {
        var words = startLine.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        if words.count > 1 { words[1] = words[1].withoutQuery }
        startLine = words.joined(separator: " ")
        hideFields()
    }

    /// Keeps the version and the status code of the status line.
    fileprivate mutating func hideResponse() {
        let words = startLine.split(separator: " ", maxSplits: 2)
        startLine = words.prefix(2).joined(separator: " ") + (words.count > 2 ? " \(hidden)" : "")
        hideFields()
    }

    private mutating func hideFields() {
        for index in fields.indices where !Self.plain.contains(fields[index].name.lowercased()) {
            fields[index].value = hidden
        }
    }
}

extension SocketError {
    /// Returns the error without what a WebSocket's peer said and without the query of the requested URL.
    fileprivate func withoutPayload(_ whole: String, _ shown: String) -> SocketError {
        let words: String
        switch reason {
        case .webSocket(let problem): words = problem.summary
        default: words = whole.isEmpty ? detail : detail.replacing(whole, with: shown)
        }
        return SocketError(reason.withoutPayload, operation: operation, detail: words, attempts: attempts)
    }
}

extension SocketError.Reason {
    fileprivate var withoutPayload: SocketError.Reason {
        switch self {
        case .webSocket(.refused(let refusal)): .webSocket(.refused(refusal.withoutPayload))
        case .webSocket(.proxyRefused(let refusal)): .webSocket(.proxyRefused(refusal.withoutPayload))
        default: self
        }
    }
}

extension HandshakeRefusal {
    fileprivate var withoutPayload: HandshakeRefusal {
        HandshakeRefusal(status: status, head: HTTPHead(startLine: ""))
    }
}

extension WebSocketProblem {
    /// What the problem is, without the peer's words.
    fileprivate var summary: String {
        switch self {
        case .refused(let refusal): "the server answered \(refusal.status)"
        case .proxyRefused(let refusal): "the proxy answered \(refusal.status)"
        case .badHandshake: "the peer's handshake is invalid"
        case .handshakeTimeout: "the handshake took too long"
        case .failed(let failure): failure.description
        case .closed(let code): "closed with \(code.rawValue)"
        case .notSent: "a message was not sent"
        }
    }
}

extension String {
    /// The text without the query of a URL or of a request's target.
    fileprivate var withoutQuery: String {
        guard let mark = firstIndex(of: "?") else { return self }
        return self[...mark] + hidden
    }
}
