import SocketCore

// Messages and control frames of a WebSocket, on the wire.

extension WebSocketTraffic: WireMessage {
    package static var blank: WebSocketTraffic { WebSocketTraffic(.text) }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        try coder.field(1, &kind)
        try coder.field(2, &isPart)
        try coder.field(3, &roundTrip)
        try coder.field(4, &frames)
        try coder.field(5, &frameCount)
        try coder.field(6, &payloadBytes)
        try coder.field(7, &problem)
    }
}

extension WebSocketTraffic.Kind: WireWord {}

extension WebSocketFrameRecord: WireMessage {
    package static var blank: WebSocketFrameRecord {
        WebSocketFrameRecord(
            isSent: false, opcode: .continuation, isFinal: false, reserved: 0, maskKey: nil, length: 0,
            messageBytes: 0, message: nil, time: .zero)
    }

    package mutating func fields<Coder: WireCoder>(_ coder: inout Coder) throws(WireError) {
        var bits = UInt64(reserved)
        var key = maskKey.map(UInt64.init)
        try coder.field(1, &isSent)
        try coder.field(2, &opcode)
        try coder.field(3, &isFinal)
        try coder.field(4, &bits)
        try coder.field(5, &key)
        try coder.field(6, &length)
        try coder.field(7, &messageBytes)
        try coder.field(8, &message)
        try coder.field(9, &time)
        reserved = UInt8(clamping: bits)
        maskKey = key.map { UInt32(clamping: $0) }
    }
}
