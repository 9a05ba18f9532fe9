/// A complete HTTP/1.1 response that a server sends instead of opening a WebSocket. The connection closes after it.
public struct HTTPResponse: Hashable, Sendable {
    /// The status code, such as 200.
    public var status: Int
    /// Fields in addition to `Content-Length`, `Content-Type` and `Connection`, which are added automatically.
    public var fields: [HTTPField]
    /// The body's media type (RFC 9110, 8.3).
    public var contentType: String
    /// The body.
    public var body: [UInt8]

    /// Creates a response with a body of bytes.
    public init(status: Int, fields: [HTTPField] = [], contentType: String = "text/plain", body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.contentType = contentType
        self.body = body
    }

    /// Creates a response with a body of text.
    public init(status: Int, fields: [HTTPField] = [], text: String) {
        self.init(status: status, fields: fields, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
    }

    /// Why the response can't be sent, or `nil` if it can: a status outside 200...599, an invalid field, a field
    /// that is added automatically, or `Transfer-Encoding`, because the body has a `Content-Length`.
    public var fault: String? {
        if !(200...599).contains(status) { return "status \(status): must be 200 to 599" }
        for field in fields + [HTTPField("Content-Type", contentType)] {
            if let fault = field.fault { return fault }
        }
        return fields.lazy.compactMap(Self.fault).first
    }

    private static func fault(_ field: HTTPField) -> String? {
        switch field.name.lowercased() {
        case "content-length", "content-type", "connection": "\(field.name): is added automatically; leave it out"
        case "transfer-encoding": "\(field.name): is not supported; the body is sent with Content-Length"
        default: nil
        }
    }

    /// Returns the response's bytes on the wire, without the body for a HEAD request.
    package func bytes(isHead: Bool = false) -> [UInt8] {
        let head = HTTPHead(
            startLine: "HTTP/1.1 \(status) \(Self.reason(status))",
            fields: [HTTPField("Content-Type", contentType), HTTPField("Content-Length", "\(body.count)")] + fields
                + [HTTPField("Connection", "close")])
        return head.bytes + (isHead ? [] : body)
    }

    /// Returns a status code's reason phrase (RFC 9110, 15).
    package static func reason(_ status: Int) -> String {
        switch status {
        case 101: "Switching Protocols"
        case 200: "OK"
        case 204: "No Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 426: "Upgrade Required"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: status < 400 ? "Status" : "Error"
        }
    }
}

extension HTTPField {
    /// Why the field can't be sent, or `nil` if it can. A line ending in a value would begin another field.
    package var fault: String? {
        guard HTTPGrammar.isToken(name) else { return "field \(HTTPText.shown(name.utf8)): is not a field name" }
        guard HTTPGrammar.isFieldValue(value) else {
            return "field \(name): its value contains a line ending or another control character"
        }
        return nil
    }
}
