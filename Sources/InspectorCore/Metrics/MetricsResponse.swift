import SocketCore

/// The answer to one HTTP request for metrics (RFC 9112). The connection is closed after it.
package struct MetricsResponse: Equatable, Sendable {
    package var status: Status
    package var body: String
    /// Whether only the head is sent, because that is all that HEAD asks for.
    var isHead = false

    package enum Status: String, Sendable {
        case ok = "200 OK"
        case badRequest = "400 Bad Request"
        case forbidden = "403 Forbidden"
        case notFound = "404 Not Found"
        case badMethod = "405 Method Not Allowed"
    }

    init(_ status: Status, _ body: String) { (self.status, self.body) = (status, body) }

    /// Answers the head of a request, which ends with an empty line.
    /// - Parameter metrics: what /metrics answers.
    package init(to head: [UInt8], metrics: String) {
        guard let head = String(validating: head, as: UTF8.self) else {
            self.init(.badRequest, "the request is not text\n")
            return
        }
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else {
            self.init(.badRequest, "not an HTTP/1 request\n")
            return
        }
        self = Self.answer(String(words[0]), String(words[1]), Self.hosts(lines.dropFirst()), metrics)
        isHead = words[0] == "HEAD"
    }

    private static func answer(_ method: String, _ target: String, _ hosts: [String], _ metrics: String) -> Self {
        guard method == "GET" || method == "HEAD" else { return Self(.badMethod, "only GET and HEAD are supported\n") }
        guard hosts.count <= 1 else { return Self(.badRequest, "several Host fields\n") }
        // A name could be a web page's own, which its script would then read from.
        guard hosts.allSatisfy(isAddress) else {
            return Self(.forbidden, "use an IP address or localhost, not a name\n")
        }
        switch target.prefix(while: { $0 != "?" }) {
        case "/metrics": return Self(.ok, metrics)
        case "/": return Self(.ok, "socktui: see /metrics\n")
        default: return Self(.notFound, "only /metrics is served here\n")
        }
    }

    private static func hosts(_ fields: ArraySlice<Substring>) -> [String] {
        fields.compactMap { field in
            guard let colon = field.firstIndex(of: ":"), field[..<colon].lowercased() == "host" else { return nil }
            return field[field.index(after: colon)...].split(whereSeparator: { $0 == " " || $0 == "\t" })
                .joined(separator: " ")
        }
    }

    /// Whether a Host field is a numeric address or `localhost`, with a port or without.
    static func isAddress(_ host: String) -> Bool {
        var name = host[...]
        if let colon = name.lastIndex(of: ":"), name.hasPrefix("[") == (name[..<colon].last == "]") {
            name = name[..<colon]
        }
        if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
        return name.lowercased() == "localhost" || IPAddress(String(name)) != nil
    }

    /// The bytes of the response.
    package var bytes: [UInt8] {
        var text = "HTTP/1.1 \(status.rawValue)\r\n"
        let type = status == .ok ? MetricsText.mediaType : "text/plain; charset=utf-8"
        text += "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n"
        if status == .badMethod { text += "Allow: GET, HEAD\r\n" }
        return Array((text + "\r\n" + (isHead ? "" : body)).utf8)
    }
}
