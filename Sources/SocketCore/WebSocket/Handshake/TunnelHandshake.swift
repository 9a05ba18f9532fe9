/// The client's side of HTTP's CONNECT (RFC 9110, 9.3.6): a proxy is asked for a tunnel to a server.
///
/// A proxy that wants to know who asks says 407, and is told once (RFC 9110, 15.5.8).
package struct TunnelHandshake: Sendable {
    /// What has come of the bytes so far.
    package enum Step: Equatable, Sendable {
        /// Nothing yet.
        case wait
        /// The tunnel stands; `taken` of the bytes just given belong to the proxy's answer.
        case open(taken: Int)
        /// Send `request` again, which says now who asks: over this connection, or over a new one where the proxy ends
        /// this one.
        case again(onNewConnection: Bool)
        /// The proxy refuses.
        case refused(HandshakeRefusal)
        /// The proxy breaks a rule; a sentence.
        case broken(String)
    }

    private enum State {
        case head(HTTPHeadParser)
        case body(HandshakeRefusal, HTTPBodyPrefix)
        case over
    }

    private let target: String
    private let credentials: HTTPCredentials?
    private let limit: Int
    private var hasSaidWho = false
    private var state: State

    /// Asks for a tunnel to this host and port.
    package init(host: String, port: UInt16, credentials: HTTPCredentials?, headLimit: Int = 16_384) {
        target = Endpoint.host(host, port: port).description
        self.credentials = credentials
        limit = headLimit
        state = .head(HTTPHeadParser(limit: headLimit))
    }

    /// What to send.
    package var request: [UInt8] {
        var head = HTTPHead(startLine: "CONNECT \(target) HTTP/1.1", fields: [HTTPField("Host", target)])
        if hasSaidWho, let credentials { head.fields.append(HTTPField("Proxy-Authorization", credentials.basic)) }
        return head.bytes
    }

    package mutating func receive(_ bytes: RawSpan) -> Step {
        switch state {
        case .over: return .wait
        case .body: return gather(bytes)
        case .head(var parser):
            state = .over
            let step = parser.receive(bytes)
            switch step {
            case .wait:
                state = .head(parser)
                return .wait
            case .failed(let fault): return .broken(fault.problem)
            case .head(let head, let taken): return judge(head, taken, bytes)
            }
        }
    }

    /// The proxy ended its stream, or there is no time left for more.
    package mutating func receiveEnd() -> Step {
        defer { state = .over }
        switch state {
        case .over: return .wait
        case .head: return .broken("the proxy ended the connection without a whole answer")
        case .body(let refusal, let body): return conclude(refusal, body, hasEnded: true)
        }
    }

    private mutating func judge(_ head: HTTPHead, _ taken: Int, _ bytes: RawSpan) -> Step {
        guard let line = HTTPStatusLine(head.startLine) else {
            return .broken("the proxy's answer does not begin as HTTP/1.1 does: \(HTTPText.shown(head.startLine.utf8))")
        }
        // The answer to CONNECT has no body when it succeeds, whatever its fields say (RFC 9112, 6.3).
        if (200...299).contains(line.status) { return .open(taken: taken) }
        state = .body(HandshakeRefusal(status: line.status, head: head), HTTPBodyPrefix(head))
        return gather(bytes.extracting(taken..<bytes.byteCount))
    }

    private mutating func gather(_ bytes: RawSpan) -> Step {
        guard case .body(let refusal, var body) = state else { return .wait }
        _ = body.receive(bytes)
        state = .body(refusal, body)
        return body.isWhole ? conclude(refusal, body, hasEnded: false) : .wait
    }

    private mutating func conclude(_ refusal: HandshakeRefusal, _ body: HTTPBodyPrefix, hasEnded: Bool) -> Step {
        state = .over
        guard refusal.status == 407, credentials != nil, !hasSaidWho, offersBasic(refusal.head) else {
            var refusal = refusal
            refusal.body = body.bytes
            return .refused(refusal)
        }
        hasSaidWho = true
        state = .head(HTTPHeadParser(limit: limit))
        let closes = refusal.head.lists("close", in: "connection") || refusal.head.startLine.hasPrefix("HTTP/1.0")
        return .again(onNewConnection: hasEnded || closes || !body.isFramed)
    }

    private func offersBasic(_ head: HTTPHead) -> Bool {
        head.values(of: "proxy-authenticate").contains { $0.lowercased().hasPrefix("basic") }
    }
}
