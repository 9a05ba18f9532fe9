/// What happened on a WebSocket, in order. The shell tells its user, or performs it.
package enum WebSocketEvent: Equatable {
    /// A whole message; its text is UTF-8. Only with `Delivery.whole`.
    case message(WebSocketMessageType, [UInt8])
    /// The next bytes of a message. Only with `Delivery.chunks`.
    case chunk(WebSocketChunk)
    /// A ping with these bytes. The machine answers by itself.
    case ping([UInt8])
    /// A pong with these bytes; how long it took when it answers a ping that was sent, nil when nobody asked for it.
    case pong([UInt8], roundTrip: Duration?)
    /// The peer's Close: the last event that input makes. Once all before it is delivered, call `acknowledgeEnd`.
    case closeReceived(WebSocketCloseFrame)
    /// The peer broke the protocol or is silent: the last event that input makes. Once all before it is delivered, call
    /// `acknowledgeEnd`.
    case failed(WebSocketFailure)
    /// Every message up to this one is wholly with the kernel.
    case sent(through: WebSocketMessageID)
    /// The bytes queued for sending fell to the low watermark, having been above the high one.
    case writable
    /// A frame came whole, or was made to be sent. Only while `reportsFrames`.
    case frame(WebSocketFrameRecord)
    /// Half-close the transport behind everything taken so far, what the same `takeOutgoing` gave included; go on
    /// reading, so that its end is seen.
    case endOutput
    /// End the transport now, whatever is queued in it.
    case disconnect
    /// It is over. Exactly one, the last of all events.
    indirect case closed(WebSocketCloseReport)
}

/// A part of a message that is delivered as it comes.
public struct WebSocketChunk: Hashable, Sendable {
    /// The message, counted from 1 among those received.
    public var message: WebSocketMessageID
    /// What the message is.
    public var type: WebSocketMessageType
    /// The bytes; of text, they may end within a character, but what came so far is the beginning of valid UTF-8. Empty
    /// only when `isFinal`.
    public var bytes: [UInt8]
    /// Whether the message begins with it.
    public var isFirst: Bool
    /// Whether the message ends with it.
    public var isFinal: Bool

    /// Describes a part.
    public init(
        message: WebSocketMessageID, type: WebSocketMessageType, bytes: [UInt8], isFirst: Bool, isFinal: Bool
    ) {
        self.message = message
        self.type = type
        self.bytes = bytes
        self.isFirst = isFirst
        self.isFinal = isFinal
    }
}

/// One frame as it was on the wire (RFC 6455, 5.2). That of a data frame owns no memory.
public struct WebSocketFrameRecord: Hashable, Sendable, Codable {
    /// Whether this end sent it.
    public var isSent: Bool
    /// Its kind.
    public var opcode: WebSocketOpcode
    /// FIN: the last frame of its message.
    public var isFinal: Bool
    /// RSV1 to RSV3 as 4, 2, 1; RSV1 marks a compressed message.
    public var reserved: UInt8
    /// Whether it was masked, and with which key: its bytes in the order on the wire, the first in the top 8 bits.
    public var maskKey: UInt32?
    /// Payload bytes on the wire.
    public var length: Int
    /// Bytes of the message that it brought, inflated; the same as `length` unless the message is compressed.
    public var messageBytes: Int
    /// The message it belongs to, counted from 1 in its direction; nil: a control frame.
    public var message: WebSocketMessageID?
    /// When it was whole, or when it was made.
    public var time: MonotonicTime
    /// Of a control frame: its payload.
    public var control: [UInt8] = []

    /// Describes a frame.
    public init(
        isSent: Bool, opcode: WebSocketOpcode, isFinal: Bool, reserved: UInt8, maskKey: UInt32?, length: Int,
        messageBytes: Int, message: WebSocketMessageID?, time: MonotonicTime
    ) {
        self.isSent = isSent
        self.opcode = opcode
        self.isFinal = isFinal
        self.reserved = reserved
        self.maskKey = maskKey
        self.length = length
        self.messageBytes = messageBytes
        self.message = message
        self.time = time
    }
}

extension WebSocketFrameRecord {
    /// Bytes of its header, in the shortest form, which is the only one that is accepted.
    public var headerBytes: Int { FrameHeader(opcode: opcode, maskKey: maskKey, length: length).count }
}
