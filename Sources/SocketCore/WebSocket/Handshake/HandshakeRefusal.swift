/// An answer of HTTP that is no WebSocket: what the server, or a proxy, said instead.
public struct HandshakeRefusal: Hashable, Sendable, Codable {
    /// Its status code, such as 403, or 301 with a `Location` among the fields. Nothing is followed by itself.
    public var status: Int
    /// The status line and the fields.
    public var head: HTTPHead
    /// How the body begins, at most 4 KiB of it, as it came over the wire.
    public var body: [UInt8]

    /// Describes an answer.
    public init(status: Int, head: HTTPHead, body: [UInt8] = []) {
        self.status = status
        self.head = head
        self.body = body
    }
}

/// What was agreed on when a WebSocket opened.
public struct WebSocketAgreement: Hashable, Sendable, Codable {
    /// The protocol above it; nil: none.
    public var subprotocol: String?
    /// The extensions with their parameters, as the server's answer has them.
    public var extensions: [String]
    /// The request as it went over the wire.
    public var request: HTTPHead
    /// The answer as it went over the wire.
    public var response: HTTPHead

    /// Describes an agreement.
    public init(subprotocol: String?, extensions: [String], request: HTTPHead, response: HTTPHead) {
        self.subprotocol = subprotocol
        self.extensions = extensions
        self.request = request
        self.response = response
    }
}

/// The first line of an answer (RFC 9112, 4).
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

/// Gathers the beginning of a body, and knows where the body ends if anything says so (RFC 9112, 6.3).
package struct HTTPBodyPrefix: Hashable, Sendable {
    /// Bytes kept.
    static let limit = 4_096

    /// nil: it ends with the connection, or by chunks.
    private let length: Int?
    private let isChunked: Bool
    private(set) var bytes: [UInt8] = []

    init(_ head: HTTPHead) {
        isChunked = !head.values(of: "transfer-encoding").isEmpty
        length = isChunked ? nil : head.values(of: "content-length").first.flatMap(Self.length)
    }

    /// Digits and nothing else (RFC 9110, 8.6): what reads as a number otherwise, such as -5, is no length.
    private static func length(_ text: String) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }

    /// Whether its end is known before the connection's.
    var isFramed: Bool { length != nil }

    /// Whether all of it, or as much as is kept, is there.
    var isWhole: Bool {
        if bytes.count >= Self.limit { return true }
        if let length { return bytes.count >= length }
        return isChunked && bytes.suffix(5).elementsEqual([0x30, 13, 10, 13, 10])
    }

    /// Takes what belongs to it; the answer is how many bytes did.
    mutating func receive(_ more: RawSpan) -> Int {
        more.withUnsafeBytes { more in
            // Where chunks end is seen only byte by byte.
            guard !isChunked else { return takeChunked(more) }
            let taken = min(more.count, (length ?? .max) - bytes.count, Self.limit - bytes.count)
            bytes += more.prefix(taken)
            return taken
        }
    }

    private mutating func takeChunked(_ more: UnsafeRawBufferPointer) -> Int {
        var taken = 0
        while taken < more.count, !isWhole {
            bytes.append(more[taken])
            taken += 1
        }
        return taken
    }
}
