/// The HTTP response of a server or proxy that did not open a WebSocket.
public struct HandshakeRefusal: Hashable, Sendable {
    /// The status code, such as 403, or 301 with a `Location` field. Redirects are not followed automatically.
    public var status: Int
    /// The status line and the fields.
    public var head: HTTPHead
    /// The first 4 KiB of the body at most, as on the wire.
    public var body: [UInt8]

    /// Creates a refusal.
    public init(status: Int, head: HTTPHead, body: [UInt8] = []) {
        self.status = status
        self.head = head
        self.body = body
    }
}

/// The result of a successful opening handshake.
public struct WebSocketAgreement: Hashable, Sendable {
    /// The agreed subprotocol, or `nil` if there is none.
    public var subprotocol: String?
    /// The agreed extensions with their parameters, as in the server's response.
    public var extensions: [String]
    /// The request as it was on the wire.
    public var request: HTTPHead
    /// The response as it was on the wire.
    public var response: HTTPHead

    /// Creates an agreement.
    public init(subprotocol: String?, extensions: [String], request: HTTPHead, response: HTTPHead) {
        self.subprotocol = subprotocol
        self.extensions = extensions
        self.request = request
        self.response = response
    }
}

/// The status line of a response (RFC 9112, 4).
struct HTTPStatusLine {
    var version: Substring
    var status: Int

    init?(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[0].utf8.count == 8, words[1].utf8.count == 3,
            let status = Int(words[1]), (100...599).contains(status)
        else { return nil }
        version = words[0]
        self.status = status
    }
}

/// Collects the beginning of a body and finds where the body ends if that is defined (RFC 9112, 6.3).
package struct HTTPBodyPrefix: Equatable, Sendable {
    /// The most bytes kept.
    static let limit = 4_096

    /// The body's length, or `nil` if it ends with the connection or is chunked.
    private let length: Int?
    private let isChunked: Bool
    private(set) var bytes: [UInt8] = []

    init(_ head: HTTPHead) {
        isChunked = !head.values(of: "transfer-encoding").isEmpty
        length = isChunked ? nil : head.values(of: "content-length").first.flatMap(Self.length)
    }

    /// Parses digits only (RFC 9110, 8.6). Other numbers, such as -5, are not a length.
    private static func length(_ text: String) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }

    /// Whether the body's end is known before the connection closes.
    var isFramed: Bool { length != nil }

    /// Whether all of the body, or as much as is kept, has arrived.
    var isWhole: Bool {
        if bytes.count >= Self.limit { return true }
        if let length { return bytes.count >= length }
        return isChunked && bytes.suffix(5).elementsEqual([0x30, 13, 10, 13, 10])
    }

    /// Takes the bytes that belong to the body and returns their number.
    mutating func receive(_ more: RawSpan) -> Int {
        more.withUnsafeBytes { more in
            // The end of a chunked body is found only byte by byte.
            guard !isChunked else { return absorbChunked(more) }
            let taken = min(more.count, (length ?? .max) - bytes.count, Self.limit - bytes.count)
            bytes += more.prefix(taken)
            return taken
        }
    }

    private mutating func absorbChunked(_ more: UnsafeRawBufferPointer) -> Int {
        var taken = 0
        while taken < more.count, !isWhole {
            bytes.append(more[taken])
            taken += 1
        }
        return taken
    }
}
