import SocketCore

/// The server's side of an HTTP proxy: CONNECT (RFC 9110, 9.3.6; RFC 9112, 3.2.3), and requests in absolute form.
struct HTTPConnectHandshake: Equatable, Sendable {
    /// The longest request head, which no client should need to exceed. Longer ones are answered with status 431.
    static let limit = 16_384

    private var parser = HTTPHeadParser(limit: limit, takesLoneLineFeeds: true)
    /// The bytes received so far: up to the limit, and the rest of one read.
    private var raw: [UInt8] = []
    /// Whether the client gets the server's own answer.
    private(set) var isForwarded = false

    mutating func receive(_ bytes: [UInt8]) -> ProxyHandshake.Step {
        raw += bytes
        switch parser.receive(bytes.span.bytes) {
        case .wait: return .wait
        case .failed(let fault):
            let status = fault.isTooLong ? "431 Request Header Fields Too Large" : "400 Bad Request"
            return .refuse(Self.response(status, fault.problem))
        case .head(let head, let taken): return step(head, early: Array(bytes[taken...]))
        }
    }

    private mutating func step(_ head: HTTPHead, early: [UInt8]) -> ProxyHandshake.Step {
        let words = head.startLine.utf8.split(separator: 0x20).map(PrintableText.visibleASCII)
        guard words.count == 3, let method = words[0], let target = words[1], let version = words[2],
            version.hasPrefix("HTTP/1.")
        else {
            let words = "the request line is not METHOD TARGET HTTP/1.1"
            return .refuse(Self.response("400 Bad Request", words))
        }
        guard method == "CONNECT" else {
            do throws(HTTPForwardedRequest.Refusal) {
                let request = try HTTPForwardedRequest(
                    method, target, version, head, raw: raw.prefix(raw.count - early.count))
                isForwarded = true
                return .forward(request, early: early)
            } catch {
                return .refuse(Self.response(error.status, error.words))
            }
        }
        guard let endpoint = try? Endpoint.parse(target), endpoint.host?.isEmpty == false, !target.contains("/")
        else {
            let words = "\(target) is not host:port"
            return .refuse(Self.response("400 Bad Request", words))
        }
        return .open(endpoint, early: early)
    }

    /// Returns a whole response in plain text, after which the connection closes.
    static func response(_ status: String, _ words: String) -> [UInt8] {
        let body = "socktui relay: \(words)\n"
        return Array(
            ("HTTP/1.1 \(status)\r\nContent-Type: text/plain\r\nContent-Length: \(body.utf8.count)\r\n"
                + "Connection: close\r\n\r\n\(body)").utf8)
    }
}
