/// What the first bytes of a conversation reveal about how its questions and answers follow each other.
package enum TalkNature: Sendable {
    /// They reveal nothing.
    case unknown
    /// A question can come in parts, and the server does not speak unasked: HTTP/1.
    case inTurns
    /// Each message is sent as a whole, so one that follows another is another question: frames with their length in
    /// front, or RESP.
    case framed
    /// Questions overlap by design: HTTP/2, MQTT, AMQP, SSH.
    case multiplexed
    /// It is encrypted, or becomes a WebSocket, so what is asked cannot be told from what keeps the connection.
    case hidden

    /// The number of first bytes that are enough to tell.
    package static let enough = 64

    /// Judges the first bytes that the client sent. `isWhole` says whether they are all of the first question.
    package init(question bytes: some Collection<UInt8>, isWhole: Bool) {
        let head = Array(bytes.prefix(Self.enough))
        func begins(_ text: StaticString, at offset: Int = 0) -> Bool {
            text.withUTF8Buffer { head.dropFirst(offset).starts(with: $0) }
        }
        let isMQTT = head.first == 0x10 && (begins("\0\u{4}MQTT", at: 2) || begins("\0\u{6}MQIsdp", at: 2))
        if Self.isTLS(head) {
            self = .hidden
        } else if begins("PRI * HTTP/2") || begins("AMQP") || begins("SSH-") || isMQTT {
            self = .multiplexed
        } else if Self.methods.contains(where: { begins($0) }) {
            self = .inTurns
        } else if begins("*"), head.dropFirst().first.map({ (0x30...0x39).contains($0) }) == true {
            self = .framed
        } else if isWhole, let frames = Self.frames(Array(bytes)) {
            // The end of one answer cannot be told from the next one.
            self = frames > 1 ? .multiplexed : .framed
        } else {
            self = .unknown
        }
    }

    /// Whether these bytes begin a TLS handshake.
    package static func isTLS(_ bytes: some Collection<UInt8>) -> Bool { bytes.starts(with: [0x16, 0x03]) }

    /// Whether an answer that begins with these bytes makes the stream a WebSocket's, or another protocol's.
    package static func isUpgrade(_ bytes: some Collection<UInt8>) -> Bool { bytes.starts(with: upgrade) }

    private static let upgrade = Array("HTTP/1.1 101".utf8)

    private static let methods: [StaticString] = [
        "GET ", "POST ", "PUT ", "HEAD ", "DELETE ", "PATCH ", "OPTIONS ", "CONNECT ", "TRACE ", "PROPFIND ",
    ]

    /// Returns the number of frames that begin with their length in four bytes, or `nil` if the bytes are not that.
    private static func frames(_ bytes: [UInt8]) -> Int? {
        var (offset, count) = (0, 0)
        while offset < bytes.count {
            guard bytes.count - offset > 4 else { return nil }
            let length = bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
            guard length > 0, length <= bytes.count - offset - 4 else { return nil }
            offset += 4 + length
            count += 1
        }
        return count > 0 ? count : nil
    }
}
