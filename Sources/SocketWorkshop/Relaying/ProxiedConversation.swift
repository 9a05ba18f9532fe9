extension ExportedConversation {
    /// Returns what passed between the client and the server that it named to a proxy: without the proxy's handshake,
    /// and with the head of a request as the proxy forwards it. Returns `nil` if no whole handshake begins it.
    package func beyond(_ proxy: ProxyKind) -> ExportedConversation? {
        guard hasBeginning else { return nil }
        var client = ProxiedClient(proxy)
        var passed = self
        passed.parts = []
        var places = [0]
        for var part in parts {
            part.bytes = part.side == .client ? client.sent(part.bytes) : client.received(part.bytes)
            if !part.bytes.isEmpty { passed.parts.append(part) }
            places.append(passed.parts.count)
        }
        guard client.isThrough else { return nil }
        for index in passed.ends.indices { passed.ends[index].parts = places[min(ends[index].parts, parts.count)] }
        return passed
    }
}

/// Follows the client of a proxy, to tell its talk with the proxy from that with the server.
private struct ProxiedClient {
    /// The handshake until it is over.
    private var handshake: ProxyHandshake?
    /// Which of the client's bytes belong to the one request that is forwarded, or `nil` if all bytes are.
    private var body: HTTPRequestBody?
    /// The number of the proxy's own bytes that the client has not received yet.
    private var answered = 0
    /// Whether the client has named a server.
    private(set) var isThrough = false

    init(_ kind: ProxyKind) { handshake = ProxyHandshake(kind) }

    /// Returns what of the client's bytes reaches the server.
    mutating func sent(_ bytes: [UInt8]) -> [UInt8] {
        guard var handshake else { return ofRequest(bytes) }
        var step = handshake.receive(bytes)
        while case .reply(let answer) = step {
            answered += answer.count
            step = handshake.receive([])
        }
        switch step {
        case .wait, .reply: self.handshake = handshake
        // What follows is for nobody.
        case .refuse: (self.handshake, body) = (nil, HTTPRequestBody())
        case .open(_, let early): return pass(handshake, early)
        case .forward(let request, let early):
            body = request.body
            return request.head + pass(handshake, ofRequest(early))
        }
        return []
    }

    private mutating func pass(_ handshake: ProxyHandshake, _ bytes: [UInt8]) -> [UInt8] {
        answered += handshake.connected.count
        (self.handshake, isThrough) = (nil, true)
        return bytes
    }

    private mutating func ofRequest(_ bytes: [UInt8]) -> [UInt8] {
        guard let count = body?.absorb(bytes) else { return bytes }
        return Array(bytes.prefix(count))
    }

    /// Returns what of the bytes that the client received is from the server.
    mutating func received(_ bytes: [UInt8]) -> [UInt8] {
        let own = min(answered, bytes.count)
        answered -= own
        return Array(bytes.dropFirst(own))
    }
}
