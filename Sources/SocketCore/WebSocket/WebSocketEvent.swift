/// An event on a WebSocket. The shell reports events to the user, or performs them, in order.
package enum WebSocketEvent: Equatable {
    /// A whole message. Text is valid UTF-8. Only with `Delivery.whole`.
    case message(WebSocketMessageType, [UInt8])
    /// The next bytes of a message. Only with `Delivery.chunks`.
    case chunk(WebSocketChunk)
    /// A ping with these bytes. The machine answers it automatically.
    case ping([UInt8])
    /// A pong with these bytes. `roundTrip` is `nil` if it does not answer a ping that was sent.
    case pong([UInt8], roundTrip: Duration?)
    /// The peer's Close. No later input produces an event. After delivering all earlier events, call `acknowledgeEnd`.
    case closeReceived(WebSocketCloseFrame)
    /// The peer broke the protocol or timed out. No later input produces an event. After delivering all earlier events,
    /// call `acknowledgeEnd`.
    case failed(WebSocketFailure)
    /// The kernel has accepted every byte of all messages up to this one.
    case sent(through: WebSocketMessageID)
    /// The bytes queued for sending fell to the low watermark after being above the high one.
    case writable
    /// A frame was received completely or created for sending. Only while `reportsFrames` is set.
    case frame(WebSocketFrameRecord)
    /// Half-close the transport after all bytes taken so far, including those returned by the same `takeOutgoing`. Keep
    /// reading to detect the peer's end of stream.
    case endOutput
    /// Close the transport now and drop its queued bytes.
    case disconnect
    /// The WebSocket is closed. Sent exactly once, as the last event.
    indirect case closed(WebSocketCloseReport)
}

/// A part of a message, delivered as it arrives.
public struct WebSocketChunk: Hashable, Sendable {
    /// The message's number among received messages, counted from 1.
    public var message: WebSocketMessageID
    /// The message's type.
    public var type: WebSocketMessageType
    /// The bytes. Text can end within a character, but the bytes so far are always the beginning of valid UTF-8. Empty
    /// only if `isFinal`.
    public var bytes: [UInt8]
    /// Whether this part begins the message.
    public var isFirst: Bool
    /// Whether this part ends the message.
    public var isFinal: Bool

    /// Creates a part.
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

/// A frame as it was on the wire (RFC 6455, 5.2). A data frame's record allocates no memory.
public struct WebSocketFrameRecord: Hashable, Sendable {
    /// Whether the local side sent the frame.
    public var isSent: Bool
    /// The frame's opcode.
    public var opcode: WebSocketOpcode
    /// FIN: whether the frame is the last of its message.
    public var isFinal: Bool
    /// RSV1 to RSV3 as 4, 2, 1; RSV1 marks a compressed message.
    public var reserved: UInt8
    /// The masking key, or `nil` if the frame was not masked. The first byte on the wire is in the top 8 bits.
    public var maskKey: UInt32?
    /// The payload's length on the wire, in bytes.
    public var length: Int
    /// The message bytes in the frame after inflation. Equals `length` unless the message is compressed.
    public var messageBytes: Int
    /// The frame's message, counted from 1 in its direction, or `nil` for a control frame.
    public var message: WebSocketMessageID?
    /// When the frame was received completely or created for sending.
    public var time: MonotonicTime
    /// The payload of a control frame.
    public var control: [UInt8] = []

    /// Creates a frame record.
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
    /// The length of the frame's header in its shortest form, the only one that is accepted.
    public var headerBytes: Int { FrameHeader(opcode: opcode, maskKey: maskKey, length: length).count }
}
