/// Why the local side fails a WebSocket (RFC 6455, 7.1.7): a violation by the peer, or a timeout.
public enum WebSocketFailure: Error, Hashable, Sendable {
    /// RSV bits (4, 2, 1 for RSV1 to RSV3) that no agreed extension defines for this frame (5.2).
    case reservedBits(UInt8)
    /// An opcode other than the six defined ones (5.2).
    case unknownOpcode(UInt8)
    /// A client's frame was not masked (5.1).
    case unmaskedFrame
    /// A server's frame was masked (5.1).
    case maskedFrame
    /// A length that is not in its shortest form (5.2).
    case overlongLength(UInt64)
    /// The top bit of a 64-bit length was set (5.2).
    case impossibleLength(UInt64)
    /// A control frame of more than 125 bytes, with its 7-bit length (5.5).
    case controlTooLong(UInt8)
    /// A control frame without FIN (5.5).
    case fragmentedControl(WebSocketOpcode)
    /// A continuation frame with no message to continue (5.4).
    case nothingToContinue
    /// A text or binary frame before the current message was complete (5.4).
    case unfinishedMessage
    /// A frame longer than the limit.
    case frameTooBig(length: UInt64, limit: Int)
    /// A message that is longer than the limit, or whose frame header announces that it will be.
    case messageTooBig(limit: Int)
    /// There is no room left for an incomplete message. The limit covers the incomplete messages of all of the engine's
    /// WebSockets.
    case noRoom(limit: Int)
    /// A message was not complete in time.
    case messageTimeout(Duration)
    /// A message with more empty fragments than the limit.
    case tooManyEmptyFragments(limit: Int)
    /// Text that is not UTF-8 (8.1): the offset of the first invalid byte in the message, or the message's length if it
    /// ends within a character.
    case invalidUTF8(offset: Int)
    /// A compressed message that is not DEFLATE data (RFC 7692, 7.2.2).
    case corruptDeflate
    /// A Close whose payload is one byte long (5.5.1).
    case cutCloseCode
    /// A Close with a code that must not be sent (7.4).
    case badCloseCode(WebSocketCloseCode)
    /// A Close whose reason is not UTF-8 (5.5.1).
    case badCloseReason
    /// No pong arrived in time.
    case pongTimeout(Duration)
    /// The peer did not end its side of the closing handshake in time.
    case closeTimeout(Duration)
    /// The transport ended before the peer's Close (7.1.5).
    case endedWithoutClose

    /// The code of the Close sent for this failure, or 1006 if none can be sent.
    public var closeCode: WebSocketCloseCode {
        switch self {
        case .reservedBits, .unknownOpcode, .unmaskedFrame, .maskedFrame, .overlongLength, .impossibleLength,
            .controlTooLong, .fragmentedControl, .nothingToContinue, .unfinishedMessage, .cutCloseCode, .badCloseCode:
            .protocolError
        case .frameTooBig, .messageTooBig: .messageTooBig
        case .noRoom: .tryAgainLater
        case .tooManyEmptyFragments, .messageTimeout: .policyViolation
        case .invalidUTF8, .corruptDeflate, .badCloseReason: .invalidPayload
        case .pongTimeout: .internalError
        case .closeTimeout, .endedWithoutClose: .abnormal
        }
    }
}

extension WebSocketFailure: CustomStringConvertible {
    /// One sentence for the user. It is also the reason in the Close, so it is at most 123 bytes long.
    public var description: String {
        switch self {
        case .reservedBits(let bits): "reserved bits set: \(Self.names(bits))"
        case .unknownOpcode(let opcode): "opcode 0x\(String(opcode, radix: 16)) has no meaning"
        case .unmaskedFrame: "a client's frame must be masked"
        case .maskedFrame: "a server's frame must not be masked"
        case .overlongLength(let length): "length \(length) is not in its shortest form"
        case .impossibleLength(let length): "length 0x\(String(length, radix: 16)) has its top bit set"
        case .controlTooLong(let length):
            "a control frame holds at most 125 bytes, this one has a \(length == 126 ? "16" : "64")-bit length"
        case .fragmentedControl(let opcode): "a \(opcode) frame must not be fragmented"
        case .nothingToContinue: "a continuation frame with no message to continue"
        case .unfinishedMessage: "a new message within an unfinished one"
        case .frameTooBig(let length, let limit): "frame of \(length) bytes, the limit is \(limit)"
        case .messageTooBig(let limit): "message of more than \(limit) bytes, which is the limit"
        case .noRoom(let limit): "unfinished messages take up \(limit) bytes in all, which is the limit"
        case .messageTimeout(let time): "message not complete within \(time) plus the time for its length"
        case .tooManyEmptyFragments(let limit): "message of more than \(limit) empty fragments, which is the limit"
        case .invalidUTF8(let offset): "text is not UTF-8 at offset \(offset)"
        case .corruptDeflate: "compressed message is not DEFLATE data"
        case .cutCloseCode: "a Close of 1 byte; a close code has 2"
        case .badCloseCode(let code): "close code \(code.rawValue) must not be sent"
        case .badCloseReason: "the reason of a Close is not UTF-8"
        case .pongTimeout(let time): "no pong within \(time)"
        case .closeTimeout(let time): "closing handshake not complete within \(time)"
        case .endedWithoutClose: "the connection ended without a Close"
        }
    }

    private static func names(_ bits: UInt8) -> String {
        (1...3).filter { bits & (8 >> UInt8($0)) != 0 }.map { "RSV\($0)" }.joined(separator: " ")
    }
}

/// Why something was not queued for sending. The WebSocket is unchanged.
public enum WebSocketRefusal: Error, Hashable, Sendable {
    /// The WebSocket is closing or closed.
    case notOpen(WebSocketState)
    /// The send queue would hold more than its limit.
    case queueFull(bytes: Int, queued: Int, limit: Int)
    /// Text that is not UTF-8, with the offset of the first invalid byte.
    case notUTF8(offset: Int)
    /// A ping or pong longer than 125 bytes (RFC 6455, 5.5).
    case payloadTooLong(Int)
    /// The limit of queued pings and pongs has been reached.
    case tooManyControls(limit: Int)
    /// A close code that must not be sent (RFC 6455, 7.4).
    case closeCode(WebSocketCloseCode)
    /// A close reason longer than 123 bytes (RFC 6455, 5.5).
    case reasonTooLong(Int)
    /// A close reason without a close code.
    case reasonWithoutCode
    /// No message with this identifier is being streamed.
    case noSuchMessage(WebSocketMessageID)
}

extension WebSocketRefusal: CustomStringConvertible {
    /// One sentence for the user that says what would be valid.
    public var description: String {
        switch self {
        case .notOpen(let state): "the WebSocket is \(state); it must be open to send"
        case .queueFull(let bytes, let queued, let limit):
            "\(bytes) bytes and the \(queued) already queued exceed the limit of \(limit)"
        case .notUTF8(let offset): "text is not UTF-8 at offset \(offset); send it as binary"
        case .payloadTooLong(let count): "a ping or pong holds at most 125 bytes, not \(count)"
        case .tooManyControls(let limit): "\(limit) pings and pongs wait to be sent, which is the limit"
        case .closeCode(let code):
            "close code \(code.rawValue) must not be sent; 1000 to 1003, 1007 to 1014 and 3000 to 4999 are allowed"
        case .reasonTooLong(let count): "a close reason has at most 123 bytes of UTF-8, not \(count)"
        case .reasonWithoutCode: "a close reason needs a code before it, such as 1000"
        case .noSuchMessage(let id): "message \(id.number) is not being streamed"
        }
    }
}
