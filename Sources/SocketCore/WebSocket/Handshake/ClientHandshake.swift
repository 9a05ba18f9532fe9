/// The client's side of the opening handshake (RFC 6455, 4.1).
///
/// Send `request` and pass the response to `receive` until it returns `open` or `failed`. Do not use the handshake
/// after that.
package struct ClientHandshake: Sendable {
    /// The result of the bytes so far.
    package enum Step: Equatable, Sendable {
        /// More bytes are needed.
        case wait
        /// The WebSocket is open. `compression` is `nil` if none was agreed on. `taken` of the last bytes belong to the
        /// response, and frames follow.
        case open(WebSocketAgreement, compression: PerMessageDeflateParameters?, taken: Int)
        /// The handshake failed.
        case failed(Failure)
    }

    /// Why the handshake failed.
    package enum Failure: Equatable, Sendable {
        /// The status was not 101.
        case refused(HandshakeRefusal)
        /// The response breaks a rule. Holds a sentence, and the response if it could be parsed.
        case broken(String, HTTPHead?)
    }

    /// The request's head.
    package let head: HTTPHead
    private let opening: WebSocketOpening
    private let expectedAccept: String
    /// The offered compression, or `nil` if none was offered.
    private let compression: PerMessageDeflateParameters?
    private var state: ResponseState

    /// Creates a handshake. `key` is the base64 of 16 random bytes, and `expectedAccept` is the server's answer to it
    /// (RFC 6455, 4.2.2, 5.4). The caller has already rejected what `opening.fault` reports.
    package init(
        _ url: WebSocketURL, _ opening: WebSocketOpening, key: String, expectedAccept: String, headLimit: Int = 16_384,
        compression: PerMessageDeflateParameters? = nil
    ) {
        var fields = [
            HTTPField("Host", url.authority), HTTPField("Upgrade", "websocket"), HTTPField("Connection", "Upgrade"),
            HTTPField("Sec-WebSocket-Key", key), HTTPField("Sec-WebSocket-Version", "13"),
        ]
        if !opening.subprotocols.isEmpty {
            fields.append(HTTPField("Sec-WebSocket-Protocol", opening.subprotocols.joined(separator: ", ")))
        }
        if let compression { fields.append(HTTPField("Sec-WebSocket-Extensions", compression.offer)) }
        head = HTTPHead(startLine: "GET \(url.resource) HTTP/1.1", fields: fields + opening.fields(for: url))
        self.opening = opening
        self.expectedAccept = expectedAccept
        self.compression = compression
        state = .head(HTTPHeadParser(limit: headLimit))
    }

    /// The request's bytes.
    package var request: [UInt8] { head.bytes }

    package mutating func receive(_ bytes: RawSpan) -> Step {
        switch state.receiveHead(bytes) {
        case .wait: return .wait
        case .failed(let fault): return .failed(.broken(fault.problem, nil))
        case .head(let head, let taken): return judge(head, taken, bytes)
        case nil: return gather(bytes)
        }
    }

    /// Handles the peer's end of stream, or the timeout of the handshake.
    package mutating func receiveEnd() -> Step {
        defer { state = .over }
        switch state {
        case .over: return .wait
        case .head(let parser):
            let what = parser.count == 0 ? "without a response" : "within the head of its response"
            return .failed(.broken("the server closed the connection \(what)", nil))
        case .body(let refusal, let body): return Self.failed(refusal, body)
        }
    }

    // MARK: Response

    private mutating func judge(_ head: HTTPHead, _ taken: Int, _ bytes: RawSpan) -> Step {
        guard let line = HTTPStatusLine(head.startLine) else {
            return .failed(.broken("the response does not begin like HTTP/1.1: \(Self.shown(head.startLine))", nil))
        }
        guard line.status == 101 else {
            state = .body(HandshakeRefusal(status: line.status, head: head), HTTPBodyPrefix(head))
            return gather(bytes.extracting(taken..<bytes.byteCount))
        }
        if let problem = problem(of: head, line) { return .failed(.broken(problem, head)) }
        let agreed: PerMessageDeflateParameters?
        do throws(ExtensionFault) {
            agreed = try agreedCompression(head)
        } catch {
            return .failed(.broken(error.detail, head))
        }
        let agreement = WebSocketAgreement(
            subprotocol: head.values(of: "sec-websocket-protocol").first,
            extensions: head.list(of: "sec-websocket-extensions"), request: self.head, response: head)
        return .open(agreement, compression: agreed, taken: taken)
    }

    /// Returns how the response violates RFC 6455, 4.1, second half, or `nil` if it does not.
    private func problem(of head: HTTPHead, _ line: HTTPStatusLine) -> String? {
        head.upgradeProblem(line, accept: expectedAccept, key: "our key")
            ?? subprotocolProblem(head.values(of: "sec-websocket-protocol"))
    }

    private func subprotocolProblem(_ chosen: [String]) -> String? {
        guard chosen.count <= 1 else { return "Sec-WebSocket-Protocol is in the response twice" }
        guard let name = chosen.first else {
            return opening.requiresSubprotocol ? "the server chose no subprotocol, but one is required" : nil
        }
        return opening.subprotocols.contains(name) ? nil : "the subprotocol \(Self.shown(name)) was not offered"
    }

    /// Returns the agreed compression. The response must not contain an extension that was not offered (RFC 6455, 9.1).
    private func agreedCompression(_ head: HTTPHead) throws(ExtensionFault) -> PerMessageDeflateParameters? {
        let reply = head.list(of: "sec-websocket-extensions")
        guard let first = reply.first else { return nil }
        guard let compression else { throw ExtensionFault(detail: "the extension \(first) was not offered") }
        return try compression.accept(reply: reply.joined(separator: ", "))
    }

    private static func shown(_ text: String) -> String { HTTPText.shown(text.utf8) }

    // MARK: Refusal

    private mutating func gather(_ bytes: RawSpan) -> Step {
        guard case .body(let refusal, var body) = state else { return .wait }
        _ = body.receive(bytes)
        state = body.isWhole ? .over : .body(refusal, body)
        return body.isWhole ? Self.failed(refusal, body) : .wait
    }

    private static func failed(_ refusal: HandshakeRefusal, _ body: HTTPBodyPrefix) -> Step {
        var refusal = refusal
        refusal.body = body.bytes
        return .failed(.refused(refusal))
    }
}

extension HTTPHead {
    /// Returns how this response with status 101 violates RFC 6455, 4.1, regardless of the request, or `nil` if it does
    /// not. `accept` is the expected answer to the key, and `key` is the key's name in the sentence.
    func upgradeProblem(_ line: HTTPStatusLine, accept: String, key: String) -> String? {
        guard line.version != "HTTP/1.0" else { return "the response is HTTP/1.0" }
        let upgrade = list(of: "upgrade")
        guard upgrade.map({ $0.lowercased() }) == ["websocket"] else {
            return upgrade.isEmpty
                ? "Upgrade is missing in the response"
                : "Upgrade in the response is not websocket: \(HTTPText.shown(upgrade[0].utf8))"
        }
        guard lists("upgrade", in: "connection") else { return "Connection in the response does not name Upgrade" }
        let accepts = values(of: "sec-websocket-accept")
        guard accepts.count == 1 else {
            return accepts.isEmpty
                ? "Sec-WebSocket-Accept is missing in the response" : "Sec-WebSocket-Accept is in the response twice"
        }
        guard accepts[0] == accept else {
            return "Sec-WebSocket-Accept \(HTTPText.shown(accepts[0].utf8)) does not match \(key)"
        }
        return nil
    }
}
