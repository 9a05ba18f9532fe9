/// The client's side of HTTP's CONNECT (RFC 9110, 9.3.6), which asks a proxy for a tunnel to a server.
///
/// If the proxy responds with 407, the credentials are sent once (RFC 9110, 15.5.8).
package struct TunnelHandshake: Sendable {
    /// The result of the bytes so far.
    package enum Step: Equatable, Sendable {
        /// More bytes are needed.
        case wait
        /// The tunnel is open. `taken` of the last bytes belong to the proxy's response.
        case open(taken: Int)
        /// Send `request` again, which now includes the credentials. Use a new connection if the proxy closes this one.
        case again(onNewConnection: Bool)
        /// The proxy refused the tunnel.
        case refused(HandshakeRefusal)
        /// The proxy's response breaks a rule. Holds a sentence.
        case broken(String)
    }

    private let target: String
    private let credentials: HTTPCredentials?
    private let limit: Int
    private var hasSaidWho = false
    private var state: ResponseState

    /// Creates a request for a tunnel to this host and port.
    package init(host: String, port: UInt16, credentials: HTTPCredentials?, headLimit: Int = 16_384) {
        target = Endpoint.host(host, port: port).description
        self.credentials = credentials
        limit = headLimit
        state = .head(HTTPHeadParser(limit: headLimit))
    }

    /// The request's bytes.
    package var request: [UInt8] {
        var head = HTTPHead(startLine: "CONNECT \(target) HTTP/1.1", fields: [HTTPField("Host", target)])
        if hasSaidWho, let credentials { head.fields.append(HTTPField("Proxy-Authorization", credentials.basic)) }
        return head.bytes
    }

    package mutating func receive(_ bytes: RawSpan) -> Step {
        switch state.receiveHead(bytes) {
        case .wait: return .wait
        case .failed(let fault): return .broken(fault.problem)
        case .head(let head, let taken): return judge(head, taken, bytes)
        case nil: return gather(bytes)
        }
    }

    /// Handles the proxy's end of stream, or the timeout of the handshake.
    package mutating func receiveEnd() -> Step {
        defer { state = .over }
        switch state {
        case .over: return .wait
        case .head: return .broken("the proxy closed the connection without a complete response")
        case .body(let refusal, let body): return conclude(refusal, body, hasEnded: true)
        }
    }

    private mutating func judge(_ head: HTTPHead, _ taken: Int, _ bytes: RawSpan) -> Step {
        guard let line = HTTPStatusLine(head.startLine) else {
            return .broken("the proxy's response does not begin like HTTP/1.1: \(HTTPText.shown(head.startLine.utf8))")
        }
        // A successful response to CONNECT has no body, whatever its fields say (RFC 9112, 6.3).
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
